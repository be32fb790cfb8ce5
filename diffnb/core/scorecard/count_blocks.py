"""Correlations of expression within groups of rows, estimated from raw counts, block by block.

In place of Fisher z, blocks hold corrected correlations over their standard error without a correlation. A correlation
from the few counts of one fold or sample may have no value at all, so each group contributes to first order: with
c = σ_jk / √(σ_jj σ_kk) from the covariance of the group and the variances of the whole condition,

    r = c − ρ (σ_jj' / σ_jj + σ_kk' / σ_kk − 2) / 2,

where ρ is the correlation in the condition and primes mark variances of the group. The average over groups is ρ, and
groups differ by the error of the variances as well as by that of the covariance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from ..arrays.affine import inverse
from ..arrays.count_moments import Counts, accumulate, count_moments, covariances, residuals
from ..arrays.ops import dense64
from ..arrays.row_chunks import Chunked
from ..runtime import budget
from ..typing import Floats, Ints
from .columnwise import with_fast_columns
from .correlation_blocks import (
    MAX_BLOCK_FEATURES,
    BlockPair,
    Correlate,
    RowGroups,
    block_pairs,
    feature_ranges,
    relative,
    sum_over_blocks,
    sum_over_correlation_blocks,
)

#: residuals and exposures of the columns of a group
ResidualColumns: TypeAlias = tuple[Floats, Floats]
#: keeps the share of a squared correlation that is error finite
MIN_SQUARED_CORRELATION = 1e-300


@dataclass(frozen=True, slots=True)
class CountGroups:
    """Counts of a condition, and the folds or samples within which features are correlated.

    Numbers of groups are groups × features.
    """

    counts: Counts
    rows: Sequence[Ints]
    #: φ μ of every feature, of which weights are made
    damping: Floats
    means: Floats
    #: Σ of exposures
    exposures: Floats
    #: mean squared residual per exposure
    noise: Floats
    #: variances of each group relative to those of the condition
    relative: Floats
    #: of the condition
    variance: Floats

    @classmethod
    def of(cls, counts: Counts, rows: Sequence[Ints], damping: Floats, variance: Floats | None = None) -> CountGroups:
        """Estimate the moments of every group; the variance of the condition is their mean unless it is given."""
        moments = count_moments([counts[r] for r in rows], damping)
        variances = np.stack([m.variance for m in moments])
        variance = variances.mean(axis=0) if variance is None else variance
        return cls(
            counts,
            rows,
            damping,
            np.stack([m.mean for m in moments]),
            np.stack([m.exposure for m in moments]),
            np.stack([m.squares_around(m.mean) * inverse(m.exposure) for m in moments]),
            np.divide(variances, variance, out=np.ones_like(variances), where=variance > 0),
            variance,
        )

    @property
    def matrix(self) -> Counts:
        """The counts, under the name that observations have elsewhere."""
        return self.counts

    def variances(self) -> list[float]:
        """Variance in every group; blocks are in standard errors of the average group."""
        return [1.0] * len(self.rows)

    def take(self, kept: Ints, /) -> CountGroups:
        """Return some features."""
        return CountGroups(
            self.counts.columns(kept),
            self.rows,
            self.damping[kept],
            self.means[:, kept],
            self.exposures[:, kept],
            self.noise[:, kept],
            self.relative[:, kept],
            self.variance[kept],
        )

    def residual_columns(self, where: slice, /) -> list[ResidualColumns]:
        """Weighted residuals and exposures of some features within every group."""
        block, size = dense64(self.counts.matrix[:, where]), self.counts.size
        return [
            residuals(block[r], size[r], mean[where], self.damping[where])
            for r, mean in zip(self.rows, self.means, strict=True)
        ]

    def correlate(self, products: Floats, exposures: Floats, first: slice, second: slice, /) -> Floats:
        """Turn products of residuals (groups × rows × columns) into correlations, in place.

        Return their mean variance over groups if features were independent: then each product of residuals has the
        product of their variances.
        """
        variance = np.zeros(products.shape[1:])
        for x, exposure, total, noise in zip(products, exposures, self.exposures, self.noise, strict=True):
            covariances(x, exposure, total[first], total[second])
            variance += np.outer(noise[first], noise[second]) * inverse(exposure)
        scale = np.sqrt(np.outer(self.variance[first], self.variance[second]))
        products /= scale
        variance /= len(products) * scale**2
        self._add_errors_of_variances(products, variance / len(products), first, second)
        return variance

    def _add_errors_of_variances(self, c: Floats, variance: Floats, first: slice, second: slice) -> None:
        rho = np.clip(c.mean(axis=0), -1.0, 1.0)
        # shrunk, so that the error of a correlation of zero is not multiplied by that of the variances
        rho *= np.maximum(1 - variance / np.maximum(rho**2, MIN_SQUARED_CORRELATION), 0.0)
        c -= 0.5 * rho * (self.relative[:, first, None] + self.relative[:, None, second] - 2)


#: observations of a condition in folds or samples: as they are, or as counts
AnyGroups: TypeAlias = RowGroups | CountGroups


def sum_over_groups(
    conditions: Sequence[AnyGroups],
    work: Callable[[Floats, bool], tuple[Floats, Floats]],
    /,
    *,
    n_jobs: int | None = None,
) -> Floats:
    """Sum over blocks of Fisher z, or of corrected correlations where conditions are counts."""
    counted = [condition for condition in conditions if isinstance(condition, CountGroups)]
    if counted:
        return sum_over_count_blocks(counted, work, n_jobs=n_jobs)
    plain = [condition for condition in conditions if isinstance(condition, RowGroups)]
    return sum_over_correlation_blocks(plain, work, n_jobs=n_jobs)


def sum_over_count_blocks(
    conditions: Sequence[CountGroups],
    work: Callable[[Floats, bool], tuple[Floats, Floats]],
    /,
    *,
    n_jobs: int | None = None,
) -> Floats:
    """Sum what `work` returns over blocks, as `sum_over_correlation_blocks`.

    `work` gets corrected correlations over their standard error, which is that of the average group.
    """
    is_read = isinstance(conditions[0].counts.matrix, Chunked)
    source = _products_read(conditions) if is_read else _products_in_memory(conditions)
    return sum_over_blocks(source, work, conditions[0].counts.shape[1], n_jobs=n_jobs)


def _standardized(
    conditions: Sequence[CountGroups], products: Floats, exposures: Floats, first: slice, second: slice
) -> Floats:
    start, variance = 0, np.zeros(products.shape[1:])
    for condition in conditions:
        own = slice(start, start + len(condition.rows))
        variance += condition.correlate(products[own], exposures[own], first, second) / len(conditions)
        start = own.stop
    products *= inverse(np.sqrt(variance))
    return products


def _products_in_memory(conditions: Sequence[CountGroups]) -> Iterator[tuple[Correlate, list[BlockPair]]]:
    conditions = [_with_fast_columns(condition) for condition in conditions]
    n_obs = max(condition.counts.shape[0] for condition in conditions)
    ranges = feature_ranges(conditions[0].counts.shape[1], 3 * 8 * n_obs)
    for number, rows in enumerate(ranges):
        left = [x for condition in conditions for x in condition.residual_columns(rows)]
        for columns in ranges[number:]:
            right = left
            if columns != rows:
                right = [x for condition in conditions for x in condition.residual_columns(columns)]
            multiply = partial(_multiplied, conditions, left, right, rows.start, columns.start)
            yield multiply, block_pairs(rows, columns)


def _with_fast_columns(condition: CountGroups) -> CountGroups:
    return replace(condition, counts=Counts(with_fast_columns(condition.counts.matrix), condition.counts.size))


def _multiplied(
    conditions: Sequence[CountGroups],
    left: list[ResidualColumns],
    right: list[ResidualColumns],
    row: int,
    column: int,
    first: slice,
    second: slice,
) -> Floats:
    i, j = relative(first, row), relative(second, column)
    products, exposures = np.empty((2, len(left), i.stop - i.start, j.stop - j.start))
    for group, (x, y) in enumerate(zip(left, right, strict=True)):
        np.matmul(x[0][:, i].T, y[0][:, j], out=products[group])
        np.matmul(x[1][:, i].T, y[1][:, j], out=exposures[group])
    return _standardized(conditions, products, exposures, first, second)


def _products_read(conditions: Sequence[CountGroups]) -> Iterator[tuple[Correlate, list[BlockPair]]]:
    """Iterate over bands of features, each with all features from its own on, in one pass over the rows per band."""
    parts = [condition.counts[rows] for condition in conditions for rows in condition.rows]
    n_features, start = parts[0].shape[1], 0
    while start < n_features:
        bytes_per_block = 2 * 8 * MAX_BLOCK_FEATURES * len(parts) * (n_features - start)
        width = MAX_BLOCK_FEATURES * budget.count(bytes_per_block, "kept")
        band = slice(start, min(start + width, n_features))
        sums = _sums_of_band(conditions, parts, band)
        yield partial(_sliced, conditions, sums, start), block_pairs(band, slice(start, n_features))
        start = band.stop


def _sums_of_band(conditions: Sequence[CountGroups], parts: Sequence[Counts], band: slice) -> list[Floats]:
    """Products of residuals and of exposures of a band with all features from its own on, for every group."""
    of_groups = [(mean, condition.damping) for condition in conditions for mean in condition.means]
    works = [partial(_products_of_rows, mean, damping, band) for mean, damping in of_groups]
    return accumulate(parts, works)


def _products_of_rows(mean: Floats, damping: Floats, band: slice, x: Floats, size: Floats) -> Floats:
    later = slice(band.start, None)
    y, exposure = residuals(x[:, later], size, mean[later], damping[later])
    width = band.stop - band.start
    return np.stack([y[:, :width].T @ y, exposure[:, :width].T @ exposure])


def _sliced(conditions: Sequence[CountGroups], sums: list[Floats], start: int, first: slice, second: slice) -> Floats:
    i, j = relative(first, start), relative(second, start)
    products, exposures = np.stack([both[:, i, j] for both in sums], axis=1)
    return _standardized(conditions, products, exposures, first, second)
