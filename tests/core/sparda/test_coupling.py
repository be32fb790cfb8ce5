import numpy as np
import pytest
from reference import sparda as reference

from diffnb.core.sparda.coupling import Coupling, average_over_ties, wasserstein
from diffnb.core.sparda.divergence import DIVERGENCES, evaluate_divergence

SIZES = [(1, 1), (1, 4), (5, 5), (7, 3), (12, 18), (13, 17), (30, 29)]


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_a_coupling_has_at_most_n_plus_m_less_one_segments_and_the_right_margins(n, m):
    coupling = Coupling.of(n, m)
    assert len(coupling.weight) <= n + m - 1
    np.testing.assert_allclose(np.bincount(coupling.left, coupling.weight), np.full(n, 1 / n), atol=1e-15)
    np.testing.assert_allclose(np.bincount(coupling.right, coupling.weight), np.full(m, 1 / m), atol=1e-15)
    assert (np.diff(coupling.left) >= 0).all()
    assert (np.diff(coupling.right) >= 0).all()


@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize("power", [1, 2])
def test_distances_equal_a_linear_program_and_the_quantile_functions(n, m, power, rng):
    u, v = rng.normal(size=n), rng.normal(1, 2, size=m)
    ours = wasserstein(u, v, power=power)
    assert ours == pytest.approx(reference.quantile_distance(u, v, power), abs=1e-12)
    assert ours == pytest.approx(reference.transport(u, v, power)[0], abs=1e-9)


def test_distances_equal_those_of_pot_where_it_is_installed(rng):
    ot = pytest.importorskip("ot", reason="POT is not installed")
    for _ in range(20):
        n, m = rng.integers(1, 60, size=2)
        u, v = rng.normal(size=n), rng.normal(1, 2, size=m)
        assert wasserstein(u, v) == pytest.approx(ot.emd2_1d(u, v, metric="sqeuclidean"), abs=1e-12)


def test_the_distance_of_a_sample_from_itself_moved_is_the_move_squared(rng):
    u = rng.normal(size=31)
    assert wasserstein(u, u) == 0
    assert wasserstein(u, rng.permutation(u) + 3) == pytest.approx(9)


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


def test_without_ties_slopes_stay_as_they_are(rng):
    ordered, slopes = np.sort(rng.normal(size=(3, 9)), axis=1), rng.normal(size=(3, 9))
    assert average_over_ties(ordered, slopes) is slopes
