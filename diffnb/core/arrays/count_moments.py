"""Means, variances and correlations of expression from raw counts, corrected for counting noise and depth.

Counts are taken as x_ij ~ Poisson(s_i z_ij), with s_i the size factor of observation i, so that

    E x_ij = s_i μ_j,   Var x_ij = s_i μ_j + s_i² σ_jj,   Cov(x_ij, x_ik) = s_i² σ_jk,

and the moments of z follow by least squares, reweighted by the variance that a common dispersion φ (σ_jj = φ μ_j²)
predicts: Su et al., "Cell-type-specific co-expression inference from single cell RNA-sequencing data", Nature
Communications 14, 2023 (CS-CORE). With a_ij = 1/(1 + s_i φ μ_j) all of them are sums of a_ij (x_ij − s_i μ_j), the
residuals, and of a_ij s_i, the exposures. Unlike there, sums of squared residuals are corrected for the mean that was
estimated from the same observations, so that small samples are not biased.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from ..runtime import budget
from ..typing import Floats, Ints, Matrix
from .affine import inverse
from .ops import dense64, row_blocks
from .row_chunks import Chunked, add_in_place, reduce

#: (dense block of rows, which may be overwritten; their size factors) → what is added up
SumOfRows: TypeAlias = Callable[[Floats, Floats], Floats]

#: weights have converged to four digits of the correlations by then
N_REWEIGHTINGS = 5
#: below this share, all exposure is that of a single observation
MIN_SHARE_LEFT = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Raw counts, observations × features, and the size factor of every observation; rows are selected as usual."""

    matrix: Matrix
    size: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Observations and features."""
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    def __getitem__(self, rows: Any) -> Counts:
        return Counts(self.matrix[rows], self.size[rows])

    def columns(self, kept: Ints, /) -> Counts:
        """Return some features."""
        return replace(self, matrix=self.matrix[:, kept])


@dataclass(frozen=True, slots=True)
class CountMoments:
    """Sums over observations with the weights a, a number per feature, and the moments of expression in them."""

    #: Σ a s, Σ (a s)², Σ a² s
    exposure: Floats
    squared_exposure: Floats
    noise: Floats
    #: Σ a x, Σ a² s x, Σ a² x²
    total: Floats
    crossed: Floats
    squares: Floats

    @property
    def mean(self) -> Floats:
        """Mean expression, μ_j."""
        return self.total * inverse(self.exposure)

    @property
    def variance(self) -> Floats:
        """Variance of expression, σ_jj; not positive where counts vary no more than their noise."""
        left = share_left(self.squared_exposure, self.exposure**2)
        centered = self.squares_around(self.mean) / left
        return (centered - self.mean * self.noise) * inverse(self.squared_exposure)

    @property
    def dispersion(self) -> float:
        """φ of σ_jj = φ μ_j²: median over the features that vary more than their counting noise."""
        mean, variance = self.mean, self.variance
        known = (variance > 0) & (mean > 0)
        return float(1 / np.median(mean[known] ** 2 / variance[known])) if known.any() else 0.0

    @property
    def noise_level(self) -> Floats:
        """Numbers whose product for two independent features is the standard error of their correlation.

        Infinite where the variance is not positive.
        """
        per_exposure = self.squares_around(self.mean) * inverse(self.exposure)
        scale = np.maximum(self.variance, 0.0) * np.sqrt(self.squared_exposure)
        level = np.full(self.mean.shape, np.inf)
        return np.asarray(np.sqrt(np.divide(per_exposure, scale, out=level, where=scale > 0)))

    def squares_around(self, mean: Floats, /) -> Floats:
        """Σ of squared residuals from any mean."""
        return np.maximum(self.squares - 2 * mean * self.crossed + mean**2 * self.squared_exposure, 0.0)


def fit_damping(parts: Sequence[Counts], /) -> Floats:
    """Estimate φ μ of every feature over all parts, from which weights follow, by iterative reweighting."""
    damping: Floats = np.zeros(parts[0].shape[1])
    for _ in range(N_REWEIGHTINGS):
        moments = joint_moments(parts, damping)
        damping = moments.dispersion * moments.mean
    return damping


def count_moments(parts: Sequence[Counts], damping: Floats, /) -> list[CountMoments]:
    """Moments of each part with given weights; chunked ones are read in one pass."""
    return [CountMoments(*sums) for sums in _weighted_sums(parts, damping)]


def joint_moments(parts: Sequence[Counts], damping: Floats, /) -> CountMoments:
    """Moments of all parts together with given weights."""
    return CountMoments(*np.sum(_weighted_sums(parts, damping), axis=0))


def residuals(x: Floats, size: Floats, mean: Floats, damping: Floats, /) -> tuple[Floats, Floats]:
    """Weighted residuals and exposures of a dense block of rows, which is overwritten."""
    s = size[:, None]
    weights = 1 / (1 + s * damping)
    x -= s * mean
    x *= weights
    weights *= s
    return x, weights


def covariances(products: Floats, exposures: Floats, first: Floats, second: Floats, /) -> Floats:
    """Turn products of residuals into covariances, in place.

    `exposures` are products of exposures of the same pairs of features, `first` and `second` their sums.
    """
    products /= share_left(exposures, np.outer(first, second))
    products *= inverse(exposures)
    return products


def share_left(exposures: Floats, sums: Floats, /) -> Floats:
    """Share of a sum of products that is expected to be left when both means are estimated from the same observations.

    `exposures` are products of exposures, `sums` products of their sums.
    """
    left = 1 - exposures * inverse(sums)
    return np.where(left > MIN_SHARE_LEFT, left, 1.0)


def accumulate(parts: Sequence[Counts], works: Sequence[SumOfRows], /) -> list[Floats]:
    """Add up, for each part, what its function returns for dense blocks of rows; chunked parts are read in one pass."""
    if isinstance(parts[0].matrix, Chunked):
        sizes = [part.size for part in parts]
        return reduce([part.matrix for part in parts], partial(_over_block, works, sizes), add_in_place)
    return [_over_rows(work, part.matrix, part.size) for part, work in zip(parts, works, strict=True)]


def _over_block(
    works: Sequence[SumOfRows], sizes: Sequence[Floats], block: Matrix, number: int, positions: Ints
) -> Floats:
    return _over_rows(works[number], block, sizes[number][positions])


def _over_rows(work: SumOfRows, x: Matrix, size: Floats) -> Floats:
    height = budget.count(3 * 8 * x.shape[1])
    total, start = None, 0
    for block in row_blocks(x, height):
        rows = np.array(dense64(block))  # a copy, which may be overwritten
        found = work(rows, size[start : start + len(rows)])
        total = found if total is None else add_in_place(total, found)
        start += len(rows)
    assert total is not None
    return total


def _weighted_sums(parts: Sequence[Counts], damping: Floats) -> list[Floats]:
    return accumulate(parts, [partial(_sums_of_rows, damping)] * len(parts))


def _sums_of_rows(damping: Floats, x: Floats, size: Floats) -> Floats:
    """Return the sums of `CountMoments`, a row each."""
    s = size[:, None]
    weights = 1 / (1 + s * damping)
    x *= weights
    exposure = s * weights
    return np.stack(
        [
            exposure.sum(axis=0),
            np.einsum("ij,ij->j", exposure, exposure),
            np.einsum("ij,ij->j", exposure, weights),
            x.sum(axis=0),
            np.einsum("ij,ij->j", exposure, x),
            np.einsum("ij,ij->j", x, x),
        ]
    )
