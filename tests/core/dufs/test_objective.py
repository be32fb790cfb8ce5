import itertools

import numpy as np
import pytest
from reference import dufs as plain

from diffnb.core.dufs.objective import GATES, evaluate_objective
from diffnb.core.dufs.smoothness import BANDWIDTHS, GraphOptions

VARIANTS = list(itertools.product(GATES, BANDWIDTHS, (1, 2, 3), (False, True), (None, 0.3)))


def noise_for(gates, shape, rng):
    if gates == "deterministic":
        return None
    return rng.normal(size=shape if gates == "per_sample" else shape[1])


@pytest.mark.parametrize(("gates", "bandwidth", "power", "leave_one_out", "penalty"), VARIANTS)
def test_loss_and_gradient_equal_the_equations(gates, bandwidth, power, leave_one_out, penalty):
    rng = np.random.default_rng(power)
    x, mu = rng.normal(size=(12, 5)), rng.normal(scale=0.4, size=5)
    noise = noise_for(gates, x.shape, rng)
    graph = GraphOptions(3, 2.0, bandwidth, power, leave_one_out)
    ours = evaluate_objective(x, mu, graph, gates=gates, penalty=penalty, noise=noise)
    options = {
        "gates": gates,
        "noise": noise,
        "penalty": penalty,
        "power": power,
        "n_neighbors": 3,
        "scale": 2.0,
        "bandwidth": bandwidth,
        "leave_one_out": leave_one_out,
    }
    assert ours.loss == pytest.approx(float(np.real(plain.loss(x, mu, **options))), abs=1e-12)
    np.testing.assert_allclose(ours.gradient, plain.gradient(x, mu, **options), atol=1e-10)


@pytest.mark.parametrize("n", [14, 15])
def test_the_median_of_even_and_odd_numbers_moves_with_its_distances(n, rng):
    x, mu = rng.normal(size=(n, 5)), rng.normal(scale=0.3, size=5)
    np.testing.assert_allclose(evaluate_objective(x, mu, GraphOptions()).gradient, plain.gradient(x, mu), atol=1e-10)


def test_the_tape_of_the_authors_step_agrees(rng):
    x, mu, noise = rng.normal(size=(20, 9)), rng.normal(scale=0.3, size=9), rng.normal(size=(20, 9))
    ours = evaluate_objective(x, mu, GraphOptions(), gates="per_sample", noise=noise)
    loss, gradient = plain.tape_step(x, mu, noise)
    assert ours.loss == pytest.approx(loss, abs=1e-13)
    np.testing.assert_allclose(ours.gradient, gradient, atol=1e-13)


def test_moments_are_the_mean_of_many_draws(rng):
    x, mu = rng.normal(size=(8, 4)), np.array([-0.3, 0.0, 0.2, 0.6])
    gates = np.clip(mu + 0.5 + 0.5 * rng.normal(size=(200_000, 1, 4)), 0, 1)
    other = np.clip(mu + 0.5 + 0.5 * rng.normal(size=(200_000, 1, 4)), 0, 1)
    same = np.einsum("sij,sij->i", gates * x[:1], gates * x[:1]) / len(gates)
    apart = np.einsum("sij,sij->i", gates * x[:1], other * x[1:2]) / len(gates)
    mean, square = plain.gate_mean(mu), plain.gate_square(mu)
    np.testing.assert_allclose(same, (x[0] ** 2) @ square, rtol=0.01)
    np.testing.assert_allclose(apart, (x[0] * x[1]) @ mean**2, rtol=0.02, atol=0.01)


def test_closed_gates_give_no_division_by_zero(rng):
    found = evaluate_objective(rng.normal(size=(10, 4)), np.full(4, -9.0), GraphOptions(leave_one_out=True))
    assert np.isfinite(found.loss)
    assert np.isfinite(found.gradient).all()


def test_the_loss_is_made_of_its_two_terms(rng):
    x, mu = rng.normal(size=(15, 6)), rng.normal(scale=0.3, size=6)
    free, regularized = (evaluate_objective(x, mu, GraphOptions(), penalty=penalty) for penalty in (None, 0.4))
    assert free.loss == pytest.approx(-free.smoothness / free.open)
    assert regularized.loss == pytest.approx(-regularized.smoothness + 0.4 * regularized.open)
    assert free.smoothness == regularized.smoothness
