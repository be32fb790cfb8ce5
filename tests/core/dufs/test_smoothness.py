import numpy as np
import pytest
from reference import dufs as plain

from diffnb.core.dufs.smoothness import BANDWIDTHS, MAX_POWER, GraphOptions, smoothness, smoothness_score

POWERS = range(1, MAX_POWER + 1)


@pytest.mark.parametrize("bandwidth", BANDWIDTHS)
@pytest.mark.parametrize("leave_one_out", [False, True])
@pytest.mark.parametrize("power", POWERS)
def test_the_score_is_that_of_the_walk_on_the_gram_matrix(bandwidth, leave_one_out, power, rng):
    y = rng.normal(size=(15, 4))
    gram = y @ y.T
    walk = plain.walk(gram, n_neighbors=3, scale=2.0, bandwidth=bandwidth, leave_one_out=leave_one_out)
    expected = np.trace(y.T @ np.linalg.matrix_power(walk, power) @ y)
    graph = GraphOptions(3, 2.0, bandwidth, power, leave_one_out)
    assert smoothness_score(gram, graph) == pytest.approx(expected)
    assert smoothness(gram, graph)[0] == pytest.approx(expected)


@pytest.mark.parametrize("bandwidth", BANDWIDTHS)
@pytest.mark.parametrize("power", POWERS)
def test_the_gradient_is_the_slope_of_the_score_in_every_symmetric_direction(bandwidth, power, rng):
    y, turn = rng.normal(size=(10, 4)), rng.normal(size=(10, 10))
    gram, direction, step = y @ y.T, turn + turn.T, 1e-6
    graph = GraphOptions(2, 5.0, bandwidth, power, True)
    ahead, behind = (smoothness_score(gram + sign * step * direction, graph) for sign in (1, -1))
    gradient = smoothness(gram, graph)[1]
    np.testing.assert_array_equal(gradient, gradient.T)
    assert np.vdot(gradient, direction) == pytest.approx((ahead - behind) / (2 * step), rel=1e-5)


def test_a_feature_that_follows_the_graph_is_smoother_than_noise(rng):
    place = rng.uniform(0, 6, size=(60, 1))
    structured, noise = np.hstack([np.cos(place), np.sin(place)]), rng.normal(size=(60, 2))
    scores = []
    for y in (structured, noise):
        y = y / np.sqrt(np.sum(y**2))
        scores.append(smoothness_score(y @ y.T, GraphOptions(leave_one_out=True)))
    assert scores[0] > 1.5 * scores[1]


@pytest.mark.parametrize("bandwidth", BANDWIDTHS)
@pytest.mark.parametrize("leave_one_out", [False, True])
def test_duplicates_and_equal_observations_give_finite_numbers(bandwidth, leave_one_out, rng):
    graph = GraphOptions(2, 5.0, bandwidth, 2, leave_one_out)
    twice = np.repeat(rng.normal(size=(6, 3)), 2, axis=0)
    for x in (twice, np.ones((5, 3)), np.zeros((5, 3))):
        score, gradient = smoothness(x @ x.T, graph)
        assert np.isfinite(score)
        assert np.isfinite(gradient).all()
        assert score == pytest.approx(smoothness_score(x @ x.T, graph))


def test_an_observation_far_from_all_others_keeps_a_neighbour(rng):
    x = rng.normal(size=(10, 3))
    x[0] += 1e6
    score, gradient = smoothness(x @ x.T, GraphOptions(leave_one_out=True))
    assert np.isfinite(score)
    assert np.isfinite(gradient).all()
