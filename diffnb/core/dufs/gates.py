"""Gates of features: a Gaussian around µ + ½, clipped to [0, 1] (stochastic gates of DUFS).

A gate is z = clip(µ + ½ + σε, 0, 1) with ε ~ N(0, 1) and σ = ½. Training moves µ. Instead of drawing ε at every
step one can put the moments of z into the loss, for which there are closed forms: nothing is random then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from ..typing import Bools, Floats

SIGMA = 0.5


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean and mean square of every gate and the chance that it is open, with their derivatives by µ."""

    mean: Floats
    mean_slope: Floats
    square: Floats
    square_slope: Floats
    open: Floats
    open_slope: Floats


def moments(mu: Floats, /) -> Moments:
    """E z, E z², P(z > 0) and their slopes."""
    centre = mu + 0.5
    low, high = -centre / SIGMA, (1.0 - centre) / SIGMA
    inside = ndtr(high) - ndtr(low)  # the chance that nothing is clipped
    at_low, at_high = _density(low), _density(high)
    first = centre * inside + SIGMA * (at_low - at_high)  # ∫ m over (0, 1)
    second = (
        centre**2 * inside
        + 2 * centre * SIGMA * (at_low - at_high)
        + SIGMA**2 * (inside + low * at_low - high * at_high)
    )
    return Moments(
        mean=first + ndtr(-high),
        mean_slope=inside,
        square=second + ndtr(-high),
        square_slope=2 * first,
        open=ndtr(-low),
        open_slope=at_low / SIGMA,
    )


def drawn(mu: Floats, noise: Floats, /) -> tuple[Floats, Bools]:
    """Gates for drawn noise, and where they are not clipped, so that µ moves them (one row a draw)."""
    centre = mu + 0.5 + SIGMA * noise
    return np.clip(centre, 0.0, 1.0), (centre > 0) & (centre < 1)


def settled(mu: Floats, /) -> Floats:
    """Gates without noise, as the authors read them off after training."""
    return np.asarray(np.clip(mu + 0.5, 0.0, 1.0))


def _density(x: Floats) -> Floats:
    return np.asarray(np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi))
