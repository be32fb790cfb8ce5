import numpy as np
import pytest
import scipy.sparse as sp
from reference import mahalanobis as plain
from scipy.spatial.distance import cdist, pdist

import diffnb as dn
from diffnb.core.mahalanobis import covariance
from diffnb.core.mahalanobis.clusters import (
    cluster_by_products,
    cluster_features,
    gap_statistic,
    in_order,
    indicators,
    ward_tree,
    within_sums,
)
from diffnb.core.mahalanobis.covariance import sample_covariance


@pytest.fixture(scope="module")
def types():
    return dn.datasets.two_types(n_obs=40, n_features=90, n_clusters=6)


@pytest.fixture(scope="module")
def clusters(types):
    return types.var["cluster"].cat.codes.to_numpy()


class TestClusters:
    def test_are_those_of_the_simulation(self, types, clusters):
        np.testing.assert_array_equal(cluster_features(sample_covariance(types.X), 6), clusters)

    def test_indicators_are_those_of_the_paper(self, clusters):
        h = indicators(clusters)
        np.testing.assert_allclose(h, plain.indicators(clusters))
        np.testing.assert_allclose(h.T @ h, np.eye(6), atol=1e-12)

    def test_cost_no_more_than_the_best_of_ten_random_starts(self, rng):
        rows = rng.normal(size=(60, 5)) + 2 * rng.normal(size=(4, 5))[rng.integers(4, size=60)]

        def cost(labels):
            return sum(((rows[labels == j] - rows[labels == j].mean(axis=0)) ** 2).sum() for j in set(labels))

        assert cost(cluster_by_products(rows @ rows.T, 4)) <= 1.02 * cost(plain.kmeans(rows, 4, rng, n_init=10))

    def test_are_a_fixed_point_of_k_means(self, types):
        rows = types.X.T
        labels = cluster_features(sample_covariance(types.X), 9)
        centres = np.array([rows[labels == j].mean(axis=0) for j in range(labels.max() + 1)])
        np.testing.assert_array_equal(cdist(rows, centres).argmin(axis=1), labels)

    def test_are_numbered_by_their_first_feature(self):
        np.testing.assert_array_equal(in_order(np.array([7, 2, 7, 0, 2])), [0, 1, 0, 2, 1])

    def test_of_any_kind_of_array_are_the_same(self, types, array_type):
        x = np.where(np.abs(types.X - 5) > 1, types.X, 0.0)
        np.testing.assert_array_equal(
            cluster_features(sample_covariance(array_type(x)), 6), cluster_features(sample_covariance(x), 6)
        )

    def test_of_many_features_start_from_some_of_them(self, types, clusters, monkeypatch):
        monkeypatch.setattr(covariance, "MAX_GRAM_POINTS", 60)
        monkeypatch.setattr("diffnb.core.mahalanobis.clusters.MAX_GRAM_POINTS", 60)
        for x in (types.X, sp.csr_matrix(types.X)):
            data = sample_covariance(x)
            assert data.products is None
            np.testing.assert_array_equal(cluster_features(data, 6), clusters)

    def test_as_many_as_features_and_duplicates(self, rng):
        x = rng.normal(size=(10, 6))
        np.testing.assert_array_equal(cluster_features(sample_covariance(x), 6), np.arange(6))
        x[:, 3:] = x[:, :3]
        labels = cluster_features(sample_covariance(x), 5)
        # duplicates have one centre, whatever was asked for
        np.testing.assert_array_equal(labels, [0, 1, 2, 0, 1, 2])

    def test_sums_within_are_those_of_the_tree(self, rng):
        from scipy.cluster.hierarchy import cut_tree

        rows = rng.normal(size=(25, 4))
        tree = ward_tree(pdist(rows))
        sums = within_sums(tree)
        for k in (1, 3, 10, 25):
            labels = cut_tree(tree, k).ravel()
            expected = sum(((rows[labels == j] - rows[labels == j].mean(axis=0)) ** 2).sum() for j in range(k))
            assert sums[k - 1] == pytest.approx(expected, abs=1e-9)


class TestGap:
    def test_finds_the_clusters_of_the_paper(self):
        for seed in range(3):
            adata = dn.datasets.two_types(n_obs=40, random_state=seed)
            assert gap_statistic(sample_covariance(adata.X), seed=seed).chosen == 18

    def test_of_features_without_clusters_is_the_smallest(self, rng):
        found = gap_statistic(sample_covariance(rng.uniform(size=(3, 200))))
        assert found.chosen <= 4
        assert gap_statistic(sample_covariance(rng.normal(size=(20, 40))), min_clusters=1).chosen == 1

    def test_of_many_features_uses_some(self, types, monkeypatch):
        monkeypatch.setattr("diffnb.core.mahalanobis.clusters.MAX_GAP_FEATURES", 70)
        assert gap_statistic(sample_covariance(types.X)).chosen == 6

    def test_the_highest_is_taken_where_it_rises_to_the_end(self, types):
        found = gap_statistic(sample_covariance(types.X), max_clusters=4)
        assert found.k.tolist() == [1, 2, 3, 4]
        assert found.chosen == 4
        assert found.choice.at_edge == "high"

    def test_a_peak_is_no_edge_and_not_flat(self, types):
        choice = gap_statistic(sample_covariance(types.X)).choice
        assert (choice.value, choice.at_edge, choice.flat) == (6, None, False)
        assert choice.candidates[0] == 2, "a single cluster cannot be chosen"

    def test_duplicates_form_one_cluster(self, rng):
        x = rng.normal(size=(12, 4))[:, np.arange(20) % 4]
        assert gap_statistic(sample_covariance(x)).chosen == 4

    def test_is_the_same_for_the_same_seed(self, types):
        first, second = (gap_statistic(sample_covariance(types.X), seed=4) for _ in range(2))
        np.testing.assert_array_equal(first.gap, second.gap)
