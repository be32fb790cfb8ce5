"""The card as a whole: adjustment and the dominating kind."""

from __future__ import annotations

import numpy as np
import pytest

from diffnb.core.runtime.threads import n_workers
from diffnb.core.scorecard import card as module
from diffnb.core.scorecard.card import KINDS, ScorecardSettings, dominant_kind, fit_scorecard
from diffnb.core.stats.pvalues import adjusted


@pytest.fixture(scope="module")
def planted():
    """Forty features connected in one condition only, forty in both, thirty shifted, twenty wider."""
    rng = np.random.default_rng(5)
    reference, group = rng.normal(size=(2, 1000, 500))

    def connect(x, where):
        x[:, where] = np.sqrt(0.4) * rng.normal(size=(len(x), 1)) + np.sqrt(0.6) * x[:, where]

    connect(group, slice(0, 40))
    connect(group, slice(40, 80))
    connect(reference, slice(40, 80))
    group[:, 80:110] += 0.3
    group[:, 110:130] *= 1.5
    return fit_scorecard(group, reference)


def auroc(scores, others):
    return np.mean(scores[:, None] > others[None]) + 0.5 * np.mean(scores[:, None] == others[None])


@pytest.mark.parametrize(("kind", "where"), [("mean", (80, 110)), ("spread", (110, 130)), ("connectivity", (0, 40))])
def test_every_kind_stands_out_in_its_own_column(kind, where, planted):
    scores = np.abs(planted.stat[:, KINDS.index(kind)])
    assert auroc(scores[slice(*where)], scores[130:]) >= 0.99
    assert np.mean(planted.kind[slice(*where)] == kind) >= 0.9


def test_a_module_shared_by_both_conditions_is_no_difference(planted):
    scores = planted.stat[:, KINDS.index("connectivity")]
    assert auroc(scores[40:80], scores[130:]) == pytest.approx(0.5, abs=0.1)


def test_shifts_in_mean_and_spread_do_not_show_as_connectivity(planted):
    scores = planted.stat[:, KINDS.index("connectivity")]
    assert auroc(scores[80:130], scores[130:]) == pytest.approx(0.5, abs=0.13)


def test_null_features_are_rejected_at_the_level(planted):
    rejected = np.mean(planted.pval[130:] < 0.05, axis=0)
    assert np.all((rejected > 0.02) & (rejected < 0.085))
    assert np.mean(planted.kind[130:] == "none") > 0.95


def test_every_kind_is_adjusted_once_over_features(planted):
    for pval, pval_adj in zip(planted.pval.T, planted.pval_adj.T, strict=True):
        np.testing.assert_array_equal(pval_adj, adjusted(pval))


def test_no_p_value_is_zero_however_large_the_difference(rng):
    reference = rng.normal(size=(300, 60))
    group = 1e6 + 1e3 * rng.normal(size=(300, 60))
    group[:, :30] = rng.normal(size=(300, 1)) + 1e-6 * group[:, :30]
    for samples in (None, (np.repeat(np.arange(3), 100), np.repeat(np.arange(3, 6), 100))):
        fit = fit_scorecard(group, reference, samples=samples)
        assert (fit.pval > 0).all()
        assert (fit.pval_adj > 0).all()


@pytest.mark.parametrize(
    ("pval_adj", "stat", "kind"),
    [
        ([0.01, 0.02, 1e-9, 0.5], [3, 3, 1, 0], "mean"),
        ([0.9, 0.9, 1e-9, 0.5], [3, 3, 1, 0], "distribution"),
        ([0.9, 0.9, 0.01, 1e-4], [3, 3, 1, 0], "connectivity"),
        ([0.2, 0.06, 0.9, 0.5], [3, 3, 1, 0], "none"),
        ([0.0, 0.0, 0.0, 0.0], [40, -50, 9, 3], "spread"),
        ([np.nan, 0.01, 0.9, np.nan], [np.nan, 3, 1, np.nan], "spread"),
        ([np.nan] * 4, [np.nan] * 4, "none"),
    ],
)
def test_the_kind_is_that_of_the_smallest_adjusted_p_value(pval_adj, stat, kind):
    assert dominant_kind(np.array([stat], dtype=float), np.array([pval_adj]))[0] == kind


@pytest.mark.parametrize("kind", [0, 1])
def test_rounding_does_not_choose_between_tests_that_are_the_same(kind):
    """Of a feature with two values, mean and spread are one test; the former is named whichever came out larger."""
    stat, pval_adj = np.array([[4.5, 4.5, 0.1, 0.2]]), np.array([[0.01, 0.01, 0.02, 0.5]])
    stat[0, kind] *= 1 + 1e-13
    pval_adj[0, kind] *= 1 - 1e-12
    assert dominant_kind(stat, pval_adj)[0] == "mean"


def test_samples_may_be_given_as_codes(rng):
    x, y = rng.normal(size=(2, 60, 8))
    codes = np.repeat(np.arange(3), 20)
    fit = fit_scorecard(x, y, samples=(codes, codes + 3))
    assert fit.pval.shape == (8, 4)
    assert np.isfinite(fit.pval).all()


def test_settings_are_what_the_data_decided(rng):
    x, y = rng.normal(size=(50, 8)), rng.normal(size=(200, 8))
    codes = np.repeat(np.arange(2), 25), np.repeat(np.arange(4), 50)
    assert fit_scorecard(x, y).settings == ScorecardSettings((50, 200), paired=False, n_folds=4, permuted=True)
    assert not fit_scorecard(y, y[:150]).settings.permuted
    assert fit_scorecard(x[:6], y).settings.n_folds == 0
    assert fit_scorecard(x, y, samples=codes).settings == ScorecardSettings(
        (2, 2), paired=True, n_folds=0, permuted=False
    )


@pytest.mark.parametrize("n_obs", [(60, 90), (12, 40)])
def test_the_order_of_rows_changes_nothing_and_that_of_conditions_only_signs(n_obs, rng):
    x, y = (rng.poisson(1.5, size=(n, 25)).astype(float) for n in n_obs)
    fit = fit_scorecard(x, y)
    shuffled = fit_scorecard(rng.permutation(x), rng.permutation(y))
    np.testing.assert_allclose(shuffled.pval, fit.pval, rtol=1e-8)
    np.testing.assert_allclose(shuffled.stat, fit.stat, rtol=1e-8, atol=1e-8)
    swapped = fit_scorecard(y, x)
    np.testing.assert_allclose(swapped.pval, fit.pval, rtol=1e-8)
    np.testing.assert_allclose(np.abs(swapped.stat), np.abs(fit.stat), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("paired", [True, False])
def test_the_order_and_the_names_of_samples_change_nothing(paired, rng):
    x, y = rng.normal(size=(2, 100, 12)) + rng.normal(size=(1, 100, 1))
    codes = np.repeat(np.arange(5), 20)
    fit = fit_scorecard(x, y, samples=(codes, codes + 5 * (not paired)))
    renamed, order = rng.permutation(5), rng.permutation(100)
    other = fit_scorecard(y[order], x[::-1], samples=(renamed[codes][order], renamed[codes][::-1] + 5 * (not paired)))
    np.testing.assert_allclose(other.pval, fit.pval, rtol=1e-8)
    np.testing.assert_allclose(np.abs(other.stat), np.abs(fit.stat), rtol=1e-8, atol=1e-8)


def test_one_job_is_one_thread(rng, monkeypatch):
    seen = []
    tests = module.marginal_tests
    monkeypatch.setattr(module, "marginal_tests", lambda *x, **o: seen.append(n_workers()) or tests(*x, **o))
    fit_scorecard(*rng.normal(size=(2, 20, 4)), n_jobs=1)
    assert seen == [1]


def confounded(rng, *, n_samples=0):
    """A covariate of observations that differs between conditions, and shifts half of the features."""
    n = 40 * max(1, n_samples)
    z = [rng.normal(shift, 1.0, size=(n, 1)) for shift in (0.5, -0.5)]
    loadings = np.arange(30) % 2
    x = [own * loadings + rng.normal(size=(n, 30)) for own in z]
    if n_samples:
        codes = [np.repeat(np.arange(n_samples) + first, 40) for first in (0, n_samples)]
        x = [own + 0.3 * rng.normal(size=(2 * n_samples, 30))[c] for own, c in zip(x, codes, strict=True)]
        return x, z, tuple(codes)
    return x, z, None


@pytest.mark.parametrize("n_samples", [0, 6])
def test_covariates_hold_the_level_of_every_kind(n_samples):
    rejected, without = [], []
    for seed in range(12):
        (x, y), z, codes = confounded(np.random.default_rng(seed), n_samples=n_samples)
        fit = fit_scorecard(x, y, samples=codes, covariates=tuple(z))
        rejected.append(np.mean(fit.pval < 0.05, axis=0))
        without.append(np.mean(fit_scorecard(x, y, samples=codes).pval < 0.05, axis=0))
    assert np.all(np.mean(rejected, axis=0) < 0.1)  # of 360 tests each, more would come up once in 10,000 times
    assert np.mean(without, axis=0)[0] > 0.3


def test_covariates_of_samples_and_of_observations_go_together(rng):
    (x, y), z, codes = confounded(rng, n_samples=6)
    age = rng.normal(size=12)
    both = tuple(np.column_stack([own, age[c]]) for own, c in zip(z, codes, strict=True))
    fit = fit_scorecard(x, y, samples=codes, covariates=both)
    alone = fit_scorecard(x, y, samples=codes, covariates=tuple(z))
    assert np.isfinite(fit.pval).all()
    assert not np.allclose(fit.pval, alone.pval)


def test_connectivity_has_as_many_observations_less_as_covariates_have_columns(rng):
    from diffnb.core.arrays.residuals import covariate_designs, residuals
    from diffnb.core.scorecard.connectivity import connectivity_test

    both, covariates = ([rng.normal(size=(60, p)) for _ in range(2)] for p in (8, 2))
    found = fit_scorecard(*both, covariates=tuple(covariates)).pval[:, 3]
    left = residuals(both, covariate_designs(covariates), exchangeable=False)
    np.testing.assert_allclose(found, connectivity_test(*left, n_covariates=2).pval)
    assert np.isfinite(found).all()


def test_the_largest_of_numbers_is_ranked_without_a_warning():
    stat = np.array([[1e305, 2.0, 0.1, 0.1], [np.inf, 2.0, 0.1, 0.1]])
    assert dominant_kind(stat, np.full((2, 4), 1e-3)).tolist() == [KINDS[0]] * 2
