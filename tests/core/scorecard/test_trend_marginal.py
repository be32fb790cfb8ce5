"""Trends of single features against regressions written plainly."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from diffnb.core.arrays.ops import take_rows
from diffnb.core.scorecard import trend_marginal as module
from diffnb.core.scorecard.trend_marginal import SlopeDesign, marginal_trends

LEVELS = [0.0, 1.0, 3.0, 7.0]
SIZES = [60, 80, 70, 90]


@pytest.fixture(autouse=True)
def formulas(monkeypatch):
    """Keep p-values of formulas, which can be compared with plain ones."""
    monkeypatch.setattr(module, "MIN_EFFECTIVE_OBS", 0.0)


@pytest.fixture
def data(rng):
    matrices = [rng.gamma(1.0, size=(n, 5)) for n in SIZES]
    return matrices, [np.full(n, dose) for n, dose in zip(SIZES, LEVELS, strict=True)]


def robust_t(columns, y):
    """Slope of the last column with an HC3 error, by the textbook."""
    bread = np.linalg.inv(columns.T @ columns)
    beta = bread @ columns.T @ y
    leverage = np.einsum("ij,jk,ik->i", columns, bread, columns)
    meat = columns.T @ (columns * ((y - columns @ beta) ** 2 / (1 - leverage) ** 2)[:, None])
    return beta[-1], np.sqrt((bread @ meat @ bread)[-1, -1])


def effective_df(columns):
    others, dose = columns[:, :-1], columns[:, -1]
    weights = dose - others @ np.linalg.lstsq(others, dose, rcond=None)[0]
    return min(len(columns) - columns.shape[1], (weights @ weights) ** 2 / np.sum(weights**4))


def test_mean_is_a_regression_with_robust_errors(data):
    matrices, doses = data
    ours = marginal_trends(matrices, doses)
    x, dose = np.concatenate(matrices), np.concatenate(doses)
    columns = np.column_stack([np.ones_like(dose), dose])
    for j, y in enumerate(x.T):
        slope, error = robust_t(columns, y)
        np.testing.assert_allclose([ours.slope[j], ours.error[j]], [slope, error], rtol=1e-9)
        pval = 2 * stats.t.sf(abs(slope / error), effective_df(columns))
        np.testing.assert_allclose(ours.tests.mean.pval[j], pval, rtol=1e-9)


def test_spread_is_a_regression_of_distances_from_medians(data):
    matrices, doses = data
    ours = marginal_trends(matrices, doses).tests.spread
    distance = [np.abs(x - np.median(x, axis=0)) * np.sqrt(len(x) / (len(x) - 1)) for x in matrices]
    dose = np.concatenate(doses)
    columns = np.column_stack([np.ones_like(dose), dose])
    for j, y in enumerate(np.concatenate(distance).T):
        slope, error = robust_t(columns, y)
        np.testing.assert_allclose(ours.stat[j], slope / error, rtol=1e-9)


def test_covariates_are_further_columns(data, rng):
    matrices, doses = data
    covariates = [rng.normal(size=(len(x), 2)) + dose[0] for x, dose in zip(matrices, doses, strict=True)]
    ours = marginal_trends(matrices, doses, covariates=covariates)
    dose = np.concatenate(doses)
    columns = np.column_stack([np.ones_like(dose), np.concatenate(covariates), dose])
    for j, y in enumerate(np.concatenate(matrices).T):
        np.testing.assert_allclose([ours.slope[j], ours.error[j]], robust_t(columns, y), rtol=1e-8)


def test_distribution_is_that_of_two_conditions_where_there_are_two(rng):
    from diffnb.core.scorecard.marginal import marginal_tests

    x, y = rng.poisson(1.0, size=(40, 6)).astype(float), rng.poisson(1.4, size=(60, 6)).astype(float)
    trend = marginal_trends([x, y], [np.zeros(40), np.ones(60)]).tests.distribution
    two = marginal_tests(y, x).distribution
    np.testing.assert_allclose(trend.pval, two.pval, rtol=1e-9)


def test_distance_grows_with_the_change_per_standard_deviation_of_the_dose(rng):
    dose = np.repeat([0.0, 1.0, 2.0, 3.0], 3000)
    x = [rng.normal(size=(3000, 1)) + 0.5 * level for level in range(4)]
    found = marginal_trends(x, np.split(dose, 4)).tests.distribution.stat
    np.testing.assert_allclose(found, 0.5 * dose.std(), rtol=0.05)


def test_a_trend_in_spread_is_none_in_mean_and_the_other_way_round(rng):
    n, rejected = 200, np.zeros(2)
    for _ in range(20):
        doses = [np.full(n, d) for d in (0.0, 1.0, 2.0, 5.0)]
        wider = [rng.normal(size=(n, 20)) * (1 + d[0]) for d in doses]
        higher = [rng.normal(size=(n, 20)) + d[0] for d in doses]
        rejected[0] += np.mean(marginal_trends(wider, doses).tests.mean.pval < 0.05) / 20
        rejected[1] += np.mean(marginal_trends(higher, doses).tests.spread.pval < 0.05) / 20
    assert np.all(rejected < 0.09), rejected


def test_a_mean_that_follows_a_continuous_dose_is_no_spread(rng):
    dose = np.sort(rng.lognormal(size=800))
    rejected = []
    for _ in range(10):
        x = rng.normal(size=(800, 20)) + 0.5 * dose[:, None]
        found = marginal_trends(np.split(x, 8), np.split(dose, 8)).tests.spread.pval
        rejected.append(np.mean(found < 0.05))
    assert np.mean(rejected) < 0.09


def test_few_large_doses_leave_few_degrees_of_freedom(rng):
    even = SlopeDesign.of([np.repeat([0.0, 1.0], 100)], None)
    skewed = SlopeDesign.of([np.exp(2 * rng.normal(size=200))], None)
    assert even.df == pytest.approx(198.0)
    assert skewed.df < 30


def test_is_the_same_for_every_kind_of_array(any_array_type, data):
    matrices, doses = data
    sparse = [np.where(x > 1, x, 0.0) for x in matrices]
    plain = marginal_trends(sparse, doses)
    whole = any_array_type(np.concatenate(sparse))
    parts = [take_rows(whole, rows) for rows in np.split(np.arange(sum(SIZES)), np.cumsum(SIZES)[:-1])]
    ours = marginal_trends(parts, doses)
    np.testing.assert_allclose(ours.slope, plain.slope, rtol=1e-9)
    for kind in ("mean", "spread", "distribution"):
        np.testing.assert_allclose(getattr(ours.tests, kind).pval, getattr(plain.tests, kind).pval, rtol=1e-7)


def test_a_constant_feature_has_no_trend(data):
    matrices, doses = data
    for x in matrices:
        x[:, 0] = 0.1
    tests = marginal_trends(matrices, doses).tests
    assert tests.mean.pval[0] == tests.spread.pval[0] == tests.distribution.pval[0] == 1.0
