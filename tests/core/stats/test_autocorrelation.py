import numpy as np
import pytest

from diffnb.core.stats.autocorrelation import Autocorrelation, autocorrelation, without_levels


def frames(rng, n, p=20, rho=0.8):
    """Series in which neighbouring frames correlate with `rho` (AR(1))."""
    x = rng.normal(size=(n, p))
    for t in range(1, n):
        x[t] = rho * x[t - 1] + np.sqrt(1 - rho**2) * x[t]
    return x


def plain(x, lag):
    """Autocorrelation of every feature at one lag, averaged."""
    x = x - x.mean(axis=0)
    return np.mean((x[: len(x) - lag] * x[lag:]).sum(axis=0) / (x**2).sum(axis=0))


def test_equals_the_definition(rng):
    x = frames(rng, 83, 5)
    found = autocorrelation([[x]])
    np.testing.assert_allclose(found.values, [plain(x, lag) for lag in range(len(found.values))], atol=1e-12)


@pytest.mark.parametrize("rho", [0.5, 0.8])
def test_a_series_counts_for_as_many_frames_as_theory_says(rho, rng):
    found = autocorrelation([[frames(rng, 4000, 30, rho)]])
    assert found.lag_1 == pytest.approx(rho, abs=0.03)
    assert found.time == pytest.approx((1 + rho) / (1 - rho), rel=0.15)
    assert found.is_clear


def test_oscillation_counts_as_in_correlations_where_that_is_more():
    """Negative lags cancel in a mean but not in a correlation: 1 + 2 Σ ρ² (Bartlett)."""
    values = np.array([1.0, -0.5, 0.4, -0.3])
    assert Autocorrelation(values, 100).time == pytest.approx(1 + 2 * (0.25 + 0.16 + 0.09))


@pytest.mark.parametrize("n", [12, 30, 200, 2000])
def test_rows_in_random_order_are_never_a_series(n):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        # one factor in all features, and long tails: the hardest case, as features are no repetitions
        x = rng.lognormal(0, 1, size=(n, 1)) * rng.lognormal(0, 0.1, size=(n, 30))
        assert not autocorrelation([[x]]).is_clear


def test_series_are_centered_one_by_one(rng):
    """Conditions with different means are no autocorrelation."""
    assert not autocorrelation([[rng.normal(size=(100, 8))], [5 + rng.normal(size=(100, 8))]]).is_clear


def test_a_drift_between_the_runs_of_a_series_is(rng):
    assert autocorrelation([[rng.normal(size=(100, 8)), 5 + rng.normal(size=(100, 8))]]).is_clear


def test_constant_and_missing_features_are_left_out(rng):
    x = frames(rng, 60, 4)
    more = np.column_stack([x, np.full(60, 3.0), np.full(60, np.nan)])
    np.testing.assert_allclose(autocorrelation([[more]]).values, autocorrelation([[x]]).values)


def test_rows_that_are_all_the_same_count_one_by_one():
    found = autocorrelation([[np.ones((20, 3))]])
    assert (found.lag_1, found.time, found.is_clear) == (0.0, 1.0, False)


def test_sorting_by_a_level_is_explained_by_it(rng):
    codes = np.repeat([0, 2, 3], 80)
    x = 3.0 * codes[:, None] + rng.normal(size=(240, 10))
    assert autocorrelation([[x]]).is_clear
    assert not autocorrelation([[without_levels(x, codes)]]).is_clear
