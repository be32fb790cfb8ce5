"""Marginal tests with covariates against plain formulas, and their level where only the covariates differ."""

from __future__ import annotations

import numpy as np
import pytest
from reference import covariates as plain
from scipy import stats

from diffnb.core.arrays.residuals import covariate_designs
from diffnb.core.scorecard import adjusted_marginal as module
from diffnb.core.scorecard.adjusted_marginal import AdjustedComparison, AdjustedDifference, AdjustedMean, with_powers
from diffnb.core.scorecard.marginal import marginal_tests

TESTS = ("mean", "spread", "distribution")


def adjusted_tests(x, y, z_x, z_y):
    designs = covariate_designs([z_x, z_y])
    return marginal_tests(x, y, compare=AdjustedComparison.of(designs[0].values, designs[1].values))


@pytest.fixture
def data(rng):
    """Two conditions whose covariates, a number and an indicator, differ, and matter."""
    z = [np.column_stack([rng.normal(s, 1, n), rng.random(n) < b]) for n, s, b in ((60, 0.4, 0.7), (45, -0.4, 0.3))]
    x = [rng.normal(size=(len(own), 5)) * (1 + own[:, 1:]) + own @ [[1.0], [2.0]] for own in z]
    return (*x, *z)


def test_mean_is_a_difference_of_intercepts_with_robust_variances(data):
    x, y, *covariates = data
    z_x, z_y = plain.centered_together(covariates)
    found = adjusted_tests(*data).mean
    for j in range(x.shape[1]):
        (a, v, df), (b, w, other_df) = plain.adjusted_mean(x[:, j], z_x), plain.adjusted_mean(y[:, j], z_y)
        t = (a - b) / np.sqrt(v + w)
        joint = (v + w) ** 2 / (v**2 / df + w**2 / other_df)
        np.testing.assert_allclose(found.stat[j], t, rtol=1e-9)
        np.testing.assert_allclose(found.pval[j], 2 * stats.t.sf(abs(t), joint), rtol=1e-8)


def test_for_categories_the_mean_is_that_of_strata_in_the_same_shares(rng):
    batch = [np.repeat([0, 1], [70, 30]), np.repeat([0, 1], [20, 60])]
    x, y = (rng.normal(size=(len(b), 1)) + b[:, None] for b in batch)
    share = np.array([90, 90]) / 180
    means = [share @ [own[b == k].mean() for k in (0, 1)] for own, b in zip((x, y), batch, strict=True)]
    variances = [
        share**2 @ [own[b == k].var(ddof=1) / np.sum(b == k) for k in (0, 1)]
        for own, b in zip((x, y), batch, strict=True)
    ]
    found = adjusted_tests(x, y, *(b[:, None].astype(float) for b in batch)).mean.stat
    np.testing.assert_allclose(found, (means[0] - means[1]) / np.sqrt(sum(variances)), rtol=1e-9)


def test_without_covariates_degrees_of_freedom_are_those_of_a_mean():
    mean = AdjustedMean.of(np.empty((23, 0)))
    np.testing.assert_allclose(mean.df, 22, rtol=1e-12)
    np.testing.assert_allclose(mean.squares, 1 / (23 * 22), rtol=1e-12)


def test_an_observation_alone_in_its_category_gets_the_variance_of_the_others(rng):
    alone = np.r_[1.0, np.zeros(20)][:, None]
    x = rng.normal(size=(3, 21))
    mean, variance = AdjustedMean.of(alone - 0.3).mean_and_variance(x)
    rest = x[:, 1:].var(axis=1, ddof=1)
    np.testing.assert_allclose(mean, 0.3 * x[:, 0] + 0.7 * x[:, 1:].mean(axis=1))
    np.testing.assert_allclose(variance, 0.09 * rest + 0.49 * rest / 20)


def test_medians_are_those_of_the_strata(rng):
    batch = np.repeat([0.0, 1.0], [41, 61])
    x = rng.exponential(size=(4, 102)) + batch
    found = AdjustedMean.of(batch[:, None] - 0.5).medians(x)
    expected = np.where(batch == 0, np.median(x[:, :41], axis=1)[:, None], np.median(x[:, 41:], axis=1)[:, None])
    np.testing.assert_allclose(found, expected, atol=0.03)


def test_a_median_stays_at_the_value_that_most_share(rng):
    z = rng.normal(size=(200, 1))
    x = np.where(rng.random((5, 200)) < 0.7, 0.0, rng.exponential(size=(5, 200)))
    assert np.abs(AdjustedMean.of(z).medians(x)).max() < 1e-3


@pytest.mark.parametrize("counts", [False, True])
def test_the_gap_of_distributions_is_a_coefficient_of_a_regression(data, counts):
    x, y, *covariates = data
    if counts:
        x, y = np.round(x), np.round(y)
    designs = covariate_designs(covariates)
    difference = AdjustedDifference.of(*(own.values for own in designs))
    values = np.concatenate([x, y]).T
    order = np.argsort(values, axis=1)
    gap, _ = difference.cdf_gap(order)
    for j in range(len(values)):
        ordered = values[j, order[j]]
        for k in np.flatnonzero(np.diff(ordered))[::9]:
            expected = plain.adjusted_cdf_gap(x[:, j], y[:, j], difference.basis, ordered[k])
            np.testing.assert_allclose(gap[j, k], expected, atol=1e-10)


def test_the_variance_of_the_gap_is_that_of_the_residuals_of_indicators(data):
    x, y, *covariates = data
    difference = AdjustedDifference.of(*(own.values for own in covariate_designs(covariates)))
    values = np.concatenate([x, y]).T
    order = np.argsort(values, axis=1)
    share = difference.cdf_gap(order)[1]
    n, q = difference.basis.shape
    below = (values[0] <= values[0, order[0, 30]]).astype(float)
    rest = plain.regress(below, difference.basis)[2]
    plain_variance = below.var() * n / (n - 1)
    np.testing.assert_allclose(share[0, 30], rest @ rest / (n - 1 - q) / plain_variance, rtol=1e-10)


def test_values_are_aligned_with_slopes_that_both_conditions_share(data):
    x, y, *covariates = data
    designs = covariate_designs(covariates)
    difference = AdjustedDifference.of(*(own.values for own in designs))
    together = np.concatenate([own.values for own in designs])
    condition = np.repeat([1.0, 0.0], [len(x), len(y)])
    values = np.concatenate([x, y])
    coefficients = np.linalg.lstsq(np.column_stack([np.ones(len(values)), condition, together]), values, rcond=None)[0]
    np.testing.assert_allclose(difference.aligned(values.T).T, values - together @ coefficients[2:], atol=1e-9)


def test_ties_stay_ties_when_values_are_aligned(data, rng):
    x, y, *covariates = data
    designs = covariate_designs(covariates)
    difference = AdjustedDifference.of(*(own.values for own in designs))
    zeros = rng.poisson(0.5, size=(3, len(x) + len(y))).astype(float)
    aligned = difference.aligned(zeros)
    in_batch = np.concatenate(covariates)[:, 1] == 1
    for batch in (in_batch, ~in_batch):
        for row, moved in zip(zeros[:, batch], aligned[:, batch], strict=True):
            np.testing.assert_allclose(np.ptp(moved[row == 0]), 0, atol=1e-12)


def test_a_feature_that_follows_from_the_covariates_does_not_differ(rng):
    z = [rng.normal(s, 1, size=(40, 1)) for s in (1.0, -1.0)]
    found = adjusted_tests(3 * z[0] + 1, 3 * z[1] + 1, *z)
    np.testing.assert_array_equal(found.mean.stat, 0)
    np.testing.assert_array_equal(found.mean.pval, 1)


def test_powers_of_two_levels_are_not_counted_twice():
    indicator = np.tile([0.0, 1.0], 100)[:, None]
    assert module._powers(indicator).shape == (200, 1)
    assert module._powers(np.linspace(-1, 1, 200)[:, None]).shape == (200, 3)
    assert module._powers(np.linspace(-1, 1, 50)[:, None]).shape == (50, 1)


def null_data(kind, n, n_features, rng):
    """Nothing differs between conditions but their covariate, which shifts or scales the features."""
    if kind == "number":
        z = [rng.normal(shift, 1, size=(n, 1)) for shift in (0.4, -0.4)]
        return [own + rng.normal(size=(n, n_features)) for own in z], z
    z = [(rng.random((n, 1)) < share).astype(float) for share in (0.7, 0.3)]
    if kind == "shift":
        return [own + rng.normal(size=(n, n_features)) for own in z], z
    if kind == "scale":
        return [(1 + own) * rng.normal(size=(n, n_features)) for own in z], z
    return [np.log1p(rng.poisson(0.4 * np.exp(0.8 * own), size=(n, n_features))) for own in z], z


@pytest.mark.parametrize("kind", ["shift", "scale", "counts", "number"])
@pytest.mark.parametrize("n", [40, 250])
def test_a_confounded_covariate_makes_no_difference(kind, n, rng):
    (x, y), z = null_data(kind, n, 2000, rng)
    adjusted, plain_tests = adjusted_tests(x, y, *z), marginal_tests(x, y)
    for name in TESTS:
        assert np.mean(getattr(adjusted, name).pval < 0.05) < 0.07, name
    if n == 250:
        assert max(np.mean(getattr(plain_tests, name).pval < 0.05) for name in TESTS) > 0.5


def test_the_spread_of_counts_may_depend_on_a_number_in_any_smooth_way(rng):
    """A linear regression of distances to a linear median rejects about 8 % of these."""
    z = [rng.normal(shift, 1, size=(600, 1)) for shift in (0.25, -0.25)]
    level, slope = rng.normal(size=(2, 1500))
    x, y = (np.log1p(rng.poisson(np.exp(level + slope * own))) for own in z)
    assert np.mean(adjusted_tests(x, y, *z).spread.pval < 0.05) < 0.068


@pytest.mark.parametrize("n", [20, 500])
def test_powers_are_those_of_numbers_and_need_observations(n, rng):
    z = [np.column_stack([rng.normal(size=n), np.arange(n) % 2]) for _ in range(2)]
    first, second = with_powers(*z)
    assert first.shape[1] == second.shape[1] == (2 if n == 20 else 4)
    np.testing.assert_array_equal(first[:, :2], z[0])
    np.testing.assert_allclose(np.concatenate([first, second])[:, 2:].mean(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("name", TESTS)
def test_a_true_difference_is_found_beside_a_confounded_batch(name, rng):
    z = [(rng.random((300, 1)) < share).astype(float) for share in (0.7, 0.3)]
    x, y = (2 * own + rng.normal(size=(300, 500)) for own in z)
    x = x + 0.4 if name != "spread" else (x - 2 * z[0]) * 1.35 + 2 * z[0]
    assert np.mean(getattr(adjusted_tests(x, y, *z), name).pval < 0.05) > 0.9
