"""Trends in connectivity against loops over pairs and folds, and their level."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import hadamard

from diffnb.core.arrays.ops import take_rows
from diffnb.core.scorecard import connectivity, trend_connectivity
from diffnb.core.scorecard.connectivity import BROAD_LEVEL_SHARE, MIN_BROAD_EXCESS_SD, PRIOR_DF
from diffnb.core.scorecard.folds import content_order, random_folds
from diffnb.core.scorecard.trend_connectivity import connectivity_trend, folds_of_levels, slope_weights

DOSES = [0.0, 1.0, 4.0]


def plain_statistic(matrices, doses):
    """Loops over pairs: t² of the slope of fold z over levels, less either threshold (four folds in each level)."""
    p, n_folds = matrices[0].shape[1], 4
    sizes = [len(x) for x in matrices]
    slopes = slope_weights([own[0] for own in doses], sizes)
    numbers = folds_of_levels(sizes, n_folds)
    folds = [random_folds(content_order(x), n, 0, i) for i, (x, n) in enumerate(zip(matrices, numbers, strict=True))]
    shares = [c**2 * sum(1 / (len(r) - 3) for r in own) / len(own) ** 2 for c, own in zip(slopes, folds, strict=True)]
    each = sum(shares) ** 2 / sum(s**2 for s in shares)
    df = PRIOR_DF + 2 * each
    thresholds = stats.f.isf([1 / p, max(BROAD_LEVEL_SHARE, 1 / p)], 1, df)
    signs = [np.ones(3), np.array([1, -1, 1])]
    sums = np.zeros((2, 3, p))
    for j in range(p):
        for k in set(range(p)) - {j}:
            contrasts = []
            for x, own in zip(matrices, folds, strict=True):
                z = np.array([np.arctanh(np.corrcoef(x[rows, j], x[rows, k])[0, 1]) for rows in own])
                contrasts.append((hadamard(len(own)) / len(own)) @ z)
            residual = sum(c**2 * (a[2] ** 2 + a[3] ** 2) for c, a in zip(slopes, contrasts, strict=True))
            variance = (PRIOR_DF * sum(shares) + each * residual) / df
            found = [sum(c * a[0] for c, a in zip(slopes, contrasts, strict=True))]
            found += [sum(s * c * a[1] for s, c, a in zip(own, slopes, contrasts, strict=True)) for own in signs]
            for i, threshold in enumerate(thresholds):
                sums[i, :, j] += [max(value**2 / variance - threshold, 0) for value in found]
    scaled = [(own - own[1:].mean()) / own[1:].std() for own in sums]
    combined = scaled[0] + np.maximum(scaled[1] - MIN_BROAD_EXCESS_SD, 0)
    return (combined[0] - combined[1:].mean()) / combined[1:].std()


def test_equals_loops_over_pairs_and_folds(rng, monkeypatch):
    monkeypatch.setattr(connectivity, "MIN_NULL_VALUES", 1)
    matrices = [rng.normal(size=(n, 8)) for n in (40, 60, 90)]
    matrices[2][:, :3] += rng.normal(size=(90, 1))
    doses = [np.full(len(x), d) for x, d in zip(matrices, DOSES, strict=True)]
    ours = connectivity_trend(matrices, doses)
    assert ours.n_folds == 4
    np.testing.assert_allclose(ours.stat, plain_statistic(matrices, doses), rtol=1e-9)


def test_weights_are_those_of_weighted_least_squares(rng):
    dose, size, z = np.array([0.0, 1.0, 5.0]), [10, 40, 20], rng.normal(size=3)
    weights = slope_weights(dose, size)
    slope = np.polyfit(dose, z, 1, w=np.sqrt(size))[0]
    ratio = weights @ z / slope
    np.testing.assert_allclose(weights @ dose, ratio)
    np.testing.assert_allclose([weights.sum(), np.abs(weights).sum()], [0, 2], atol=1e-12)


def test_two_levels_weigh_as_a_difference():
    np.testing.assert_allclose(slope_weights([3.0, 9.0], [5, 80]), [-1, 1])


def test_folds_of_unequal_levels_are_of_similar_size():
    numbers = folds_of_levels([80, 120, 200, 600], 4)
    assert numbers == [4, 8, 8, 32]
    assert max(n / k for n, k in zip([80, 120, 200, 600], numbers, strict=True)) < 30


def module_of(rng, n, strength, p=60):
    x = rng.normal(size=(n, p))
    loading = np.sqrt(strength)
    x[:, :15] = loading * rng.normal(size=(n, 1)) + np.sqrt(1 - strength) * x[:, :15]
    return x


def test_a_group_that_connects_step_by_step_is_found(rng):
    matrices = [module_of(rng, 100, s) for s in (0.0, 0.15, 0.3, 0.45)]
    doses = [np.full(100, d) for d in range(4)]
    found = connectivity_trend(matrices, doses)
    assert found.pval[:15].max() < 0.01
    assert found.stat[:15].min() > found.stat[15:].max()


@pytest.mark.parametrize("sizes", [(60, 60, 60, 60), (180, 60, 36, 24)])
@pytest.mark.parametrize("skewed", [False, True])
def test_holds_its_level_whatever_the_sizes_and_shapes(sizes, skewed, rng):
    rejected = []
    for _ in range(12):
        mixing = rng.normal(size=(5, 80)) * 0.4
        matrices = [rng.normal(size=(n, 80)) + rng.normal(size=(n, 5)) @ mixing for n in sizes]
        matrices = [np.exp(0.6 * x) for x in matrices] if skewed else matrices
        pval = connectivity_trend(matrices, [np.full(n, d) for n, d in zip(sizes, (0, 1, 3, 10), strict=True)]).pval
        rejected.append(np.mean(pval < 0.05))
    assert np.mean(rejected) < 0.085, np.mean(rejected)


def test_means_that_follow_the_dose_are_not_connected(rng):
    dose = np.sort(rng.normal(size=600))
    rejected = []
    for _ in range(8):
        x = rng.normal(size=(600, 50)) + 2 * dose[:, None] * (np.arange(50) < 25)
        rejected.append(connectivity_trend(np.split(x, 6), np.split(dose, 6)).pval[:25] < 0.05)
    assert np.mean(rejected) < 0.1


def test_is_the_same_for_every_kind_of_array(any_array_type, rng):
    matrices = [np.where((x := rng.normal(size=(n, 12))) > 0, x, 0.0) for n in (42, 50, 60)]
    doses = [rng.normal(size=len(x)) + d for d, x in enumerate(matrices)]
    covariates = [rng.normal(size=(len(x), 1)) for x in matrices]
    plain = connectivity_trend(matrices, doses, covariates=covariates)
    whole = any_array_type(np.concatenate(matrices))
    parts = [take_rows(whole, rows) for rows in np.split(np.arange(152), [42, 92])]
    ours = connectivity_trend(parts, doses, covariates=covariates)
    np.testing.assert_allclose(ours.stat, plain.stat, rtol=1e-7)


def test_too_few_observations_have_no_connectivity(rng):
    found = connectivity_trend([rng.normal(size=(5, 6))] * 2, [np.zeros(5), np.ones(5)])
    assert found.n_folds == 0
    assert np.isnan(found.pval).all()
    assert trend_connectivity.MAX_FOLDS >= 8
