"""Evidence for a leading vector: how permutations decide, and how many are drawn."""

import numpy as np
import pytest
from scipy import stats

from diffnb.core.disc.naming import ALPHA, MAX_PERMUTATIONS, judge, judge_by_rank, prediction_pvalues


def drawn_from(null):
    """Return a source of draws that counts how many were asked for."""
    asked = []

    def draw(numbers):
        asked.extend(numbers)
        return [null[i] for i in numbers]

    return draw, asked


def test_clear_evidence_needs_few_permutations(rng):
    draw, asked = drawn_from(np.exp(0.1 * rng.normal(size=(19, 2))))
    found = judge(np.array([5.0, 4.0]), draw)
    assert found.accepted.all()
    assert asked == list(range(7))


def test_no_evidence_needs_fewer_still(rng):
    draw, asked = drawn_from(np.exp(0.1 * rng.normal(size=(19, 2))))
    found = judge(np.array([0.5, 0.6]), draw)
    assert not found.accepted.any()
    assert len(asked) == 3


def test_doubtful_evidence_draws_all_permutations():
    null = np.exp(0.1 * stats.norm.ppf((np.arange(19) + 0.5) / 19))[:, None]
    draw, asked = drawn_from(np.random.default_rng(0).permutation(null))
    found = judge(np.exp([0.25]), draw)
    assert len(asked) == MAX_PERMUTATIONS
    assert found.pvals[0] > ALPHA
    assert not found.accepted[0]


def test_a_condition_without_evidence_does_not_hold_back_another(rng):
    draw, _ = drawn_from(np.exp(0.1 * rng.normal(size=(19, 2))))
    found = judge(np.array([0.9, 6.0]), draw)
    assert found.accepted.tolist() == [False, True]
    assert found.chance[0] == np.inf
    assert found.chance[1] == found.null_sigma[:, 1].max()


def test_a_tie_with_a_permutation_is_no_evidence():
    null = np.full((19, 1), 1e-6)
    null[2] = 1.0
    found = judge(np.array([1.0 + 1e-12]), drawn_from(null)[0])
    assert not found.accepted[0]


def test_too_few_different_permutations_allow_nothing():
    found = judge(np.array([100.0]), drawn_from(np.ones((2, 1)))[0], n_available=2)
    assert (found.n_permutations, found.accepted[0], found.pvals[0]) == (2, False, 1.0)


def test_fewer_permutations_than_a_round_are_all_drawn(rng):
    draw, asked = drawn_from(np.exp(0.1 * rng.normal(size=(5, 1))))
    judge(np.array([1.5]), draw, n_available=5)
    assert asked == list(range(5))


@pytest.mark.parametrize(("sigma", "expected"), [(0.3, True), (0.9, False)])
def test_far_below_all_permutations_is_marked(sigma, expected):
    found = judge(np.array([sigma]), drawn_from(np.linspace(1, 2, 19)[:, None])[0])
    assert found.below[0] == expected


def test_the_level_is_kept_when_log_sigma_is_normal(rng):
    """3,000 analyses of two conditions in which nothing differs."""
    accepted = []
    for _ in range(3000):
        log_sigma = 0.2 * rng.normal(size=(20, 2))
        accepted.append(judge(np.exp(log_sigma[0]), drawn_from(np.exp(log_sigma[1:]))[0]).accepted.any())
    assert np.mean(accepted) <= 0.015


def test_prediction_p_values_are_those_of_students_t(rng):
    null, observed = rng.normal(size=(9, 2)), np.array([1.0, 3.0])
    t = (observed - null.mean(axis=0)) / (null.std(axis=0, ddof=1) * np.sqrt(10 / 9))
    np.testing.assert_allclose(prediction_pvalues(observed, null), stats.t.sf(t, 8), rtol=1e-12)


def test_what_is_doubtful_is_accepted_on_the_evidence_of_another_test():
    null = np.exp(0.1 * stats.norm.ppf((np.arange(19) + 0.5) / 19))[:, None] * np.ones(3)
    doubtful = judge(np.exp([0.25, 0.25, -1.0]), drawn_from(null)[0])
    assert doubtful.doubtful.tolist() == [True, True, False]
    clear = judge(np.array([9.0, 0.5, 9.0]), drawn_from(null)[0])
    found = doubtful.supported_by(clear)
    assert found.accepted.tolist() == [True, False, False]
    assert found.pvals[0] == clear.pvals[0]
    assert found.pvals[1] == doubtful.pvals[1]


class TestByRank:
    def test_what_exceeds_all_of_99_permutations_is_accepted(self, rng):
        draw, asked = drawn_from(rng.uniform(size=(99, 2)))
        found = judge_by_rank(np.array([1.5, 0.5]), draw, n_available=99)
        assert found.accepted.tolist() == [True, False]
        assert found.pvals[0] == 0.01
        assert len(asked) == 99

    def test_nineteen_are_enough_to_see_that_nothing_is_there(self, rng):
        draw, asked = drawn_from(rng.uniform(size=(99, 2)))
        assert not judge_by_rank(np.array([0.5, 0.4]), draw, n_available=99).accepted.any()
        assert len(asked) == 19

    def test_six_subjects_allow_a_name_and_five_do_not(self, rng):
        null = rng.uniform(size=(31, 2))
        assert judge_by_rank(np.array([1.5, 0.1]), drawn_from(null)[0], n_available=31).accepted[0]
        assert not judge_by_rank(np.array([1.5, 0.1]), drawn_from(null)[0], n_available=15).accepted[0]

    def test_the_level_holds_over_all_conditions_together(self, rng):
        accepted = [
            judge_by_rank(sigma[0], drawn_from(sigma[1:])[0], n_available=31).accepted.any()
            for sigma in rng.uniform(size=(3000, 32, 2))
        ]
        assert np.mean(accepted) <= 0.05
