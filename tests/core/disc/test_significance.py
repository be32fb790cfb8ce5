import numpy as np
import pytest
import scipy.sparse as sp

from diffnb.core.disc.algorithm import Settings, disc
from diffnb.core.disc.feature_groups import feature_groups
from diffnb.core.disc.significance import chance_sigma, permutation_test, stability

SETTINGS = Settings(8, (4, 4), n_components=2)


def test_a_new_group_is_significant_under_both_nulls(two_conditions):
    for null in ("labels", "connectivity"):
        found = permutation_test(two_conditions, SETTINGS, n_permutations=19, null=null)
        assert found.pvals[1, 0] == 0.05
        assert found.null_sigma.shape == (19, 2, 2)


def test_a_shift_is_a_difference_but_not_in_connectivity(rng):
    rejected = {"labels": 0, "connectivity": 0}
    for _ in range(10):
        a, b = rng.normal(size=(2, 50, 30))
        b[:, :10] += 1.5
        for null in rejected:
            pvals = permutation_test([a, b], SETTINGS, n_permutations=19, null=null).pvals
            rejected[null] += pvals[:, 0].min() <= 0.05
    assert rejected["labels"] >= 9
    assert rejected["connectivity"] <= 4


def test_p_values_rise_with_the_component(two_conditions):
    pvals = permutation_test(two_conditions, SETTINGS, n_permutations=9).pvals
    assert (np.diff(pvals, axis=1) >= 0).all()


@pytest.mark.parametrize("null", ["labels", "connectivity"])
def test_sparse_data_gives_the_same_test(two_conditions, null):
    x = [np.where(np.abs(m) > 0.7, m, 0.0) for m in two_conditions]
    dense = permutation_test(x, SETTINGS, n_permutations=3, null=null)
    sparse = permutation_test([sp.csr_matrix(m) for m in x], SETTINGS, n_permutations=3, null=null)
    np.testing.assert_allclose(sparse.null_sigma, dense.null_sigma, atol=1e-10)
    np.testing.assert_allclose(sparse.sigma, dense.sigma, atol=1e-10)


def test_jobs_change_nothing(two_conditions):
    one, two = (
        permutation_test(two_conditions, SETTINGS, n_permutations=4, n_jobs=jobs).null_sigma for jobs in (None, 2)
    )
    np.testing.assert_allclose(one, two, atol=1e-10)


def test_chance_stays_below_a_real_group(two_conditions):
    assert chance_sigma(two_conditions, SETTINGS) < disc(two_conditions, SETTINGS).sigma[1, 0]


def test_stability_is_high_for_a_strong_group(two_conditions):
    result = disc(two_conditions, SETTINGS)
    groups = [
        feature_groups(v, s, n_clusters=2, n_leading=1) for v, s in zip(result.vectors, result.sigma, strict=True)
    ]
    found = stability(two_conditions, SETTINGS, groups, n_bootstraps=10)
    assert found.shape == (2, 40)
    assert ((found >= 0) & (found <= 1)).all()
    assert found[1, 10:20].mean() > 0.9
