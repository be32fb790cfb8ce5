"""The random walk on a graph of features."""

import numpy as np
import pytest
import scipy.sparse as sp
from reference import disc as plain

from diffnb.core.spectral import distances, kernels
from diffnb.core.spectral.points import points_of
from diffnb.core.spectral.walk import multiply_symmetric, random_walk


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


@pytest.fixture
def weights(rng):
    w = rng.uniform(0.1, 1.0, size=(9, 9))
    return w + w.T


def test_vectors_and_matrices_step_alike(weights, rng):
    walk, v = random_walk(weights), rng.normal(size=(9, 3))
    np.testing.assert_allclose(walk.step(v)[:, 1], walk.step(v[:, 1]), atol=1e-15)
    np.testing.assert_allclose(walk.step_back(v)[:, 1], walk.step_back(v[:, 1]), atol=1e-15)


def test_the_symmetric_conjugate_is_symmetric(weights):
    symmetric = random_walk(weights).symmetric
    np.testing.assert_allclose(symmetric, symmetric.T, atol=1e-15)


def test_steps_back_undo_the_order_of_steps(weights, rng):
    walk = random_walk(weights)
    u, v = rng.normal(size=(2, 9))
    assert u @ walk.step(v) == pytest.approx(walk.step_back(u) @ v)


def test_density_of_features_is_divided_out(weights):
    """Features that are there twice pull the walk to them, unless their density is divided out."""
    twice = np.ix_([*range(9), 0], [*range(9), 0])
    plainly, corrected = (random_walk(weights[twice].copy(), density_normalize=n) for n in (False, True))
    single = random_walk(weights.copy(), density_normalize=True)
    to_first = [walk.step(np.isin(np.arange(10), (0, 9)).astype(float))[1:9].mean() for walk in (plainly, corrected)]
    alone = single.step(np.eye(9)[0])[1:].mean()
    assert abs(to_first[1] - alone) < abs(to_first[0] - alone)


def test_sparse_weights_are_left_as_they_are(weights):
    sparse = sp.csr_array(weights)
    walk = random_walk(sparse)
    np.testing.assert_array_equal(sparse.toarray(), weights)
    np.testing.assert_allclose(walk.step(np.eye(9)), random_walk(weights.copy()).step(np.eye(9)), atol=1e-14)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_symmetric_matrix_is_multiplied_by_one_vector_and_by_several(sparse, rng):
    half = rng.normal(size=(40, 40))
    dense = half + half.T
    symmetric = sp.csr_array(dense) if sparse else dense
    v = rng.normal(size=(40, 3))
    np.testing.assert_allclose(multiply_symmetric(symmetric, v), dense @ v, rtol=1e-11, atol=1e-11)
    for matrix in (symmetric, symmetric.T):
        np.testing.assert_allclose(multiply_symmetric(matrix, v[:, 0]), dense @ v[:, 0], rtol=1e-11, atol=1e-11)
