"""Contrasts of units against tests of scipy and plain least squares."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import helmert

from diffnb.core.scorecard.strata import (
    Strata,
    compare_numbers_in,
    compare_vectors_in,
    effect_in,
    intercept,
    weight_of_first,
)


def two_groups(n, m):
    zero, other = np.zeros((n - 1, m)), np.zeros((m - 1, n))
    effect = np.concatenate([np.full(n, 1 / n), np.full(m, -1 / m)])
    return Strata([n, m], effect, [np.hstack([helmert(n), zero]), np.hstack([other, helmert(m)])])


def test_two_strata_give_the_test_of_welch(rng):
    x = rng.normal(size=(11, 4)) * np.repeat([1.0, 3.0], [5, 6])[:, None]
    ours = compare_numbers_in(x, two_groups(5, 6))
    theirs = stats.ttest_ind(x[:5], x[5:], equal_var=False)
    np.testing.assert_allclose(ours.pval, theirs.pvalue, rtol=1e-9)
    np.testing.assert_allclose(ours.stat, theirs.statistic, rtol=1e-9)


def test_one_stratum_gives_a_one_sample_test(rng):
    x = rng.normal(0.5, 1.0, size=(7, 3))
    size, weights, residuals = intercept(7)
    effect, error, df = effect_in(x, Strata([size], weights, [residuals]))
    theirs = stats.ttest_1samp(x, 0.0)
    np.testing.assert_allclose(effect / error, theirs.statistic, rtol=1e-9)
    assert df == 6


def test_an_intercept_at_covariates_is_that_of_least_squares(rng):
    z, y = rng.normal(size=(9, 2)), rng.normal(size=9)
    size, weights, residuals = intercept(9, z)
    columns = np.column_stack([np.ones(9), z])
    beta, rss, *_ = np.linalg.lstsq(columns, y, rcond=None)
    np.testing.assert_allclose(weights @ y, beta[0], rtol=1e-9)
    np.testing.assert_allclose(np.sum((residuals @ y) ** 2), rss[0], rtol=1e-9)
    np.testing.assert_allclose(1 / size, np.linalg.inv(columns.T @ columns)[0, 0], rtol=1e-9)


def test_the_more_precise_of_two_estimates_weighs_more():
    assert weight_of_first(1.0, 3.0) == 0.75


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_vectors_differ_only_where_they_are_shifted(shift, rng):
    x = rng.normal(size=(8, 30, 50))
    x[:4] += shift
    products = np.einsum("sqj,tqj->jst", x, x)
    pval = compare_vectors_in(products, two_groups(4, 4)).pval
    assert np.mean(pval < 0.05) == 1.0 if shift else np.mean(pval < 0.05) < 0.15
