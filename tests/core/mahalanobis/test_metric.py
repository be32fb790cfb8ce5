import numpy as np
import pytest
import scipy.sparse as sp
from reference import mahalanobis as plain
from scipy.spatial.distance import cdist, pdist

import diffnb as dn
from diffnb.core.mahalanobis import covariance as mahalanobis_data
from diffnb.core.mahalanobis.clusters import (
    cluster_by_products,
    cluster_features,
    gap_statistic,
    in_order,
    indicators,
    ward_tree,
    within_sums,
)
from diffnb.core.mahalanobis.covariance import observed
from diffnb.core.mahalanobis.metric import (
    chosen_eigenvalues,
    conventional_metric,
    count_above_noise,
    count_by_hard_threshold,
    informed_metric,
    inverse_root,
    reconstruction_error,
)


@pytest.fixture(scope="module")
def types():
    return dn.datasets.two_types(n_obs=40, n_features=90, n_clusters=6)


@pytest.fixture(scope="module")
def clusters(types):
    return types.var["cluster"].cat.codes.to_numpy()


def dense(x):
    return x.toarray() if sp.issparse(x) else x


class TestClusters:
    def test_are_those_of_the_simulation(self, types, clusters):
        np.testing.assert_array_equal(cluster_features(observed(types.X), 6), clusters)

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
        labels = cluster_features(observed(types.X), 9)
        centres = np.array([rows[labels == j].mean(axis=0) for j in range(labels.max() + 1)])
        np.testing.assert_array_equal(cdist(rows, centres).argmin(axis=1), labels)

    def test_are_numbered_by_their_first_feature(self):
        np.testing.assert_array_equal(in_order(np.array([7, 2, 7, 0, 2])), [0, 1, 0, 2, 1])

    def test_of_any_kind_of_array_are_the_same(self, types, array_type):
        x = np.where(np.abs(types.X - 5) > 1, types.X, 0.0)
        np.testing.assert_array_equal(cluster_features(observed(array_type(x)), 6), cluster_features(observed(x), 6))

    def test_of_many_features_start_from_some_of_them(self, types, clusters, monkeypatch):
        monkeypatch.setattr(mahalanobis_data, "PRODUCTS_MOST", 60)
        monkeypatch.setattr("diffnb.core.mahalanobis.clusters.PRODUCTS_MOST", 60)
        for x in (types.X, sp.csr_matrix(types.X)):
            data = observed(x)
            assert data.products is None
            np.testing.assert_array_equal(cluster_features(data, 6), clusters)

    def test_as_many_as_features_and_duplicates(self, rng):
        x = rng.normal(size=(10, 6))
        np.testing.assert_array_equal(cluster_features(observed(x), 6), np.arange(6))
        x[:, 3:] = x[:, :3]
        labels = cluster_features(observed(x), 5)
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
            assert gap_statistic(observed(adata.X), seed=seed).chosen == 18

    def test_of_features_without_clusters_is_the_least(self, rng):
        found = gap_statistic(observed(rng.uniform(size=(3, 200))))
        assert found.chosen <= 4
        assert gap_statistic(observed(rng.normal(size=(20, 40))), least=1).chosen == 1

    def test_looks_at_some_of_many_features(self, types, monkeypatch):
        monkeypatch.setattr("diffnb.core.mahalanobis.clusters.GAP_FEATURES", 70)
        assert gap_statistic(observed(types.X)).chosen == 6

    def test_the_highest_is_taken_where_it_rises_to_the_end(self, types):
        found = gap_statistic(observed(types.X), most=4)
        assert found.k.tolist() == [1, 2, 3, 4]
        assert found.chosen == 4

    def test_duplicates_are_no_trouble(self, rng):
        x = rng.normal(size=(12, 4))[:, np.arange(20) % 4]
        assert gap_statistic(observed(x)).chosen == 4

    def test_is_the_same_for_the_same_seed(self, types):
        first, second = (gap_statistic(observed(types.X), seed=4) for _ in range(2))
        np.testing.assert_array_equal(first.gap, second.gap)


class TestGlobal:
    @pytest.mark.parametrize("solver", ["exact", "gradient"])
    @pytest.mark.parametrize("eigenvalues", ["pca", "own", "floor"])
    def test_is_the_metric_of_the_paper(self, types, clusters, array_type, solver, eigenvalues):
        inverse = plain.inverse_covariance(types.X.T, clusters, 5, solver, eigenvalues)
        data = observed(array_type(types.X))
        options = {"n_components": 5, "solver": solver, "eigenvalues": eigenvalues}
        metric = informed_metric(data, indicators(clusters), **options)
        np.testing.assert_allclose(metric.factor @ metric.factor.T, inverse, atol=1e-8 * np.abs(inverse).max())
        y = types.X @ metric.factor
        np.testing.assert_allclose(cdist(y, y), plain.global_distances(types.X.T, inverse), atol=1e-6)

    @pytest.mark.parametrize("shape", [(40, 90), (90, 40)])
    @pytest.mark.parametrize("ridge", [False, True])
    def test_conventional_is_that_of_pca(self, types, shape, ridge):
        x = types.X if shape == (40, 90) else types.X.T.copy()
        inverse = plain.conventional_inverse(x.T, 4, ridge)
        metric = conventional_metric(observed(x), n_components=4, eigenvalues="floor" if ridge else "pca")
        np.testing.assert_allclose(metric.factor @ metric.factor.T, inverse, atol=1e-8 * np.abs(inverse).max())

    def test_error_is_that_of_the_equation_and_no_direction_on_clusters_has_less(self, types, clusters, rng):
        data, h = observed(types.X), indicators(clusters)
        sigma = plain.covariance(types.X.T)
        errors = {}
        for solver in ("exact", "gradient"):
            u = informed_metric(data, h, n_components=3, solver=solver).directions
            errors[solver] = reconstruction_error(data, u)
            assert errors[solver] == pytest.approx(plain.error(u, sigma))
        assert errors["exact"] <= errors["gradient"]
        for _ in range(20):
            other = h @ np.linalg.qr(rng.normal(size=(6, 3)))[0]
            assert errors["exact"] <= plain.error(other, sigma) * (1 + 1e-9)

    def test_known_clusters_give_the_true_span(self):
        adata = dn.datasets.two_types(n_obs=20)
        h = indicators(adata.var["cluster"].cat.codes.to_numpy())
        u = informed_metric(observed(adata.X), h, n_components=18).directions
        true = plain.principal(adata.varp["covariance"], 18)[1]
        assert np.linalg.norm(u @ u.T - true @ true.T) < 1e-10

    def test_components_are_those_above_noise(self, types, clusters):
        data = observed(types.X)
        assert informed_metric(data, indicators(clusters)).own.size == 6
        assert conventional_metric(data).own.size >= 5
        square = observed(dn.datasets.hidden_square(n_obs=50, n_features=60).X)
        assert informed_metric(square, indicators(cluster_features(square, 3))).own.size == 2
        assert conventional_metric(square).own.size == 2

    def test_noise_alone_has_one_component(self, rng):
        data = observed(rng.normal(size=(200, 60)))
        assert informed_metric(data, indicators(np.arange(60) // 10)).own.size == 1

    def test_components_of_no_variance_are_left_out(self):
        square = observed(dn.datasets.hidden_square(n_obs=50, n_features=60).X)
        h = indicators(cluster_features(square, 3))
        for eigenvalues in ("own", "pca"):
            factor = informed_metric(square, h, n_components=3, eigenvalues=eigenvalues).factor
            assert np.isfinite(factor).all()
            assert not factor[:, 2].any()

    def test_the_metric_does_not_change_under_linear_maps_within_clusters(self, types, clusters):
        # the distance is invariant to scales of clusters where all directions are kept and divided by their own
        h = indicators(clusters)
        scaled = types.X * np.array([1, 2, 3, 4, 5, 6])[clusters]
        first, second = (
            x @ informed_metric(observed(x), h, n_components=6, eigenvalues="own").factor for x in (types.X, scaled)
        )
        np.testing.assert_allclose(pdist(first), pdist(second))

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
    def test_large_data_is_stepped_through(self, types, kind, monkeypatch, rng):
        x = np.kron(rng.normal(size=(520, 9)) * np.arange(1, 10), np.ones(60)) + rng.normal(size=(520, 540))
        expected = observed(x).leading(3)
        count = conventional_metric(observed(x)).own.size
        monkeypatch.setattr(mahalanobis_data, "PRODUCTS_MOST", 500)
        found = observed(kind(x)).leading(3)
        np.testing.assert_allclose(found.values, expected.values, rtol=1e-8)
        np.testing.assert_allclose(np.abs(found.vectors.T @ expected.vectors), np.eye(3), atol=1e-6)
        assert conventional_metric(observed(kind(x))).own.size == count == 9


class TestParts:
    def test_pseudo_inverse_leaves_rounding_out(self):
        np.testing.assert_allclose(inverse_root(np.array([[4.0, 1e-12], [0.0, 0.0]])), [[0.5, 0], [0, 0]])

    def test_the_floor_is_what_is_left_over_samples(self):
        found = chosen_eigenvalues("floor", np.array([3.0, 1.0]), np.zeros(2), 14.0, 5)
        np.testing.assert_allclose(found, [5.0, 3.0])

    def test_counts_are_medians_over_many(self):
        values = np.array([[9.0, 8.0, 0.1], [9.0, 8.0, 0.1], [9.0, 0.2, 0.1]])
        assert count_above_noise(values, np.array([27.0, 27.0, 20.0]), 103, 50) == 2

    def test_the_hard_threshold_keeps_what_stands_out(self, rng):
        x = rng.normal(size=(60, 100))
        x[:, :50] += 2 * rng.normal(size=(60, 1))
        values, n, m = observed(x).spectrum()
        assert count_by_hard_threshold(values, n, m) == 1
        assert values.sum() == pytest.approx(observed(x).total)
