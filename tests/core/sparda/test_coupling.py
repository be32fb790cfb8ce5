import numpy as np
import pytest
from reference import sparda as reference

from diffnb.core.sparda.coupling import Coupling, average_over_ties, wasserstein

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


def test_without_ties_slopes_stay_as_they_are(rng):
    ordered, slopes = np.sort(rng.normal(size=(3, 9)), axis=1), rng.normal(size=(3, 9))
    assert average_over_ties(ordered, slopes) is slopes


def test_tied_observations_share_the_mean_of_their_slopes():
    ordered = np.array([[0.0, 1.0, 1.0, 1.0, 2.0, 2.0]])
    slopes = np.array([[5.0, 1.0, 2.0, 6.0, -1.0, 1.0]])
    np.testing.assert_allclose(average_over_ties(ordered, slopes), [[5.0, 3.0, 3.0, 3.0, 0.0, 0.0]])


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_values_of_segments_are_summed_over_those_of_every_observation(n, m, rng):
    coupling = Coupling.of(n, m)
    values = rng.normal(size=(2, len(coupling.weight)))
    left, right = coupling.segment_sums(values)
    for row in range(2):
        np.testing.assert_allclose(left[row], np.bincount(coupling.left, values[row]), atol=1e-14)
        np.testing.assert_allclose(right[row], np.bincount(coupling.right, values[row]), atol=1e-14)
