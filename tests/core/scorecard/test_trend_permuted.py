"""Permuted doses against a loop over permutations."""

from __future__ import annotations

import numpy as np
import pytest

from diffnb.core.scorecard import trend_permuted as module
from diffnb.core.scorecard.marginal import FeatureTest
from diffnb.core.scorecard.trend_marginal import SlopeDesign
from diffnb.core.scorecard.trend_permuted import permuted_slopes, permuted_spreads


def squared_t(dose, y):
    slope, error = SlopeDesign.of([dose], None).slope(y[None])
    return float((slope / error)[0] ** 2)


def test_equals_a_loop_over_permuted_doses(rng, monkeypatch):
    monkeypatch.setattr(module, "N_DRAWS", (4000,))
    dose, x = rng.lognormal(size=25), rng.gamma(0.5, size=(4, 25))
    design = SlopeDesign.of([dose], None)
    ours = permuted_slopes(x, design.weights, np.zeros(4), design.df).pval
    drawn = [rng.permutation(dose) for _ in range(1500)]
    for j, y in enumerate(x):
        observed = squared_t(dose, y)
        plain = np.mean([squared_t(other, y) >= observed for other in drawn])
        assert ours[j] == pytest.approx(plain, abs=0.04)


def test_holds_the_level_for_skewed_features_and_skewed_doses(rng):
    rejected = []
    for _ in range(15):
        dose, x = rng.lognormal(size=40), rng.gamma(0.3, size=(40, 40))
        design = SlopeDesign.of([dose], None)
        rejected.append(np.mean(permuted_slopes(x, design.weights, np.zeros(40), design.df).pval <= 0.05))
    assert 0.03 < np.mean(rejected) < 0.07


def test_beyond_all_permutations_larger_statistics_have_smaller_pvalues():
    dose = np.arange(60.0)
    noise = np.random.default_rng(0).normal(size=60)
    x = np.stack([dose + 3 * noise, dose + noise, dose + 0.3 * noise])
    design = SlopeDesign.of([dose], None)
    test = permuted_slopes(x, design.weights, np.arange(3.0), design.df)
    assert isinstance(test, FeatureTest)
    assert np.all(np.diff(test.pval) < 0)
    assert test.pval[0] < 1 / 4001


def test_a_constant_feature_is_never_significant():
    design = SlopeDesign.of([np.arange(30.0)], None)
    assert permuted_slopes(np.ones((1, 30)), design.weights, np.zeros(1), design.df).pval[0] > 0.99


def test_spreads_of_counts_hold_the_level_in_small_levels(rng):
    """Permuted distances from medians that are not taken again call 1 % of them at a level of .1 %."""
    dose = np.repeat([0.0, 1.0, 10.0], [30, 20, 10])
    rejected = []
    for _ in range(15):
        x = rng.poisson(0.7, size=(40, 60)).astype(float)
        design = SlopeDesign.of(np.split(dose, [30, 50]), None)
        pval = permuted_spreads(x, design.distances, design.weights, np.zeros(40), design.df).pval
        rejected.append(np.mean(pval <= 0.05))
    assert np.mean(rejected) < 0.07
