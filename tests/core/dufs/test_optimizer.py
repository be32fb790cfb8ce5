import numpy as np
import pytest

from diffnb.core.dufs.optimizer import OPTIMIZERS, GradientSteps


def descend(optimizer, rate, n_steps=400):
    """Minimise ½ Σ c x² with curvatures c = 1, 0.1."""
    curvature, x = np.array([1.0, 0.1]), np.array([3.0, -2.0])
    step = GradientSteps(optimizer, rate, 2)
    for _ in range(n_steps):
        x = x - step(curvature * x)
    return x


@pytest.mark.parametrize(("optimizer", "rate"), zip(OPTIMIZERS, (0.5, 0.05, 0.5), strict=True))
def test_every_optimizer_finds_the_minimum(optimizer, rate):
    np.testing.assert_allclose(descend(optimizer, rate), 0.0, atol=0.02)


def test_the_first_step_shows_what_optimizers_do():
    gradient = np.array([4.0, -1.0, 0.0])
    first = {name: GradientSteps(name, 0.1, 3)(gradient) for name in OPTIMIZERS}
    np.testing.assert_allclose(first["sgd"], [0.4, -0.1, 0.0])
    np.testing.assert_allclose(first["normalized"], [0.1, -0.025, 0.0])  # in proportion to the gradient
    np.testing.assert_allclose(first["adam"], [0.1, -0.1, 0.0])  # all that move, equally far


def test_normalized_steps_shrink_with_the_gradient_and_never_exceed_the_rate():
    step = GradientSteps("normalized", 0.1, 1)
    sizes = [abs(float(step(np.array([g]))[0])) for g in (5.0, 5.0, *[0.01] * 60)]
    assert max(sizes) == pytest.approx(0.1)
    assert sizes[-1] < 0.001


def test_no_gradient_is_no_step():
    for name in OPTIMIZERS:
        np.testing.assert_array_equal(GradientSteps(name, 0.1, 2)(np.zeros(2)), 0.0)
