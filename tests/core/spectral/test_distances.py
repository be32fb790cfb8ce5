"""Distances between columns."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from diffnb.core.spectral import distances
from diffnb.core.spectral.points import points_of, standardized_within


@pytest.mark.parametrize("metric", distances.METRICS)
def test_distances_are_those_of_scipy(any_array_type, x, metric):
    ours = distances.squared_distances(points_of(any_array_type(x)), metric=metric)
    theirs = cdist(x.T, x.T, metric=metric)
    # correlation and cosine distances of SciPy are 1 − r; ours are squared lengths between unit vectors, 2(1 − r)
    np.testing.assert_allclose(ours, theirs**2 if metric == "euclidean" else 2 * theirs, atol=1e-11)


@pytest.mark.parametrize("metric", distances.METRICS)
def test_nearest_are_the_smallest_distances_for_any_blocks(set_memory, any_array_type, x, metric):
    points = points_of(any_array_type(x))
    squared = distances.squared_distances(points, metric=metric)
    order = np.argsort(squared + np.diag(np.full(12, np.inf)), axis=1)[:, :4]
    for block in (10**6, 30):
        set_memory(4 * 8 * block)
        found = distances.nearest(points, 4, metric=metric)
        np.testing.assert_array_equal(found.indices, order)
        np.testing.assert_allclose(found.squared, np.take_along_axis(squared, order, axis=1), atol=1e-12)


def test_a_feature_without_spread_stands_alone(any_array_type, x):
    x[:, 3] = 7.0
    squared = distances.squared_distances(standardized_within(any_array_type(x)))
    np.testing.assert_allclose(np.delete(squared[3], 3), 2 * 25, rtol=1e-9)
    assert distances.squared_distances(points_of(any_array_type(x)), metric="correlation")[3, 0] == pytest.approx(2.0)


def test_duplicates_are_at_distance_zero(any_array_type, x):
    squared = distances.squared_distances(points_of(any_array_type(np.hstack([x] * 4))))
    own = np.arange(48)[:, None] % 12 == np.arange(48) % 12
    assert (squared[own] == 0).all()
    assert (squared[~own] > 0).all()


def test_the_kth_smallest_leaves_the_feature_itself_out(x):
    squared = distances.squared_distances(points_of(x))
    for k in (1, 4, 11):
        np.testing.assert_array_equal(distances.kth_smallest(squared, k), np.sort(squared, axis=1)[:, k])


def test_ties_are_broken_by_position():
    squared = np.array([[0.0, 1.0, 1.0, 1.0], [1.0, 0.0, 2.0, 1.0]])
    indices, values = distances.smallest(squared, 2)
    np.testing.assert_array_equal(indices, [[1, 2], [0, 3]])
    np.testing.assert_array_equal(values, 1.0)
