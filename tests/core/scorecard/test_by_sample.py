"""The sample as the unit, against tests of sample summaries."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from diffnb.core.scorecard.by_sample import (
    MIN_OBS_PER_SAMPLE,
    _compare_numbers,
    compare_vectors,
    connectivity_test_by_sample,
    design,
    marginal_tests_by_sample,
)


def donors(rng, n_donors, n_obs, p, *, first=0, between=0.5):
    codes = np.repeat(np.arange(first, first + n_donors), n_obs)
    return rng.normal(size=(n_donors * n_obs, p)) + between * rng.normal(size=(n_donors, p)).repeat(
        n_obs, axis=0
    ), codes


def of_each(x, codes, summary):
    return np.stack([summary(x[codes == c]) for c in np.unique(codes)])


def log_spread(x, floor):
    return np.log(np.abs(x - np.median(x, axis=0)).mean(axis=0) + floor)


def test_mean_and_spread_are_tests_of_sample_summaries(rng):
    (x, a), (y, b) = donors(rng, 4, 30, 6), donors(rng, 5, 20, 6, first=10)
    ours = marginal_tests_by_sample(x, y, design(a, b))
    means = [of_each(z, c, lambda s: s.mean(axis=0)) for z, c in ((x, a), (y, b))]
    np.testing.assert_allclose(ours.mean.pval, stats.ttest_ind(*means, equal_var=False).pvalue, rtol=1e-9)
    spreads = [of_each(z, c, lambda s: np.abs(s - np.median(s, axis=0)).mean(axis=0)) for z, c in ((x, a), (y, b))]
    floor = 0.01 * np.concatenate(spreads).mean(axis=0)
    logs = [np.log(s + floor) for s in spreads]
    np.testing.assert_allclose(ours.spread.stat, stats.ttest_ind(*logs, equal_var=False).statistic, rtol=1e-9)


def test_samples_in_both_conditions_are_compared_as_pairs(rng):
    x, a = donors(rng, 5, 30, 6)
    y, b = donors(rng, 5, 25, 6)
    order = rng.permutation(len(b))
    plan = design(a, b[order])
    assert plan.paired
    ours = marginal_tests_by_sample(x, y[order], plan)
    means = [of_each(z, c, lambda s: s.mean(axis=0)) for z, c in ((x, a), (y, b))]
    np.testing.assert_allclose(ours.mean.pval, stats.ttest_rel(*means).pvalue, rtol=1e-9)


def test_distribution_distance_is_between_mean_quantile_functions(rng):
    (x, a), (y, b) = donors(rng, 3, 400, 4, between=0), donors(rng, 3, 400, 4, first=5, between=0)
    ours = marginal_tests_by_sample(x + 1.0, y, design(a, b))
    np.testing.assert_allclose(ours.distribution.stat, 1.0, atol=0.15)
    assert np.all(ours.distribution.pval < 0.05)


def test_many_cells_of_few_donors_are_not_significant_by_number(rng):
    pvals = []
    for _ in range(10):
        (x, a), (y, b) = donors(rng, 4, 100, 60), donors(rng, 4, 100, 60, first=10)
        result = marginal_tests_by_sample(x, y, design(a, b))
        pvals.append([t.pval for t in (result.mean, result.spread, result.distribution)])
        pvals[-1].append(connectivity_test_by_sample(x, y, design(a, b)).pval)
    assert np.all(np.mean(np.array(pvals) < 0.05, axis=(0, 2)) < 0.09)


@pytest.mark.parametrize("paired", [True, False])
def test_connectivity_is_found_with_three_donors_in_each_condition(paired, rng):
    (x, a), (y, b) = donors(rng, 3, 100, 60), donors(rng, 3, 100, 60, first=0 if paired else 10)
    x[:, :15] = 0.7 * rng.normal(size=(300, 1)) + 0.7 * x[:, :15]
    result = connectivity_test_by_sample(x, y, design(a, b))
    assert result.pval[:15].max() < 0.01
    assert result.stat[:15].min() > result.stat[15:].max()


def test_for_one_number_per_sample_the_vector_test_is_that_of_welch(rng):
    values = rng.normal(size=(200, 7))
    plan = design(np.repeat([0, 1, 2], MIN_OBS_PER_SAMPLE), np.repeat([3, 4, 5, 6], MIN_OBS_PER_SAMPLE))
    ours = compare_vectors(values[:, :, None] * values[:, None, :], plan)
    expected = stats.ttest_ind(values[:, :3], values[:, 3:], equal_var=False, axis=1).pvalue
    np.testing.assert_allclose(ours.pval, expected, rtol=1e-9)


def test_connectivity_products_equal_loops(rng):
    (x, a), (y, b) = donors(rng, 3, 20, 5), donors(rng, 3, 20, 5, first=4)
    z = np.stack(
        [
            np.arctanh(np.corrcoef(s.T) * (1 - np.eye(5)))
            for data, codes in ((x, a), (y, b))
            for s in (data[codes == c] for c in np.unique(codes))
        ]
    )
    plan = design(a, b)
    expected = compare_vectors(np.einsum("sjk,tjk->jst", z, z), plan)
    np.testing.assert_allclose(connectivity_test_by_sample(x, y, plan).pval, expected.pval, rtol=1e-9)


def test_is_the_same_for_every_kind_of_array(array_type, rng):
    (x, a), (y, b) = donors(rng, 3, 12, 8), donors(rng, 3, 12, 8, first=4)
    x, y, plan = np.maximum(x, 0), np.maximum(y, 0), design(a, b)
    for compare in (marginal_tests_by_sample, connectivity_test_by_sample):
        expected, ours = compare(x, y, plan), compare(array_type(x), array_type(y), plan)
        if compare is marginal_tests_by_sample:
            expected, ours = expected.distribution, ours.distribution
        np.testing.assert_allclose(ours.pval, expected.pval, rtol=1e-9)


def test_samples_with_few_observations_are_excluded():
    plan = design(np.repeat([0, 1, 2], [9, 9, MIN_OBS_PER_SAMPLE - 1]), np.repeat([3, 4], 9))
    assert plan.sizes == (2, 2)


def test_one_sample_in_both_conditions_does_not_make_pairs():
    assert not design(np.repeat([0, 1], 6), np.repeat([1, 2], 6)).paired


def adjusted_by_hand(values, covariates):
    """Intercept at the given centre, its squared standard error and degrees of freedom, by least squares."""
    columns = np.column_stack([np.ones(len(values)), covariates])
    inverse = np.linalg.inv(columns.T @ columns)
    coefficients = inverse @ columns.T @ values
    df = len(values) - columns.shape[1]
    return coefficients[0], inverse[0, 0] * np.sum((values - columns @ coefficients) ** 2, axis=0) / df, df


def test_a_covariate_of_samples_is_regressed_out_of_their_summaries(rng):
    (x, a), (y, b) = donors(rng, 6, 30, 5), donors(rng, 7, 20, 5, first=10)
    age = rng.normal(size=20)
    plan = design(a, b).with_covariates(age[a][:, None], age[b][:, None])
    ours = marginal_tests_by_sample(x, y, plan).mean
    mean = np.concatenate([age[np.unique(a)], age[np.unique(b)]]).mean()
    found = [
        adjusted_by_hand(of_each(z, c, lambda s: s.mean(axis=0)), age[np.unique(c)] - mean) for z, c in ((x, a), (y, b))
    ]
    (first, v, n), (second, w, m) = found
    np.testing.assert_allclose(ours.stat, (first - second) / np.sqrt(v + w), rtol=1e-9)
    df = (v + w) ** 2 / (v**2 / n + w**2 / m)
    np.testing.assert_allclose(ours.pval, 2 * stats.t.sf(np.abs(ours.stat), df), rtol=1e-9)


def test_within_pairs_the_difference_of_a_covariate_counts(rng):
    (x, a), (y, b) = donors(rng, 7, 30, 5), donors(rng, 7, 25, 5)
    quality = rng.normal(size=(2, 7))
    plan = design(a, b).with_covariates(quality[0][a][:, None], quality[1][b][:, None])
    ours = marginal_tests_by_sample(x, y, plan).mean
    means = [of_each(z, c, lambda s: s.mean(axis=0)) for z, c in ((x, a), (y, b))]
    difference, variance, df = adjusted_by_hand(means[0] - means[1], quality[0] - quality[1])
    np.testing.assert_allclose(ours.stat, difference / np.sqrt(variance), rtol=1e-9)
    np.testing.assert_allclose(ours.pval, 2 * stats.t.sf(np.abs(ours.stat), df), rtol=1e-9)


def test_within_pairs_a_covariate_that_both_share_cancels(rng):
    (x, a), (y, b) = donors(rng, 5, 30, 4), donors(rng, 5, 25, 4)
    age = rng.normal(size=5)
    plan = design(a, b)
    same = plan.with_covariates(age[a][:, None], age[b][:, None])
    assert not same.covariates
    np.testing.assert_array_equal(
        marginal_tests_by_sample(x, y, same).mean.pval, marginal_tests_by_sample(x, y, plan).mean.pval
    )


def test_with_covariates_vectors_of_one_entry_are_numbers(rng):
    """The F ratio of vectors is the square of the t of numbers, where vectors have one entry."""
    plan = design(np.repeat(np.arange(6), 5), np.repeat(np.arange(6, 13), 5))
    age = rng.normal(size=13)
    plan = plan.with_covariates(np.repeat(age[:6], 5)[:, None], np.repeat(age[6:], 5)[:, None])
    values = rng.normal(size=(13, 8))
    products = np.einsum("sj,tj->jst", values, values)
    expected = _compare_numbers(values, plan).pval
    np.testing.assert_allclose(compare_vectors(products, plan).pval, expected, rtol=0.02)


def test_covariates_without_degrees_of_freedom_are_refused(rng):
    codes = np.repeat(np.arange(3), 5), np.repeat(np.arange(3, 7), 5)
    one, two = rng.normal(size=(7, 1)), rng.normal(size=(7, 2))
    design(*codes).with_covariates(one[codes[0]], one[codes[1]])
    with pytest.raises(ValueError, match="take 2 columns, and a condition has 3 samples"):
        design(*codes).with_covariates(two[codes[0]], two[codes[1]])
    constant = np.r_[np.zeros(3), np.arange(4.0)][:, None]
    with pytest.raises(ValueError, match="constant in a condition"):
        design(*codes).with_covariates(constant[codes[0]], constant[codes[1]])
