"""All trends together, and the levels of a dose."""

from __future__ import annotations

import numpy as np
import pytest

from diffnb.core.scorecard.trend import MIN_OBS_PER_LEVEL, dose_levels, fit_trend


def test_distinct_doses_are_levels():
    dose = np.repeat([3.0, 0.0, 10.0], 30)
    np.testing.assert_array_equal(dose_levels(dose), np.repeat([1, 0, 2], 30))


def test_many_distinct_doses_are_split_into_quantiles(rng):
    dose = rng.lognormal(size=1000)
    levels = dose_levels(dose)
    assert np.bincount(levels).tolist() == [125] * 8
    assert all(dose[levels == k].max() <= dose[levels == k + 1].min() for k in range(7))


def test_levels_of_few_observations_are_joined():
    dose = np.repeat([0.0, 1.0, 2.0, 3.0], [100, 5, 30, 7])
    sizes = np.bincount(dose_levels(dose))
    assert sizes.tolist() == [100, 42]
    assert sizes.min() >= MIN_OBS_PER_LEVEL


def test_one_dose_is_one_level():
    assert dose_levels(np.zeros(50)).max() == 0


def four_features(rng, n=300):
    """One feature for each kind of trend, then a group of connected ones, then noise."""
    doses = [np.full(n, d) for d in (0.0, 1.0, 2.0, 3.0)]
    matrices = []
    for dose in doses:
        level = dose[0]
        x = rng.normal(size=(n, 40))
        x[:, 0] += 0.3 * level
        x[:, 1] *= 1 + 0.3 * level
        # two bumps that move apart, mean and mean distance from the median kept
        x[:, 2] = np.where(rng.random(n) < 0.5, -1, 1) * np.abs(rng.normal(1, 1 / (1 + level), size=n))
        x[:, 3:13] = np.sqrt(level / 5) * rng.normal(size=(n, 1)) + np.sqrt(1 - level / 5) * x[:, 3:13]
        matrices.append(x)
    return matrices, doses


def test_every_kind_of_trend_is_named(rng):
    fit = fit_trend(*four_features(rng))
    assert fit.kind[:2].tolist() == ["mean", "spread"]
    assert fit.kind[2] in ("distribution", "spread")
    assert set(fit.kind[3:13]) == {"connectivity"}
    assert np.mean(fit.kind[13:] == "none") > 0.95
    assert fit.settings.n_levels == 4
    assert fit.slope_low[0] < 0.3 < fit.slope_high[0]


def test_reversing_the_dose_reverses_signs_only(rng):
    matrices, doses = four_features(rng, 100)
    fit = fit_trend(matrices, doses)
    back = fit_trend(matrices[::-1], [-dose for dose in doses[::-1]])
    np.testing.assert_allclose(back.stat[:, :2], -fit.stat[:, :2], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(back.pval[:, 2], fit.pval[:, 2], rtol=1e-7)
    np.testing.assert_allclose(back.slope, -fit.slope, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-3, 1e4])
def test_the_unit_of_the_dose_changes_slopes_only(scale, rng):
    matrices, doses = four_features(rng, 60)
    fit, scaled = fit_trend(matrices, doses), fit_trend(matrices, [5 + scale * dose for dose in doses])
    np.testing.assert_allclose(scaled.pval, fit.pval, rtol=1e-6)
    np.testing.assert_allclose(scaled.slope * scale, fit.slope, rtol=1e-6, atol=1e-9)


def test_nothing_is_named_where_the_dose_means_nothing(rng):
    named, rejected = 0, []
    for _ in range(20):
        mixing = rng.normal(size=(4, 60)) * 0.4
        x = np.exp(0.5 * (rng.normal(size=(240, 60)) + rng.normal(size=(240, 4)) @ mixing))
        doses = np.repeat([0.0, 1.0, 2.0, 6.0], [90, 70, 50, 30])
        splits = [90, 160, 210]
        fit = fit_trend(np.split(x, splits), np.split(doses, splits))
        named += (fit.kind != "none").any()
        rejected.append(np.nanmean(fit.pval < 0.05, axis=0))
    assert named <= 4
    assert np.all(np.mean(rejected, axis=0) < 0.08), np.mean(rejected, axis=0)


def test_a_covariate_that_the_dose_follows_is_taken_out(rng):
    depth = np.sort(rng.normal(size=400))
    x = rng.normal(size=(400, 40)) + depth[:, None]
    dose = np.repeat([0.0, 1.0, 2.0, 3.0], 100)
    given = np.split(x, 4), np.split(dose, 4)
    plain = fit_trend(*given)
    adjusted = fit_trend(*given, covariates=np.split(depth[:, None], 4))
    assert np.mean(plain.pval[:, 0] < 0.05) > 0.9
    assert np.mean(adjusted.pval[:, 0] < 0.05) < 0.15
