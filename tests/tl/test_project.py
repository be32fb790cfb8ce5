from __future__ import annotations

import anndata
import numpy as np
import pytest

import diffnb as dn


@pytest.fixture(scope="module")
def reference():
    adata = dn.datasets.newly_connected(n_obs=80)
    dn.tl.disc(adata, "condition", n_clusters=3, n_components=2)
    dn.tl.meta_features(adata)
    return adata


@pytest.fixture(scope="module")
def sparse_direction():
    adata = dn.datasets.nuisance_factor(n_obs=60, n_features=60)
    adata.obs["three"] = np.resize(["a", "b", "c"], adata.n_obs)
    return adata


def test_projecting_the_reference_gives_its_own_meta_features(reference):
    query = dn.tl.project(reference, reference, copy=True)
    np.testing.assert_allclose(query.obsm["X_projected"], reference.obsm["X_disc"], atol=1e-12)
    np.testing.assert_allclose(dn.get.projection(query)["matched"], 1)


def test_scores_of_groups_are_means_in_standard_deviations_of_the_reference(reference):
    query = dn.tl.project(reference, reference, copy=True)
    members = dn.get.gene_sets(reference)["A1"]
    x = np.asarray(reference[:, members].X)
    expected = ((x - x.mean(axis=0)) / x.std(axis=0)).mean(axis=1)
    np.testing.assert_allclose(query.obsm["X_projected_groups"]["A1"], expected, atol=1e-10)


@pytest.mark.parametrize(
    "given",
    [
        {"n_features": 5, "n_projections": 3},
        {"n_features": 5, "standardize": None},
        {"n_features": 5, "groupby": "three"},
    ],
)
def test_projecting_the_reference_gives_its_own_projections(sparse_direction, given):
    adata = sparse_direction.copy()
    dn.tl.sparda(adata, given.get("groupby", "condition"), **{k: v for k, v in given.items() if k != "groupby"})
    query = dn.tl.project(adata, adata, key="sparda", copy=True)
    np.testing.assert_allclose(query.obsm["X_projected"], adata.obsm["X_sparda"], atol=1e-9)


@pytest.mark.parametrize(("tool", "given"), [(dn.tl.disc, {}), (dn.tl.sparda, {"n_features": 3})])
def test_missing_values_of_features_that_were_left_out_are_of_no_consequence(sparse_direction, tool, given):
    """Once they made all scores of groups missing."""
    adata = sparse_direction.copy()
    adata.X[3, 0] = np.nan
    adata.var["used"] = np.arange(adata.n_vars) > 0
    tool(adata, "condition", mask_var="used", **given)
    for query in (adata, adata[:, 1:].copy()):
        projected = dn.tl.project(query, adata, key=tool.__name__, copy=True).obsm
        assert all(np.isfinite(np.asarray(projected[name])).all() for name in projected if "projected" in name)


def test_a_missing_feature_counts_as_its_mean(reference):
    lost = dn.get.gene_sets(reference)["B1"][-3:]
    filled = reference.copy()
    x = np.asarray(filled.X).copy()
    places = filled.var_names.get_indexer(lost)
    x[:, places] = x[:, places].mean(axis=0)
    filled.X = x
    query = reference[:, ~reference.var_names.isin(lost)].copy()
    dn.tl.project(filled, reference)
    dn.tl.project(query, reference)
    np.testing.assert_allclose(query.obsm["X_projected"], filled.obsm["X_projected"], atol=1e-10)
    assert query.uns["projected"]["n_missing"] == 3
    assert dn.get.projection(query).loc["B1", "matched"] < 1


def test_much_that_is_missing_is_reported(reference):
    lost = reference.var["disc_B"] != "background"
    with pytest.warns(UserWarning, match="of the squared weights"):
        query = dn.tl.project(reference[:, ~lost].copy(), reference, copy=True)
    assert query.obsm["X_projected_groups"]["B1"].isna().all()


def test_selections_are_matched_by_name(tmp_path):
    reference = dn.datasets.two_moons(10)
    dn.tl.dufs(reference)
    query = reference[:, ::-1].copy()
    query = query[:, query.var_names != "moon_y"].copy()
    with pytest.warns(UserWarning, match="of the squared weights"):
        dn.tl.project(query, reference, key="dufs")
    assert list(query.var_names[query.var["projected"]]) == ["moon_x"]
    assert dn.get.projection(query)["kind"].tolist() == ["selection"]
    query.write_h5ad(tmp_path / "q.h5ad")
    back = anndata.read_h5ad(tmp_path / "q.h5ad")
    assert dn.get.projection(back)["matched"].tolist() == [0.5]


def test_features_that_only_the_query_has_are_not_selected():
    reference = dn.datasets.two_moons(10)
    dn.tl.dufs(reference)
    query = reference.copy()
    reference = reference[:, reference.var_names[:5]].copy()
    dn.tl.project(query, reference, key="dufs")
    assert list(query.var_names[query.var["projected"]]) == ["moon_x", "moon_y"]


def test_what_has_no_place_for_new_observations_is_refused(sparse_direction):
    adata = sparse_direction.copy()
    dn.tl.sparda(adata, "condition", n_features=5, standardize="within")
    with pytest.raises(ValueError, match="standardize='global'"):
        dn.tl.project(adata, adata, key="sparda")


def test_errors_name_what_is_there(reference):
    with pytest.raises(KeyError, match="there are 'disc'"):
        dn.tl.project(reference, reference, key="sparda")
    other = reference.copy()
    other.var_names = [f"x{i}" for i in range(other.n_vars)]
    with pytest.raises(ValueError, match="no feature of the query"):
        dn.tl.project(other, reference)
