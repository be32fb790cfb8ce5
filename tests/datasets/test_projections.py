from __future__ import annotations

import numpy as np
import pytest

from diffnb import datasets


def parts(adata):
    return [adata.X[(adata.obs["condition"] == c).to_numpy()] for c in "AB"]


def correlation(x, features):
    """Mean correlation of different features."""
    found = np.corrcoef(x[:, features].T)
    return float(found[~np.eye(len(found), dtype=bool)].mean())


@pytest.fixture(scope="module")
def factor():
    return datasets.nuisance_factor(n_obs=4000, n_features=60)


def test_the_factor_of_b_is_not_in_a(factor):
    a, b = parts(factor)
    differing = factor.var["truth"].to_numpy()
    assert correlation(a, differing) == pytest.approx(0, abs=0.03)
    assert correlation(b, differing) == pytest.approx(0.4, abs=0.03)


def test_the_nuisance_is_the_same_in_both_and_stronger(factor):
    shared = (factor.var["block"] == "nuisance").to_numpy()
    for x in parts(factor):
        assert correlation(x, shared) == pytest.approx(0.8, abs=0.03)


def test_no_single_feature_differs(factor):
    for x in parts(factor):
        np.testing.assert_allclose(x.mean(axis=0), 0, atol=0.08)
        np.testing.assert_allclose(x.std(axis=0), 1, atol=0.06)


def test_the_leading_component_is_the_nuisance(factor):
    _, vectors = np.linalg.eigh(np.cov(factor.X.T))
    leading = np.argsort(-np.abs(vectors[:, -1]))[:20]
    assert (factor.var["block"].iloc[leading] == "nuisance").all()


def test_the_default_has_the_shape_of_the_benchmark():
    adata = datasets.nuisance_factor()
    assert adata.shape == (1000, 300)
    assert adata.var["truth"].sum() == 10
    assert (adata.var["truth_B"] == "differing").equals(adata.var["truth"].rename("truth_B"))


def test_blocks_may_be_left_out():
    adata = datasets.nuisance_factor(n_obs=5, n_features=12, n_differing=0, n_nuisance=12)
    assert adata.var["block"].unique().tolist() == ["nuisance"]
    assert not adata.var["truth"].any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_features": 20}, "n_features=20 is too small"),
        ({"n_obs": 1}, "n_obs=1"),
        ({"rho": 1.5}, "rho=1.5"),
        ({"n_differing": -1}, "n_differing=-1"),
    ],
)
def test_impossible_factors_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        datasets.nuisance_factor(**arguments)


def test_only_the_first_three_features_have_another_covariance():
    adata = datasets.differing_block(n_features=11)
    apart = adata.varp["covariance_A"] != adata.varp["covariance_B"]
    assert apart[:3, :3].all()
    assert not apart[3:].any()
    assert not apart[:, 3:].any()
    assert adata.var["truth"].tolist() == [True] * 3 + [False] * 8
    assert adata.var["block"].value_counts(sort=False).tolist() == [3, 3, 3, 2]


def test_observations_have_the_covariance_and_no_mean():
    adata = datasets.differing_block(n_obs=20_000, n_features=6, random_state=3)
    for x, condition in zip(parts(adata), "AB", strict=True):
        sigma = adata.varp[f"covariance_{condition}"]
        scale = np.sqrt(np.diag(sigma))
        np.testing.assert_allclose(x.mean(axis=0) / scale, 0, atol=0.03)
        np.testing.assert_allclose(np.cov(x.T) / np.outer(scale, scale), sigma / np.outer(scale, scale), atol=0.05)


def test_blocks_are_independent_of_one_another():
    sigma = datasets.differing_block(n_features=9).varp["covariance_A"]
    assert not sigma[:3, 3:].any()
    assert not sigma[3:6, 6:].any()
    assert np.linalg.eigvalsh(sigma).min() > 0


def test_covariances_differ_between_seeds():
    first, second = (datasets.differing_block(random_state=seed).varp["covariance_A"] for seed in (0, 1))
    assert not np.allclose(first, second)


def test_no_feature_need_differ():
    adata = datasets.differing_block(n_differing=0)
    np.testing.assert_array_equal(adata.varp["covariance_A"], adata.varp["covariance_B"])
    assert not adata.var["truth"].any()
    assert (adata.var["truth_A"] == "background").all()


def test_impossible_blocks_are_refused():
    with pytest.raises(ValueError, match="n_differing=4"):
        datasets.differing_block(n_features=3, n_differing=4)
