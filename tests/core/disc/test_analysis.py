"""All steps of an analysis: which fits are made, on which data, and what is kept of them."""

from dataclasses import fields

import numpy as np
import pytest
import scipy.sparse as sp

from diffnb.core.arrays import affine, gram_stats, ops
from diffnb.core.disc import analysis as module
from diffnb.core.disc import permutable
from diffnb.core.disc.algorithm import DiscFit, fit_disc, refit, resolve
from diffnb.core.disc.analysis import AnalysisOptions, analyse, complete_samples
from diffnb.core.disc.feature_groups import feature_groups, leading_count
from diffnb.core.disc.paired import average, fit_subjects, swap_test
from diffnb.core.disc.settings import DiscOptions, FeatureGraphOptions
from diffnb.core.disc.significance import evidence, permutation_test, stability
from diffnb.core.spectral.walk import Walk
from diffnb.core.stats import resampling

DISC = DiscOptions(n_components=3)
WITHIN = DiscOptions(graph=FeatureGraphOptions(standardize="within"), n_components=3)
#: three subjects in both conditions, a fourth in the second only, and a fifth with too few observations
SUBJECTS = [np.repeat([0, 1, 2, 4], [20, 20, 18, 2]), np.repeat([0, 1, 2, 3, 4], [15, 15, 15, 13, 2])]
NESTED = [np.repeat([0, 1, 2], 20), np.repeat([3, 4, 5], 20)]


def counted(monkeypatch, name):
    """Count the calls of a function that the analysis uses."""
    calls, original = [], getattr(module, name)

    def and_count(*args, **options):
        calls.append((args, options))
        return original(*args, **options)

    monkeypatch.setattr(module, name, and_count)
    return calls


def test_a_sample_is_complete_with_three_observations_in_every_condition():
    assert complete_samples([np.array([0, 0, 0, 1, 1, 2, 2, 2]), np.array([0, 0, 0, 1, 1, 1, 2, 2])]) == (0,)
    assert complete_samples(SUBJECTS) == (0, 1, 2)
    assert complete_samples(NESTED) == ()


class TestPooled:
    def test_vectors_and_groups_are_those_of_the_steps_one_by_one(self, two_conditions):
        found = analyse(two_conditions, AnalysisOptions(disc=DISC))
        fit = fit_disc(two_conditions, DISC)
        np.testing.assert_array_equal(found.vectors, fit.vectors)
        np.testing.assert_array_equal(found.sigma, fit.sigma)
        assert found.settings == fit.settings
        naming = evidence(fit, two_conditions)
        np.testing.assert_array_equal(found.naming.null_sigma, naming.null_sigma)
        for m, groups in enumerate(found.groups):
            r = leading_count(fit.sigma[m], null=naming.chance[m])
            np.testing.assert_array_equal(
                groups.labels, feature_groups(fit.vectors[m], fit.sigma[m], n_leading=r).labels
            )
        assert (found.groups[1].labels[10:20] == 1).all()
        assert (found.significance, found.stability, found.spread, found.sigma_each) == (None,) * 4
        assert found.subjects == ()

    def test_a_given_number_of_groups_needs_no_permutations(self, two_conditions, monkeypatch):
        calls = counted(monkeypatch, "evidence")
        found = analyse(two_conditions, AnalysisOptions(disc=DISC, n_clusters=4))
        assert [groups.n_clusters for groups in found.groups] == [4, 4]
        assert calls == []
        assert found.naming is None

    def test_groups_of_relations_are_refined_to_their_members(self, two_conditions):
        found = analyse(two_conditions, AnalysisOptions(disc=WITHIN, null="connectivity"))
        assert [groups.n_clusters for groups in found.groups] == [1, 2]
        np.testing.assert_array_equal(np.flatnonzero(found.groups[1].labels), np.arange(10, 20))
        assert found.groups[1].membership[10:20].min() > 0.8

    def test_groups_by_level_are_clusters_without_membership(self, two_conditions):
        found = analyse(two_conditions, AnalysisOptions(disc=DISC))
        assert all(groups.membership is None for groups in found.groups)

    def test_permutations_and_bootstraps_are_those_of_the_fit(self, two_conditions):
        options = AnalysisOptions(disc=DISC, n_clusters=2, n_permutations=3, n_bootstraps=2)
        found = analyse(two_conditions, options, samples=NESTED)
        fit = fit_disc(two_conditions, DISC)
        tested = permutation_test(fit, two_conditions, n_permutations=3, samples=NESTED)
        # sums by sample: the same but for rounding
        np.testing.assert_allclose(found.significance.null_sigma, tested.null_sigma, rtol=1e-10)
        np.testing.assert_array_equal(found.significance.pvals, tested.pvals)
        stable = stability(fit, two_conditions, found.groups, n_bootstraps=2, samples=NESTED)
        np.testing.assert_array_equal(found.stability, stable)

    def test_tests_do_not_change_the_groups(self, two_conditions):
        plain = analyse(two_conditions, AnalysisOptions(disc=DISC))
        tested = analyse(two_conditions, AnalysisOptions(disc=DISC, n_permutations=4, n_bootstraps=2))
        for before, after in zip(plain.groups, tested.groups, strict=True):
            np.testing.assert_array_equal(before.labels, after.labels)

    @pytest.mark.parametrize(("disc", "null"), [(DISC, "labels"), (WITHIN, "connectivity")])
    def test_the_fit_that_is_shown_is_the_one_tested(self, two_conditions, monkeypatch, disc, null):
        calls = counted(monkeypatch, "fit_disc")
        found = analyse(two_conditions, AnalysisOptions(disc=disc, n_clusters=2, n_permutations=2, null=null))
        assert len(calls) == 1
        assert found.significance.sigma is found.sigma

    def test_the_null_of_connectivity_tests_a_fit_standardised_within_conditions(self, rng):
        """The fit that is shown keeps the scale of features; the one that is tested has different settings."""
        scales = np.geomspace(1, 20, 40)
        matrices = [scales * x for x in rng.normal(size=(2, 60, 40))]
        found = analyse(matrices, AnalysisOptions(disc=DISC, n_clusters=2, n_permutations=2, null="connectivity"))
        shown, tested = fit_disc(matrices, DISC), fit_disc(matrices, WITHIN)
        assert (shown.settings.graph.kind, tested.settings.graph.kind) == ("knn", "dense")
        assert found.settings == shown.settings
        np.testing.assert_array_equal(found.sigma, shown.sigma)
        np.testing.assert_array_equal(found.significance.sigma, tested.sigma)

    def test_no_walk_is_kept_while_permutations_are_drawn_nor_in_the_result(self, two_conditions, monkeypatch):
        calls = counted(monkeypatch, "permutation_test")
        found = analyse(two_conditions, AnalysisOptions(disc=DISC, n_permutations=2))
        ((fit, *_), _) = calls[0]
        assert fit.walks == []
        assert not any(isinstance(getattr(found, f.name), (Walk, DiscFit)) for f in fields(found))


class TestManyObservations:
    """Data that is large enough for random blocks; here it is small, and the limits are lowered."""

    @pytest.fixture(autouse=True)
    def low_limits(self, monkeypatch):
        monkeypatch.setattr(permutable, "is_large", lambda *_: True)
        monkeypatch.setattr(resampling, "MIN_OBS_PER_BLOCK", 5)

    def options(self, disc=WITHIN):
        return AnalysisOptions(disc=disc, n_permutations=30, null="connectivity" if disc is WITHIN else "labels")

    @pytest.mark.parametrize("disc", [DISC, WITHIN])
    @pytest.mark.parametrize("sparse", [False, True])
    def test_the_fit_and_all_permutations_multiply_every_row_once(self, two_conditions, disc, sparse, monkeypatch):
        """The work, counted: rows whose products are taken, beside those of the fit alone."""
        rows, gram = [], gram_stats.gram
        monkeypatch.setattr(gram_stats, "gram", lambda x, **_: rows.append(x.shape[0]) or gram(x))
        for module_ in (ops, affine):
            monkeypatch.setattr(module_, "gram", None)  # no products but those
        monkeypatch.setattr(permutable, "refit", None)
        matrices = [sp.csr_matrix(x) for x in two_conditions] if sparse else two_conditions
        found = analyse(matrices, self.options(disc))
        assert sum(rows) == sum(x.shape[0] for x in two_conditions)
        assert len(found.significance.null_sigma) == 30

    def test_groups_and_sigma_are_those_of_a_fit_to_the_rows(self, two_conditions):
        found = analyse(two_conditions, self.options())
        fit = fit_disc(two_conditions, WITHIN)
        np.testing.assert_allclose(found.sigma, fit.sigma, rtol=1e-10)
        np.testing.assert_allclose(found.vectors, fit.vectors, atol=1e-9)
        assert (found.groups[1].labels[10:20] == 1).all()

    @pytest.mark.parametrize("memory", [2**30, 8 * 6 * 40**2], ids=["sums by block", "rows of each permutation"])
    def test_kind_of_array_and_memory_change_nothing(self, two_conditions, any_array_type, memory, set_memory):
        expected = analyse(two_conditions, self.options())
        set_memory(memory)
        whole = any_array_type(np.concatenate(two_conditions))
        n = len(two_conditions[0])
        found = analyse([whole[:n], whole[n:]], self.options())
        np.testing.assert_allclose(found.significance.null_sigma, expected.significance.null_sigma, atol=1e-10)
        np.testing.assert_allclose(found.naming.null_sigma, expected.naming.null_sigma, atol=1e-10)
        for ours, theirs in zip(found.groups, expected.groups, strict=True):
            np.testing.assert_array_equal(ours.labels, theirs.labels)

    def test_strata_are_permuted_row_by_row(self, two_conditions):
        strata = [np.arange(len(x)) % 2 for x in two_conditions]
        sums = permutable.SampleSums.of_units(two_conditions, (), strata, 0)
        assert list(sums.samples) == []


class TestPerSubject:
    def test_complete_subjects_are_fitted_separately_with_settings_of_all_of_them(self, two_conditions):
        found = analyse(two_conditions, AnalysisOptions(disc=DISC, n_clusters=2), samples=SUBJECTS)
        assert found.subjects == (0, 1, 2)
        complete = [x[np.isin(codes, (0, 1, 2))] for x, codes in zip(two_conditions, SUBJECTS, strict=True)]
        settings = resolve(complete, DISC)
        assert found.settings == settings
        fits = [
            refit([x[codes == s] for x, codes in zip(two_conditions, SUBJECTS, strict=True)], settings)
            for s in (0, 1, 2)
        ]
        np.testing.assert_array_equal(found.sigma_each, [fit.sigma for fit in fits])
        joint = average(fits)
        np.testing.assert_array_equal(found.vectors, joint.mean)
        np.testing.assert_array_equal(found.spread, joint.spread)
        np.testing.assert_array_equal(found.sigma, joint.sigma)

    def test_the_test_swaps_conditions_within_subjects(self, two_conditions):
        options = AnalysisOptions(disc=DISC, n_permutations=5, n_bootstraps=2)
        found = analyse(two_conditions, options, samples=SUBJECTS)
        fits = fit_subjects(two_conditions, SUBJECTS, found.subjects, found.settings)
        expected = swap_test(fits, n_permutations=5, seed=0)
        np.testing.assert_array_equal(found.significance.null_sigma, expected.null_sigma)
        assert found.stability.shape == (2, 40)

    def test_the_null_of_connectivity_standardises_within_conditions(self, two_conditions):
        options = AnalysisOptions(disc=DISC, n_clusters=2, null="connectivity")
        assert analyse(two_conditions, options, samples=SUBJECTS).settings.graph.standardize == "within"

    def test_settings_are_resolved_without_a_fit_of_all_subjects(self, two_conditions, monkeypatch):
        calls = counted(monkeypatch, "fit_disc")
        analyse(two_conditions, AnalysisOptions(disc=DISC, n_clusters=2), samples=SUBJECTS)
        assert calls == []

    def test_one_complete_subject_is_not_enough(self, two_conditions):
        samples = [np.repeat([0, 1], [40, 20]), np.repeat([0, 2], [40, 20])]
        assert analyse(two_conditions, AnalysisOptions(disc=DISC, n_clusters=2), samples=samples).subjects == ()
