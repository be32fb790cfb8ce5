import numpy as np

from diffnb.core.scorecard.interval import Interval, concatenated


def test_ends_are_transformed_with_the_estimate():
    found = Interval(np.array([0.0, 1.0]), np.array([-1.0, 0.0]), np.array([1.0, 2.0])).map(np.exp)
    np.testing.assert_allclose([found.low, found.estimate, found.high], np.exp([[-1, 0], [0, 1], [1, 2]]))


def test_unknown_features_are_missing():
    found = Interval(*np.arange(6.0).reshape(3, 2)).where(np.array([True, False]))
    np.testing.assert_array_equal(np.isnan([found.estimate, found.low, found.high]), [[False, True]] * 3)


def test_parts_are_joined_in_order():
    parts = [Interval(*np.full((3, n), float(n))) for n in (2, 1)]
    np.testing.assert_array_equal(concatenated(parts).high, [2, 2, 1])
