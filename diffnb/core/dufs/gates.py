"""Gates of features: a Gaussian around µ + ½, clipped to [0, 1] (stochastic gates of DUFS).

A gate is z = clip(µ + ½ + σε, 0, 1) with ε ~ N(0, 1) and σ = ½. Training moves µ. Instead of drawing ε at every
step one can use the moments of z in the loss, which have closed forms: training is deterministic then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from ..typing import Bools, Floats

#: σ of the authors
GATE_SD = 0.5


@dataclass(frozen=True, slots=True)
class GateMoments:
    """Mean and mean square of every gate and the probability that it is open, with their derivatives by µ."""

    mean: Floats
    mean_slope: Floats
    square: Floats
    square_slope: Floats
    open: Floats
    open_slope: Floats


def gate_moments(mu: Floats, /) -> GateMoments:
    """E z, E z², P(z > 0) and their slopes."""
    centre = mu + 0.5
    low, high = -centre / GATE_SD, (1.0 - centre) / GATE_SD
    inside = ndtr(high) - ndtr(low)  # the probability that nothing is clipped
    at_low, at_high = _normal_density(low), _normal_density(high)
    first = centre * inside + GATE_SD * (at_low - at_high)  # ∫ m over (0, 1)
    second = (
        centre**2 * inside
        + 2 * centre * GATE_SD * (at_low - at_high)
        + GATE_SD**2 * (inside + low * at_low - high * at_high)
    )
    return GateMoments(
        mean=first + ndtr(-high),
        mean_slope=inside,
        square=second + ndtr(-high),
        square_slope=2 * first,
        open=ndtr(-low),
        open_slope=at_low / GATE_SD,
    )


def noisy_gates(mu: Floats, noise: Floats, /) -> tuple[Floats, Bools]:
    """Gates for given noise, and where they are not clipped, so that µ moves them (one row per draw)."""
    centre = mu + 0.5 + GATE_SD * noise
    return np.clip(centre, 0.0, 1.0), (centre > 0) & (centre < 1)


def noiseless_gates(mu: Floats, /) -> Floats:
    """Gates without noise, as the authors use them after training."""
    return np.asarray(np.clip(mu + 0.5, 0.0, 1.0))


def _normal_density(x: Floats) -> Floats:
    return np.asarray(np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi))
