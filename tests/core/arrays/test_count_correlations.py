"""Correlations of expression from counts, as inner products of points."""

import numpy as np
import pytest
from reference import counts as plain

from diffnb.core.arrays.count_correlations import (
    N_STANDARD_ERRORS,
    count_correlations,
    is_measurable,
    shrinkage_noise,
    standardized_correlations,
)
from diffnb.core.arrays.count_moments import N_REWEIGHTINGS, Counts, count_moments, fit_damping


@pytest.fixture
def drawn(rng):
    """Counts of twelve features: five co-vary, and the last two vary no more than their noise."""
    size = rng.lognormal(0, 0.4, size=90)
    log_mean = 0.5 * rng.normal(size=(90, 12)) + np.linspace(0, 2, 12)
    log_mean[:, :5] += 0.7 * rng.normal(size=(90, 1))
    x = rng.poisson(size[:, None] * np.exp(log_mean)).astype(float)
    x[:, 10:] = np.round(2 * size)[:, None]
    return x, size


def test_equals_the_equations_for_every_kind_of_array(any_array_type, drawn):
    x, size = drawn
    expected = plain.correlations(x, size, N_REWEIGHTINGS)
    expected[[10, 11], [10, 11]] = 0.0
    ours = count_correlations([Counts(any_array_type(x), size)])
    np.testing.assert_array_equal(ours.is_positive, np.arange(12) < 10)
    np.testing.assert_allclose(ours.gram(slice(0, 12)), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.gram(slice(3, 11)), expected[3:11], rtol=1e-10, atol=1e-12)


def test_lengths_are_one_and_zero_without_variation(drawn):
    ours = count_correlations([Counts(*drawn)])
    mean, square = ours.moments()
    np.testing.assert_array_equal(mean, 0)
    np.testing.assert_allclose(ours.n_obs * square, np.diag(ours.gram(slice(0, 12))))


def correlated(rng, n, depth, rho=0.7):
    """Two gamma variables that share a part of their sum, counted at some depth."""
    shared, own = rng.gamma(2 * rho, size=(n, 1)), rng.gamma(2 * (1 - rho), size=(n, 2))
    size = depth * rng.lognormal(0, 0.3, size=n)
    others = rng.gamma(2.0, size=(n, 4))
    z = np.concatenate([shared + own, others], axis=1) / 2
    return Counts(rng.poisson(size[:, None] * z).astype(float), size)


def test_depth_does_not_attenuate_correlations(rng):
    for depth in (0.5, 5.0):
        counts = correlated(rng, 20_000, depth)
        observed = np.corrcoef(counts.matrix[:, 0] / counts.size, counts.matrix[:, 1] / counts.size)[0, 1]
        assert observed < 0.62
        assert count_correlations([counts]).gram(slice(0, 1))[0, 1] == pytest.approx(0.7, abs=0.05)


def test_one_standardised_condition_has_its_own_correlations(drawn):
    counts = Counts(*drawn)
    damping = fit_damping([counts])
    plainly = count_correlations([counts], damping).gram(slice(0, 12))
    own = count_moments([counts], damping)
    halves = [counts[np.arange(0, 90, 2)], counts[np.arange(1, 90, 2)]]
    for parts in ([counts], halves):
        found = standardized_correlations(parts, own * len(parts), damping)
        np.testing.assert_allclose(found.gram(slice(0, 12)), plainly, atol=0.02 * (len(parts) - 1) + 1e-10)


def test_means_and_scales_of_conditions_are_no_correlation(rng):
    first, second = correlated(rng, 4000, 3.0, rho=0.0), correlated(rng, 4000, 3.0, rho=0.0)
    second.matrix[:, :2] = rng.poisson(second.size[:, None] * 5 * rng.gamma(2.0, size=(4000, 2)))
    damping = fit_damping([first, second])
    own = count_moments([first, second], damping)
    mixed = standardized_correlations([first[:2000], second[:2000]], own, damping).gram(slice(0, 2))
    assert abs(mixed[0, 1]) < 0.08
    stacked = Counts(np.concatenate([first.matrix, second.matrix]), np.concatenate([first.size, second.size]))
    assert count_correlations([stacked]).gram(slice(0, 2))[0, 1] > 0.3


def test_noise_is_two_standard_errors_of_independent_features(rng):
    first, second = (correlated(rng, 1500, depth, rho=0.0) for depth in (2.0, 6.0))
    damping = fit_damping([first, second])
    noise = shrinkage_noise([first, second], damping)
    errors = []
    for _ in range(60):
        drawn = correlated(rng, 1500, 2.0, rho=0.0)
        errors.append(count_correlations([drawn], damping).gram(slice(0, 6))[np.triu_indices(6, 1)])
    expected = np.std(errors) * N_STANDARD_ERRORS
    assert np.mean(np.outer(noise, noise)[np.triu_indices(6, 1)]) == pytest.approx(expected, rel=0.2)


def test_what_may_be_noise_is_shrunk_and_what_is_not_stays(rng):
    counts = correlated(rng, 1500, 2.0)
    damping = fit_damping([counts])
    whole = count_correlations([counts], damping).gram(slice(0, 6))
    noise = shrinkage_noise([counts], damping)
    shrunk = count_correlations([counts], damping, noise=noise).gram(slice(0, 6))
    assert shrunk[0, 1] > 0.9 * whole[0, 1]
    others = np.triu_indices(4, 1)
    assert np.abs(shrunk[2:, 2:][others]).mean() < 0.4 * np.abs(whole[2:, 2:][others]).mean()
    np.testing.assert_array_equal(np.diag(shrunk), 1)


def test_features_are_measurable_where_they_vary_beyond_noise(drawn):
    np.testing.assert_array_equal(is_measurable([Counts(*drawn)]), np.arange(12) < 10)
