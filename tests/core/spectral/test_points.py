import numpy as np
import pytest
from reference import disc as plain
from scipy.spatial.distance import cdist

from diffnb.core.arrays.affine import Affine, standardized
from diffnb.core.spectral import distances, kernels
from diffnb.core.spectral.points import Columns, points_of, standardized_within
from diffnb.core.spectral.walk import random_walk


@pytest.fixture
def x(rng):
    return rng.normal(size=(25, 12)) * rng.uniform(0.5, 3, 12) + rng.normal(size=12)


@pytest.mark.parametrize("metric", distances.METRICS)
def test_distances_are_those_of_scipy(array_type, x, metric):
    ours = distances.squared_distances(points_of(array_type(x)), metric=metric)
    theirs = cdist(x.T, x.T, metric=metric)
    # correlation and cosine distances of SciPy are 1 − r; ours are squared lengths between unit vectors, 2(1 − r)
    np.testing.assert_allclose(ours, theirs**2 if metric == "euclidean" else 2 * theirs, atol=1e-11)


@pytest.mark.parametrize("metric", distances.METRICS)
def test_nearest_are_the_smallest_distances_for_any_blocks(set_memory, array_type, x, metric):
    points = points_of(array_type(x))
    squared = distances.squared_distances(points, metric=metric)
    order = np.argsort(squared + np.diag(np.full(12, np.inf)), axis=1)[:, :4]
    for block in (10**6, 30):
        set_memory(4 * 8 * block)
        found = distances.nearest(points, 4, metric=metric)
        np.testing.assert_array_equal(found.indices, order)
        np.testing.assert_allclose(found.squared, np.take_along_axis(squared, order, axis=1), atol=1e-12)


def test_standardising_sparse_data_equals_standardising_dense(array_type, x):
    x = np.where(np.abs(x) > 0.8, x, 0.0)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    np.testing.assert_allclose(standardized_within(array_type(x)).inner(), z.T @ z, atol=1e-10)
    mean, sd = x.mean(axis=0) + 0.3, x.std(axis=0) * 1.1
    shifted = (x - mean) / sd
    part = standardized(array_type(x), mean, 1 / sd)
    np.testing.assert_allclose(Columns((part,)).inner(slice(2, 7)), (shifted.T @ shifted)[2:7], atol=1e-10)
    np.testing.assert_allclose(Columns((part,)).norms(), (shifted**2).sum(axis=0), rtol=1e-10)


def test_parts_make_one_condition(array_type, x):
    whole = standardized_within(x).inner()
    parts = Columns((Affine(array_type(x[:10])), Affine(array_type(x[10:]))), within=True)
    np.testing.assert_allclose(parts.inner(), whole, atol=1e-10)


def test_a_feature_without_spread_stands_alone(array_type, x):
    x[:, 3] = 7.0
    squared = distances.squared_distances(standardized_within(array_type(x)))
    np.testing.assert_allclose(np.delete(squared[3], 3), 2 * 25, rtol=1e-9)
    assert distances.squared_distances(points_of(array_type(x)), metric="correlation")[3, 0] == pytest.approx(2.0)


def test_duplicates_are_at_distance_zero_and_keep_a_bandwidth(x):
    x = np.hstack([x] * 4)
    squared = distances.squared_distances(points_of(x))
    assert squared[0, 12] == 0
    sigma = kernels.bandwidths(distances.kth_smallest(squared, 3))
    assert np.isfinite(kernels.dense_weights(squared, sigma)).all()
    assert (sigma > 0).all()


@pytest.mark.parametrize("kernel", kernels.KERNELS)
def test_dense_weights_are_the_recipe(x, kernel):
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


@pytest.mark.parametrize("density_normalize", [True, False])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_walk_is_the_transition_matrix(x, density_normalize, kind):
    points = points_of(x)
    if kind == "dense":
        squared = distances.squared_distances(points)
        weights = kernels.dense_weights(squared, kernels.bandwidths(distances.kth_smallest(squared, 3)))
        full = weights.copy()
    else:
        neighbors = distances.nearest(points, 5)
        weights = kernels.knn_weights(neighbors, kernels.bandwidths(neighbors.squared[:, 2]))
        full = weights.toarray()
    walk = random_walk(weights, density_normalize=density_normalize)
    p = plain.transition(full, density_normalize)
    np.testing.assert_allclose(walk.step(np.eye(12)), p, atol=1e-13)
    np.testing.assert_allclose(walk.step_back(np.eye(12)), p.T, atol=1e-13)
    np.testing.assert_allclose(walk.step(np.ones(12)), 1.0)


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
