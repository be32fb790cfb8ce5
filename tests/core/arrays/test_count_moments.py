"""Moments of expression from counts against the equations, observation by observation."""

import numpy as np
import pytest
from reference import counts as plain

from diffnb.core.arrays import count_moments as module
from diffnb.core.arrays.count_moments import Counts, count_moments, covariances, fit_damping, residuals


@pytest.fixture
def drawn(rng):
    """Counts of ten features, of which four co-vary, and size factors; one observation has no counts at all."""
    size = rng.lognormal(0, 0.5, size=80)
    size[3] = 0.0
    log_mean = 0.6 * rng.normal(size=(80, 10)) + np.linspace(-0.5, 2.5, 10)
    log_mean[:, :4] += 0.6 * rng.normal(size=(80, 1))
    return rng.poisson(size[:, None] * np.exp(log_mean)).astype(float), size


def test_equals_the_equations_for_every_kind_of_array(any_array_type, drawn):
    x, size = drawn
    mean, variance, *_ = plain.moments(x, size, module.N_REWEIGHTINGS)
    counts = Counts(any_array_type(x), size)
    (ours,) = count_moments([counts], fit_damping([counts]))
    np.testing.assert_allclose(ours.mean, mean, rtol=1e-10)
    np.testing.assert_allclose(ours.variance, variance, rtol=1e-10)


def test_the_size_of_blocks_changes_nothing(drawn, set_memory):
    counts = Counts(*drawn)
    expected = fit_damping([counts])
    set_memory(16 * 3 * 8 * 10 * 7)  # seven rows
    np.testing.assert_allclose(fit_damping([counts]), expected, rtol=1e-12)


def test_parts_together_have_the_weights_of_all_rows(drawn):
    counts = Counts(*drawn)
    parts = [counts[np.arange(30)], counts[np.arange(30, 80)]]
    np.testing.assert_allclose(fit_damping(parts), fit_damping([counts]), rtol=1e-12)


def test_variances_and_means_do_not_depend_on_depth(rng):
    z = rng.gamma(2.0, 0.5, size=(20_000, 5))  # mean 1, variance 1/2
    for depth in (0.5, 5.0):
        size = depth * rng.lognormal(0, 0.3, size=20_000)
        counts = Counts(rng.poisson(size[:, None] * z).astype(float), size)
        (found,) = count_moments([counts], fit_damping([counts]))
        np.testing.assert_allclose(found.mean, 1.0, atol=0.03)
        np.testing.assert_allclose(found.variance, 0.5, atol=0.05)


def test_few_observations_do_not_bias_the_variance(rng):
    size = rng.lognormal(0, 0.5, size=6)
    drawn = rng.poisson(size[:, None] * 2.0, size=(6, 40_000)).astype(float)
    (found,) = count_moments([Counts(drawn, size)], np.full(40_000, 0.1))
    assert abs(found.variance.mean()) < 0.03, "Poisson counts do not vary beyond their noise"


def test_residuals_have_the_covariance_of_expression(drawn):
    x, size = drawn
    counts = Counts(x, size)
    damping = fit_damping([counts])
    (moments,) = count_moments([counts], damping)
    y, exposure = residuals(x.copy(), size, moments.mean, damping)
    np.testing.assert_allclose(y.sum(axis=0), 0, atol=1e-10)
    found = covariances(y.T @ y, exposure.T @ exposure, moments.exposure, moments.exposure)
    sd = np.sqrt(moments.variance)
    expected = plain.correlations(x, size, module.N_REWEIGHTINGS)
    off = ~np.eye(10, dtype=bool)
    np.testing.assert_allclose(np.clip(found / np.outer(sd, sd), -1, 1)[off], expected[off], rtol=1e-10)


def test_rows_and_columns_are_selected_with_their_size_factors(drawn):
    counts = Counts(*drawn)
    some = counts[np.array([5, 1])].columns(np.array([2, 7]))
    assert some.shape == (2, 2)
    np.testing.assert_array_equal(some.matrix, drawn[0][[5, 1]][:, [2, 7]])
    np.testing.assert_array_equal(some.size, drawn[1][[5, 1]])


def test_data_without_variation_have_no_dispersion():
    counts = Counts(np.zeros((5, 3)), np.ones(5))
    np.testing.assert_array_equal(fit_damping([counts]), 0)
