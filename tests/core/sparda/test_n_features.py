import numpy as np
import pytest

from diffnb.core.sparda.cross_validation import CrossValidation
from diffnb.core.sparda.fit import SpardaOptions, fit_sparda
from diffnb.core.sparda.n_features import choose_n_features

KS = np.array([1, 2, 4, 8])


def validated(objective, *, chance=0.0, n_repeats=1):
    """Folds with these objectives, and permuted labels that spread a little around `chance`."""
    objective = np.atleast_2d(objective) * np.ones((10 * n_repeats, 1))
    spread = 0.01 * np.random.default_rng(0).normal(size=(19, *objective.shape))
    return CrossValidation(objective, np.asarray(chance) + spread - spread.mean(axis=0), n_repeats)


@pytest.fixture
def noise(rng):
    drawn = 0.1 * rng.normal(size=(10, 1))
    return drawn - drawn.mean()


class TestNumber:
    def test_is_the_best_if_folds_agree(self, noise):
        assert choose_n_features(KS, validated(np.array([0.5, 0.9, 1.0, 0.8]) + noise)).choice.value == 4

    def test_is_the_fewest_that_fall_short_by_a_quarter_of_a_standard_error(self, noise):
        apart = noise * np.array([1.0, -1.0, 1.0, 1.0])
        scale = 0.2 * (2 * noise).std() / np.sqrt(10)
        height = np.array([0.1, 0.3 - scale, 0.3, 0.2])
        assert choose_n_features(KS, validated(height + noise)).choice.value == 4, "folds agree"
        assert choose_n_features(KS, validated(height + apart)).choice.value == 2, "folds disagree by more"

    def test_is_the_fewest_that_fall_short_by_one_percent(self):
        assert choose_n_features(KS, validated([0.5, 0.995, 1.0, 0.8])).choice.value == 2
        assert choose_n_features(KS, validated([0.5, 0.98, 1.0, 0.8])).choice.value == 4

    def test_does_not_follow_what_permuted_labels_have_as_well(self):
        """A gene with a long tail has a large divergence whatever the labels."""
        long_tail = [0.9, 0.2, 0.2, 0.2]
        assert choose_n_features(KS, validated([1.0, 0.8, 0.5, 0.4], chance=long_tail)).choice.value == 2

    def test_is_the_same_for_repeats_of_the_same_folds(self, noise):
        objective = np.array([0.5, 0.99, 1.0, 0.8]) + noise * np.array([1.0, -1.0, 1.0, 1.0])
        once = choose_n_features(KS, validated(objective))
        many = np.tile(objective, (3, 1))
        thrice = choose_n_features(KS, CrossValidation(many, np.zeros((19, *many.shape)), 3), tested=False)
        assert once.index == thrice.index

    def test_is_one_if_populations_are_equal(self):
        equal = CrossValidation(np.zeros((5, 4)), np.zeros((19, 5, 4)), 1)
        found = choose_n_features(KS, equal)
        assert (found.choice.value, found.rising, found.by_chance) == (1, False, True)


class TestRising:
    """Where nearly all features differ, the divergence rises up to the last."""

    def test_takes_the_fewest_that_reach_95_percent(self):
        ks = np.array([10, 30, 100, 300, 1000])
        found = choose_n_features(ks, validated([0.3, 0.7, 0.96, 0.98, 1.0]))
        assert (found.choice.value, found.rising) == (100, True)
        assert found.misleading
        assert "n_features=100 reaches 95 % of the largest held-out divergence" in found.describe()
        assert "most of the 1,000 features" in found.describe()

    def test_is_not_a_maximum_within_the_range(self):
        found = choose_n_features(np.array([10, 100, 300, 1000]), validated([0.3, 0.97, 1.0, 0.8]))
        assert (found.choice.value, found.rising) == (300, False)

    def test_is_no_question_for_a_single_feature(self):
        found = choose_n_features(np.array([1]), validated([1.0]))
        assert (found.choice.value, found.rising, found.describe()) == (1, False, "")

    def test_keeps_all_features_if_each_is_needed(self):
        found = choose_n_features(KS, validated([0.1, 0.2, 0.5, 1.0]))
        assert (found.choice.value, found.choice.at_edge) == (8, "high")
        assert found.misleading


class TestChance:
    def test_is_reported_if_nothing_differs(self):
        found = choose_n_features(KS, validated([0.5, 0.5, 0.5, 0.5], chance=0.5))
        assert found.by_chance
        assert found.misleading
        assert "no more than with permuted labels" in found.describe()

    def test_is_excluded_by_a_difference(self):
        found = choose_n_features(KS, validated([0.5, 0.9, 0.6, 0.5], chance=0.1))
        assert found.pval == 0.05
        assert not found.misleading
        assert found.describe() == ""

    def test_is_not_judged_where_observations_are_not_exchangeable(self):
        found = choose_n_features(KS, validated([0.5, 0.5, 0.5, 0.5], chance=0.5), tested=False)
        assert np.isnan(found.pval)
        assert not found.by_chance

    @pytest.mark.slow
    def test_level_holds_where_nothing_differs(self):
        """Half of the draws have long tails, in which held-out divergences vary by orders of magnitude."""
        rejected = []
        for seed in range(40):
            x, y = np.random.default_rng([9, seed]).normal(size=(2, 60, 12))
            x, y = (np.exp(1.2 * x), np.exp(1.2 * y)) if seed % 2 else (x, y)
            found = fit_sparda(x, y, SpardaOptions(seed=seed)).projections[0].count
            rejected.append(not found.by_chance)
        # 99 % of an exact test: at most 6 of 40
        assert sum(rejected) <= 6
