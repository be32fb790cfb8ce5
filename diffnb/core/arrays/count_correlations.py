"""Correlations of expression between all features, from raw counts of one condition, as inner products of unit vectors.

A feature is a point whose inner products with the others are the corrected correlations, so that graphs of features are
built as from any other points. A feature that varies no more than its counting noise has length zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..typing import Bools, Floats
from .affine import inverse
from .count_moments import (
    CountMoments,
    Counts,
    accumulate,
    count_moments,
    covariances,
    fit_damping,
    joint_moments,
    residuals,
    share_left,
)

#: a correlation of so many standard errors is shrunk to half, a smaller one more and a larger one less
N_STANDARD_ERRORS = 2.0


@dataclass(frozen=True, slots=True)
class CountCorrelations:
    """Correlations over one or more parts of the observations, each with its own means and scales."""

    parts: tuple[Counts, ...]
    #: φ μ of every feature, of which weights are made
    damping: Floats
    #: of each part, what residuals are taken from
    means: tuple[Floats, ...]
    #: of each part, what residuals are multiplied by
    scales: tuple[Floats, ...]
    #: Σ of exposures over all parts
    exposure: Floats
    #: of the scaled expression over all parts
    variance: Floats
    #: correlations are shrunk to half where they equal the product of these numbers of both features
    noise: Floats | None = None

    @property
    def n_obs(self) -> int:
        """Number of rows."""
        return sum(part.shape[0] for part in self.parts)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.parts[0].shape[1]

    @property
    def is_positive(self) -> Bools:
        """Which features vary more than their counting noise."""
        return self.variance > 0

    def moments(self) -> tuple[Floats, Floats]:
        """Mean and mean square of every column, which is of length one."""
        return np.zeros(self.n_features), self.is_positive / self.n_obs

    def gram(self, where: slice, /) -> Floats:
        """Correlations of the features in `where` with all features."""
        works = [
            partial(_products_of_rows, mean, scale, self.damping, where)
            for mean, scale in zip(self.means, self.scales, strict=True)
        ]
        products, exposures = np.sum(accumulate(self.parts, works), axis=0)
        rho = covariances(products, exposures, self.exposure[where], self.exposure)
        unit = inverse(np.sqrt(np.maximum(self.variance, 0.0)))
        rho *= unit[where, None]
        rho *= unit
        np.clip(rho, -1.0, 1.0, out=rho)
        if self.noise is not None:
            rho = _shrunk(rho, np.outer(self.noise[where], self.noise))
        own = np.arange(len(rho))
        rho[own, own + where.start] = self.is_positive[where]
        return rho


def shrinkage_noise(conditions: Sequence[Counts], damping: Floats, /) -> Floats:
    """Numbers whose product for two features is the correlation that is shrunk to half, in the noisiest condition.

    The same in all conditions, so that a correlation that they share is shrunk alike, however deep each of them is.
    """
    levels = [moments.noise_level for moments in count_moments(conditions, damping)]
    return np.asarray(np.sqrt(N_STANDARD_ERRORS) * np.max(levels, axis=0))


def is_measurable(conditions: Sequence[Counts], /) -> Bools:
    """Return which features vary so much more than their counting noise that they can correlate with one like them."""
    return shrinkage_noise(conditions, fit_damping(conditions)) < 1


def count_correlations(
    parts: Sequence[Counts], damping: Floats | None = None, /, *, noise: Floats | None = None
) -> CountCorrelations:
    """Estimate the moments of every feature over all parts together; correlations follow block by block."""
    damping = fit_damping(parts) if damping is None else damping
    moments = joint_moments(parts, damping)
    everywhere, ones = (moments.mean,) * len(parts), (np.ones_like(moments.mean),) * len(parts)
    return CountCorrelations(tuple(parts), damping, everywhere, ones, moments.exposure, moments.variance, noise)


def standardized_correlations(
    parts: Sequence[Counts],
    of_conditions: Sequence[CountMoments],
    damping: Floats,
    /,
    *,
    noise: Floats | None = None,
) -> CountCorrelations:
    """Correlate rows of several conditions, each standardised by the moments of its own condition.

    What is left of a mean after that is removed over all parts together.
    """
    moments = count_moments(parts, damping)
    exposure = np.sum([m.exposure for m in moments], axis=0)
    deviations = [np.sqrt(np.maximum(own.variance, 0.0)) for own in of_conditions]
    scales = [inverse(sd) for sd in deviations]
    offsets = [
        m.exposure * (m.mean - own.mean) * scale for m, own, scale in zip(moments, of_conditions, scales, strict=True)
    ]
    center = np.sum(offsets, axis=0) * inverse(exposure)
    means = [own.mean + center * sd for own, sd in zip(of_conditions, deviations, strict=True)]
    variance = _joint_variance(moments, means, scales, exposure)
    return CountCorrelations(tuple(parts), damping, tuple(means), tuple(scales), exposure, variance, noise)


def _shrunk(rho: Floats, noise: Floats) -> Floats:
    # smooth, unlike a threshold, below which features without any correlation would be exactly alike
    squared = rho**2
    return rho * np.divide(squared, squared + noise**2, out=np.ones_like(rho), where=noise > 0)


def _joint_variance(
    moments: Sequence[CountMoments], means: Sequence[Floats], scales: Sequence[Floats], exposure: Floats
) -> Floats:
    """Variance of scaled expression over all parts, as that of `CountMoments` over one."""
    squared_exposure = np.sum([m.squared_exposure for m in moments], axis=0)
    squares = sum(scale**2 * m.squares_around(mean) for m, mean, scale in zip(moments, means, scales, strict=True))
    noise = sum(scale**2 * m.mean * m.noise for m, scale in zip(moments, scales, strict=True))
    return np.asarray((squares / share_left(squared_exposure, exposure**2) - noise) * inverse(squared_exposure))


def _products_of_rows(mean: Floats, scale: Floats, damping: Floats, where: slice, x: Floats, size: Floats) -> Floats:
    y, exposure = residuals(x, size, mean, damping)
    y *= scale
    return np.stack([y[:, where].T @ y, exposure[:, where].T @ exposure])
