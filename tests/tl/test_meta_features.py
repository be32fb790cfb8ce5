import numpy as np
import pytest
import scipy.sparse as sp

import diffnb as dn

FIXED = {"n_neighbors": 6, "n_eigenvectors": 4, "n_components": 3, "n_clusters": 3}


def test_meta_features_are_data_times_vectors(adata):
    dn.tl.disc(adata, "condition", **FIXED)
    assert dn.tl.meta_features(adata) is None
    found = dn.get.disc(adata)
    vectors = [found.loc[found["group"] == g, ["vector_1", "vector_2", "vector_3"]] for g in ("ctrl", "stim")]
    np.testing.assert_allclose(adata.obsm["X_disc"], adata.X @ np.hstack(vectors), atol=1e-12)


def test_all_observations_and_the_layer_of_the_call_are_used(adata):
    adata.obs["part"] = ["a"] * 40 + ["b"] * 40 + ["c"] * 40
    dn.tl.disc(adata, "part", groups=["a", "c"], layer="double", **FIXED)
    dn.tl.meta_features(adata)
    vectors = dn.get.disc(adata, group="a").filter(regex="vector").to_numpy()
    np.testing.assert_allclose(adata.obsm["X_disc"][:, :3], adata.layers["double"] @ vectors, atol=1e-12)


@pytest.mark.filterwarnings("ignore::diffnb.StaleResultsWarning")
def test_features_left_out_weigh_nothing(adata):
    dn.tl.disc(adata, "condition", mask_var="chosen", **FIXED)
    dn.tl.meta_features(adata)
    before = adata.obsm["X_disc"].copy()
    adata.X[:, 30:] = 1e6
    dn.tl.meta_features(adata)
    np.testing.assert_array_equal(adata.obsm["X_disc"], before)


def test_sparse_data_gives_the_same(adata):
    dn.tl.disc(adata, "condition", key_added="mine", **FIXED)
    dn.tl.meta_features(adata, key="mine")
    dense = adata.obsm["X_mine"].copy()
    adata.X = sp.csr_matrix(adata.X)
    dn.tl.meta_features(adata, key="mine")
    np.testing.assert_allclose(adata.obsm["X_mine"], dense, atol=1e-12)


def test_without_results_the_error_names_the_call_to_make(adata):
    with pytest.raises(KeyError, match=r"key='disc'; run dn.tl.disc\(adata, groupby\) first"):
        dn.tl.meta_features(adata)
