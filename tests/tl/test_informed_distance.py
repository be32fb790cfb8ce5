import logging

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import diffnb as dn


@pytest.fixture(scope="module")
def made():
    adata = dn.datasets.two_types(n_obs=50, n_features=60, n_clusters=5)
    adata.layers["double"] = 2 * adata.X
    adata.var["chosen"] = np.arange(60) < 40
    return adata


@pytest.fixture
def types(made):
    return made.copy()


def snapshot(adata):
    slots = (adata.uns, adata.obsm, adata.obsp, adata.varm, adata.var.columns, adata.obs.columns)
    return [sorted(slot) for slot in slots]


def distances(adata, **options):
    return dn.get.informed_distances(dn.tl.informed_distance(adata, copy=True, **{"n_clusters": 5, **options}))


class TestResult:
    def test_returns_none_and_names_its_slots(self, types):
        assert dn.tl.informed_distance(types) is None
        assert types.uns["informed"]["distances_key"] == "informed_distances"
        assert types.obsp["informed_distances"].nnz == 50 * 19
        assert types.obsp["informed_pairwise"].shape == (50, 50)
        assert types.obsm["X_informed_diffmap"].shape == (50, 10)
        assert types.var["informed_cluster"].nunique() == 5
        assert types.varm["informed"].shape == (60, 5)

    def test_points_have_the_distances(self, types):
        dn.tl.informed_distance(types)
        y = types.obsm["X_informed"]
        np.testing.assert_allclose(cdist(y, y), types.obsp["informed_pairwise"], atol=1e-12)

    def test_clusters_are_found(self, types):
        dn.tl.informed_distance(types)
        both = types.var[["cluster", "informed_cluster"]].drop_duplicates()
        assert len(both) == 5

    def test_types_are_separated(self, types):
        dn.tl.informed_distance(types)
        side = types.obsm["X_informed_diffmap"][:, 0] > 0
        assert (side == side[0]).astype(int).tolist() in [
            (types.obs["condition"] == types.obs["condition"].iloc[0]).astype(int).tolist()
        ]

    def test_a_copy_leaves_the_original_alone(self, types):
        before = snapshot(types)
        copy = dn.tl.informed_distance(types, copy=True)
        assert snapshot(types) == before
        assert "informed" in copy.uns

    def test_the_choice_is_logged(self, types, caplog):
        with caplog.at_level(logging.INFO, logger="diffnb"):
            dn.tl.informed_distance(types, local=True)
        assert "local metric by 5 clusters of 60 features" in caplog.text

    @pytest.mark.parametrize("local", [False, True])
    def test_the_same_seed_gives_the_same_bits(self, types, local):
        first, second = (distances(types, n_clusters="auto", local=local, random_state=3) for _ in range(2))
        np.testing.assert_array_equal(first, second)

    def test_a_later_call_leaves_nothing_of_an_earlier_one(self, types):
        dn.tl.informed_distance(types)
        dn.tl.informed_distance(types, informed=False, local=True, full=False)
        assert "informed_pairwise" not in types.obsp
        assert "X_informed" not in types.obsm
        assert "informed" not in types.varm
        assert "informed_cluster" not in types.var

    def test_results_under_two_keys_are_kept_separately(self, types):
        dn.tl.informed_distance(types)
        dn.tl.informed_distance(types, informed=False, key_added="pca")
        assert types.uns["pca"]["connectivities_key"] == "pca_connectivities"
        assert not np.allclose(types.obsp["pca_pairwise"], types.obsp["informed_pairwise"])


class TestOptions:
    def test_all_kinds_of_metric_differ(self, types):
        kinds = [
            {},
            {"eigenvalues": "own"},
            {"eigenvalues": "floor"},
            {"solver": "gradient", "n_components": 4},
            {"informed": False},
            {"informed": False, "eigenvalues": "floor"},
            {"local": True},
            # with as many clusters as there are, each neighbourhood finds the same
            {"local": True, "clustering": "each", "n_clusters": 8},
            {"local": True, "informed": False},
            {"local": True, "informed": False, "eigenvalues": "floor"},
        ]
        found = [distances(types, **kind) for kind in kinds]
        for i in range(len(kinds)):
            for j in range(i):
                assert not np.allclose(found[i], found[j]), (kinds[i], kinds[j])

    def test_without_clusters_own_eigenvalues_are_those_of_pca(self, types):
        np.testing.assert_array_equal(
            distances(types, informed=False, eigenvalues="own"), distances(types, informed=False)
        )

    def test_known_clusters_keep_their_names(self, types):
        types.var["pathway"] = types.var["cluster"].astype(str).str.upper()
        dn.tl.informed_distance(types, n_clusters="pathway")
        assert (types.var["informed_cluster"].astype(str) == types.var["pathway"]).all()
        np.testing.assert_allclose(types.obsp["informed_pairwise"], distances(types))

    def test_features_without_a_known_cluster_are_excluded(self, types, caplog):
        types.var["pathway"] = types.var["cluster"].astype(object).where(types.var["chosen"])
        with caplog.at_level(logging.INFO, logger="diffnb"):
            dn.tl.informed_distance(types, n_clusters="pathway")
        assert "20 features without a pathway are excluded" in caplog.text
        assert types.varm["informed"].iloc[40:].isna().all(axis=None)
        np.testing.assert_allclose(
            types.obsp["informed_pairwise"], distances(types, n_clusters="cluster", mask_var="chosen")
        )
        dn.tl.informed_distance(types, n_clusters="pathway", informed=False)
        np.testing.assert_allclose(types.obsp["informed_pairwise"], distances(types, informed=False, mask_var="chosen"))

    def test_groups_of_disc_are_clusters(self, adata):
        dn.tl.disc(adata, "condition", n_clusters=3)
        dn.tl.informed_distance(adata, n_clusters="disc_stim")
        assert set(adata.var["informed_cluster"].astype(str)) == set(adata.var["disc_stim"].astype(str))

    def test_layers_masks_and_representations(self, types):
        np.testing.assert_allclose(distances(types, layer="double"), distances(types), atol=1e-8)
        masked = distances(types, mask_var="chosen", n_clusters=3)
        np.testing.assert_allclose(masked, distances(types[:, :40].copy(), n_clusters=3))
        types.obsm["X_same"] = types.X.copy()
        np.testing.assert_allclose(distances(types, use_rep="X_same"), distances(types))
        found = dn.tl.informed_distance(types, use_rep="X_same", copy=True)
        assert "informed" not in found.varm
        assert found.uns["informed"]["params"]["use_rep"] == "X_same"

    def test_neighbours_only_are_those_of_all(self, types):
        dn.tl.informed_distance(types, n_clusters=5)
        graph = types.obsp["informed_distances"]
        dn.tl.informed_distance(types, n_clusters=5, full=False)
        assert abs(types.obsp["informed_distances"] - graph).max() < 1e-10

    def test_large_data_keep_neighbours_only(self, types, monkeypatch):
        monkeypatch.setattr("diffnb.core.mahalanobis.analysis.MAX_OBS_FOR_ALL_DISTANCES", 49)
        dn.tl.informed_distance(types)
        assert sp.issparse(dn.get.informed_distances(types))


class TestInput:
    @pytest.mark.parametrize("local", [False, True])
    def test_every_kind_of_array_gives_the_same(self, types, array_type, local):
        types.X = np.where(types.X > 4, types.X, 0.0)
        other = types.copy()
        other.X = array_type(types.X)
        np.testing.assert_allclose(distances(other, local=local), distances(types, local=local), atol=1e-7)

    def test_integers_and_single_precision(self, types):
        types.X = np.round(types.X)
        expected = distances(types)
        for kind, tolerance in ((np.int32, 1e-10), (np.float32, 1e-3)):
            other = anndata.AnnData(types.X.astype(kind), var=types.var)
            np.testing.assert_allclose(distances(other), expected, atol=tolerance)
        dn.tl.informed_distance(other)
        for stored in (other.obsp["informed_distances"], other.obsm["X_informed"], other.obsp["informed_pairwise"]):
            assert stored.dtype == np.float32

    def test_backed_files_and_views(self, types, tmp_path):
        expected = distances(types)
        view = types[:, :]
        dn.tl.informed_distance(view, n_clusters=5)
        np.testing.assert_allclose(view.obsp["informed_pairwise"], expected)
        assert "informed" not in types.uns
        types.write_h5ad(tmp_path / "backed.h5ad")
        backed = anndata.read_h5ad(tmp_path / "backed.h5ad", backed="r")
        dn.tl.informed_distance(backed, n_clusters=5)
        np.testing.assert_allclose(backed.obsp["informed_pairwise"], expected)
        backed.file.close()

    def test_constant_features_are_left_out_with_a_warning(self, types):
        expected = distances(types[:, np.arange(60) != 7].copy())
        types.X[:, 7] = 3
        with pytest.warns(UserWarning, match="1 constant feature left out"):
            dn.tl.informed_distance(types, n_clusters=5)
        np.testing.assert_allclose(types.obsp["informed_pairwise"], expected)
        assert types.varm["informed"].iloc[7].isna().all()
        assert types.var["informed_cluster"].isna().sum() == 1

    @pytest.mark.parametrize("local", [False, True])
    def test_duplicate_observations_have_no_distance(self, types, local):
        types.X[:25] = types.X[0]
        dn.tl.informed_distance(types, n_clusters=5, local=local)
        found = types.obsp["informed_pairwise"]
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found[:25, :25], 0, atol=1e-9)
        assert (found[:25, 25:] > 1e-3).all()
        assert np.isfinite(types.obsp["informed_connectivities"].data).all()


BAD = {
    "too few observations for a neighbourhood": ({"n_neighbors": 51}, ValueError, "n_neighbors=51.*50 observations"),
    "no neighbour": ({"n_neighbors": 1}, ValueError, "n_neighbors=1 must be between 2"),
    "a tiny neighbourhood": ({"n_neighbors": 2, "local": True}, ValueError, "n_neighbors=2 must be between 3"),
    "more clusters than features": ({"n_clusters": 61}, ValueError, "n_clusters=61.*between 2 and 60.*60 features"),
    "one cluster": ({"n_clusters": 1}, ValueError, "n_clusters=1 "),
    "half a cluster": ({"n_clusters": 2.5}, TypeError, "n_clusters=2.5"),
    "an unknown column": ({"n_clusters": "clustr"}, ValueError, "n_clusters='clustr'.*Did you mean 'cluster'"),
    "one known cluster": ({"n_clusters": "one"}, ValueError, "n_clusters='one' has 1 cluster.*at least two"),
    "known clusters for each": (
        {"n_clusters": "cluster", "clustering": "each", "local": True},
        ValueError,
        "which all share",
    ),
    "known clusters of a representation": ({"n_clusters": "cluster", "use_rep": "X_rep"}, ValueError, "give a number"),
    "each without neighbourhoods": ({"clustering": "each"}, ValueError, "needs local=True"),
    "more components than clusters": ({"n_clusters": 3, "n_components": 4}, ValueError, "n_components=4.*3 clusters"),
    "more than a neighbourhood spans": (
        {"local": True, "n_neighbors": 4, "n_components": 4},
        ValueError,
        "n_components=4.*4 observations span no more",
    ),
    "more than there are features": (
        {"informed": False, "mask_var": np.arange(60) < 5, "n_components": 6},
        ValueError,
        "5 features",
    ),
    "more components than clusters are chosen": (
        {"n_components": 9},
        ValueError,
        "n_components=9 is more than the 5 clusters that the gap statistic chose",
    ),
    "an unknown solver": ({"solver": "exakt"}, ValueError, "Did you mean 'exact'"),
    "unknown eigenvalues": ({"eigenvalues": "flor"}, ValueError, "Did you mean 'floor'"),
    "an unknown clustering": ({"clustering": "shard"}, ValueError, "Did you mean 'shared'"),
    "an unknown layer": ({"layer": "doubel"}, ValueError, "Did you mean 'double'"),
    "an unknown representation": ({"use_rep": "X_re"}, ValueError, "Did you mean 'X_rep'"),
    "a negative seed": ({"random_state": -1}, ValueError, "random_state=-1"),
}


class TestBadInput:
    @pytest.mark.parametrize("case", list(BAD))
    def test_gets_a_clear_error_and_changes_nothing(self, types, case):
        types.var["one"] = "same"
        types.obsm["X_rep"] = types.X[:, :20].copy()
        options, error, words = BAD[case]
        before = snapshot(types)
        with pytest.raises(error, match=words):
            dn.tl.informed_distance(types, **options)
        assert snapshot(types) == before

    def test_missing_values_are_named(self, types):
        types.X[3, 5] = np.nan
        with pytest.raises(ValueError, match=r"'feature_06' \(1\)"):
            dn.tl.informed_distance(types)

    def test_two_observations(self, types):
        with pytest.raises(ValueError, match="2 observations; at least 3"):
            dn.tl.informed_distance(types[:2].copy())

    def test_an_interrupted_call_leaves_the_data_as_it_was(self, types, monkeypatch):
        def stop(*args, **options):
            raise KeyboardInterrupt

        dn.tl.informed_distance(types)
        before, kept = snapshot(types), types.obsp["informed_pairwise"].copy()
        monkeypatch.setattr("diffnb.core.mahalanobis.analysis.connectivities", stop)
        with pytest.raises(KeyboardInterrupt):
            dn.tl.informed_distance(types, local=True)
        assert snapshot(types) == before
        np.testing.assert_array_equal(types.obsp["informed_pairwise"], kept)


class TestSaving:
    @pytest.mark.parametrize("kind", ["h5ad", "zarr"])
    @pytest.mark.filterwarnings("ignore:.*zarr.*", "ignore::FutureWarning", "ignore::UserWarning")
    def test_all_results_come_back_unchanged(self, types, tmp_path, kind):
        dn.tl.informed_distance(types)
        dn.tl.informed_distance(types, local=True, full=False, key_added="local")
        path = tmp_path / f"saved.{kind}"
        getattr(types, f"write_{kind}")(path)
        back = getattr(anndata, f"read_{kind}")(path)
        for key in ("informed", "local"):
            ours, theirs = (dn.get.informed_distances(a, key=key, kind="neighbors") for a in (types, back))
            assert (ours != theirs).nnz == 0
            pd.testing.assert_frame_equal(
                dn.get.informed_embedding(back, key=key), dn.get.informed_embedding(types, key=key)
            )
            pd.testing.assert_frame_equal(
                dn.get.informed_clusters(back, key=key), dn.get.informed_clusters(types, key=key)
            )
            pd.testing.assert_frame_equal(dn.get.informed_gap(back, key=key), dn.get.informed_gap(types, key=key))
        pd.testing.assert_frame_equal(dn.get.informed_eigenvalues(back), dn.get.informed_eigenvalues(types))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("local", [False, True])
def test_scanpy_works_on_the_metric(local):
    import scanpy as sc

    adata = dn.datasets.two_types(n_obs=120, n_features=90, n_clusters=6)
    dn.tl.informed_distance(adata, local=local)
    obsm = set(adata.obsm)
    sc.tl.umap(adata, neighbors_key="informed", maxiter=20)
    sc.tl.leiden(
        adata, resolution=2, neighbors_key="informed", flavor="igraph", n_iterations=2, directed=False, random_state=0
    )
    sc.tl.diffmap(adata, neighbors_key="informed")
    sc.tl.paga(adata, groups="leiden", neighbors_key="informed")
    adata.uns["iroot"] = 0
    sc.tl.dpt(adata, neighbors_key="informed")
    assert set(adata.obsm) - obsm == {"X_umap", "X_diffmap"}
    assert adata.obs["leiden"].nunique() > 1
    # the two types are not connected under local metrics
    assert np.isfinite(adata.obs["dpt_pseudotime"]).mean() > 0.3
    if not local:
        purity = pd.crosstab(adata.obs["leiden"], adata.obs["condition"]).max(axis=1).sum() / 120
        assert purity > 0.85


def test_a_gap_statistic_without_a_peak_is_reported():
    """Features of every size and one shape, as genes have them, form no clusters."""
    rng = np.random.default_rng(0)
    sizes, shape = rng.gamma(0.3, size=200), rng.gamma(1, size=(40, 1))
    adata = anndata.AnnData(sizes * shape * (1 + 0.3 * rng.normal(size=(40, 200))))
    with pytest.warns(UserWarning, match=r"n_clusters=30 is the largest number tried\. The gap statistic has no peak"):
        dn.tl.informed_distance(adata)
    summary = dn.get.informed_summary(adata)
    assert summary.loc["n_clusters", ["value", "at_edge"]].tolist() == [30, "high"]
    assert "no clear clusters" in summary.loc["n_clusters", "note"]


class TestClusterWeight:
    @pytest.fixture
    def types(self):
        return dn.datasets.two_types(n_obs=40, random_state=3)

    def test_the_ends_are_what_they_are_called(self, types):
        options = {"n_clusters": "cluster", "n_components": 5}
        dn.tl.informed_distance(types, **options, cluster_weight=0, key_added="none")
        dn.tl.informed_distance(types, informed=False, n_components=5, key_added="pca")
        np.testing.assert_allclose(types.obsp["none_pairwise"], types.obsp["pca_pairwise"], rtol=1e-6)

    def test_auto_trusts_known_clusters_and_mistrusts_random_ones(self, types, rng):
        types.var["random"] = rng.permutation(types.var["cluster"].astype(str))
        weights = []
        for column in ("cluster", "random"):
            dn.tl.informed_distance(types, n_clusters=column, n_components=10, cluster_weight="auto")
            weights.append(types.uns["informed"]["cluster_weight"])
        assert weights[0] == 1.0
        assert weights[1] <= 0.25

    def test_the_number_of_components_is_chosen_as_well(self, types):
        dn.tl.informed_distance(types, n_clusters="cluster", cluster_weight=0.5)
        assert 1 <= types.uns["informed"]["n_components"] <= 18

    @pytest.mark.parametrize(
        ("options", "match"),
        [
            ({"cluster_weight": 1.5}, r"cluster_weight=1\.5 must be between 0"),
            ({"cluster_weight": "most"}, "cluster_weight='most'"),
            ({"cluster_weight": 0.5, "local": True}, "for the global metric"),
            ({"cluster_weight": "auto", "solver": "gradient"}, "with solver='exact'"),
        ],
    )
    def test_what_cannot_be_weighed_is_refused(self, types, options, match):
        with pytest.raises(ValueError, match=match):
            dn.tl.informed_distance(types, **options)
