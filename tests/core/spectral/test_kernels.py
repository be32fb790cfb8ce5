"""Weights of a graph from distances."""

import numpy as np
import pytest
from reference import disc as plain

from diffnb.core.spectral import distances, kernels
from diffnb.core.spectral.points import points_of


@pytest.mark.parametrize("kernel", kernels.KERNELS)
def test_dense_weights_are_those_of_the_paper(x, kernel):
    squared = distances.squared_distances(points_of(x))
    sigma = kernels.bandwidths(distances.kth_smallest(squared, 3))
    np.testing.assert_allclose(
        kernels.dense_weights(squared, sigma, kernel=kernel), plain.weights(x, 3, kernel), atol=1e-12
    )


def _cauchy(d, s, t):
    return 1 / (1 + d**2 / (s * t))


@pytest.mark.parametrize("kernel", [*kernels.KERNELS, _cauchy])
def test_knn_weights_are_the_dense_ones_where_an_edge_stands(x, kernel):
    points = points_of(x)
    squared = distances.squared_distances(points)
    sigma = kernels.bandwidths(distances.kth_smallest(squared, 2))
    neighbors = distances.nearest(points, 4)
    sparse = kernels.knn_weights(neighbors, sigma, kernel=kernel).toarray()
    edges = np.zeros((12, 12), dtype=bool)
    edges[np.repeat(np.arange(12), 4), neighbors.indices.ravel()] = True
    edges |= edges.T | np.eye(12, dtype=bool)
    dense = kernels.dense_weights(squared, sigma, kernel=kernel)
    np.testing.assert_allclose(sparse, np.where(edges, dense, 0), atol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (lambda d, s, t: d[:1], "shape"),
        (lambda d, s, t: -d, "not negative"),
        (lambda d, s, t: np.exp(-d / s), "not symmetric"),
    ],
)
def test_a_bad_kernel_is_refused(x, kernel, words):
    squared = distances.squared_distances(points_of(x))
    with pytest.raises(ValueError, match=words):
        kernels.dense_weights(squared, kernels.bandwidths(distances.kth_smallest(squared, 3)), kernel=kernel)


def test_duplicates_keep_a_bandwidth(x):
    squared = distances.squared_distances(points_of(np.hstack([x] * 4)))
    sigma = kernels.bandwidths(distances.kth_smallest(squared, 3))
    assert (sigma > 0).all()
    assert np.isfinite(kernels.dense_weights(squared, sigma)).all()


def test_bandwidths_are_distances_and_never_zero():
    np.testing.assert_array_equal(kernels.bandwidths(np.array([4.0, 0.0, 9.0])), [2.0, 2.0, 3.0])
    np.testing.assert_array_equal(kernels.bandwidths(np.zeros(3)), 1.0)


@pytest.mark.parametrize("kernel", [*kernels.KERNELS, _cauchy])
def test_weights_are_symmetric_and_one_at_distance_zero(x, kernel):
    squared = distances.squared_distances(points_of(x))
    sigma = kernels.bandwidths(distances.kth_smallest(squared, 3))
    weights = kernels.dense_weights(squared, sigma, kernel=kernel)
    np.testing.assert_allclose(weights, weights.T, atol=1e-15)
    np.testing.assert_array_equal(np.diag(weights), 1.0)
    assert ((weights > 0) & (weights <= 1)).all()


def test_the_graph_of_neighbours_is_symmetric_to_the_last_bit(x):
    neighbors = distances.nearest(points_of(x), 3)
    weights = kernels.knn_weights(neighbors, kernels.bandwidths(neighbors.squared[:, 2]))
    assert (weights != weights.T).nnz == 0


@pytest.mark.parametrize("directed", [False, True])
def test_an_entry_of_the_table_is_all_that_a_new_kernel_needs(x, directed, monkeypatch):
    """Not computed in place, and for every block of the dense graph as for the edges of the sparse one."""

    def exponential(squared, first, second):
        return np.exp(-np.sqrt(squared) / (first if directed else np.sqrt(first * second)))

    monkeypatch.setitem(kernels.KERNELS, "exponential", kernels.Kernel(exponential, directed=directed))
    squared = distances.squared_distances(points_of(x))
    sigma = kernels.bandwidths(distances.kth_smallest(squared, 3))
    one, other = (np.exp(-np.sqrt(squared) / s) for s in (sigma[:, None], sigma))
    expected = (one + other) / 2 if directed else np.exp(-np.sqrt(squared / np.outer(sigma, sigma)))
    everyone = distances.nearest(points_of(x), x.shape[1] - 1)
    sparse = kernels.knn_weights(everyone, sigma, kernel="exponential")
    np.testing.assert_allclose(sparse.toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(kernels.dense_weights(squared, sigma, kernel="exponential"), expected, atol=1e-12)


def test_duplicates_everywhere_prefer_no_unit():
    squared = np.array([[0.0, 0.0, 4.0], [0.0, 0.0, 4.0], [4.0, 4.0, 0.0]])
    np.testing.assert_array_equal(kernels.bandwidths(np.zeros(3), squared), 2.0)
    np.testing.assert_array_equal(kernels.bandwidths(np.zeros(3), 1e-6 * squared), 2e-3)
    np.testing.assert_array_equal(kernels.bandwidths(np.zeros(3)), 1.0)
