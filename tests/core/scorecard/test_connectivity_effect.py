"""Mean |Δr| with partners: about the true value for a module, nothing elsewhere."""

import numpy as np
import pytest

from diffnb.core.scorecard.by_sample import design
from diffnb.core.scorecard.connectivity_effect import connectivity_effects


def module(rng, n_obs, connected):
    x = rng.normal(size=(n_obs, 40))
    if connected:
        x[:, :8] += rng.normal(size=(n_obs, 1))
    return x


def test_partners_are_those_of_the_module(rng):
    found, n_partners = connectivity_effects(module(rng, 400, True), module(rng, 300, False), None)
    assert np.isfinite(found.estimate[:8]).all()
    assert np.isfinite(found.estimate[8:]).sum() <= 1
    assert n_partners[:8].min() >= 3
    assert n_partners[8:].max() <= 1


@pytest.mark.slow
def test_intervals_hold_the_true_difference(rng):
    inside = []
    for _ in range(60):
        found, _ = connectivity_effects(module(rng, 400, True), module(rng, 300, False), None)
        inside += ((found.low[:8] <= 0.5) & (found.high[:8] >= 0.5))[np.isfinite(found.low[:8])].tolist()
    assert np.mean(inside) == pytest.approx(0.95, abs=0.035)


def test_exchanged_conditions_have_the_same_effects(rng):
    x, y = module(rng, 300, True), module(rng, 300, False)
    there, back = connectivity_effects(x, y, None)[0], connectivity_effects(y, x, None)[0]
    np.testing.assert_allclose(there.estimate[:8], back.estimate[:8], atol=0.1)


def test_samples_are_units_where_given(rng):
    of = np.repeat(np.arange(6), 60)
    samples = design(of, of + 6)
    found, _ = connectivity_effects(module(rng, 360, True), module(rng, 360, False), samples)
    assert np.isfinite(found.estimate[:8]).sum() >= 6
    assert np.nanmean(found.estimate[:8]) == pytest.approx(0.5, abs=0.12)


def test_too_few_units_have_no_effect(rng):
    few = connectivity_effects(module(rng, 12, True), module(rng, 30, False), None)[0]
    of = np.repeat(np.arange(3), 30)
    samples = connectivity_effects(module(rng, 90, True), module(rng, 90, False), design(of, of + 3))[0]
    assert np.isnan([few.estimate, samples.estimate]).all()
