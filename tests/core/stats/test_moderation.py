"""Moderated variances: the prior is recovered from variances that were drawn from it."""

import numpy as np
import pytest
from scipy import stats

from diffnb.core.stats.moderation import MAX_PRIOR_DF, VariancePrior, variance_prior


@pytest.mark.parametrize(("df", "prior_df"), [(4, 6.0), (9, 20.0)])
def test_the_prior_of_drawn_variances_is_found(rng, df, prior_df):
    true = 0.3 * prior_df / rng.chisquare(prior_df, size=40_000)
    prior = variance_prior(true * rng.chisquare(df, size=true.size) / df, df)
    assert prior.variance == pytest.approx(0.3, rel=0.05)
    assert prior.df == pytest.approx(prior_df, rel=0.15)


def test_equal_variances_have_the_largest_prior(rng):
    prior = variance_prior(0.3 * rng.chisquare(4, size=40_000) / 4, 4)
    assert prior.df > 0.8 * MAX_PRIOR_DF


def test_moderation_is_the_weighted_mean_of_both_variances():
    assert VariancePrior(2.0, 6.0).moderate(np.array([5.0]), 3.0) == pytest.approx((2 * 6 + 5 * 3) / 9)


def test_without_a_prior_variances_stay_as_they_are():
    assert variance_prior(np.array([1.0, 2.0]), 3) == VariancePrior()
    np.testing.assert_array_equal(VariancePrior().moderate(np.array([1.0, 2.0]), 3), [1.0, 2.0])


def test_moderated_t_tests_hold_their_level_where_plain_variances_vary(rng):
    true = 0.3 * 8 / rng.chisquare(8, size=40_000)
    x = np.sqrt(true) * rng.normal(size=(4, true.size))
    variances = x.var(axis=0, ddof=1)
    prior = variance_prior(variances, 3)
    t = x.mean(axis=0) / np.sqrt(prior.moderate(variances, 3) / 4)
    assert np.mean(2 * stats.t.sf(np.abs(t), 3 + prior.df) < 0.01) == pytest.approx(0.01, abs=0.002)
