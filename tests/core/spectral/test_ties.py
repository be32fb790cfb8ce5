"""An order of neighbours that the last digits of distances do not change."""

import numpy as np
import pytest

from diffnb.core.spectral.ties import (
    kth_position,
    nearest_first,
    select_smallest,
    tie_order,
    without_rounding,
)


@pytest.fixture
def noisy(rng):
    """The same few distances twice, with other last digits."""
    exact = rng.integers(0, 4, size=(30, 25)).astype(float)
    return exact, exact * (1 + 1e-15 * rng.integers(-3, 4, size=exact.shape))


@pytest.mark.parametrize("count", [1, 5, 24])
def test_the_smallest_are_those_at_the_first_positions(noisy, count):
    exact, rounded = noisy
    expected = np.sort(np.argsort(exact, axis=1, kind="stable")[:, :count], axis=1)
    np.testing.assert_array_equal(select_smallest(exact, count), expected)
    np.testing.assert_array_equal(select_smallest(rounded, count), expected)


@pytest.mark.parametrize("k", [0, 7, 24])
def test_the_kth_smallest_is_found_in_this_order(noisy, k):
    exact, rounded = noisy
    expected = np.argsort(exact, axis=1, kind="stable")[:, k]
    np.testing.assert_array_equal(kth_position(exact, k), expected)
    np.testing.assert_array_equal(kth_position(rounded, k), expected)


def test_equal_values_are_ordered_by_position_and_never_fall(noisy, rng):
    exact, rounded = noisy
    positions = np.argsort(rng.normal(size=exact.shape), axis=1)
    expected = np.lexsort((positions, exact), axis=1)
    np.testing.assert_array_equal(tie_order(rounded, positions), expected)
    found, values = nearest_first(rounded, positions, 10)
    np.testing.assert_array_equal(found, np.take_along_axis(positions, expected, axis=1)[:, :10])
    assert (np.diff(values, axis=1) >= 0).all()


def test_values_that_differ_are_told_apart():
    values = np.array([[1.0, 1.0 - 1e-8, 1.0 - 2e-8]])
    np.testing.assert_array_equal(select_smallest(values, 1), [[2]])
    np.testing.assert_array_equal(tie_order(values, np.arange(3)[None]), [[2, 1, 0]])


def test_a_slack_counts_as_equal_as_well():
    values = np.array([[1e-9, 0.0, 5.0]])
    np.testing.assert_array_equal(select_smallest(values, 1), [[1]])
    np.testing.assert_array_equal(select_smallest(values, 1, np.array([1e-8])), [[0]])
    np.testing.assert_array_equal(kth_position(values, 0, np.array([1e-8])), [0])


def test_infinite_values_come_last_and_values_below_zero_first():
    values = np.array([[np.inf, 2.0, np.inf, -1e-16, 2.0]])
    np.testing.assert_array_equal(select_smallest(values, 4), [[0, 1, 3, 4]])
    np.testing.assert_array_equal(nearest_first(values, np.arange(5)[None], 5)[0], [[3, 1, 4, 0, 2]])


def test_rounding_is_removed_so_that_sums_are_equal_too(noisy):
    exact, rounded = noisy
    np.testing.assert_array_equal(without_rounding(rounded.ravel()), exact.ravel())
    thirds = np.array([1 / 3, 1 / 3 * (1 + 2e-16), 0.7])
    found = without_rounding(thirds)
    assert found[0] == found[1] != found[2]
    np.testing.assert_allclose(found, thirds, rtol=1e-10)
