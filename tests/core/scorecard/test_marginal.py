"""Mean, spread and distribution against scipy and against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from diffnb.core.scorecard import marginal as module
from diffnb.core.scorecard.marginal import marginal_tests
from diffnb.core.stats.pvalues import MIN_PVALUE
from diffnb.core.stats.tails import shifted_gamma_pvalues


@pytest.fixture(params=["continuous", "counts", "zeros"])
def pair(request, rng):
    if request.param == "continuous":
        return rng.normal(size=(37, 6)), rng.normal(0.3, 1.4, size=(50, 6))
    if request.param == "counts":
        return rng.poisson(1.5, size=(40, 6)).astype(float), rng.poisson(2.0, size=(31, 6)).astype(float)
    values = np.log1p(rng.poisson(0.2, size=(90, 6)) * rng.uniform(1, 2, size=(90, 6)))
    return values[:40], values[40:]


def plain_anderson_darling(x, y):
    """Statistic and cumulants by definition: steps between distinct values, weighted by the ties on either side."""
    n, m = len(x), len(y)
    total = n + m
    both = np.concatenate([x, y])
    distinct, ties = np.unique(both, return_counts=True)
    below = np.cumsum(ties)[:-1] / total
    weight = (ties[:-1] + ties[1:]) / (2 * total)
    apart = np.array([np.mean(x <= v) - np.mean(y <= v) for v in distinct[:-1]])
    statistic = n * m / total * np.sum(weight * apart**2 / (below * (1 - below)))
    bridge = np.minimum.outer(below, below) * (1 - np.maximum.outer(below, below)) * total / (total - 1)
    operator = bridge * np.sqrt(np.outer(weight / (below * (1 - below)), weight / (below * (1 - below))))
    powers = [np.trace(np.linalg.matrix_power(operator, k)) for k in (1, 2, 3)]
    return statistic, np.array([powers[0], 2 * powers[1], 8 * powers[2]])


def test_mean_is_the_t_of_welch(pair):
    ours, theirs = marginal_tests(*pair).mean, stats.ttest_ind(*pair, equal_var=False)
    np.testing.assert_allclose(ours.stat, theirs.statistic, rtol=1e-10)
    np.testing.assert_allclose(ours.pval, theirs.pvalue, rtol=1e-9)


def test_spread_is_levene_around_medians_with_a_sign(pair):
    ours = marginal_tests(*pair).spread
    theirs = [stats.levene(x, y, center="median") for x, y in zip(pair[0].T, pair[1].T, strict=True)]
    np.testing.assert_allclose(ours.stat**2, [t.statistic for t in theirs], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.pval, [t.pvalue for t in theirs], rtol=1e-9)
    wider = [np.abs(x - np.median(x, axis=0)).mean(axis=0) for x in pair]
    np.testing.assert_array_equal(np.sign(ours.stat), np.sign(wider[0] - wider[1]))


def test_distribution_is_the_wasserstein_distance_in_pooled_standard_deviations(pair):
    x, y = pair
    distance = [stats.wasserstein_distance(a, b) for a, b in zip(x.T, y.T, strict=True)]
    pooled = ((len(x) - 1) * x.var(axis=0, ddof=1) + (len(y) - 1) * y.var(axis=0, ddof=1)) / (len(x) + len(y) - 2)
    np.testing.assert_allclose(marginal_tests(x, y).distribution.stat, distance / np.sqrt(pooled), rtol=1e-10)


def test_distribution_p_value_has_the_cumulants_of_the_bridge_on_the_ties(pair):
    plain = [plain_anderson_darling(a, b) for a, b in zip(pair[0].T, pair[1].T, strict=True)]
    expected = shifted_gamma_pvalues(np.array([s for s, _ in plain]), np.stack([c for _, c in plain], axis=1))
    np.testing.assert_allclose(marginal_tests(*pair).distribution.pval, expected, rtol=1e-8)


@pytest.mark.filterwarnings("ignore")  # scipy caps its own p-values, and renames an argument
def test_without_ties_features_are_ordered_as_by_scipys_anderson_darling(rng):
    x, y = rng.normal(size=(30, 12)), rng.normal(0.4, 1.0, size=(30, 12))
    theirs = [stats.anderson_ksamp([a, b]).statistic for a, b in zip(x.T, y.T, strict=True)]
    assert stats.spearmanr(marginal_tests(x, y).distribution.pval, theirs).statistic < -0.999


def test_distribution_p_value_agrees_with_permutations_when_most_values_are_zero(rng):
    both = rng.poisson(0.25, size=(120, 4)) * rng.integers(1, 4, size=(120, 4)).astype(float)
    both[:50] += rng.random((50, 4)) < 0.12
    observed = marginal_tests(both[:50], both[50:]).distribution.pval
    shuffled = [rng.permutation(both) for _ in range(600)]
    stats_of = lambda z: np.array([plain_anderson_darling(a[:50], a[50:])[0] for a in z.T])  # noqa: E731
    null = np.array([stats_of(z) for z in shuffled])
    expected = (1 + (null >= stats_of(both)).sum(axis=0)) / 601
    np.testing.assert_allclose(observed, expected, atol=0.07)


def test_p_values_are_uniform_for_counts_full_of_zeros(rng):
    x, y = (rng.poisson(rng.gamma(0.3, 1.0, size=600), size=(n, 600)).astype(float) for n in (150, 150))
    both = rng.permuted(np.concatenate([x, y]), axis=0)  # every feature keeps its own ties
    both = both[:, np.ptp(both, axis=0) > 0]
    result = marginal_tests(both[:150], both[150:])
    for test in (result.mean, result.spread, result.distribution):
        assert 0.02 < np.mean(test.pval < 0.05) < 0.085


def test_a_change_of_shape_alone_is_seen_in_the_distribution_only(rng):
    x = rng.normal(size=(800, 40))
    y = rng.choice([-1.0, 1.0], size=(800, 40)) * 0.95 + rng.normal(0, 0.3, size=(800, 40))
    y = (y - y.mean(axis=0)) / np.abs(y - np.median(y, axis=0)).mean(axis=0) * np.abs(x).mean()
    result = marginal_tests(y, x)
    assert np.all(result.distribution.pval < 1e-6)
    assert np.mean(result.mean.pval < 0.05) < 0.2


def test_swapping_the_conditions_turns_the_signs(pair):
    forth, back = marginal_tests(*pair), marginal_tests(*pair[::-1])
    np.testing.assert_allclose(forth.mean.stat, -back.mean.stat, rtol=1e-12)
    np.testing.assert_allclose(forth.spread.stat, -back.spread.stat, rtol=1e-12)
    np.testing.assert_allclose(forth.distribution.stat, back.distribution.stat, rtol=1e-12)
    np.testing.assert_allclose(forth.distribution.pval, back.distribution.pval, rtol=1e-9)


def test_turning_a_feature_around_leaves_its_distribution_p_value(pair):
    forth, back = marginal_tests(*pair), marginal_tests(*(-x for x in pair))
    np.testing.assert_allclose(forth.distribution.pval, back.distribution.pval, rtol=1e-8)


def test_is_the_same_for_every_kind_of_array(array_type, rng):
    x, y = (rng.poisson(0.7, size=(n, 9)).astype(float) for n in (30, 41))
    expected, ours = marginal_tests(x, y), marginal_tests(array_type(x), array_type(y))
    for kind in ("mean", "spread", "distribution"):
        np.testing.assert_allclose(getattr(ours, kind).stat, getattr(expected, kind).stat, rtol=1e-10)
        np.testing.assert_allclose(getattr(ours, kind).pval, getattr(expected, kind).pval, rtol=1e-10)


def test_blocks_and_jobs_change_nothing(pair, monkeypatch):
    expected = marginal_tests(*pair)
    monkeypatch.setattr(module, "MAX_SORTED_NUMBERS", 1)
    for n_jobs in (None, 2):
        ours = marginal_tests(*pair, n_jobs=n_jobs)
        np.testing.assert_allclose(ours.distribution.pval, expected.distribution.pval, rtol=1e-12)
        np.testing.assert_array_equal(ours.mean.stat, expected.mean.stat)


def test_values_that_never_vary_within_conditions_give_no_nan():
    x, y = np.zeros((5, 2)), np.zeros((6, 2))
    y[:, 1] = 3.0
    result = marginal_tests(x, y)
    np.testing.assert_array_equal(result.mean.stat, [0.0, -np.inf])
    np.testing.assert_array_equal(result.mean.pval, [1.0, MIN_PVALUE])
    np.testing.assert_array_equal(result.spread.pval, [1.0, 1.0])
    assert np.isfinite(result.distribution.stat[1])


def test_integers_are_compared_as_numbers(rng):
    x, y = rng.poisson(2, size=(20, 3)), rng.poisson(3, size=(20, 3))
    np.testing.assert_array_equal(
        marginal_tests(x, y).mean.stat, marginal_tests(x.astype(float), y.astype(float)).mean.stat
    )
