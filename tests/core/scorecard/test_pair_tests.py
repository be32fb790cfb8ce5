"""Tests of single pairs, against scipy on all pairs at once."""

import numpy as np
import pytest
from scipy import stats

from diffnb.core.scorecard.by_sample import design
from diffnb.core.scorecard.correlation_blocks import RowGroups
from diffnb.core.scorecard.pair_tests import ObservationTest, SampleTest, adjusted_among, leading, scan
from diffnb.core.stats.moderation import VariancePrior


def fisher_z(x):
    return np.arctanh(np.corrcoef(x.T)[np.triu_indices(x.shape[1], 1)])


def by_observation(x, y):
    return ObservationTest([RowGroups(each, [np.arange(len(each))]) for each in (x, y)])


def test_observations_are_compared_by_the_difference_of_their_fisher_z(rng):
    x, y = rng.normal(size=(50, 9)), rng.normal(size=(40, 9))
    found = scan(by_observation(x, y), 1.0, None)
    t = (fisher_z(x) - fisher_z(y)) / np.sqrt(1 / 47 + 1 / 37)
    np.testing.assert_allclose(found.pval, 2 * stats.t.sf(np.abs(t), 37), rtol=1e-9)
    np.testing.assert_array_equal([found.first, found.second], np.triu_indices(9, 1))


def test_only_pairs_with_low_p_values_are_returned(rng):
    x, y = rng.normal(size=(50, 30)), rng.normal(size=(40, 30))
    every, some = (scan(by_observation(x, y), level, 2) for level in (1.0, 0.05))
    np.testing.assert_allclose(np.sort(some.pval)[:5], np.sort(every.pval)[:5])
    assert set(every.pval[every.pval <= 0.05]) <= set(some.pval)
    assert some.pval.size < 0.2 * every.pval.size


def samples_of(rng, paired):
    group, reference = np.repeat(np.arange(4), 15), np.repeat(np.arange(4) + (0 if paired else 4), 12)
    return rng.normal(size=(60, 7)), rng.normal(size=(48, 7)), design(group, reference)


def compared(x, y, samples):
    conditions = [RowGroups(x, samples.group), RowGroups(y, samples.reference)]
    return SampleTest(conditions, samples, [VariancePrior()] * 3), [
        np.array([fisher_z(each[rows]) for rows in own]) for each, own in ((x, samples.group), (y, samples.reference))
    ]


def test_samples_are_compared_by_welch_without_a_prior(rng):
    test, (a, b) = compared(*samples_of(rng, paired=False))
    found = scan(SampleTest(test.conditions, test.samples, test.priors[:2]), 1.0, None)
    np.testing.assert_allclose(found.pval, stats.ttest_ind(a, b, equal_var=False).pvalue, rtol=1e-8)
    np.testing.assert_allclose(found.z, [a.mean(axis=0), b.mean(axis=0)], atol=1e-12)
    np.testing.assert_allclose(found.error[0], stats.sem(a), rtol=1e-9)


def test_samples_with_both_conditions_are_compared_with_themselves(rng):
    test, (a, b) = compared(*samples_of(rng, paired=True))
    found = scan(test, 1.0, None)
    np.testing.assert_allclose(found.pval, stats.ttest_rel(a, b).pvalue, rtol=1e-8)


def test_samples_without_a_difference_hold_their_level(rng):
    group, reference = np.repeat(np.arange(3), 40), np.repeat(np.arange(3, 6), 40)
    x, y = (np.log1p(rng.poisson(1.0, size=(120, 80))) for _ in range(2))
    samples = design(group, reference)
    test = SampleTest.of([RowGroups(x, samples.group), RowGroups(y, samples.reference)], samples)
    pval = scan(test, 1.0, None).pval
    assert np.mean(pval < 0.05) == pytest.approx(0.05, abs=0.015)
    assert np.mean(pval < 1e-3) < 3e-3


def test_adjusting_the_smallest_equals_adjusting_all(rng):
    pval = rng.uniform(size=2000) ** 3
    expected = stats.false_discovery_control(pval)
    small = pval[pval <= 0.05]
    found = adjusted_among(small, small, pval.size)
    significant = expected[pval <= 0.05] <= 0.05
    np.testing.assert_allclose(found[significant], expected[pval <= 0.05][significant], rtol=1e-12)
    assert (found[~significant] > 0.05).all()
    np.testing.assert_allclose(adjusted_among(pval, pval, pval.size), expected, rtol=1e-12)


def test_the_leading_pairs_are_the_most_significant(rng):
    found = scan(by_observation(rng.normal(size=(50, 9)), rng.normal(size=(40, 9))), 1.0, None)
    np.testing.assert_array_equal(found.pval[leading(found, 5)], np.sort(found.pval)[:5])
