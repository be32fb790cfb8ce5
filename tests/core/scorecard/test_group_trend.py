"""Trends of the correlation within groups of features."""

from __future__ import annotations

import numpy as np
import pytest

from diffnb.core.scorecard.group_trend import fit_group_trend, pair_correlations, slope_test

DOSES = (0.0, 1.0, 3.0, 10.0)


def levels_of(x, dose):
    known = np.unique(dose)
    return [x[dose == d] for d in known], [dose[dose == d] for d in known]


def connected(rng, n, strength, n_features=8):
    """Features that share a factor whose weight is `strength` in every observation."""
    return strength[:, None] * rng.normal(size=(n, 1)) + rng.normal(size=(n, n_features))


def test_levels_hold_the_mean_correlation_of_all_pairs(rng):
    dose = np.repeat(DOSES, 30)
    x = connected(rng, dose.size, dose / 5)
    x[:, 1] *= -1  # signs are those of the leading component
    found = fit_group_trend(*levels_of(x, dose), [np.arange(8)], n_permutations=19)
    signs = np.where(np.arange(8) == 1, -1, 1)
    for level, d in enumerate(DOSES):
        r = np.corrcoef(x[dose == d].T) * np.outer(signs, signs)
        assert found.levels[0, level] == pytest.approx(r[np.triu_indices(8, 1)].mean(), abs=1e-12)


def test_the_slope_is_that_of_the_correlations_over_the_dose(rng):
    dose = np.repeat(DOSES, 25)
    x = connected(rng, dose.size, dose / 5)
    found = fit_group_trend(*levels_of(x, dose), [np.arange(8)], n_permutations=99)
    assert found.slope[0] == pytest.approx(np.polyfit(DOSES, found.levels[0], 1)[0], abs=1e-12)
    assert found.low[0] < found.slope[0] < found.high[0]
    assert found.pval[0] == 1 / 100


@pytest.mark.parametrize("kind", ["nothing", "means and spreads", "the same correlation"])
def test_where_no_correlation_follows_the_dose_five_percent_are_called(kind):
    pvals = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        dose = rng.permutation(np.repeat(DOSES, [40, 30, 20, 30]))
        x = connected(rng, dose.size, np.full(dose.size, 0.8 * (kind == "the same correlation")))
        if kind == "means and spreads":
            x = x * (1 + dose[:, None]) + 3 * dose[:, None]
        pvals.append(fit_group_trend(*levels_of(x, dose), [np.arange(8)], n_permutations=39, seed=seed).pval[0])
    # binomial: .05 ± .046 holds in 997 of 1000 runs of a test of exact level
    assert 0.005 <= np.mean(np.array(pvals) <= 0.05) <= 0.1


def test_a_dose_that_varies_within_levels_connects_nothing(rng):
    dose = np.sort(rng.uniform(0, 10, size=300))
    x = 2 * dose[:, None] + rng.normal(size=(300, 6))
    levels = np.array_split(np.arange(300), 5)
    own = pair_correlations([x[i] for i in levels], [dose[i] for i in levels], [[np.arange(60)]] * 5, np.arange(6))
    assert np.abs([cell.mean() for cell in own]).max() < 0.15


def test_a_feature_that_is_constant_at_a_level_counts_as_uncorrelated(rng):
    dose = np.repeat([0.0, 1.0], 40)
    x = connected(rng, 80, np.full(80, 1.0), n_features=3)
    x[dose == 0, 2] = 5.0
    found = fit_group_trend(*levels_of(x, dose), [np.arange(3)], n_permutations=19)
    r = np.corrcoef(x[dose == 0, :2].T)[0, 1]
    assert found.levels[0, 0] == pytest.approx(r / 3, abs=1e-12)


def test_samples_are_the_units_where_they_are_given():
    false, true = [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        sample = np.repeat(np.arange(12), 20)
        dose = np.repeat([0.0, 1.0, 2.0], 4)[sample]
        # donors differ in how connected they are: with observations as units this would be a trend in many draws
        own = np.abs(rng.normal(1, 0.7, size=12))[sample]
        for found, strength in ((false, own), (true, own + dose)):
            x = connected(rng, sample.size, strength)
            of_level = [sample[dose == d] for d in np.unique(dose)]
            fit = fit_group_trend(*levels_of(x, dose), [np.arange(8)], samples=of_level)
            found.append(fit.pval[0] <= 0.05)
            assert (fit.n_single, fit.n_multiple) == (12, 0)
    assert np.mean(false) <= 0.12
    assert np.mean(true) > 0.5


def test_samples_with_several_doses_are_compared_with_themselves(rng):
    sample = np.tile(np.repeat(np.arange(5), 20), 3)
    dose = np.repeat([0.0, 1.0, 2.0], 100)
    x = connected(rng, 300, dose)
    fit = fit_group_trend(*levels_of(x, dose), [np.arange(8)], samples=[sample[dose == d] for d in (0, 1, 2)])
    assert (fit.n_single, fit.n_multiple) == (0, 5)
    assert fit.pval[0] < 0.01


def test_a_permutation_p_value_is_never_zero_and_the_same_for_the_same_seed(rng):
    values, dose = rng.normal(size=50), np.arange(50.0)
    first, second = (slope_test(values + dose, dose, 19, np.random.default_rng(1)) for _ in range(2))
    assert first == second
    assert first[-1] == 1 / 20
