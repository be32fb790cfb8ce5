import numpy as np
from reference import dufs as plain

from diffnb.core.dufs.gates import gate_moments, noiseless_gates, noisy_gates

MU = np.linspace(-2.5, 2.5, 41)


def test_moments_equal_their_integrals():
    ours = gate_moments(MU)
    np.testing.assert_allclose(ours.mean, plain.gate_mean(MU), atol=1e-14)
    np.testing.assert_allclose(ours.square, plain.gate_square(MU), atol=1e-13)
    np.testing.assert_allclose(ours.open, plain.cdf((MU + 0.5) / 0.5), atol=1e-14)


def test_slopes_are_derivatives():
    step = 1e-30
    ours = gate_moments(MU)
    np.testing.assert_allclose(ours.mean_slope, plain.gate_mean(MU + 1j * step).imag / step, atol=1e-14)
    np.testing.assert_allclose(ours.square_slope, plain.gate_square(MU + 1j * step).imag / step, atol=1e-13)
    np.testing.assert_allclose(ours.open_slope, plain.cdf((MU + 0.5 + 1j * step) / 0.5).imag / step, atol=1e-14)


def test_noisy_gates_move_only_between_the_ends():
    gates, moves = noisy_gates(np.array([-2.0, 0.0, 2.0]), np.zeros(3))
    np.testing.assert_array_equal(gates, [0.0, 0.5, 1.0])
    np.testing.assert_array_equal(moves, [False, True, False])


def test_gates_without_noise_are_centred_at_one_half():
    np.testing.assert_array_equal(noiseless_gates(np.array([-2.0, 0.0, 0.1, 2.0])), [0.0, 0.5, 0.6, 1.0])
