"""Over-representation against scipy's test of each table."""

import numpy as np
import pytest
from scipy import stats

from diffnb.core.stats.enrichment import over_representation


@pytest.fixture
def drawn(rng):
    return rng.uniform(size=(4, 300)) < 0.1, rng.uniform(size=(7, 300)) < 0.05


def test_every_pair_equals_the_exact_test_of_fisher(drawn):
    lists, sets = drawn
    found = over_representation(lists, sets)
    for i, listed in enumerate(lists):
        for j, members in enumerate(sets):
            both, only_list, only_set = (listed & members).sum(), (listed & ~members).sum(), (~listed & members).sum()
            neither = (~listed & ~members).sum()
            expected = stats.fisher_exact([[both, only_list], [only_set, neither]], alternative="greater")
            assert found.pval[i, j] == pytest.approx(expected.pvalue, rel=1e-10)
            odds = (both + 0.5) * (neither + 0.5) / ((only_list + 0.5) * (only_set + 0.5))
            assert found.log_odds[i, j] == pytest.approx(np.log(odds))


def test_counts_are_those_of_the_background(drawn):
    lists, sets = drawn
    found = over_representation(lists, sets)
    assert found.n_background == 300
    np.testing.assert_array_equal(found.n_list, lists.sum(axis=1))
    np.testing.assert_array_equal(found.n_set, sets.sum(axis=1))


def test_a_set_that_is_the_list_is_as_significant_as_can_be():
    same = np.arange(2000)[None] < 400
    found = over_representation(same, same)
    assert 0 < found.pval[0, 0] < 1e-300
    assert np.isfinite(found.log_odds[0, 0])


def test_empty_lists_and_sets_are_no_evidence():
    none, some = np.zeros((1, 20), dtype=bool), np.arange(20)[None] < 5
    assert over_representation(none, some).pval[0, 0] == 1
    assert over_representation(some, none).pval[0, 0] == 1


def test_random_sets_hold_the_level(rng):
    listed = np.arange(2000)[None] < 100
    sets = np.array([rng.permutation(2000) < 60 for _ in range(4000)])
    pval = over_representation(listed, sets).pval[0]
    for level in (0.05, 0.01):
        assert (pval <= level).mean() <= level + 3 * np.sqrt(level / 4000)
