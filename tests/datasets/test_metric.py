from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from diffnb import datasets


def test_the_square_is_observed_through_a_linear_map_of_three_clusters():
    adata = datasets.hidden_square()
    assert adata.shape == (500, 1200)
    np.testing.assert_allclose(adata.X, adata.obsm["hidden"] @ adata.varm["map"].T)
    assert np.linalg.matrix_rank(adata.X) == 2
    means = pd.DataFrame(adata.varm["map"]).groupby(adata.var["cluster"].to_numpy(), observed=True).mean()
    np.testing.assert_allclose(means, [[1 / 3, 1], [1 / 3, -1], [-1, -3]], atol=0.02)
    assert adata.obsm["hidden"].min() > 0
    assert adata.obsm["hidden"].max() < 1


def test_types_have_the_means_and_covariance_of_the_paper():
    adata = datasets.two_types(n_obs=20_000, n_features=45, n_clusters=5)
    sigma = adata.varp["covariance"]
    np.testing.assert_allclose(np.cov(adata.X.T), sigma, atol=0.03 * sigma.max())
    clusters = adata.var["cluster"].cat.codes.to_numpy()
    apart = 5 * np.linspace(0.2, 1, 5) ** 4
    for condition, sign in (("A", 1), ("B", -1)):
        mean = adata.X[(adata.obs["condition"] == condition).to_numpy()].mean(axis=0)
        np.testing.assert_allclose(mean, 5 + sign * apart[clusters], atol=0.05)


def test_clusters_of_types_differ_in_size():
    sizes = datasets.two_types(n_obs=4).var["cluster"].value_counts(sort=False)
    assert len(sizes) == 18
    assert sizes.sum() == 900
    assert sizes.iloc[-1] == pytest.approx(7 / 3 * sizes.iloc[0], rel=0.05)


def test_the_curved_square_is_a_surface_under_noise():
    clean = datasets.curved_square(n_obs=300, noise=0.0)
    means = np.stack([clean.X[:, clean.var["cluster"] == c].mean(axis=1) for c in clean.var["cluster"].cat.categories])
    first, second = clean.obsm["hidden"].T
    assert np.corrcoef(means[0], np.sin(np.pi / 2 * first))[0, 1] > 0.999
    assert np.corrcoef(means[5], first**2 - second**2)[0, 1] > 0.999
    noisy = datasets.curved_square(n_obs=300)
    assert (noisy.X - clean.X).std() == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("hidden_square", {"n_features": 2}),
        ("hidden_square", {"n_obs": 1}),
        ("two_types", {"n_features": 35}),
        ("two_types", {"rho": 1.5}),
        ("curved_square", {"noise": -1.0}),
        ("curved_square", {"n_features": 5}),
    ],
)
def test_impossible_arguments_are_refused(name, arguments):
    ((argument, value),) = arguments.items()
    with pytest.raises(ValueError, match=f"{argument}={value}"):
        getattr(datasets, name)(**arguments)


def test_breast_cancer_names_the_package_that_ships_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sksurv.datasets", None)
    with pytest.raises(ImportError, match=r"scikit-survival; .*pip install 'diffnb\[tutorials\]'"):
        datasets.breast_cancer()


def test_breast_cancer_separates_genes_from_clinical_variables(monkeypatch):
    """A replacement for the loader of the package: its table and its structured array."""

    def load():
        table = pd.DataFrame({"X1_at": [1.0, 2.0], "X2_at": [3.0, 4.0], "age": [50.0, 60.0], "size": [1.0, 2.0]})
        table["er"], table["grade"] = pd.Categorical(["p", "n"]), pd.Categorical(["x", "y"])
        return table, np.array([(True, 723.0), (False, 6591.0)], dtype=[("e.tdm", "?"), ("t.tdm", "<f8")])

    module = ModuleType("sksurv.datasets")
    module.load_breast_cancer = load
    monkeypatch.setitem(sys.modules, "sksurv", ModuleType("sksurv"))
    monkeypatch.setitem(sys.modules, "sksurv.datasets", module)
    adata = datasets.breast_cancer()
    assert adata.var_names.tolist() == ["1_at", "2_at"]
    assert adata.obs["event"].tolist() == [True, False]
    assert adata.obs["time"].tolist() == [723, 6591]
    np.testing.assert_array_equal(adata.X, [[1, 3], [2, 4]])


def test_breast_cancer_as_shipped():
    pytest.importorskip("sksurv")
    adata = datasets.breast_cancer()
    assert adata.shape == (198, 76)
    assert adata.obs["event"].sum() == 51
