import numpy as np
import pytest
from reference import sparda as reference

from diffnb.core.sparda.coupling import Coupling, wasserstein
from diffnb.core.sparda.divergence import DIVERGENCES, evaluate_divergence


@pytest.mark.parametrize(("name", "power"), [("wasserstein1", 1), ("wasserstein2", 2)])
def test_rows_are_evaluated_in_any_order_of_observations(name, power, rng):
    u, v = rng.normal(size=(3, 11)), rng.normal(1, 2, size=(3, 18))
    found = evaluate_divergence(u, v, DIVERGENCES[name], Coupling.of(11, 18)).values
    np.testing.assert_allclose(found, [wasserstein(a, b, power=power) for a, b in zip(u, v, strict=True)], atol=1e-13)
    np.testing.assert_allclose(found, [reference.quantile_distance(*r, power) for r in zip(u, v, strict=True)])


@pytest.mark.parametrize(("n", "m"), [(20, 20), (20, 33)])
@pytest.mark.parametrize("name", ["wasserstein1", "wasserstein2"])
def test_slopes_equal_finite_differences(n, m, name, rng):
    divergence, coupling = DIVERGENCES[name], Coupling.of(n, m)
    u, v = rng.normal(size=(2, n)), rng.normal(0.3, 2, size=(2, m))
    a, b = evaluate_divergence(u, v, divergence, coupling).slopes(np.arange(2), divergence, coupling)
    both, slopes, h = np.hstack([u, v]), np.hstack([a, b]), 1e-6
    for i in range(n + m):
        up, down = both.copy(), both.copy()
        up[:, i] += h
        down[:, i] -= h
        values = [evaluate_divergence(s[:, :n], s[:, n:], divergence, coupling).values for s in (up, down)]
        np.testing.assert_allclose((values[0] - values[1]) / (2 * h), slopes[:, i], atol=1e-7)


@pytest.mark.parametrize("name", list(DIVERGENCES))
def test_values_grow_with_scale_by_the_degree(name, rng):
    divergence, coupling = DIVERGENCES[name], Coupling.of(15, 22)
    u, v = rng.normal(size=(3, 15)), rng.normal(1, size=(3, 22))
    once, thrice = (evaluate_divergence(c * u, c * v, divergence, coupling).values for c in (1, 3))
    np.testing.assert_allclose(thrice, 3.0**divergence.degree * once)


@pytest.mark.parametrize("whole", [False, True])
def test_the_kolmogorov_distance_counts_ties_once(whole, rng):
    u, v = rng.normal(size=(4, 30)), rng.normal(0.5, 2, size=(4, 21))
    if whole:
        u, v = np.round(u), np.round(v)
    ours = evaluate_divergence(u, v, DIVERGENCES["kolmogorov"], Coupling.of(30, 21)).values
    np.testing.assert_allclose(ours, [reference.kolmogorov(a, b) for a, b in zip(u, v, strict=True)], atol=1e-12)


def test_the_slopes_of_kolmogorov_point_uphill(rng):
    divergence, coupling = DIVERGENCES["kolmogorov"], Coupling.of(200, 150)
    u, v = rng.normal(size=(1, 200)), rng.normal(0.3, 1, size=(1, 150))
    found = evaluate_divergence(u, v, divergence, coupling)
    a, b = found.slopes(np.arange(1), divergence, coupling)
    moved = evaluate_divergence(u + 20 * a, v + 20 * b, divergence, coupling)
    assert moved.values[0] > found.values[0]
    assert a.sum() + b.sum() == pytest.approx(0, abs=1e-12)


def test_equal_observations_get_equal_slopes_whatever_their_order(rng):
    divergence, coupling = DIVERGENCES["wasserstein2"], Coupling.of(12, 17)
    u, v = np.round(rng.normal(size=(2, 12))), np.round(rng.normal(1, 2, size=(2, 17)))
    a, b = evaluate_divergence(u, v, divergence, coupling).slopes(np.arange(2), divergence, coupling)
    order = rng.permutation(12)
    again, _ = evaluate_divergence(u[:, order], v, divergence, coupling).slopes(np.arange(2), divergence, coupling)
    np.testing.assert_allclose(again, a[:, order], atol=1e-15)
    for row, slopes in ((u, a), (v, b)):
        for r in range(2):
            for value in np.unique(row[r]):
                assert np.ptp(slopes[r, row[r] == value]) < 1e-15
