"""Preservation against random sets: groups that are there are found, others are not."""

import numpy as np
import pytest

from diffnb.core.preservation import COMPOSITES, STATISTICS, PreservationOptions, fit_preservation

FEW = PreservationOptions(n_permutations=99)
GROUPS = [np.arange(12), np.arange(12, 24)]


def data(rng, n_obs, connected):
    """Features whose variances differ; groups of twelve of which some are connected."""
    x = rng.normal(size=(n_obs, 90))
    for group in connected:
        x[:, GROUPS[group]] += rng.normal(size=(n_obs, 1)) * np.linspace(0.5, 1.5, 12)
    return x * np.geomspace(0.5, 2, 90)


def test_groups_that_are_there_are_told_from_those_that_are_not(rng):
    found = fit_preservation(data(rng, 150, [0, 1]), data(rng, 100, [0]), GROUPS, FEW)
    assert found.z_pval[0].max() == 0.01
    assert found.z_pval[1].min() > 0.05
    assert found.observed.shape == (2, len(STATISTICS))
    assert found.z.shape == (2, len(COMPOSITES))


def test_absent_groups_hold_the_level(rng):
    pvals = []
    for seed in range(60):
        options = PreservationOptions(n_permutations=39, seed=seed)
        found = fit_preservation(data(rng, 60, [0]), data(rng, 60, []), GROUPS[:1], options)
        pvals.append(found.z_pval[0])
    shares = np.mean(np.array(pvals) <= 0.05, axis=0)
    assert shares.max() <= 0.15


def test_every_kind_of_matrix_gives_the_same(rng, any_array_type):
    reference, query = data(rng, 60, [0, 1]), data(rng, 50, [0])
    few = PreservationOptions(n_permutations=9)
    expected = fit_preservation(reference, query, GROUPS, few)
    found = fit_preservation(any_array_type(reference), any_array_type(query), GROUPS, few)
    for name in ("observed", "pval", "z"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-7)


def test_the_difference_from_other_observations_is_compared_too(rng):
    found = fit_preservation(
        data(rng, 100, [0, 1]), data(rng, 100, [0, 1]), GROUPS, FEW, others=(data(rng, 80, [1]), None)
    )
    assert found.difference[0] > 0.3 > 0.15 > abs(found.difference[1])
    assert found.difference_pval[0] == 0.01 < 0.05 < found.difference_pval[1]


def test_differences_between_samples_are_no_connections(rng):
    samples = np.repeat(np.arange(8), 20)
    query = data(rng, 160, []) + 3 * rng.normal(size=(8, 1))[samples] * (np.arange(90) < 12)
    reference = data(rng, 160, [0])
    without, within = (
        fit_preservation(reference, query, GROUPS[:1], FEW, samples=(None, codes)) for codes in (None, samples)
    )
    assert without.z_pval[0, 0] == 0.01
    assert within.z_pval[0, 0] > 0.05
    assert within.n_samples == 8
    assert within.sample_pval[0] > 0.01
    there = fit_preservation(reference, data(rng, 160, [0]), GROUPS[:1], FEW, samples=(samples, samples))
    assert there.sample_pval[0] < 1e-4


def test_random_sets_of_similar_variance_are_not_fooled_by_it(rng):
    # all features with a large variance are weakly connected, group or not
    query = data(rng, 300, [])
    query[:, 60:] += 1.2 * rng.normal(size=(300, 1))
    group, reference = [np.arange(66, 90, 2)], rng.normal(size=(300, 90)) + rng.normal(size=(300, 1))
    matched, not_matched = (
        fit_preservation(reference, query, group, PreservationOptions(n_permutations=99, match_variance=m))
        for m in (True, False)
    )
    assert not_matched.z_pval[0, 0] == 0.01
    assert matched.z_pval[0, 0] > 0.05


def test_the_same_seed_gives_the_same_whatever_the_number_of_threads(rng):
    reference, query = data(rng, 60, [0, 1]), data(rng, 50, [0])
    one, two = (fit_preservation(reference, query, GROUPS, FEW, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.pval, two.pval)


def test_without_groups_nothing_is_compared(rng):
    assert fit_preservation(data(rng, 20, []), data(rng, 20, []), [], FEW).z.shape == (0, 3)


def test_too_few_samples_are_refused(rng):
    with pytest.raises(ValueError, match="1 sample with 10"):
        fit_preservation(
            data(rng, 30, []),
            data(rng, 30, []),
            GROUPS,
            FEW,
            samples=(None, np.r_[np.zeros(25), np.ones(5)].astype(int)),
        )
