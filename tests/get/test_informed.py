import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import diffnb as dn


@pytest.fixture(scope="module")
def found():
    adata = dn.datasets.two_types(n_obs=50, n_features=60, n_clusters=5)
    dn.tl.informed_distance(adata)
    dn.tl.informed_distance(adata, local=True, full=False, n_clusters=5, key_added="local")
    dn.tl.informed_distance(adata, local=True, informed=False, key_added="plain")
    adata.obsm["X_rep"] = adata.X.copy()
    dn.tl.informed_distance(adata, use_rep="X_rep", key_added="of_rep")
    return adata


def test_distances_are_all_or_those_to_neighbours(found):
    assert isinstance(dn.get.informed_distances(found), np.ndarray)
    graph = dn.get.informed_distances(found, kind="neighbors")
    assert sp.issparse(graph)
    rows, cols = graph.nonzero()
    np.testing.assert_allclose(
        np.asarray(graph[rows, cols]).ravel(), dn.get.informed_distances(found, kind="pairwise")[rows, cols]
    )
    assert sp.issparse(dn.get.informed_distances(found, key="local"))
    with pytest.raises(ValueError, match=r"all 50 observations were not kept.*full=True"):
        dn.get.informed_distances(found, kind="pairwise", key="local")
    with pytest.raises(ValueError, match="Did you mean 'pairwise'"):
        dn.get.informed_distances(found, kind="pairwis")


def test_clusters_stand_beside_directions(found):
    table = dn.get.informed_clusters(found)
    assert table.columns.tolist() == ["cluster", *(f"direction_{i}" for i in range(1, 6))]
    assert table.groupby("cluster", observed=True)["direction_1"].std().max() < 1e-12
    assert dn.get.informed_clusters(found, key="local").columns.tolist() == ["cluster"]
    with pytest.raises(ValueError, match="neither clusters"):
        dn.get.informed_clusters(found, key="plain")


def test_the_gap_marks_the_choice(found):
    table = dn.get.informed_gap(found)
    assert table.loc[table["chosen"], "k"].tolist() == [5]
    with pytest.raises(ValueError, match="number of clusters was given"):
        dn.get.informed_gap(found, key="local")


def test_the_summary_distinguishes_given_from_chosen_numbers(found):
    table = dn.get.informed_summary(found)
    assert table.loc["n_clusters", ["value", "chosen", "at_edge", "note"]].tolist() == [5, True, "", ""]
    assert table.loc["n_components", ["value", "chosen", "at_edge"]].tolist() == [5, True, "high"]
    assert "n_components=5 is the largest number tried. Every direction" in table.loc["n_components", "note"]
    local = dn.get.informed_summary(found, key="local")
    assert local["chosen"].tolist() == [False, True]
    assert np.isnan(local.loc["n_clusters", "flat_from"])
    assert dn.get.informed_summary(found, key="plain").loc["n_clusters", "value"] == 0


def test_embedding_has_a_row_an_observation(found):
    table = dn.get.informed_embedding(found)
    assert table.index.equals(found.obs_names)
    assert table.columns[0] == "component_1"


def test_eigenvalues_are_those_of_the_call(found):
    table = dn.get.informed_eigenvalues(found)
    assert table.index.tolist() == [1, 2, 3, 4, 5]
    pd.testing.assert_series_equal(table["used"], table["pca"], check_names=False)
    with pytest.raises(ValueError, match="local metrics"):
        dn.get.informed_eigenvalues(found, key="local")


def test_covariance_is_constant_on_pairs_of_clusters(found):
    table = dn.get.informed_covariance(found)
    assert table.shape == (60, 60)
    block = table.loc[found.var["cluster"] == "cluster_1", found.var["cluster"] == "cluster_2"].to_numpy()
    np.testing.assert_allclose(block, block[0, 0])
    with pytest.raises(ValueError, match="use_rep"):
        dn.get.informed_covariance(found, key="of_rep")


def test_reading_changes_nothing(found):
    dn.get.informed_distances(found)[:] = 0
    assert dn.get.informed_distances(found).any()


@pytest.mark.parametrize(
    "read", ["informed_distances", "informed_clusters", "informed_gap", "informed_embedding", "informed_summary"]
)
def test_an_unknown_key_names_those_that_are_there(found, read):
    with pytest.raises(KeyError, match="There are results under 'informed', 'local'"):
        getattr(dn.get, read)(found, key="infromed")
