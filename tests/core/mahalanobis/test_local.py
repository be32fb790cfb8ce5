import numpy as np
import pytest
import scipy.sparse as sp
from reference import mahalanobis as plain
from scipy.spatial.distance import cdist, squareform
from scipy.stats import ortho_group

import diffnb as dn
from diffnb.core.mahalanobis import analysis as mahalanobis_pipeline
from diffnb.core.mahalanobis import neighbors as mahalanobis_neighbors
from diffnb.core.mahalanobis.analysis import Request, distances
from diffnb.core.mahalanobis.covariance import observed
from diffnb.core.mahalanobis.neighbors import (
    connectivities,
    diffusion_map,
    nearest_in_space,
    nearest_of_all,
    nearest_points,
    with_self,
)

SIZE = 15


@pytest.fixture(scope="module")
def curved():
    return dn.datasets.curved_square(n_obs=60, n_features=48, noise=0.3)


@pytest.fixture(scope="module")
def clusters(curved):
    return curved.var["cluster"].cat.codes.to_numpy()


def local(x, labels=None, **options):
    request = Request(**{"local": True, "n_neighbors": SIZE, "n_components": 3, "full": True, **options})
    return distances(x, request, labels=labels)


def recall(ours, theirs):
    return np.mean([len(set(a) & set(b)) / len(a) for a, b in zip(ours, theirs, strict=True)])


class TestLocal:
    @pytest.mark.parametrize("solver", ["exact", "gradient"])
    @pytest.mark.parametrize("eigenvalues", ["pca", "own", "floor"])
    def test_with_shared_clusters_is_that_of_the_paper(self, curved, clusters, solver, eigenvalues):
        expected = plain.local_distances(
            curved.X.T, SIZE, lambda part: plain.inverse_covariance(part, clusters, 3, solver, eigenvalues)
        )
        found = local(curved.X, clusters, solver=solver, eigenvalues=eigenvalues).pairwise
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)

    @pytest.mark.parametrize("solver", ["exact", "gradient"])
    def test_with_clusters_of_each_neighbourhood_is_that_of_the_paper(self, curved, solver):
        from diffnb.core.mahalanobis.clusters import cluster_by_products

        def inverse(part):
            return plain.inverse_covariance(part, cluster_by_products(part @ part.T, 6), 3, solver)

        expected = plain.local_distances(curved.X.T, SIZE, inverse)
        found = local(curved.X, n_clusters=6, clustering="each", solver=solver).pairwise
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)

    @pytest.mark.parametrize("ridge", [False, True])
    def test_without_clusters_is_that_of_local_pca(self, curved, ridge):
        expected = plain.local_distances(curved.X.T, SIZE, lambda part: plain.conventional_inverse(part, 3, ridge))
        found = local(curved.X, informed=False, eigenvalues="floor" if ridge else "pca").pairwise
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)

    @pytest.mark.parametrize("options", [{}, {"informed": False}, {"clustering": "each", "n_clusters": 6}])
    def test_any_kind_of_array_gives_the_same(self, curved, array_type, options):
        x = np.where(np.abs(curved.X) > 0.5, curved.X, 0.0)
        options = {"n_clusters": 6, **options}
        np.testing.assert_allclose(local(array_type(x), **options).pairwise, local(x, **options).pairwise, atol=1e-7)

    @pytest.mark.parametrize("options", [{}, {"informed": False}, {"clustering": "each", "n_clusters": 6}])
    def test_runs_do_not_change_the_answer(self, curved, options, set_memory):
        options = {"n_clusters": 6, "n_components": None, **options}
        expected = local(curved.X, **options)
        set_memory(16 * 8 * 3000)
        found = local(curved.X, **options)
        np.testing.assert_allclose(found.pairwise, expected.pairwise, rtol=1e-9)
        assert 1 <= found.n_components <= SIZE - 1

    def test_distances_are_symmetric_and_zero_to_oneself(self, curved):
        found = local(curved.X, n_clusters=6).pairwise
        np.testing.assert_array_equal(found, found.T)
        assert not np.diag(found).any()

    @pytest.mark.parametrize("options", [{}, {"informed": False}, {"clustering": "each"}])
    def test_a_neighbourhood_of_duplicates_takes_the_global_metric(self, curved, options):
        x = curved.X.copy()
        x[:SIZE] = x[0]
        found = local(x, n_clusters=6, **options)
        assert np.isfinite(found.pairwise).all()
        assert found.pairwise[0, 1] == 0
        assert (found.pairwise[:SIZE, SIZE:] > 0).all()

    def test_a_global_metric_of_fewer_components_is_taken_as_well(self, rng):
        x = rng.normal(size=(40, 24))
        x[:SIZE] = x[0]
        found = local(x, np.arange(24) // 4)
        assert found.metric.own.size < found.n_components == 3
        assert np.isfinite(found.pairwise).all()
        assert (found.pairwise[0, SIZE:] > 0).all()

    def test_near_pairs_are_better_than_without_clusters(self):
        gains = []
        for seed in range(3):
            adata = dn.datasets.curved_square(n_obs=300, random_state=seed)
            hidden = cdist(adata.obsm["hidden"], adata.obsm["hidden"])
            upper = np.triu_indices(300, 1)
            near = hidden[upper] <= np.quantile(hidden[upper], 0.1)

            def score(pairwise, hidden=hidden, upper=upper, near=near):
                return np.corrcoef(pairwise[upper][near], hidden[upper][near])[0, 1]

            options = {"n_neighbors": 20, "n_components": 2, "n_clusters": 6}
            gains.append(
                score(local(adata.X, **options).pairwise) - score(local(adata.X, informed=False, **options).pairwise)
            )
        assert np.mean(gains) > 0.3


class TestNeighbours:
    @pytest.mark.parametrize("width", [2, 12])
    def test_of_points_are_those_of_all_distances(self, rng, width):
        points = rng.normal(size=(80, width))
        found, expected = nearest_points(points, 7), nearest_of_all(cdist(points, points), 7)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_allclose(found.distances, expected.distances, atol=1e-7)

    @pytest.mark.parametrize("width", [2, 12])
    def test_of_duplicates_leave_oneself_out(self, width):
        found = nearest_points(np.zeros((30, width)), 4)
        assert not (found.indices == np.arange(30)[:, None]).any()
        assert not found.distances.any()

    def test_neighbourhoods_begin_with_oneself(self, curved):
        found = with_self(nearest_in_space(observed(curved.X), 6), 7)
        for i in range(5):
            assert found[i, 0] == i
            assert set(found[i]) == set(plain.neighborhood(curved.X.T, i, 7))

    def test_of_large_data_are_those_among_principal_components(self, rng, monkeypatch):
        rotation = ortho_group.rvs(60, random_state=0)
        x = np.c_[rng.normal(size=(70, 40)), np.zeros((70, 20))] @ rotation
        expected = nearest_in_space(observed(x), 5)
        monkeypatch.setattr(mahalanobis_neighbors, "EXACT_WORK", 0)
        np.testing.assert_array_equal(nearest_in_space(observed(x), 5), expected)

    @pytest.mark.parametrize("options", [{}, {"informed": False, "n_components": 2}])
    def test_of_candidates_are_mostly_those_of_all(self, curved, options):
        adata = dn.datasets.curved_square(n_obs=400, n_features=60, noise=0.3)
        options = {"n_clusters": 6, "n_components": 2, **options}
        whole, part = (local(adata.X, full=full, **options) for full in (True, False))
        assert part.pairwise is None
        assert recall(part.nearest.indices, whole.nearest.indices) > 0.9
        expected = np.take_along_axis(whole.pairwise, part.nearest.indices, axis=1)
        np.testing.assert_allclose(part.nearest.distances, expected, rtol=1e-6)

    def test_of_all_candidates_are_those_of_all(self, curved, monkeypatch, set_memory):
        monkeypatch.setattr(mahalanobis_pipeline, "CANDIDATES", 60)
        set_memory(16 * 8 * 5000)
        for options in ({}, {"informed": False}, {"clustering": "each"}):
            whole, part = (local(curved.X, full=full, n_clusters=6, **options) for full in (True, False))
            np.testing.assert_array_equal(part.nearest.indices, whole.nearest.indices)
            np.testing.assert_allclose(part.nearest.distances, whole.nearest.distances, rtol=1e-7)

    def test_global_ones_are_exact_without_all_distances(self, curved):
        whole, part = (
            distances(curved.X, Request(n_clusters=6, n_neighbors=SIZE, full=full)) for full in (True, False)
        )
        np.testing.assert_array_equal(part.nearest.indices, whole.nearest.indices)
        assert part.pairwise is None


class TestGraph:
    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore")
    def test_weights_are_those_of_umap(self, rng):
        from umap.umap_ import fuzzy_simplicial_set

        points = rng.normal(size=(90, 3))
        points[:4] = points[0]
        found = nearest_points(points, 9)
        indices = np.column_stack([np.arange(90), found.indices])
        apart = np.column_stack([np.zeros(90), found.distances])
        expected = fuzzy_simplicial_set(
            sp.coo_matrix((90, 1)), 10, None, None, knn_indices=indices, knn_dists=apart.astype(np.float32)
        )[0]
        np.testing.assert_allclose(connectivities(found).toarray(), expected.toarray(), atol=2e-5)

    def test_weights_of_duplicates_alone_are_one(self):
        graph = connectivities(nearest_points(np.zeros((12, 2)), 3))
        assert (graph.data == 1).all()

    def test_rows_are_sorted_and_full_and_neighbours_stay_in_order(self, rng):
        found = nearest_points(rng.normal(size=(20, 2)), 4)
        graph = found.as_graph()
        assert (np.diff(found.distances, axis=1) >= 0).all()
        assert (np.diff(graph.indptr) == 4).all()
        assert graph.has_sorted_indices
        assert graph.diagonal().sum() == 0

    def test_map_is_that_of_the_equations(self, rng):
        apart = cdist(*[rng.normal(size=(40, 3))] * 2)
        weights = np.exp(-(apart**2) / (2 * np.median(squareform(apart)) ** 2))
        walk = weights / weights.sum(axis=1, keepdims=True)
        values, embedding = diffusion_map(apart, 3)
        np.testing.assert_allclose(walk @ embedding, embedding * values, atol=1e-10)
        np.testing.assert_allclose(values, np.sort(np.linalg.eigvals(walk).real)[::-1][1:4])
        np.testing.assert_allclose(np.linalg.norm(embedding, axis=0), values)

    def test_map_of_a_graph_parts_what_is_apart(self, rng):
        points = rng.normal(size=(60, 2)) + 6 * (np.arange(60)[:, None] < 30)
        graph = nearest_points(points, 40).as_graph()
        side = diffusion_map(graph, 2)[1][:, 0] > 0
        assert len(set(side[:30])) == len(set(side[30:])) == 1
        assert side[0] != side[-1]

    def test_map_of_mostly_duplicates_is_finite(self):
        points = np.r_[np.zeros((30, 1)), np.ones((6, 1))]
        assert np.isfinite(diffusion_map(cdist(points, points), 2)[1]).all()
        assert np.isfinite(diffusion_map(nearest_points(points, 4).as_graph(), 2)[1]).all()
