import numpy as np
import pytest

from diffnb.core.arrays.adjustment import RowAdjustment


@pytest.fixture
def adjustment(rng):
    return RowAdjustment(rng.uniform(1, 2, size=9), rng.normal(size=(9, 2)), rng.normal(size=(2, 5)))


def test_a_block_is_scaled_and_reduced_by_its_scores(adjustment, array_type, rng):
    x = rng.poisson(1.0, size=(9, 5)).astype(float)
    whole = adjustment.scale[:, None] * x - adjustment.scores @ adjustment.slopes
    np.testing.assert_allclose(adjustment.of(array_type(x), np.arange(9)), whole, atol=1e-14)
    rows, columns = np.array([4, 1, 7]), np.array([3, 0])
    block = array_type(x[np.ix_(rows, columns)])
    np.testing.assert_allclose(adjustment.of(block, rows, columns), whole[np.ix_(rows, columns)], atol=1e-14)


def test_the_block_itself_is_left_alone(adjustment):
    x = np.ones((9, 5))
    assert adjustment.of(x, np.arange(9)) is not x
    np.testing.assert_array_equal(x, 1.0)
