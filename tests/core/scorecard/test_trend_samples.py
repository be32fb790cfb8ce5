"""Trends over samples against regressions of sample summaries."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from diffnb.core.scorecard.trend_samples import (
    cells_of,
    connectivity_trend_by_sample,
    marginal_trends_by_sample,
    trend_units,
    without_covariates,
)


def data(rng, plan, p=4, n=20, between=0.5):
    """Observations of samples at their doses; `plan` lists sample, dose pairs. One matrix per distinct dose."""
    levels = sorted({dose for _, dose in plan})
    shift = {sample: between * rng.normal(size=p) for sample, _ in plan}
    matrices, doses, samples = [], [], []
    for level in levels:
        own = [sample for sample, dose in plan if dose == level]
        matrices.append(np.concatenate([rng.normal(size=(n, p)) + shift[s] for s in own]))
        doses.append(np.full(n * len(own), float(level)))
        samples.append(np.repeat(own, n))
    return matrices, doses, samples


def means(matrices, doses, samples):
    rows = []
    for x, dose, own in zip(matrices, doses, samples, strict=True):
        rows += [(s, dose[0], x[own == s].mean(axis=0)) for s in np.unique(own)]
    return rows


ONE_DOSE = [(i, d) for i, d in enumerate([0, 0, 1, 2, 2, 5])]
SEVERAL = [(i, d) for i in range(5) for d in (0, 1, 4)]


def test_samples_of_one_dose_are_regressed_on_it(rng):
    given = data(rng, ONE_DOSE)
    units = trend_units(cells_of(given[2], given[1]))
    ours = marginal_trends_by_sample(given[0], units)
    rows = means(*given)
    for j in range(4):
        theirs = stats.linregress([dose for _, dose, _ in rows], [mean[j] for *_, mean in rows])
        np.testing.assert_allclose(ours.tests.mean.pval[j], theirs.pvalue, rtol=1e-9)
        np.testing.assert_allclose([ours.slope[j], ours.error[j]], [theirs.slope, theirs.stderr], rtol=1e-9)
    assert (units.n_single, units.n_multiple) == (6, 0)


def test_samples_of_several_doses_have_slopes_of_their_own(rng):
    given = data(rng, SEVERAL)
    units = trend_units(cells_of(given[2], given[1]))
    ours = marginal_trends_by_sample(given[0], units)
    rows = means(*given)
    for j in range(4):
        slopes = []
        for sample in range(5):
            own = [(dose, mean[j]) for s, dose, mean in rows if s == sample]
            slopes.append(np.polyfit(*zip(*own, strict=True), 1)[0])
        np.testing.assert_allclose(ours.tests.mean.pval[j], stats.ttest_1samp(slopes, 0).pvalue, rtol=1e-9)
        np.testing.assert_allclose(ours.slope[j], np.mean(slopes), rtol=1e-9)
    assert (units.n_single, units.n_multiple) == (0, 5)


def test_both_kinds_of_samples_are_averaged_by_their_precision(rng):
    plan = [*SEVERAL, *((10 + i, d) for i, d in ONE_DOSE)]
    given = data(rng, plan)
    cells = cells_of(given[2], given[1])
    both = trend_units(cells)
    single = trend_units(cells.kept(np.flatnonzero(cells.sample >= 10)))
    several = trend_units(cells.kept(np.flatnonzero(cells.sample < 10)))
    found = [marginal_trends_by_sample(given[0], units) for units in (several, single, both)]
    # variances of the slopes for cells of unit variance, those of one sample correlating with 1/2
    doses = np.array([d for _, d in ONE_DOSE])
    precision = np.array([5 * np.sum((np.array([0, 1, 4]) - 5 / 3) ** 2) / 0.5, np.sum((doses - doses.mean()) ** 2)])
    share = precision / precision.sum()
    np.testing.assert_allclose(found[2].slope, share @ [found[0].slope, found[1].slope], rtol=1e-9)
    errors = np.sqrt(share**2 @ np.square([found[0].error, found[1].error]))
    np.testing.assert_allclose(found[2].error, errors, rtol=1e-9)
    assert (both.n_single, both.n_multiple) == (6, 5)


def test_few_samples_of_a_kind_are_left_out(rng):
    plan = [*ONE_DOSE, (20, 0), (20, 2)]
    given = data(rng, plan)
    units = trend_units(cells_of(given[2], given[1]))
    assert (units.n_single, units.n_multiple) == (6, 0)
    assert 20 not in units.cells.sample


@pytest.mark.parametrize("plan", [[(0, 0), (1, 1)], [(0, 0), (1, 0), (2, 0)], [(0, 0), (0, 1)]])
def test_too_few_samples_are_refused(plan, rng):
    given = data(rng, plan)
    with pytest.raises(ValueError, match="a trend over samples needs 3 or more samples with one dose each"):
        trend_units(cells_of(given[2], given[1]))


def test_covariates_of_samples_are_columns_of_the_regression(rng):
    given = data(rng, ONE_DOSE)
    age = rng.normal(size=6)
    covariates = [age[own][:, None] for own in given[2]]
    matrices, cells = without_covariates(given[0], cells_of(given[2], given[1]), covariates)
    ours = marginal_trends_by_sample(matrices, trend_units(cells))
    rows = means(*given)
    columns = np.array([[1, age[s], dose] for s, dose, _ in rows])
    for j in range(4):
        y = np.array([mean[j] for *_, mean in rows])
        beta, rss, *_ = np.linalg.lstsq(columns, y, rcond=None)
        error = np.sqrt(rss[0] / 3 * np.linalg.inv(columns.T @ columns)[2, 2])
        np.testing.assert_allclose(ours.slope[j], beta[2], rtol=1e-8)
        np.testing.assert_allclose(ours.tests.mean.pval[j], 2 * stats.t.sf(abs(beta[2] / error), 3), rtol=1e-8)


def test_a_covariate_that_is_the_dose_is_refused(rng):
    given = data(rng, ONE_DOSE)
    _, cells = without_covariates(given[0], cells_of(given[2], given[1]), [d[:, None] for d in given[1]])
    with pytest.raises(ValueError, match="covariates determine the dose"):
        trend_units(cells)


@pytest.mark.parametrize("plan", [ONE_DOSE * 1, SEVERAL], ids=["one dose", "several"])
def test_connectivity_of_samples_follows_the_dose(plan, rng):
    given = data(rng, plan, p=50, n=60)
    for x, dose in zip(given[0], given[1], strict=True):
        strength = dose[0] / 8
        x[:, :12] = np.sqrt(1 - strength) * x[:, :12] + np.sqrt(strength) * rng.normal(size=(len(x), 1))
    found = connectivity_trend_by_sample(given[0], trend_units(cells_of(given[2], given[1])))
    assert found.pval[:12].max() < 0.01
    assert np.mean(found.pval[12:] < 0.05) < 0.15


def test_many_cells_of_few_samples_are_not_significant_by_number(rng):
    pvals = []
    for _ in range(10):
        given = data(rng, [*SEVERAL, *((10 + i, d) for i, d in ONE_DOSE)], p=40, n=40)
        units = trend_units(cells_of(given[2], given[1]))
        tests = marginal_trends_by_sample(given[0], units).tests
        connected = connectivity_trend_by_sample(given[0], units)
        pvals.append([t.pval for t in (tests.mean, tests.spread, tests.distribution, connected)])
    assert np.all(np.mean(np.array(pvals) < 0.05, axis=(0, 2)) < 0.09)
