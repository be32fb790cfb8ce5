import numpy as np
import pytest

from diffnb.core.disc.algorithm import DiscFit, refit
from diffnb.core.disc.feature_groups import FeatureGroups, feature_groups
from diffnb.core.disc.paired import average, fit_subjects
from diffnb.core.disc.replication import (
    MAX_SPLITS,
    MAX_SPLITS_REFITTED,
    Agreement,
    half_splits,
    random_split,
    replication_over_samples,
    replication_over_subjects,
    shared_members,
)
from diffnb.core.disc.settings import DiscSettings, FeatureGraphSettings

SETTINGS = DiscSettings(FeatureGraphSettings(8), (4, 4), n_components=3)
N_OBS, N_FEATURES = 50, 40
PLANTED = slice(10, 20)


def recorded(rng, n_samples, *, planted_in=(1,)):
    """Samples with both conditions; features 10–19 are correlated in those named, 0–9 in both."""
    matrices = []
    for condition in range(2):
        x = rng.normal(size=(n_samples * N_OBS, N_FEATURES))
        x[:, :10] += 1.2 * rng.normal(size=(len(x), 1))
        if condition in planted_in:
            x[:, PLANTED] += 1.2 * rng.normal(size=(len(x), 1))
        matrices.append(x)
    return matrices, [np.repeat(np.arange(n_samples), N_OBS)] * 2


def fitted(rng, n_subjects, **how):
    fits = fit_subjects(*recorded(rng, n_subjects, **how), range(n_subjects), SETTINGS)
    joint = average(fits)
    groups = [feature_groups(v, s, n_clusters=2, n_leading=1) for v, s in zip(joint.mean, joint.sigma, strict=True)]
    return fits, groups


def no_groups():
    return FeatureGroups(np.zeros(N_FEATURES, dtype=int), np.ones(N_FEATURES), 0, 1)


class TestHalves:
    @pytest.mark.parametrize(("n", "expected"), [(4, 3), (5, 10), (6, 10), (7, 20), (30, 20)])
    def test_there_are_as_many_as_samples_allow_up_to_a_limit(self, n, expected, rng):
        assert len(half_splits(n, 20, rng)) == expected

    @pytest.mark.parametrize("n", [4, 5, 9, 12])
    def test_every_sample_is_in_one_half(self, n, rng):
        for left, right in [*half_splits(n, 20, rng), random_split(n, rng)]:
            assert sorted([*left, *right]) == list(range(n))
            assert len(right) - len(left) == n % 2

    def test_no_split_appears_twice_where_all_are_made(self, rng):
        for n in (4, 5, 6):
            seen = {frozenset((frozenset(map(int, a)), frozenset(map(int, b)))) for a, b in half_splits(n, 20, rng)}
            assert len(seen) == len(half_splits(n, 20, rng))


class TestSubjects:
    def test_a_group_that_all_subjects_have_replicates(self, rng):
        found = replication_over_subjects(*fitted(rng, 8), seed=0)
        assert found.vectors.replicates[1, 0]
        assert found.groups.replicates[1, 0]
        assert found.groups.observed[1, 0] > 0.9
        assert (found.n_splits, found.n_samples) == (MAX_SPLITS, 8)

    @pytest.mark.parametrize("seed", range(3))
    def test_what_both_conditions_share_does_not_replicate(self, seed):
        fits, groups = fitted(np.random.default_rng(seed), 8, planted_in=())
        found = replication_over_subjects(fits, groups, seed=seed)
        assert not found.groups.replicates.any()
        assert not found.vectors.replicates[:, 0].any()

    def test_a_condition_without_groups_has_vectors_only(self, rng):
        fits, groups = fitted(rng, 6)
        found = replication_over_subjects(fits, [no_groups(), groups[1]], seed=0)
        assert np.isfinite(found.vectors.observed).all()
        assert np.isnan(found.groups.observed[0]).all()
        assert np.isnan(found.partitions.observed[0])
        assert np.isfinite(found.groups.observed[1]).all()
        assert not found.groups.replicates[0].any()

    def test_three_subjects_are_too_few(self, rng):
        assert replication_over_subjects(*fitted(rng, 3), seed=0) is None

    def test_four_subjects_can_replicate(self, rng):
        found = replication_over_subjects(*fitted(rng, 4), seed=0)
        assert found.n_splits == 3
        assert found.groups.replicates[1, 0]

    def test_vectors_are_compared_as_averages_of_the_halves(self, rng):
        """With four subjects all three splits are known, and the median is that of plain cosines."""
        fits, groups = fitted(rng, 4)
        cosines = []
        for left in ([0, 1], [0, 2], [0, 3]):
            right = [i for i in range(4) if i not in left]
            a, b = (average([fits[i] for i in half]).mean[1, :, 0] for half in (left, right))
            cosines.append(abs(a @ b) / np.linalg.norm(a) / np.linalg.norm(b))
        found = replication_over_subjects(fits, groups, seed=0)
        assert found.vectors.observed[1, 0] == pytest.approx(np.median(cosines))

    def test_signs_of_single_subjects_do_not_matter(self, rng):
        fits, groups = fitted(rng, 4)
        flipped = [DiscFit(f.settings, [], f.sigma, f.vectors * (-1) ** i, []) for i, f in enumerate(fits)]
        before, after = (replication_over_subjects(f, groups, seed=0) for f in (fits, flipped))
        np.testing.assert_allclose(after.vectors.observed, before.vectors.observed, atol=1e-10)
        np.testing.assert_allclose(after.groups.observed, before.groups.observed, atol=1e-10)

    def test_jobs_do_not_change_the_answer(self, rng):
        fits, _ = fitted(rng, 5)
        alone, together = (replication_over_subjects(fits, [no_groups()] * 2, seed=3, n_jobs=n) for n in (1, 2))
        np.testing.assert_allclose(alone.vectors.chance, together.vectors.chance, atol=1e-10)


class TestSamples:
    """Each sample belongs to one condition, so every split is fitted again."""

    @pytest.fixture
    def design(self, rng):
        def make(planted_in=(1,), n_samples=4):
            matrices, codes = recorded(rng, n_samples, planted_in=planted_in)
            return matrices, [codes[0], codes[1] + n_samples]

        return make

    def groups_of(self, fit):
        return [feature_groups(v, s, n_clusters=2, n_leading=1) for v, s in zip(fit.vectors, fit.sigma, strict=True)]

    def test_a_group_of_all_samples_of_a_condition_replicates(self, design):
        matrices, samples = design()
        fit = refit(matrices, SETTINGS)
        found = replication_over_samples(fit, matrices, samples, self.groups_of(fit))
        assert found.groups.replicates[1, 0]
        assert (found.n_splits, found.n_samples) == (MAX_SPLITS_REFITTED, 8)

    def test_without_a_difference_nothing_replicates(self, design):
        matrices, samples = design(planted_in=())
        fit = refit(matrices, SETTINGS)
        found = replication_over_samples(fit, matrices, samples, self.groups_of(fit))
        assert not found.groups.replicates.any()

    def test_nothing_is_fitted_where_no_group_was_named(self, design):
        matrices, samples = design()
        assert replication_over_samples(refit(matrices, SETTINGS), matrices, samples, [no_groups()] * 2) is None

    def test_three_samples_in_a_condition_are_too_few(self, design):
        matrices, samples = design(n_samples=3)
        fit = refit(matrices, SETTINGS)
        assert replication_over_samples(fit, matrices, samples, self.groups_of(fit)) is None

    def test_observations_without_samples_have_no_halves(self, design):
        matrices, _ = design()
        fit = refit(matrices, SETTINGS)
        assert replication_over_samples(fit, matrices, (), self.groups_of(fit)) is None


class TestAgreement:
    def test_the_median_must_exceed_chance_and_the_minimum(self):
        null = [np.array([0.1, 0.6, 0.1])] * 20
        found = Agreement.of([np.array([0.5, 0.5, 0.2])] * 3, null, 1 / 3)
        assert found.replicates.tolist() == [True, False, False]

    def test_perfect_agreement_may_be_reached_by_few_permutations_only(self):
        rare = [np.array([0.2, 1.0])] * 18 + [np.array([1.0, 1.0])] * 2
        found = Agreement.of([np.ones(2)] * 3, rare, 1 / 3)
        assert found.replicates.tolist() == [True, False]

    def test_nothing_to_compare_does_not_replicate(self):
        found = Agreement.of([np.array([np.nan])] * 3, [np.array([np.nan])] * 3, 1 / 3)
        assert np.isnan(found.observed).all()
        assert not found.replicates.any()

    def test_members_in_common_are_corrected_for_random_sets(self):
        first, second = np.arange(20) < 4, np.roll(np.arange(20) < 4, 1)
        assert shared_members(first, first) == 1.0
        assert shared_members(first, second) == pytest.approx((3 / 4 - 4 / 20) / (1 - 4 / 20))
        assert shared_members(first | True, second | True) == 0.0
        assert shared_members(first & False, second & False) == 0.0

    def test_random_sets_have_nothing_in_common_whatever_their_size(self, rng):
        for size in (5, 50, 150):
            pairs = [[np.isin(np.arange(200), rng.permutation(200)[:size]) for _ in range(2)] for _ in range(200)]
            assert abs(np.mean([shared_members(*pair) for pair in pairs])) < 0.03
