import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from reference import mahalanobis as plain
from scipy.spatial.distance import cdist, squareform
from scipy.stats import ortho_group

import diffnb as dn
from diffnb.core.arrays.row_chunks import chunked
from diffnb.core.mahalanobis import neighbors
from diffnb.core.mahalanobis.covariance import sample_covariance
from diffnb.core.mahalanobis.local import LocalMetrics
from diffnb.core.mahalanobis.neighbors import (
    candidate_pairs,
    connectivities,
    mean_metric_points,
    nearest_in_space,
    nearest_of_all,
    nearest_of_candidates,
    nearest_points,
    observation_diffusion_map,
    with_self,
)


@pytest.fixture(scope="module")
def curved():
    return dn.datasets.curved_square(n_obs=60, n_features=48, noise=0.3)


class TestNeighbors:
    @pytest.mark.parametrize("width", [2, 12])
    def test_of_points_are_those_of_all_distances(self, rng, width):
        points = rng.normal(size=(80, width))
        found, expected = nearest_points(points, 7), nearest_of_all(cdist(points, points), 7)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_allclose(found.distances, expected.distances, atol=1e-7)

    @pytest.mark.parametrize("width", [2, 12])
    def test_of_duplicates_exclude_oneself(self, width):
        found = nearest_points(np.zeros((30, width)), 4)
        assert not (found.indices == np.arange(30)[:, None]).any()
        assert not found.distances.any()

    def test_neighbourhoods_begin_with_oneself(self, curved):
        found = with_self(nearest_in_space(sample_covariance(curved.X), 6), 7)
        for i in range(5):
            assert found[i, 0] == i
            assert set(found[i]) == set(plain.neighborhood(curved.X.T, i, 7))

    def test_of_large_data_are_those_among_principal_components(self, rng, monkeypatch):
        rotation = ortho_group.rvs(60, random_state=0)
        x = np.c_[rng.normal(size=(70, 40)), np.zeros((70, 20))] @ rotation
        expected = nearest_in_space(sample_covariance(x), 5)
        monkeypatch.setattr(neighbors, "MAX_EXACT_MULTIPLICATIONS", 0)
        np.testing.assert_array_equal(nearest_in_space(sample_covariance(x), 5), expected)

    @pytest.mark.parametrize("memory", [2**10, 2**30])
    def test_of_points_that_are_read_are_those_in_memory(self, rng, memory, set_memory):
        points = rng.normal(size=(50, 4)) + 1e3
        expected = nearest_points(points, 6)
        set_memory(memory)
        found = nearest_points(chunked(da.from_array(points, chunks=(9, -1))), 6)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_allclose(found.distances, expected.distances, atol=1e-6)


class TestCandidates:
    @pytest.fixture
    def local(self, rng):
        """Local metrics of random factors, whose distances are known."""
        points, factors = rng.normal(size=(40, 5)), rng.normal(size=(40, 5, 2))
        return LocalMetrics(points, factors.__getitem__, 2)

    @staticmethod
    def distances(local):
        apart = local.coordinates[:, None] - local.coordinates
        squared = np.sum(np.einsum("ijq,iqd->ijd", apart, local.factors(np.arange(40))) ** 2, axis=2)
        return np.sqrt((squared + squared.T) / 2)

    def test_pairs_are_those_of_any_list_in_both_directions(self):
        pairs = candidate_pairs(np.array([[1], [2], [1]]), np.array([[1], [0], [0]]))
        np.testing.assert_array_equal(pairs.toarray(), [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
        pairs = candidate_pairs(np.array([[1], [0], [1]]))
        np.testing.assert_array_equal(pairs.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])

    @pytest.mark.parametrize("memory", [16 * 8 * 60, 2**30])
    def test_nearest_of_them_are_found_by_local_distances(self, local, memory, rng, set_memory):
        near = nearest_points(local.coordinates, 12).indices
        pairs = candidate_pairs(near)
        expected = np.where(pairs.toarray(), self.distances(local), np.inf)
        set_memory(memory)
        found = nearest_of_candidates(local, pairs, 4)
        np.testing.assert_array_equal(found.indices, np.argsort(expected, axis=1)[:, :4])
        np.testing.assert_allclose(found.distances, np.sort(expected, axis=1)[:, :4])

    def test_rows_are_loaded_in_groups_no_larger_than_memory_allows(self, local, set_memory):
        pairs = candidate_pairs(nearest_points(local.coordinates, 5).indices)
        expected = nearest_of_candidates(local, pairs, 4)
        sizes = []
        read = LocalMetrics(local.coordinates, local.factors, 2, lambda rows: sizes.append(len(rows)) or local)
        set_memory(4 * 8 * 5 * 25)
        found = nearest_of_candidates(read, pairs, 4)
        assert len(sizes) > 1
        assert max(sizes) <= 25
        np.testing.assert_array_equal(found.indices, expected.indices)

    def test_points_of_the_mean_metric_have_its_distances(self, local):
        mean = np.mean([w @ w.T for w in local.factors(np.arange(40))], axis=0)
        points = mean_metric_points(local)
        apart = local.coordinates[3] - local.coordinates[8]
        assert np.sum((points[3] - points[8]) ** 2) == pytest.approx(40 * apart @ mean @ apart)


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
        values, embedding = observation_diffusion_map(apart, 3)
        np.testing.assert_allclose(walk @ embedding, embedding * values, atol=1e-10)
        np.testing.assert_allclose(values, np.sort(np.linalg.eigvals(walk).real)[::-1][1:4])
        np.testing.assert_allclose(np.linalg.norm(embedding, axis=0), values)

    def test_map_of_a_graph_separates_distant_groups(self, rng):
        points = rng.normal(size=(60, 2)) + 6 * (np.arange(60)[:, None] < 30)
        graph = nearest_points(points, 40).as_graph()
        side = observation_diffusion_map(graph, 2)[1][:, 0] > 0
        assert len(set(side[:30])) == len(set(side[30:])) == 1
        assert side[0] != side[-1]

    def test_map_of_mostly_duplicates_is_finite(self):
        points = np.r_[np.zeros((30, 1)), np.ones((6, 1))]
        assert np.isfinite(observation_diffusion_map(cdist(points, points), 2)[1]).all()
        assert np.isfinite(observation_diffusion_map(nearest_points(points, 4).as_graph(), 2)[1]).all()
