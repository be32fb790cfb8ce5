import numpy as np
import pytest
from reference import disc as plain

from diffnb.core.disc.change_maps import diffusion_change, diffusion_maps
from diffnb.core.disc.feature_graph import feature_walks
from diffnb.core.disc.settings import FeatureGraphOptions
from diffnb.core.spectral.eigen import fix_signs

OPTIONS = FeatureGraphOptions(kind="dense", n_neighbors=6)


def walks(matrices):
    return feature_walks(matrices, OPTIONS).walks


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
    np.testing.assert_allclose(diffusion_change(first, first), 0, atol=1e-13)


def test_a_few_eigenvectors_are_near_the_whole(two_conditions):
    first, second = walks(two_conditions)
    few, whole = (diffusion_change(first, second, n_eigenvectors=k, n_steps=3) for k in (12, 40))
    assert np.corrcoef(few, whole)[0, 1] > 0.95


def test_diffusion_maps_are_the_eigenvectors_of_the_transition_matrix(two_conditions):
    maps = diffusion_maps(two_conditions, OPTIONS, n_components=3)
    for m, x in enumerate(two_conditions):
        p = plain.transition(plain.weights(x, 6))
        vectors = plain.eigenvectors(p, 1, 3)
        np.testing.assert_allclose(p @ maps.vectors[m], maps.vectors[m] * maps.eigenvalues[m], atol=1e-10)
        np.testing.assert_allclose(maps.vectors[m], fix_signs(vectors / np.linalg.norm(vectors, axis=0)), atol=1e-8)
    assert maps.settings.n_neighbors == 6


def test_diffusion_maps_leave_the_constant_vector_out(two_conditions):
    maps = diffusion_maps(two_conditions, OPTIONS, n_components=3)
    assert maps.eigenvalues.max() < 1 - 1e-6
    assert np.ptp(maps.vectors[0, :, 0]) > 0.1
