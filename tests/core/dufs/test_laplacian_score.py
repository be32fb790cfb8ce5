import numpy as np
import pytest
import scipy.sparse as sp
from reference import dufs as plain
from sklearn.neighbors import kneighbors_graph

from diffnb.core.dufs.laplacian_score import (
    LaplacianScoreOptions,
    fit_laplacian_score,
    laplacian_scores,
    neighbor_graph,
    with_unit_variance,
)


def test_scores_equal_the_equation(rng):
    x = rng.normal(size=(40, 6)) + 5
    weights = kneighbors_graph(x, 4).toarray()
    weights = np.maximum(weights, weights.T)
    graph = neighbor_graph(x, 4)
    np.testing.assert_array_equal(graph.toarray(), weights)
    np.testing.assert_allclose(laplacian_scores(x, graph), plain.laplacian_score(x, weights), rtol=1e-10)


def test_heat_weights_fall_with_distance(rng):
    x = rng.normal(size=(30, 3))
    graph = neighbor_graph(x, 4, weights="heat").toarray()
    binary = neighbor_graph(x, 4).toarray()
    squared = ((x[:, None] - x) ** 2).sum(axis=2)
    width = -(squared / np.log(np.where(graph > 0, graph, 0.5)))[graph > 0]
    np.testing.assert_allclose(width, width[0])
    np.testing.assert_array_equal(graph > 0, binary > 0)
    np.testing.assert_allclose(laplacian_scores(x, graph), plain.laplacian_score(x, graph), rtol=1e-10)


def test_every_kind_of_array_gives_the_same(array_type, rng):
    x = rng.poisson(1.0, size=(40, 7)) + rng.random((40, 1)).round(1) * (rng.random((40, 7)) < 0.7)
    options = LaplacianScoreOptions(weights="heat")
    expected = fit_laplacian_score(x, options).scores
    np.testing.assert_allclose(fit_laplacian_score(array_type(x), options).scores, expected)


def test_scale_and_shift_do_not_change_a_score(rng):
    x = rng.normal(size=(30, 4))
    graph = neighbor_graph(x, 5)
    np.testing.assert_allclose(laplacian_scores(100 * x - 7, graph), laplacian_scores(x, graph), rtol=1e-8)


def test_noise_scores_about_one_and_structure_less(rng):
    x = rng.normal(size=(200, 8))
    x[:, :4] += 3 * rng.normal(size=(200, 1))
    scores = laplacian_scores(x, neighbor_graph(x, 5))
    assert scores[:4].max() < 0.6 * scores[4:].min()


def test_equal_observations_and_a_constant_feature_give_finite_scores():
    x = np.ones((6, 2))
    assert np.isfinite(laplacian_scores(x, neighbor_graph(x, 2, weights="heat"))).all()
    assert np.isfinite(with_unit_variance(x)).all()


@pytest.mark.parametrize("weights", ["binary", "heat"])
def test_the_graph_is_symmetric_without_loops(weights, rng):
    graph = neighbor_graph(rng.normal(size=(25, 3)), 3, weights=weights).toarray()
    np.testing.assert_array_equal(graph, graph.T)
    assert not np.diag(graph).any()
    assert ((graph > 0).sum(axis=1) >= 3).all()


@pytest.mark.parametrize("standardize", ["global", None])
def test_the_graph_is_that_of_standardised_features_unless_refused(standardize, rng):
    x = rng.normal(size=(40, 5)) * [1, 1, 1, 1, 50]
    fit = fit_laplacian_score(x, LaplacianScoreOptions(standardize=standardize))
    points = x if standardize is None else x / x.std(axis=0)
    np.testing.assert_array_equal(fit.graph.toarray(), neighbor_graph(points, 5).toarray())
    np.testing.assert_array_equal(fit.scores, laplacian_scores(x, fit.graph))


def test_the_graph_may_be_made_of_other_points(rng):
    x, points = rng.normal(size=(40, 5)), rng.normal(size=(40, 2))
    fit = fit_laplacian_score(x, LaplacianScoreOptions(4, standardize=None), points=points)
    np.testing.assert_array_equal(fit.graph.toarray(), neighbor_graph(points, 4).toarray())


def test_unit_variance_keeps_sparse_data_sparse(array_type, rng):
    x = rng.poisson(0.5, size=(30, 4)).astype(float)
    found = with_unit_variance(array_type(x))
    assert sp.issparse(found) == sp.issparse(array_type(x))
    np.testing.assert_allclose((found.toarray() if sp.issparse(found) else found).std(axis=0), 1.0)
