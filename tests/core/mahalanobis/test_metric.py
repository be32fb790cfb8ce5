import numpy as np
import pytest
from reference import mahalanobis as plain
from scipy.spatial.distance import cdist, pdist

import diffnb as dn
from diffnb.core.mahalanobis.clusters import cluster_features, indicators
from diffnb.core.mahalanobis.covariance import sample_covariance
from diffnb.core.mahalanobis.metric import (
    chosen_eigenvalues,
    conventional_metric,
    count_above_noise,
    count_by_hard_threshold,
    descending_eigenpairs,
    informed_metric,
    inverse_root,
    project_gradients,
    reconstruction_error,
)


@pytest.fixture(scope="module")
def types():
    return dn.datasets.two_types(n_obs=40, n_features=90, n_clusters=6)


@pytest.fixture(scope="module")
def clusters(types):
    return types.var["cluster"].cat.codes.to_numpy()


class TestGlobal:
    @pytest.mark.parametrize("solver", ["exact", "gradient"])
    @pytest.mark.parametrize("eigenvalues", ["pca", "own", "floor"])
    def test_is_the_metric_of_the_paper(self, types, clusters, array_type, solver, eigenvalues):
        inverse = plain.inverse_covariance(types.X.T, clusters, 5, solver, eigenvalues)
        data = sample_covariance(array_type(types.X))
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
        metric = conventional_metric(sample_covariance(x), n_components=4, eigenvalues="floor" if ridge else "pca")
        np.testing.assert_allclose(metric.factor @ metric.factor.T, inverse, atol=1e-8 * np.abs(inverse).max())

    def test_error_is_that_of_the_equation_and_no_direction_on_clusters_has_less(self, types, clusters, rng):
        data, h = sample_covariance(types.X), indicators(clusters)
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
        u = informed_metric(sample_covariance(adata.X), h, n_components=18).directions
        true = plain.principal(adata.varp["covariance"], 18)[1]
        assert np.linalg.norm(u @ u.T - true @ true.T) < 1e-10

    def test_components_are_those_above_noise(self, types, clusters):
        data = sample_covariance(types.X)
        assert informed_metric(data, indicators(clusters)).own.size == 6
        assert conventional_metric(data).own.size >= 5
        square = sample_covariance(dn.datasets.hidden_square(n_obs=50, n_features=60).X)
        assert informed_metric(square, indicators(cluster_features(square, 3))).own.size == 2
        assert conventional_metric(square).own.size == 2

    def test_noise_alone_has_one_component(self, rng):
        data = sample_covariance(rng.normal(size=(200, 60)))
        assert informed_metric(data, indicators(np.arange(60) // 10)).own.size == 1

    def test_components_of_no_variance_are_excluded(self):
        square = sample_covariance(dn.datasets.hidden_square(n_obs=50, n_features=60).X)
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
            x @ informed_metric(sample_covariance(x), h, n_components=6, eigenvalues="own").factor
            for x in (types.X, scaled)
        )
        np.testing.assert_allclose(pdist(first), pdist(second))


class TestParts:
    def test_the_pseudo_inverse_excludes_rounding(self):
        np.testing.assert_allclose(inverse_root(np.array([[4.0, 1e-12], [0.0, 0.0]])), [[0.5, 0], [0, 0]])

    def test_the_floor_is_the_remaining_variance_over_observations(self):
        found = chosen_eigenvalues("floor", np.array([3.0, 1.0]), np.zeros(2), 14.0, 5)
        np.testing.assert_allclose(found, [5.0, 3.0])

    def test_counts_are_medians_over_many(self):
        values = np.array([[9.0, 8.0, 0.1], [9.0, 8.0, 0.1], [9.0, 0.2, 0.1]])
        assert count_above_noise(values, np.array([27.0, 27.0, 20.0]), 103, 50) == 2

    def test_the_hard_threshold_keeps_what_stands_out(self, rng):
        x = rng.normal(size=(60, 100))
        x[:, :50] += 2 * rng.normal(size=(60, 1))
        values, n, m = sample_covariance(x).spectrum()
        assert count_by_hard_threshold(values, n, m) == 1
        assert values.sum() == pytest.approx(sample_covariance(x).trace)

    def test_eigenpairs_descend_and_are_never_negative(self, rng):
        x = rng.normal(size=(3, 5, 2))
        values, vectors = descending_eigenpairs(x @ np.swapaxes(x, 1, 2))
        assert (np.diff(values, axis=1) <= 0).all()
        assert (values >= 0).all()
        np.testing.assert_allclose((vectors * values[:, None]) @ np.swapaxes(vectors, 1, 2), x @ np.swapaxes(x, 1, 2))

    def test_gradients_of_many_problems_are_projected_as_those_of_one(self, rng):
        x = rng.normal(size=(4, 6, 9)) * np.arange(1, 10)
        within = np.swapaxes(x, 1, 2) @ x
        start = np.linalg.qr(rng.normal(size=(4, 9, 2)))[0]
        each = [project_gradients(s, t) for s, t in zip(within, start, strict=True)]
        together = project_gradients(within, start)
        np.testing.assert_allclose(together, each, atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0)
