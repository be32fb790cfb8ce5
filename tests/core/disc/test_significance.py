from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from diffnb.core.arrays import gram_stats
from diffnb.core.disc import permutable
from diffnb.core.disc import significance as module
from diffnb.core.disc.algorithm import DiscFit, refit
from diffnb.core.disc.feature_groups import feature_groups
from diffnb.core.disc.settings import DiscSettings, FeatureGraphSettings
from diffnb.core.disc.significance import distinct_assignments, evidence, permutation_test, stability
from diffnb.core.runtime.progress import progress_callback

SETTINGS = {
    "labels": DiscSettings(FeatureGraphSettings(8), (4, 4), n_components=2),
    "connectivity": DiscSettings(FeatureGraphSettings(8, standardize="within"), (4, 4), n_components=2),
}


def fit_for(matrices, null="labels") -> DiscFit:
    return refit(matrices, SETTINGS[null])


def significance_of(matrices, null="labels", **options):
    return permutation_test(fit_for(matrices, null), matrices, null=null, **options)


def test_a_new_group_is_significant_under_both_nulls(two_conditions):
    for null in ("labels", "connectivity"):
        found = significance_of(two_conditions, null, n_permutations=19)
        assert found.pvals[1, 0] == 0.05
        assert found.null_sigma.shape == (19, 2, 2)


def test_what_is_told_last_while_permutations_are_drawn_is_the_result(two_conditions):
    notes = []
    with progress_callback(lambda *_: None, notes.append):
        found = significance_of(two_conditions, n_permutations=19, progress="permutations")
    assert len(notes) == 19
    assert notes[-1] == "p so far " + ", ".join(f"{p:.2g}" for p in found.pvals[:, 0])
    notes.clear()
    with progress_callback(lambda *_: None, notes.append):
        named = evidence(fit_for(two_conditions), two_conditions)
    assert len(notes) == named.n_permutations


def test_of_many_conditions_the_smallest_p_value_is_told(rng):
    sigma = np.full((6, 1), 2.0)
    sigma[4] = 5.0
    assert module._so_far(sigma, [np.full((6, 1), 3.0)] * 3) == "smallest p so far 0.25"


def test_a_shift_is_a_difference_but_not_in_connectivity(rng):
    rejected = {"labels": 0, "connectivity": 0}
    for _ in range(10):
        a, b = rng.normal(size=(2, 50, 30))
        b[:, :10] += 1.5
        for null in rejected:
            pvals = significance_of([a, b], null, n_permutations=19).pvals
            rejected[null] += pvals[:, 0].min() <= 0.05
    assert rejected["labels"] >= 9
    assert rejected["connectivity"] <= 4


def test_p_values_rise_with_the_component(two_conditions):
    pvals = significance_of(two_conditions, n_permutations=9).pvals
    assert (np.diff(pvals, axis=1) >= 0).all()


@pytest.mark.parametrize("null", ["labels", "connectivity"])
def test_sparse_data_gives_the_same_test(two_conditions, null):
    x = [np.where(np.abs(m) > 0.7, m, 0.0) for m in two_conditions]
    dense = significance_of(x, null, n_permutations=3)
    sparse = significance_of([sp.csr_matrix(m) for m in x], null, n_permutations=3)
    np.testing.assert_allclose(sparse.null_sigma, dense.null_sigma, atol=1e-10)
    np.testing.assert_allclose(sparse.sigma, dense.sigma, atol=1e-10)


def test_jobs_change_nothing(two_conditions):
    one, two = (significance_of(two_conditions, n_permutations=4, n_jobs=jobs).null_sigma for jobs in (None, 2))
    np.testing.assert_allclose(one, two, atol=1e-10)


@pytest.mark.parametrize("null", SETTINGS)
def test_a_real_group_is_evidence_for_its_condition_only(two_conditions, null):
    found = evidence(fit_for(two_conditions, null), two_conditions)
    assert found.accepted.tolist() == [False, True]
    assert found.n_permutations <= 19


def test_conditions_that_do_not_differ_are_rarely_accepted(rng):
    accepted = []
    for _ in range(20):
        matrices = list(rng.normal(size=(2, 40, 30)))
        accepted.append(evidence(fit_for(matrices), matrices).accepted.any())
    assert np.mean(accepted) <= 0.1


def test_jobs_do_not_change_the_evidence(two_conditions):
    fit = fit_for(two_conditions)
    one, two = (evidence(fit, two_conditions, n_jobs=n).null_sigma for n in (1, 2))
    np.testing.assert_allclose(one, two, atol=1e-10)


def test_assignments_of_samples_are_distinct_and_never_the_original():
    samples = [np.repeat([0, 1, 2], 4), np.repeat([3, 4, 5], 4)]
    found = distinct_assignments(samples, 0, 19)
    assert len(found) == 9  # 6 over 3, both orders of the conditions being one, without the original
    assert len({frozenset(r.tobytes() for r in rows) for rows in found}) == 9
    assert all(np.array_equal(np.sort(np.concatenate(rows)), np.arange(24)) for rows in found)
    assert not any(np.array_equal(np.arange(12), r) for rows in found for r in rows)


def test_stability_is_high_for_a_strong_group(two_conditions):
    fit = fit_for(two_conditions)
    groups = [feature_groups(v, s, n_clusters=2, n_leading=1) for v, s in zip(fit.vectors, fit.sigma, strict=True)]
    found = stability(fit, two_conditions, groups, n_bootstraps=10)
    assert found.shape == (2, 40)
    assert ((found >= 0) & (found <= 1)).all()
    assert found[1, 10:20].mean() > 0.9


def test_the_observed_sigma_is_that_of_the_fit_and_not_computed_again(two_conditions, monkeypatch):
    fit = fit_for(two_conditions)
    found = permutation_test(fit.without_walks(), two_conditions, n_permutations=2)
    assert found.sigma is fit.sigma
    counted = []
    monkeypatch.setattr("diffnb.core.disc.permutable.refit", lambda *args: counted.append(1) or refit(*args))
    permutation_test(fit, two_conditions, n_permutations=3)
    assert len(counted) == 3


def test_the_null_of_connectivity_needs_a_fit_within_conditions(two_conditions):
    with pytest.raises(ValueError, match="standardize='within'"):
        permutation_test(fit_for(two_conditions), two_conditions, n_permutations=2, null="connectivity")


FOUR_AND_THREE = [np.repeat(np.arange(4), 15), np.repeat([4, 5, 6], 20)]
THREE_AND_THREE = [np.repeat([0, 1, 2], 20), np.repeat([3, 4, 5], 20)]


def test_a_permutation_that_gives_the_same_labels_is_a_tie(two_conditions, monkeypatch):
    """Two samples in two conditions: every permutation is the labels, or both exchanged."""
    samples = [np.zeros(60, dtype=int), np.ones(60, dtype=int)]
    monkeypatch.setattr(module, "every_assignment", lambda *_, **__: None)  # drawn, as where there are many
    found = significance_of(two_conditions, samples=samples, n_permutations=9)
    same = np.isclose(found.null_sigma[:, 1, 0], found.sigma[1, 0], rtol=1e-9)
    assert 0 < same.sum() < 9
    assert found.pvals[1, 0] == (1 + same.sum()) / 10
    assert not found.exact


@pytest.mark.parametrize("samples", [THREE_AND_THREE, FOUR_AND_THREE], ids=["3 + 3", "4 + 3"])
def test_few_assignments_are_all_evaluated_and_the_p_value_is_exact(two_conditions, samples):
    codes, n_first = np.concatenate(samples), len(np.unique(samples[0]))
    found = significance_of(two_conditions, samples=samples, n_permutations=99)
    together = np.concatenate(two_conditions)
    sigma = []
    for chosen in combinations(np.unique(codes), n_first):
        inside = np.isin(codes, chosen)
        sigma.append(refit([together[inside], together[~inside]], SETTINGS["labels"]).sigma)
    assert found.exact
    assert len(found.null_sigma) == len(sigma) - 1
    np.testing.assert_allclose(np.sort(found.null_sigma, axis=0), np.sort(sigma[1:], axis=0), rtol=1e-8)
    expected = np.mean(np.array(sigma) >= found.sigma * (1 - 1e-9), axis=0)
    np.testing.assert_allclose(found.pvals[:, 0], expected[:, 0])


@pytest.mark.parametrize("sparse", [False, True])
def test_samples_are_multiplied_once_and_each_assignment_is_fitted_once(two_conditions, sparse, monkeypatch):
    """The work behind 99 permutations of six donors, counted: one pass over the rows, nine fits."""
    rows, fits = [], []
    gram, sigma = gram_stats.gram, permutable._Summed.sigma
    monkeypatch.setattr(gram_stats, "gram", lambda x, **_: rows.append(x.shape[0]) or gram(x))
    monkeypatch.setattr(permutable._Summed, "sigma", lambda *args: fits.append(1) or sigma(*args))
    monkeypatch.setattr(permutable, "refit", None)  # no fit from rows
    matrices = [sp.csr_matrix(x) for x in two_conditions] if sparse else two_conditions
    fit = fit_for(two_conditions)
    sums = permutable.SampleSums(matrices, THREE_AND_THREE)
    permutation_test(fit, matrices, samples=THREE_AND_THREE, sums=sums, n_permutations=99)
    assert sum(rows) == 120
    assert len(fits) == 9
    evidence(fit, matrices, samples=THREE_AND_THREE, sums=sums)
    assert sum(rows) == 120


def test_equal_draws_of_samples_are_fitted_once(two_conditions, monkeypatch):
    fits = []
    sigma = permutable._Summed.sigma
    monkeypatch.setattr(permutable._Summed, "sigma", lambda *args: fits.append(1) or sigma(*args))
    monkeypatch.setattr(module, "every_assignment", lambda *_, **__: None)
    found = significance_of(two_conditions, samples=THREE_AND_THREE, n_permutations=60)
    assert found.null_sigma.shape[0] == 60
    assert len(fits) <= 9


def test_labels_are_permuted_within_strata(two_conditions):
    """Where every stratum holds one condition, every permutation is the data as it is."""
    strata = [np.full(60, 0), np.full(60, 1)]
    found = significance_of(two_conditions, n_permutations=3, strata=strata)
    np.testing.assert_allclose(found.null_sigma, np.broadcast_to(found.sigma, (3, 2, 2)), rtol=1e-9)
    assert not evidence(fit_for(two_conditions), two_conditions, strata=strata).accepted.any()
    mixed = [np.tile([0, 1], 30)] * 2
    assert significance_of(two_conditions, n_permutations=19, strata=mixed).pvals[1, 0] == 0.05
