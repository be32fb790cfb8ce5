import dask.array as da
import numpy as np
import pytest
from reference import mahalanobis as plain
from scipy.spatial.distance import cdist

import diffnb as dn
from diffnb.core.arrays.row_chunks import chunked
from diffnb.core.mahalanobis import local as module
from diffnb.core.mahalanobis.analysis import InformedOptions, fit_informed
from diffnb.core.mahalanobis.clusters import cluster_by_products
from diffnb.core.mahalanobis.covariance import sample_covariance
from diffnb.core.mahalanobis.local import (
    LocalOptions,
    all_distances,
    cache_rows,
    consulted_observations,
    local_metrics,
    observation_blocks,
    squared_distances_from,
)
from diffnb.core.mahalanobis.metric import conventional_metric
from diffnb.core.mahalanobis.neighbors import nearest_in_space, with_self

SIZE = 15


@pytest.fixture(scope="module")
def curved():
    return dn.datasets.curved_square(n_obs=60, n_features=48, noise=0.3)


@pytest.fixture(scope="module")
def clusters(curved):
    return curved.var["cluster"].cat.codes.to_numpy()


def local(x, labels=None, **options):
    asked = InformedOptions(**{"local": True, "n_neighbors": SIZE, "n_components": 3, "full": True, **options})
    return fit_informed(x, asked, labels=labels)


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
    def test_blocks_do_not_change_the_answer(self, curved, options, set_memory):
        options = {"n_clusters": 6, "n_components": "auto", **options}
        expected = local(curved.X, **options)
        set_memory(16 * 8 * 3000)
        found = local(curved.X, **options)
        np.testing.assert_allclose(found.pairwise, expected.pairwise, rtol=1e-9)
        assert 1 <= found.settings.n_components <= SIZE - 1

    def test_distances_are_symmetric_and_zero_to_oneself(self, curved):
        found = local(curved.X, n_clusters=6).pairwise
        np.testing.assert_array_equal(found, found.T)
        assert not np.diag(found).any()

    @pytest.mark.parametrize("options", [{}, {"informed": False}, {"clustering": "each"}])
    def test_a_neighbourhood_of_duplicates_gets_the_global_metric(self, curved, options):
        x = curved.X.copy()
        x[:SIZE] = x[0]
        found = local(x, n_clusters=6, **options)
        assert np.isfinite(found.pairwise).all()
        assert found.pairwise[0, 1] == 0
        assert (found.pairwise[:SIZE, SIZE:] > 0).all()

    def test_a_global_metric_of_fewer_components_is_padded(self, rng):
        x = rng.normal(size=(40, 24))
        x[:SIZE] = x[0]
        found = local(x, np.arange(24) // 4)
        assert found.metric.own.size < found.settings.n_components == 3
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


class TestParts:
    @pytest.fixture
    def metrics(self, curved):
        data = sample_covariance(curved.X)
        around = with_self(nearest_in_space(data, SIZE - 1), SIZE)
        return local_metrics(data, around, LocalOptions(3), fallback=conventional_metric(data))

    def test_one_sided_distances_use_the_metric_of_their_row(self, curved, metrics):
        rows = np.array([4, 17])
        found = squared_distances_from(metrics, rows)
        for i, w, row in zip(rows, metrics.factors(rows), found, strict=True):
            np.testing.assert_allclose(row, np.sum(((curved.X[i] - curved.X) @ w) ** 2, axis=1), atol=1e-10)

    def test_all_distances_are_the_mean_of_both_sides(self, metrics):
        squared = squared_distances_from(metrics, np.arange(60))
        np.testing.assert_allclose(all_distances(metrics), np.sqrt((squared + squared.T) / 2), atol=1e-7)

    def test_progress_sees_every_observation_once(self, metrics, set_memory):
        set_memory(16 * 8 * 3 * 60 * 7)
        seen = []
        all_distances(metrics, progress=lambda blocks: (seen.append(block) or block for block in blocks))
        assert max(map(len, seen)) == 7
        np.testing.assert_array_equal(np.concatenate(seen), np.arange(60))

    def test_blocks_of_observations_fit_in_memory(self, set_memory):
        set_memory(16 * 8 * 100)
        assert [len(block) for block in observation_blocks(25, 10)] == [10, 10, 5]
        assert [len(block) for block in observation_blocks(2, 1000)] == [1, 1]

    def test_consulted_observations_are_spread_evenly_whatever_the_memory(self, monkeypatch, set_memory):
        set_memory(2**10)
        assert consulted_observations(5, 10).tolist() == [0, 1, 2, 3, 4]
        assert len(consulted_observations(10_000, 10)) == module.MAX_CONSULTED_NEIGHBORHOODS
        monkeypatch.setattr(module, "MAX_CONSULTED_NUMBERS", 30)
        assert consulted_observations(101, 10).tolist() == [0, 50, 100]

    def test_cached_rows_are_indexed_as_in_the_whole_matrix(self, rng):
        x = rng.normal(size=(20, 3))
        cached = cache_rows(chunked(da.from_array(x, chunks=(6, -1))), np.array([[17, 2], [2, 9]]))
        assert cached.shape == (20, 3)
        assert cached.block.shape == (3, 3)
        np.testing.assert_array_equal(cached[np.array([9, 17, 9])], x[[9, 17, 9]])
        assert cache_rows(x, np.array([1])) is x
