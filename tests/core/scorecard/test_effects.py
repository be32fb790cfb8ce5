"""Effects against their definitions, and how often their intervals hold the truth."""

import numpy as np
import pytest
from scipy import stats

from diffnb.core.scorecard import design, fit_effects


@pytest.fixture
def both(rng):
    return 1.3 * rng.exponential(size=(120, 6)) + 0.3, rng.exponential(size=(90, 6))


def test_the_difference_of_means_has_the_interval_of_welch(both):
    found = fit_effects(*both).mean
    expected = stats.ttest_ind(*both, equal_var=False).confidence_interval(0.95)
    np.testing.assert_allclose(found.low, expected.low, rtol=1e-9)
    np.testing.assert_allclose(found.high, expected.high, rtol=1e-9)


def test_estimates_are_those_of_their_definitions(both):
    x, y = both
    found = fit_effects(x, y)
    np.testing.assert_allclose(found.log2_fold_change.estimate, np.log2(x.mean(axis=0) / y.mean(axis=0)))
    spread = [np.abs(m - np.median(m, axis=0)).mean(axis=0) for m in both]
    np.testing.assert_allclose(found.spread.estimate, spread[0] / spread[1])
    pooled = np.sqrt((120 * x.var(axis=0) + 90 * y.var(axis=0)) / 210)
    plain = [stats.wasserstein_distance(x[:, j], y[:, j]) / pooled[j] for j in range(6)]
    np.testing.assert_allclose(found.distribution.estimate, plain, atol=0.2)


def test_fold_changes_of_logarithms_are_those_of_the_counts(rng):
    counts = rng.poisson(3.0, size=(80, 4)), rng.poisson(2.0, size=(70, 4))
    found = fit_effects(*(np.log1p(c) for c in counts), is_log1p=True).log2_fold_change
    np.testing.assert_allclose(found.estimate, np.log2(counts[0].mean(axis=0) / counts[1].mean(axis=0)))
    assert np.isnan(fit_effects(counts[0] - 2.0, counts[1] - 2.0).log2_fold_change.estimate).all()


def test_every_kind_of_matrix_gives_the_same(both, any_array_type):
    expected = fit_effects(*both)
    together = any_array_type(np.concatenate(both))
    found = fit_effects(together[np.arange(120)], together[np.arange(120, 210)])
    for name in ("mean", "log2_fold_change", "spread", "distribution", "connectivity"):
        for end in ("estimate", "low", "high"):
            np.testing.assert_allclose(
                getattr(getattr(found, name), end), getattr(getattr(expected, name), end), rtol=1e-8
            )


def covered(interval, true):
    known = np.isfinite(interval.low)
    return ((interval.low <= true) & (true <= interval.high))[known]


@pytest.mark.slow
def test_intervals_hold_the_truth_in_95_of_100(rng):
    inside = {name: [] for name in ("mean", "log2_fold_change", "spread", "distribution", "nothing")}
    for _ in range(25):
        x, y = 1.3 * rng.exponential(size=(200, 40)) + 0.3, rng.exponential(size=(150, 40))
        found = fit_effects(x, y)
        true = {"mean": 0.6, "log2_fold_change": np.log2(1.6), "spread": 1.3}
        true["distribution"] = 0.6 / np.sqrt((200 * 1.69 + 150) / 350)
        for name, value in true.items():
            inside[name] += covered(getattr(found, name), value).tolist()
        null = fit_effects(rng.normal(size=(200, 40)), rng.normal(size=(150, 40)))
        inside["nothing"] += covered(null.distribution, 0.0).tolist()
    for name, values in inside.items():
        assert np.mean(values) == pytest.approx(0.95, abs=0.03), name


@pytest.mark.parametrize("paired", [True, False])
def test_samples_are_units_where_given(rng, paired):
    of = np.repeat(np.arange(5), 20)
    donor = rng.normal(size=(5, 3))
    x = donor[of] + rng.normal(size=(100, 3)) + 1
    y = donor[of] + rng.normal(size=(100, 3))
    found = fit_effects(x, y, samples=design(of, of if paired else of + 5)).mean
    means = [np.stack([m[of == d].mean(axis=0) for d in range(5)]) for m in (x, y)]
    test = stats.ttest_rel(*means) if paired else stats.ttest_ind(*means, equal_var=False)
    np.testing.assert_allclose(found.low, test.confidence_interval(0.95).low, rtol=1e-9)


def test_a_constant_feature_has_no_ratio(rng):
    x, y = np.zeros((30, 2)), np.zeros((30, 2))
    x[:, 0], y[:, 0] = rng.exponential(size=(2, 30))
    found = fit_effects(x, y)
    assert np.isnan([found.spread.estimate[1], found.distribution.estimate[1], found.log2_fold_change.low[1]]).all()
    assert found.mean.estimate[1] == 0
