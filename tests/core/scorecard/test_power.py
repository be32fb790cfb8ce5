"""Simulated power: what is planted, what stays as it was, and how sizes follow."""

import numpy as np
import pytest

from diffnb.core.scorecard.power import PowerFit, PowerOptions, planted_order, simulate_power, units_needed

FEW = PowerOptions(group_size=8, correlation=0.6, n_units=(20, 120), n_simulations=4)


@pytest.fixture
def pilot(rng):
    x = np.log1p(rng.poisson(rng.gamma(1.0, 1.0, size=40) + 0.3, size=(150, 40)))
    x[:, :12] += 0.5 * rng.normal(size=(150, 1))
    return x


def test_every_feature_keeps_its_values_within_its_sample(pilot, rng):
    of = np.repeat([0, 1, 2], 50)
    found = planted_order(pilot, of, 0.5, rng)
    for code in range(3):
        np.testing.assert_array_equal(np.sort(found[of == code], axis=0), np.sort(pilot[of == code], axis=0))


@pytest.mark.parametrize("correlation", [0.0, 0.4, 0.8])
def test_gaussian_features_have_the_correlation_that_was_asked_for(rng, correlation):
    x = planted_order(rng.normal(size=(4000, 6)), np.zeros(4000, dtype=int), correlation, rng)
    assert np.corrcoef(x.T)[np.triu_indices(6, 1)].mean() == pytest.approx(correlation, abs=0.05)


def test_power_grows_with_size_and_others_are_not_called(pilot):
    found = simulate_power(pilot, None, FEW)
    assert found.power[1] > found.power[0] + 0.3
    assert found.others.max() < 0.1
    assert (found.measured > 0.25).all()


def test_samples_are_drawn_and_compared_where_given(pilot):
    samples = np.repeat(np.arange(5), 30)
    few, many = simulate_power(pilot, samples, PowerOptions(8, 0.6, (2, 8), 3)).power
    assert many > few
    assert many > 0.5


def test_every_kind_of_matrix_gives_the_same(pilot, any_array_type):
    options = PowerOptions(group_size=8, n_units=(30,), n_simulations=2)
    expected = simulate_power(pilot, None, options)
    np.testing.assert_allclose(simulate_power(any_array_type(pilot), None, options).power, expected.power)


def test_the_number_of_threads_changes_nothing(pilot):
    one, two = (simulate_power(pilot, None, FEW, n_jobs=n).power for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def curve(power):
    nothing = np.zeros(3)
    return PowerFit(np.array([10, 100, 1000]), np.array(power), nothing, nothing, nothing)


@pytest.mark.parametrize(
    ("power", "needed"),
    [
        ([0.7, 0.9, 1.0], np.sqrt(1000)),
        ([0.9, 1.0, 1.0], 10),
        ([0.1, 0.2, 0.3], np.nan),
        ([0.6, 0.5, 1.0], np.sqrt(1e5)),
    ],
)
def test_the_size_for_a_power_is_interpolated(power, needed):
    np.testing.assert_allclose(units_needed(curve(power), 0.8), needed)
