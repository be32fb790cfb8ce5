import numpy as np
import pytest

import diffnb as dn
from diffnb.get import _annotations


@pytest.fixture
def data(rng):
    adata = dn.datasets.newly_connected(n_obs=5)
    adata.obsm["X_umap"] = rng.normal(size=(10, 3))
    adata.obsm["line"] = rng.normal(size=(10, 1))
    return adata


def test_embeddings_are_listed_by_their_number_of_columns(data):
    assert _annotations.embedding_names(data) == ["X_umap", "line"]
    assert _annotations.embedding_names(data, min_columns=2) == ["X_umap"]


def test_an_embedding_has_two_columns(data):
    np.testing.assert_array_equal(_annotations.embedding(data, "X_umap"), data.obsm["X_umap"][:, :2])
    with pytest.raises(ValueError, match=r"basis='line' has shape \(10, 1\)"):
        _annotations.embedding(data, "line")


def test_a_matrix_of_features_has_their_names(data):
    table = _annotations.feature_matrix(data, "covariance_A")
    np.testing.assert_array_equal(table, data.varp["covariance_A"])
    assert list(table.columns) == list(data.var_names)


def test_the_kind_of_features_is_read_where_it_is_recorded(data):
    assert _annotations.feature_kind(data) == ""
    assert _annotations.feature_kind(dn.datasets.hyperspectral_tarp(size=20, n_bands=4)) == "pixels"


def test_features_without_positions_are_explained(data):
    with pytest.raises(ValueError, match=r"not pixels: adata.var has no 'row', 'col' \(they are of a kind that is not"):
        _annotations.pixel_positions(data, None)
    with pytest.raises(ValueError, match=r"not parcels with coordinates.*from_parcels"):
        _annotations.parcel_coordinates(data)
