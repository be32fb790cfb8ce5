import numpy as np
import pytest

from diffnb.core.disc.algorithm import Settings, as_points, feature_walk
from diffnb.core.disc.change_maps import diffusion_change


def walks(matrices):
    settings = Settings(6, (), graph="dense")
    return [feature_walk(points, settings) for points in as_points(matrices, None)]


@pytest.mark.parametrize("n_steps", [1, 2, 3])
def test_is_the_length_of_a_row_of_the_difference_of_powers(two_conditions, n_steps):
    """Definition of the distance, with whole matrices."""
    first, second = walks(two_conditions)
    a, b = (np.linalg.matrix_power(w.symmetric, n_steps) for w in (first, second))
    ours = diffusion_change(first, second, n_eigenvectors=40, n_steps=n_steps)
    np.testing.assert_allclose(ours, np.linalg.norm(a - b, axis=1), atol=1e-7)


def test_is_symmetric_and_zero_between_a_graph_and_itself(two_conditions):
    first, second = walks(two_conditions)
    np.testing.assert_allclose(diffusion_change(first, second), diffusion_change(second, first), atol=1e-12)
    np.testing.assert_allclose(diffusion_change(first, first), 0, atol=1e-7)


def test_a_few_eigenvectors_are_near_the_whole(two_conditions):
    first, second = walks(two_conditions)
    few, whole = (diffusion_change(first, second, n_eigenvectors=k, n_steps=3) for k in (12, 40))
    assert np.corrcoef(few, whole)[0, 1] > 0.95
