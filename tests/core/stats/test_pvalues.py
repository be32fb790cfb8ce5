import numpy as np
import pytest
from scipy.stats import false_discovery_control

from diffnb.core.stats.pvalues import MIN_PVALUE, adjusted, floored, monotone, permutation_pvalues


def test_permutation_pvalues_are_never_below_one_in_n_plus_one():
    assert (permutation_pvalues(np.ones((2, 3)), np.zeros((19, 2, 3))) == 0.05).all()


def test_permutation_pvalues_count_draws_that_reach_the_observed():
    null = np.array([[1.0], [2.0], [3.0]])
    assert permutation_pvalues(np.array([2.0]), null)[0] == 3 / 4


def test_rounding_does_not_decide_a_tie():
    assert permutation_pvalues(np.array([0.3]), np.array([[0.3 - 1e-15]]))[0] == 1.0
    nearly = np.array([[0.3 - 1e-11]])
    assert permutation_pvalues(np.array([0.3]), nearly)[0] == 0.5
    assert permutation_pvalues(np.array([0.3]), nearly, tolerance=1e-9)[0] == 1.0


def test_no_pvalue_of_a_distribution_is_zero_and_none_exceeds_one():
    np.testing.assert_array_equal(floored(np.array([0.0, 0.5, 1 + 1e-12])), [MIN_PVALUE, 0.5, 1.0])
    assert np.isfinite(np.log(floored(np.zeros(1)))).all()


def test_what_was_not_tested_stays_so():
    assert np.isnan(floored(np.array([np.nan]))).all()
    assert np.isnan(adjusted(np.array([np.nan, 0.01]))).tolist() == [True, False]


def test_a_component_is_no_more_significant_than_those_before_it():
    pvals = np.array([[0.01, 0.3, 0.02], [0.5, 0.1, 0.9]])
    np.testing.assert_array_equal(monotone(pvals), [[0.01, 0.3, 0.3], [0.5, 0.5, 0.9]])


def test_adjusting_is_benjamini_and_hochberg_over_what_was_tested(rng):
    pvals = np.array([0.01, 0.02, np.nan, 0.5])
    assert adjusted(pvals)[[0, 1, 3]] == pytest.approx([0.03, 0.03, 0.5])
    pvals = rng.random(50)
    pvals[[3, 10]] = np.nan
    tested = ~np.isnan(pvals)
    np.testing.assert_array_equal(np.isnan(adjusted(pvals)), ~tested)
    np.testing.assert_allclose(adjusted(pvals)[tested], false_discovery_control(pvals[tested]))
    assert np.isnan(adjusted(np.array([np.nan]))).all()
