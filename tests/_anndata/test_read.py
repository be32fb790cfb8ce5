"""The door for methods without conditions; the one for conditions is tested where methods use it."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from diffnb._anndata import pull_all


def test_all_observations_come_out_without_a_copy(adata):
    data = pull_all(adata)
    assert np.shares_memory(data.matrix, adata.X)
    assert data.kept.all()
    assert data.n_features == 40
    assert data.n_constant == 0


@pytest.mark.parametrize("use_rep", [None, "X"])
def test_layer_and_mask_choose_what_is_read(adata, use_rep):
    data = pull_all(adata, layer="double", mask_var="chosen", use_rep=use_rep)
    np.testing.assert_array_equal(data.matrix, adata.layers["double"][:, :30])
    assert data.n_features == 30


def test_every_kind_of_array_gives_the_same(adata, array_type):
    expected = adata.X.copy()
    adata.X = array_type(np.where(expected > 0, expected, 0))
    matrix = pull_all(adata, mask_var="chosen").matrix
    matrix = matrix.toarray() if sp.issparse(matrix) else matrix
    np.testing.assert_array_equal(matrix, np.where(expected > 0, expected, 0)[:, :30])


def test_a_view_and_a_backed_file_give_the_same(adata, tmp_path):
    import anndata

    np.testing.assert_array_equal(pull_all(adata[10:50]).matrix, adata.X[10:50])
    adata.write_h5ad(tmp_path / "a.h5ad")
    backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    np.testing.assert_array_equal(pull_all(backed).matrix, adata.X)
    backed.file.close()


def test_constant_features_are_left_out_with_a_warning(adata):
    adata.X[:, [3, 31]] = 1.0
    with pytest.warns(UserWarning, match=r"1 constant feature left out \('gene3'\)"):
        data = pull_all(adata, mask_var="chosen")
    assert data.n_constant == 1
    assert data.n_features == 29
    assert not data.kept[3]
    np.testing.assert_array_equal(data.matrix, adata.X[:, data.kept])


def test_representations_are_read_from_obsm(adata, rng):
    adata.obsm["X_pca"] = rng.normal(size=(120, 5))
    adata.obsm["table"] = pd.DataFrame(rng.normal(size=(120, 2)), index=adata.obs_names, columns=["a", "b"])
    np.testing.assert_array_equal(pull_all(adata, use_rep="X_pca").matrix, adata.obsm["X_pca"])
    np.testing.assert_array_equal(pull_all(adata, use_rep="table").matrix, adata.obsm["table"])
    adata.obsm["X_pca"][0, 1] = np.nan
    with pytest.raises(ValueError, match=r"use_rep='X_pca' has NaN .* 1 feature: 'X_pca_2' \(1\)"):
        pull_all(adata, use_rep="X_pca")
    adata.obsm["table"].iloc[2, 0] = np.inf
    with pytest.raises(ValueError, match=r"use_rep='table' has NaN .* 'a' \(1\)"):
        pull_all(adata, use_rep="table")


def test_errors_name_what_was_given(adata, rng):
    adata.obsm["X_pca"] = rng.normal(size=(120, 5))
    with pytest.raises(ValueError, match=r"use_rep='X_pcs' is neither 'X' nor a key .* Did you mean 'X_pca'"):
        pull_all(adata, use_rep="X_pcs")
    with pytest.raises(ValueError, match="layer is for the features"):
        pull_all(adata, use_rep="X_pca", layer="double")
    with pytest.raises(ValueError, match="mask_var is for the features"):
        pull_all(adata, use_rep="X_pca", mask_var="chosen")
    with pytest.raises(ValueError, match="adata has 2 observations; at least 3 are needed"):
        pull_all(adata[:2])
    adata.X[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"adata.X has NaN or infinite values in 1 feature: 'gene0' \(1\)"):
        pull_all(adata)
    with pytest.raises(ValueError, match="layer='duoble' is not a layer"):
        pull_all(adata, layer="duoble")
