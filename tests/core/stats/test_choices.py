import numpy as np
import pytest

from diffnb.core.stats.choices import chosen, describe, limited

K = np.array([1, 2, 4, 8, 16])


@pytest.mark.parametrize(("index", "edge"), [(0, "low"), (2, None), (4, "high")])
def test_the_end_of_the_range_is_an_edge(index, edge):
    assert chosen(K, np.zeros(5), index).at_edge == edge


def test_a_single_candidate_is_no_edge():
    assert chosen(K[:1], np.zeros(1), 0).at_edge is None


def test_candidates_within_the_error_form_the_flat_range():
    found = chosen(K, np.array([0.0, 0.8, 1.0, 0.9, 0.3]), 2, error=0.25)
    assert (found.value, found.flat_from, found.flat_to) == (4, 2, 8)
    assert found.flat


def test_the_flat_range_ends_at_the_first_candidate_beyond_the_error():
    found = chosen(K, np.array([1.0, 0.2, 1.0, 0.2, 1.0]), 2, error=0.1)
    assert (found.flat_from, found.flat_to) == (4, 4)
    assert not found.flat


def test_every_candidate_has_an_error_of_its_difference():
    found = chosen(K, np.array([0.0, 0.9, 1.0, 0.9, 0.0]), 2, error=np.array([0.0, 0.05, 0.0, 0.2, 0.0]))
    assert (found.flat_from, found.flat_to) == (4, 8)


def test_neighbouring_numbers_are_no_flat_range():
    assert not chosen(np.arange(10, 16), np.ones(6), 2).flat


def test_the_chosen_candidate_is_in_the_range_whatever_its_error():
    found = chosen(K, np.arange(5.0), 4, error=np.full(5, np.nan))
    assert (found.flat_from, found.flat_to) == (16, 16)


def test_a_decided_choice_needs_no_words():
    assert describe(chosen(K, np.array([0.0, 0.0, 1.0, 0.0, 0.0]), 2), "n_clusters", "gap statistic") == ""


def test_edge_and_flat_range_are_named_in_one_sentence():
    found = chosen(1000 * K, np.array([0.0, 0.0, 0.9, 1.0, 1.0]), 4, error=0.2)
    assert describe(found, "n_clusters", "gap statistic") == (
        "n_clusters=16,000 is the largest number tried and is one of many: the gap statistic is flat from 4,000 to"
        " 16,000, within one standard error."
    )


def test_a_rule_without_a_criterion_knows_its_ends_only():
    found = limited(5, 1, 5)
    assert (found.at_edge, found.flat) == ("high", False)
    assert limited(3, 1, 5).at_edge is None
    assert limited(1, 1, 1).at_edge is None
