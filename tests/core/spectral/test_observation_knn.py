"""Exact neighbours of observations that are read in row blocks."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from streams import KINDS

from diffnb.core.arrays.affine import Affine, AffineMap
from diffnb.core.arrays.row_chunks import chunked
from diffnb.core.spectral.observation_knn import loaded_rows, nearest_rows


@pytest.fixture
def observations(rng):
    return rng.poisson(2.0, size=(60, 9)) * rng.normal(size=(60, 9))


@pytest.fixture(params=list(KINDS))
def on_disk(request):
    return lambda x: chunked(KINDS[request.param](x, 7))


def plain(x, count):
    """The nearest others by all distances, ties by position."""
    squared = cdist(x, x, "sqeuclidean")
    np.fill_diagonal(squared, np.inf)
    order = np.argsort(squared, axis=1, kind="stable")[:, :count]
    return order, np.take_along_axis(squared, order, axis=1)


@pytest.mark.parametrize("memory", [2**30, 16 * 8 * 9 * 10], ids=["whole", "in blocks"])
def test_neighbours_are_those_of_all_distances(on_disk, observations, memory, set_memory):
    set_memory(memory)
    indices, squared = nearest_rows(Affine(on_disk(observations)), 6)
    expected, distances = plain(observations, 6)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(squared, distances, atol=1e-10)


def test_features_are_scaled_before(on_disk, observations, rng):
    scale = rng.uniform(0.1, 3.0, size=9)
    indices, _ = nearest_rows(Affine(on_disk(observations), AffineMap(scale=scale)), 6)
    np.testing.assert_array_equal(indices, plain(observations * scale, 6)[0])


def test_a_shift_changes_no_distance(on_disk, observations):
    moved = nearest_rows(Affine(on_disk(observations), AffineMap(shift=np.ones(9))), 6)
    np.testing.assert_array_equal(moved[0], plain(observations, 6)[0])


def test_duplicates_are_at_distance_zero_and_come_in_order(on_disk, observations, set_memory):
    set_memory(16 * 8 * 9 * 10)
    indices, squared = nearest_rows(Affine(on_disk(np.vstack([observations] * 3))), 2)
    np.testing.assert_array_equal(squared, 0.0)
    np.testing.assert_array_equal(indices[0], [60, 120])
    np.testing.assert_array_equal(indices[60], [0, 120])


def test_loaded_rows_are_scaled_and_keep_their_order(on_disk, observations):
    rows, scale = np.array([41, 3, 20]), np.linspace(1, 2, 9)
    loaded = loaded_rows(Affine(on_disk(observations), AffineMap(scale=scale)), rows)
    dense = loaded.toarray() if hasattr(loaded, "toarray") else loaded
    np.testing.assert_allclose(dense, observations[rows] * scale, rtol=1e-15)
