import numpy as np
import pytest
import scipy.sparse as sp

import diffnb as dn
from diffnb.core.dufs.laplacian_score import laplacian_scores, neighbor_graph, with_unit_variance


def test_scores_are_those_of_the_standardised_graph(adata):
    dn.tl.laplacian_score(adata, n_neighbors=7, weights="heat")
    expected = laplacian_scores(adata.X, neighbor_graph(with_unit_variance(adata.X), 7, weights="heat"))
    np.testing.assert_allclose(adata.var["laplacian_score"], expected)
    assert adata.uns["laplacian_score"]["params"]["n_neighbors"] == 7


def test_features_may_keep_their_scale(adata):
    adata.X[:, 0] *= 100
    found = [dn.tl.laplacian_score(adata, standardize=s, copy=True).var["laplacian_score"] for s in ("global", None)]
    assert found[1].iloc[0] < 0.2 < found[0].iloc[0]


def test_the_graph_may_come_from_a_representation(adata):
    adata.obsm["X_factor"] = adata.X[:, :10].mean(axis=1, keepdims=True) * np.ones(2)
    adata.obsm["X_factor"][:, 1] += np.arange(120) * 1e-6
    dn.tl.laplacian_score(adata, use_rep="X_factor")
    assert set(dn.get.laplacian_score(adata).index[:10]) == {f"gene{i}" for i in range(10)}


def test_masked_and_constant_features_have_no_score(adata):
    adata.X[:, 2] = 0.0
    with pytest.warns(UserWarning, match="1 constant feature"):
        dn.tl.laplacian_score(adata, mask_var="chosen", layer=None)
    missing = np.flatnonzero(adata.var["laplacian_score"].isna())
    assert missing.tolist() == [2, *range(30, 40)]


def test_sparse_input_gives_the_same(adata):
    x = np.where(adata.X > 0, adata.X, 0)
    adata.X = x
    dense = dn.tl.laplacian_score(adata, copy=True).var["laplacian_score"]
    adata.X = sp.csr_matrix(x)
    np.testing.assert_allclose(dn.tl.laplacian_score(adata, copy=True).var["laplacian_score"], dense)


def test_errors_name_the_argument(adata):
    with pytest.raises(ValueError, match="weights='cosine' is not an option"):
        dn.tl.laplacian_score(adata, weights="cosine")
    with pytest.raises(ValueError, match="standardize='within' is not an option"):
        dn.tl.laplacian_score(adata, standardize="within")
    with pytest.raises(ValueError, match="n_neighbors=120 must be between 1 and 119"):
        dn.tl.laplacian_score(adata, n_neighbors=120)
    with pytest.raises(ValueError, match="use_rep='X_pca' is neither"):
        dn.tl.laplacian_score(adata, use_rep="X_pca")
    assert "laplacian_score" not in adata.var
