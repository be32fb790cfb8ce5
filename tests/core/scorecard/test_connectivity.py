"""Connectivity against loops over pairs and folds, and its calibration."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from scipy.linalg import hadamard

from diffnb.core.scorecard import connectivity as module
from diffnb.core.scorecard import correlation_blocks
from diffnb.core.scorecard.connectivity import connectivity_test
from diffnb.core.scorecard.folds import content_order, numbered, random_folds
from diffnb.core.stats.tails import null_sample_pvalues


def plain_excess(group, reference):
    """Loops over pairs: t² of the contrast of fold z, less either level, summed over partners (four folds)."""
    orders = [content_order(x) for x in (group, reference)]
    folds = [random_folds(order, 4, 0, number) for order, number in zip(orders, numbered(orders), strict=True)]
    p = group.shape[1]
    contrasts = hadamard(4) / 4
    df = 2 * 2 + module.PRIOR_DF
    levels = stats.f.isf([1 / p, max(module.BROAD_LEVEL_SHARE, 1 / p)], 1, df)
    prior = sum(1 / (len(rows) - 3) for half in folds for rows in half) / 16
    observed, null = np.zeros((2, p)), np.zeros((2, 2, p))
    for j in range(p):
        for k in range(p):
            if j == k:
                continue
            z = [
                np.array([np.arctanh(np.corrcoef(x[rows, j], x[rows, k])[0, 1]) for rows in half])
                for x, half in zip((group, reference), folds, strict=True)
            ]
            a, b = contrasts @ z[0], contrasts @ z[1]
            residual = 2 * np.sum(a[2:] ** 2 + b[2:] ** 2)
            variance = (residual + module.PRIOR_DF * prior) / df
            for i, level in enumerate(levels):
                observed[i, j] += max((a[0] - b[0]) ** 2 / variance - level, 0)
                null[i, 0, j] += max((a[1] + b[1]) ** 2 / variance - level, 0)
                null[i, 1, j] += max((a[1] - b[1]) ** 2 / variance - level, 0)
    scales = [(values.mean(), values.std()) for values in null]
    return tuple(
        (x[0] - scales[0][0]) / scales[0][1]
        + np.maximum((x[1] - scales[1][0]) / scales[1][1] - module.MIN_BROAD_EXCESS_SD, 0)
        for x in (observed, null)
    )


def block(rng, n, p, size, rho):
    x = rng.normal(size=(n, p))
    x[:, :size] = np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * x[:, :size]
    return x


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_equals_loops_over_pairs_and_folds(share, rng, monkeypatch):
    monkeypatch.setattr(module, "MIN_NULL_VALUES", 1)
    monkeypatch.setattr(module, "BROAD_LEVEL_SHARE", share)  # twelve features: the levels are one, or two
    group, reference = block(rng, 60, 12, 5, 0.5), rng.normal(size=(70, 12))
    observed, null = plain_excess(group, reference)
    ours = connectivity_test(group, reference)
    np.testing.assert_allclose(ours.stat, (observed - null.mean()) / null.std(), rtol=1e-9)
    np.testing.assert_allclose(ours.pval, null_sample_pvalues(observed, null.ravel()), rtol=1e-9)


def test_finds_what_is_connected_in_one_condition_only(rng):
    result = connectivity_test(block(rng, 300, 200, 20, 0.4), rng.normal(size=(300, 200)))
    assert result.stat[:20].min() > result.stat[20:].max()
    assert result.pval[:20].max() < 1e-6


def auroc(scores, others):
    return np.mean(scores[:, None] > others)


def test_many_weak_changes_and_a_single_strong_one_are_both_seen():
    weak, strong = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        group, reference = block(rng, 500, 600, 40, 0.14), rng.normal(size=(500, 600))
        group[:, 40:50] += 0.35 * group[:, 50:60]  # ten pairs
        stat = connectivity_test(group, reference).stat
        weak.append(auroc(stat[:40], stat[60:]))
        strong.append(auroc(stat[40:60], stat[60:]))
    assert np.mean(weak) > 0.984
    assert np.mean(strong) > 0.95


@pytest.mark.parametrize(
    ("name", "n"),
    [("independent", (200, 200)), ("shared", (300, 120)), ("heavy", (200, 200)), ("counts", (250, 250))],
)
def test_rejects_at_its_level_when_connectivity_is_the_same(name, n, rng):
    def draw(size):
        if name == "independent":
            return rng.normal(size=(size, 200))
        if name == "shared":
            return block(rng, size, 200, 40, 0.4)
        if name == "heavy":
            return block(rng, size, 200, 40, 0.4) / np.sqrt(rng.chisquare(5, size=(size, 1)) / 5)
        return np.log1p(rng.poisson(np.exp(block(rng, size, 200, 40, 0.4) - 1)))

    rejected = [np.nanmean(connectivity_test(draw(n[0]), draw(n[1])).pval < 0.05) for _ in range(6)]
    assert 0.015 < np.mean(rejected) < 0.095


def test_shifts_and_scales_of_features_change_nothing(rng):
    group, reference = block(rng, 100, 30, 8, 0.4), rng.normal(size=(100, 30))
    plain = connectivity_test(group, reference)
    moved = connectivity_test(group * rng.uniform(0.5, 2, size=30) + rng.normal(size=30), reference)
    np.testing.assert_allclose(moved.stat, plain.stat, rtol=1e-8)
    np.testing.assert_allclose(moved.pval, plain.pval, rtol=1e-8)


def test_is_the_same_for_every_kind_of_array(array_type, rng):
    x, y = (rng.poisson(0.8, size=(60, 20)).astype(float) for _ in range(2))
    expected, ours = connectivity_test(x, y), connectivity_test(array_type(x), array_type(y))
    np.testing.assert_allclose(ours.stat, expected.stat, rtol=1e-10)
    np.testing.assert_allclose(ours.pval, expected.pval, rtol=1e-10)


def test_single_precision_gives_the_same_to_four_digits(rng):
    x, y = block(rng, 120, 40, 10, 0.5), rng.normal(size=(120, 40))
    expected, ours = connectivity_test(x, y), connectivity_test(x.astype(np.float32), y.astype(np.float32))
    np.testing.assert_allclose(ours.stat, expected.stat, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(ours.pval, expected.pval, rtol=1e-3, atol=1e-4)


def test_the_width_of_blocks_and_jobs_change_nothing(rng, monkeypatch, set_memory):
    x, y = sp.csr_array(rng.poisson(1.0, size=(50, 33)).astype(float)), rng.normal(size=(50, 33))
    expected = connectivity_test(x, y)
    monkeypatch.setattr(correlation_blocks, "MAX_BLOCK_FEATURES", 7)
    set_memory(16 * 8 * 50 * 14)
    for n_jobs in (None, 2):
        np.testing.assert_allclose(connectivity_test(x, y, n_jobs=n_jobs).stat, expected.stat, rtol=1e-10)


@pytest.mark.parametrize(
    "draw", [lambda rng, n: rng.normal(size=(n, 30)), lambda rng, n: rng.poisson(0.3, (n, 30)) * 1.0]
)
def test_neither_the_order_of_rows_features_nor_conditions_changes_a_p_value(draw, rng):
    x, y = draw(rng, 90), draw(rng, 70)
    expected = connectivity_test(x, y).pval
    np.testing.assert_allclose(connectivity_test(rng.permutation(x), rng.permutation(y)).pval, expected, rtol=1e-8)
    np.testing.assert_allclose(connectivity_test(y, x).pval, expected, rtol=1e-8)
    order = rng.permutation(30)
    np.testing.assert_allclose(connectivity_test(x[:, order], y[:, order]).pval, expected[order], rtol=1e-8)


def test_a_feature_constant_in_a_condition_has_no_connectivity_and_leaves_the_others_alone(rng):
    x, y = rng.normal(size=(60, 10)), rng.normal(size=(60, 10))
    x[:, 4] = 1.1
    result = connectivity_test(x, y)
    np.testing.assert_array_equal(np.isnan(result.stat), np.arange(10) == 4)
    kept = np.arange(10) != 4
    np.testing.assert_allclose(result.stat[kept], connectivity_test(x[:, kept], y[:, kept]).stat)


def test_duplicated_features_give_finite_statistics(rng):
    x, y = rng.normal(size=(60, 10)), rng.normal(size=(60, 10))
    x[:, 1], y[:, 1] = x[:, 0], 2 * y[:, 0]
    assert np.isfinite(connectivity_test(x, y).stat).all()


@pytest.mark.parametrize("n_obs", [3, 7])
def test_too_few_observations_give_no_connectivity(n_obs, rng):
    assert np.isnan(connectivity_test(rng.normal(size=(n_obs, 5)), rng.normal(size=(40, 5))).pval).all()


def test_eight_observations_are_enough(rng):
    assert np.isfinite(connectivity_test(rng.normal(size=(8, 5)), rng.normal(size=(40, 5))).pval).all()


@pytest.mark.parametrize(
    ("n_obs", "n_features", "n_folds"),
    [(7, 50, 0), (8, 50, 2), (39, 50, 2), (40, 50, 4), (160, 50, 8), (160, 6000, 4), (160, 1, 0)],
)
def test_more_observations_are_split_into_more_folds(n_obs, n_features, n_folds):
    assert module.n_folds_for(n_obs, n_features) == n_folds


def test_few_features_get_more_null_values_from_repeated_folds():
    assert [module._n_fold_draws(p, 4) for p in (10, 600, 900, 2000)] == [10, 9, 6, 1]


def test_covariates_that_were_taken_out_count_as_observations(rng):
    x, y = rng.normal(size=(2, 42, 30))
    assert connectivity_test(x, y).n_folds == 4
    assert connectivity_test(x, y, n_covariates=3).n_folds == 2
    assert connectivity_test(x[:9], y[:9], n_covariates=2).n_folds == 0
    # a larger variance of Fisher z is expected, so that differences weigh less
    fewer = connectivity_test(x, y, n_covariates=2)
    assert fewer.n_folds == 4
    assert not np.array_equal(fewer.stat, connectivity_test(x, y).stat)
