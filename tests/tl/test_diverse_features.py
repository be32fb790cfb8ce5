import anndata
import numpy as np
import pytest
import scipy.sparse as sp

import diffnb as dn
from diffnb.core.dufs import DiverseOptions, fit_diverse_features


def test_results_are_those_of_the_core(adata):
    assert dn.tl.diverse_features(adata, n_features=8, neighborhoods=[3, 6], redundancy=2) is None
    fit = fit_diverse_features(adata.X, DiverseOptions(8, (3, 6), 2.0))
    np.testing.assert_array_equal(adata.varm["diverse_features"]["rank"], fit.rank)
    np.testing.assert_array_equal(adata.var["diverse_features"], fit.selected)
    assert adata.uns["diverse_features"]["n_selected"] == 8


@pytest.mark.parametrize(("n_features", "selected"), [(6, 3), (40, 20), (250, 100)])
def test_a_hundred_features_or_half_are_selected(rng, n_features, selected):
    found = dn.tl.diverse_features(anndata.AnnData(rng.normal(size=(30, n_features))), copy=True)
    assert found.var["diverse_features"].sum() == selected


def test_masked_and_constant_features_come_last_without_a_rank(adata):
    adata.X[:, 2] = 0.0
    with pytest.warns(UserWarning, match="1 constant feature"):
        dn.tl.diverse_features(adata, mask_var="chosen", n_features=29)
    table = dn.get.diverse_features(adata)
    assert table.columns.tolist() == ["smoothness", "unexplained", "rank", "selected"]
    assert table["rank"].tolist()[:29] == list(range(1, 30))
    assert sorted(table.index[29:]) == sorted(adata.var_names[[2, *range(30, 40)]])
    assert table["selected"].tolist() == [True] * 29 + [False] * 11


def test_the_graph_may_come_from_a_representation(adata):
    adata.obsm["X_factor"] = adata.X[:, :10].mean(axis=1, keepdims=True) * np.ones(2)
    adata.obsm["X_factor"][:, 1] += np.arange(120) * 1e-6
    dn.tl.diverse_features(adata, use_rep="X_factor")
    smoothest = dn.get.diverse_features(adata)["smoothness"].nlargest(10)
    assert set(smoothest.index) == {f"gene{i}" for i in range(10)}


def test_sparse_input_gives_the_same_and_stays_sparse(adata):
    x = np.where(adata.X > 0, adata.X, 0)
    adata.X = x
    dense = dn.get.diverse_features(dn.tl.diverse_features(adata, copy=True))
    adata.X = sp.csr_matrix(x)
    dn.tl.diverse_features(adata)
    assert sp.issparse(adata.X)
    assert dn.get.diverse_features(adata)["rank"].equals(dense["rank"])


@pytest.mark.filterwarnings("ignore:.*zarr v[23]")
@pytest.mark.parametrize("kind", ["h5ad", "zarr"])
def test_results_come_back_from_a_file(adata, tmp_path, kind):
    dn.tl.diverse_features(adata, key_added="mine")
    getattr(adata, f"write_{kind}")(tmp_path / f"a.{kind}")
    back = getattr(anndata, f"read_{kind}")(tmp_path / f"a.{kind}")
    assert dn.get.diverse_features(back, key="mine").equals(dn.get.diverse_features(adata, key="mine"))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_features": 41}, ValueError, "n_features=41 must be between 1 and 40"),
        ({"neighborhoods": 5}, TypeError, "neighborhoods=5 must be one or more integers"),
        ({"neighborhoods": ()}, TypeError, "must be one or more integers"),
        ({"neighborhoods": (2, 120)}, ValueError, "neighborhoods=120 must be between 1 and 119"),
        ({"redundancy": -1.0}, ValueError, "redundancy=-1.0 must be 0 or larger"),
        ({"use_rep": "X_pca"}, ValueError, "use_rep='X_pca' is neither"),
    ],
)
def test_errors_name_the_argument(adata, options, error, message):
    with pytest.raises(error, match=message):
        dn.tl.diverse_features(adata, **options)
    assert "diverse_features" not in adata.var


def test_missing_results_are_explained(adata):
    with pytest.raises(KeyError, match=r"run dn\.tl\.diverse_features\(adata\) first"):
        dn.get.diverse_features(adata)
