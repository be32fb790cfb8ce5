from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment, linprog

from diffnb.core.sparda import relaxation
from diffnb.core.sparda.relaxation import project_to_simplex, relax


def projected_distance(x, y, beta):
    """W₂² of two projected samples of equal size, by sorting."""
    return float(np.mean((np.sort(x @ beta) - np.sort(y @ beta)) ** 2))


def best_projection(x, y, n_angles=720):
    """Best direction of the plane, by evaluating many."""
    angles = np.linspace(0, np.pi, n_angles, endpoint=False)
    return max(projected_distance(x, y, np.array([np.cos(a), np.sin(a)])) for a in angles)


def distances(x, y, b):
    apart = x[:, None, :] - y[None, :, :]
    return np.einsum("ijk,kl,ijl->ij", apart, b, apart)


def transported(x, y, b):
    """min tr(W_M B) over couplings M, for equal sizes: an assignment problem."""
    cost = distances(x, y, b)
    return cost[linear_sum_assignment(cost)].mean()


@pytest.fixture
def shifted(rng):
    x, y = rng.normal(size=(2, 60, 6))
    return x + np.array([1.5, -1.0, 0, 0, 0, 0]), y


@pytest.mark.parametrize("seed", range(5))
def test_no_projection_exceeds_the_relaxed_optimum(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 9, 2))
    y = 2 * y @ np.array([[1.0, 0.6], [0.0, 0.8]]) + rng.normal(size=2)
    found = relax(x, y, n_steps=1500)
    best = best_projection(x, y)
    assert found.objective.max() > 0.98 * best
    assert transported(x, y, found.matrix) > 0.99 * best


def test_the_objective_never_exceeds_what_transport_costs(shifted):
    x, y = shifted
    found = relax(x, y)
    assert found.objective.max() <= transported(x, y, found.matrix) + 1e-9


def test_the_dual_is_that_of_transport_between_unequal_sizes(rng):
    """At fixed B the best u and v of (7) give the transport cost, though pairs may break the constraint."""
    x, y = rng.normal(size=(5, 3)), rng.normal(size=(8, 3)) + 1
    cost = distances(x, y, np.eye(3) / 3)
    n, m = cost.shape
    sums = np.vstack([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])
    exact = linprog(cost.ravel(), A_eq=sums, b_eq=np.r_[np.full(n, 1 / n), np.full(m, 1 / m)]).fun
    duals = relaxation._Duals(n, m)
    for _ in range(2000):
        duals.ascend(cost)
    assert duals.value <= exact + 1e-9
    assert duals.value == pytest.approx(exact, rel=0.02)


def test_a_shift_in_mean_is_the_leading_direction(shifted):
    x, y = shifted
    difference = x.mean(axis=0) - y.mean(axis=0)
    cosine = relax(x, y).directions[:, 0] @ difference / np.linalg.norm(difference)
    assert abs(cosine) > 0.98


def test_a_feature_that_is_wider_leads_where_means_are_equal(rng):
    x, y = rng.normal(size=(2, 100, 8))
    y[:, 3] *= 3
    assert np.abs(relax(x, y).directions[:, 0]).argmax() == 3


def test_the_matrix_is_positive_and_of_unit_trace(shifted):
    for penalty in (0.0, 0.2):
        found = relax(*shifted, penalty=penalty)
        values = np.linalg.eigvalsh(found.matrix)
        assert values.min() > -1e-12
        assert values.sum() == pytest.approx(1)


def test_directions_are_leading_eigenvectors(shifted):
    found = relax(*shifted)
    assert found.directions.shape == (6, 3)
    np.testing.assert_allclose(found.directions.T @ found.directions, np.eye(3), atol=1e-10)
    values = np.einsum("ji,jk,ki->i", found.directions, found.matrix, found.directions)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(found.matrix)[::-1][:3], atol=1e-12)


def test_a_penalty_makes_the_matrix_sparser(rng):
    x, y = rng.normal(size=(2, 80, 12))
    x[:, :2] += 1.0
    outside = [np.abs(relax(x, y, penalty=p).matrix[2:]).sum() for p in (0.0, 0.5)]
    assert outside[1] < 0.5 * outside[0]


def test_the_soft_threshold_shrinks_to_zero_and_no_further():
    b = np.array([[0.5, -0.1], [-0.1, 0.3]])
    np.testing.assert_allclose(relaxation._soft_threshold(b, 0.2), [[0.3, 0.0], [0.0, 0.1]])


def test_the_slope_is_the_sum_over_active_pairs(rng):
    x, y = rng.normal(size=(7, 4)), rng.normal(size=(5, 4))
    active = rng.random((7, 5)) < 0.3
    apart = x[:, None, :] - y[None, :, :]
    plain = np.einsum("ij,ijk,ijl->kl", active, apart, apart)
    np.testing.assert_allclose(relaxation._slope(x, y, sp.csr_array(active.astype(float))), plain, atol=1e-12)


def test_distances_by_a_factor_equal_those_under_the_matrix(rng):
    x, y, f = rng.normal(size=(6, 4)), rng.normal(size=(3, 4)), rng.normal(size=(4, 2))
    np.testing.assert_allclose(relaxation._squared_distances(x @ f, y @ f), distances(x, y, f @ f.T), atol=1e-12)


def test_the_simplex_is_met_exactly(rng):
    for size in (1, 2, 7, 50):
        values = rng.normal(size=size)
        near = project_to_simplex(values)
        assert near.min() >= 0
        assert near.sum() == pytest.approx(1, abs=1e-12)
        # the nearest point: the same is subtracted from all entries that stay positive
        left = near > 0
        assert np.ptp((values - near)[left]) < 1e-12
        assert (values[~left] <= (values - near)[left].max() + 1e-12).all()
    np.testing.assert_allclose(project_to_simplex(np.array([0.2, 0.3, 0.5])), [0.2, 0.3, 0.5])


def test_the_same_seed_gives_the_same_answer(shifted, monkeypatch):
    monkeypatch.setattr(relaxation, "MAX_RELAXED_OBSERVATIONS", 40)
    first, again = relax(*shifted, seed=1), relax(*shifted, seed=1)
    np.testing.assert_array_equal(first.matrix, again.matrix)
    np.testing.assert_array_equal(first.objective, again.objective)
    assert not np.allclose(first.matrix, relax(*shifted, seed=2).matrix)


def test_exchanging_the_populations_changes_nothing(rng):
    x, y = rng.normal(size=(30, 5)), 1.5 * rng.normal(size=(45, 5)) + 0.5
    first, second = relax(x, y), relax(y, x)
    np.testing.assert_allclose(first.objective, second.objective, rtol=1e-6)
    np.testing.assert_allclose(first.matrix, second.matrix, atol=1e-4)


def test_shifting_both_populations_changes_nothing(shifted):
    x, y = shifted
    moved = relax(x + 100, y + 100)
    np.testing.assert_allclose(moved.matrix, relax(x, y).matrix, atol=1e-4)


def test_equal_populations_give_a_finite_matrix():
    same = np.ones((5, 4))
    found = relax(same, same)
    assert np.isfinite(found.matrix).all()
    assert found.objective.max() == pytest.approx(0)


def test_every_kind_of_array_gives_the_same(array_type, rng):
    x, y = rng.poisson(1.0, size=(20, 4)).astype(float), rng.poisson(2.0, size=(25, 4)).astype(float)
    np.testing.assert_allclose(relax(array_type(x), array_type(y)).matrix, relax(x, y).matrix, atol=1e-12)


def test_two_features_have_two_directions(rng):
    assert relax(*rng.normal(size=(2, 10, 2)), n_steps=5).directions.shape == (2, 2)


def test_weights_are_the_direction_where_the_relaxation_is_tight_and_of_unit_length_always(shifted, rng):
    tight = relax(*shifted)
    assert abs(tight.weights @ tight.directions[:, 0]) > 0.99
    loose = relax(rng.normal(size=(40, 5)), 2 * rng.normal(size=(40, 5)))
    for found in (tight, loose):
        assert np.linalg.norm(found.weights) == pytest.approx(1)
        np.testing.assert_allclose(found.weights**2, np.diag(found.matrix))


def test_weights_rank_all_features_that_differ_where_several_directions_do(rng):
    # pairs of features that are correlated in one population: each has a direction of its own
    x, y = rng.normal(size=(2, 300, 12))
    for j in (0, 2, 4):
        y[:, j + 1] = 0.3 * y[:, j + 1] + np.sqrt(1 - 0.3**2) * y[:, j]
    found = relax(x, y)
    assert set(np.argsort(-np.abs(found.weights))[:6]) == set(range(6))
