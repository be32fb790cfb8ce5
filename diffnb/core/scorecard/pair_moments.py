"""The sampling variance of the correlation of given pairs of features, whatever their distribution.

For unit-variance features u and v with correlation r in n observations,

    var r = E[(uv − r (u² + v²)/2)²] / n,

which needs the sums of uv, u²v², u³v and uv³ only. The variance of Fisher z is that over (1 − r²)², and at least the
1/(n − 3) of normal data: two features that are seen together once have no evidence beyond that one observation,
which this variance knows and that of normal data does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..arrays.ops import dense64, mean_and_variance, moments_of_each
from ..arrays.row_chunks import Chunked, add_in_place, reduce
from ..runtime import budget
from ..typing import Floats, Ints, Matrix
from .columnwise import with_fast_columns
from .correlation_blocks import CORRELATION_MARGIN, MAX_BLOCK_FEATURES, MIN_RELATIVE_SPREAD, feature_ranges

#: sums of a pair: uv, u²v², u³v and uv³
N_SUMS = 4
#: powers of both features in each sum
POWERS = ((1, 1), (2, 2), (3, 1), (1, 3))
#: share of the pairs of a block from which on products of whole blocks are faster than those of single pairs
MIN_SHARE_OF_BLOCK = 1 / 8


@dataclass(frozen=True, slots=True)
class Scales:
    """Mean and inverse standard deviation (0 where constant) of the features of a condition."""

    mean: Floats
    inverse_sd: Floats

    @classmethod
    def of(cls, mean: Floats, variance: Floats) -> Scales:
        """Scale by moments; a constant feature has a spread of rounding only and becomes zero."""
        sd = np.sqrt(variance)
        constant = sd <= MIN_RELATIVE_SPREAD * np.abs(mean)
        return cls(mean, np.where(constant, 0.0, 1 / np.where(constant, 1.0, sd)))

    def standardized(self, x: Matrix, where: slice) -> Floats:
        """Return some columns as rows, with mean 0 and variance 1."""
        u = dense64(x[:, where]).T - self.mean[where, None]
        u *= self.inverse_sd[where, None]
        return np.ascontiguousarray(u)


def variances_of_fisher_z(conditions: Sequence[Matrix], first: Ints, second: Ints, /, *, lost: float = 0.0) -> Floats:
    """Variance of Fisher z of pairs of features (conditions × pairs), which are sorted by the first of them.

    `lost` degrees of freedom were taken from each condition by covariates.
    """
    if isinstance(conditions[0], Chunked):
        moments = moments_of_each(conditions)
        scales = [Scales.of(*own) for own in moments]
        sums = reduce(conditions, partial(_sums_of_rows, scales, first, second), add_in_place)
    else:
        sums = [_sums_in_memory(with_fast_columns(x), first, second) for x in conditions]
    return np.stack([_variance(own, x.shape[0], lost) for own, x in zip(sums, conditions, strict=True)])


def _variance(sums: Floats, n: int, lost: float) -> Floats:
    """Turn sums over n observations, pairs last and fourth moments of both features at the end, into variances."""
    r, squares, left_cubed, right_cubed, left, right = sums / n
    limit = 1 - CORRELATION_MARGIN / n
    r = np.clip(r, -limit, limit)
    influence = squares - r * (left_cubed + right_cubed) + 0.25 * r**2 * (left + right + 2 * squares)
    # residuals of n observations hold n − 3 − lost degrees of freedom
    return np.asarray(np.maximum(influence / (1 - r**2) ** 2, 1.0) / (n - 3 - lost))


def _sums_in_memory(x: Matrix, first: Ints, second: Ints) -> Floats:
    """Sum over the rows of a matrix, two ranges of its columns being dense at a time."""
    scales = Scales.of(*mean_and_variance(x))
    sums = np.zeros((N_SUMS + 2, first.size))
    ranges = feature_ranges(x.shape[1], 2 * 8 * x.shape[0])
    for number, rows in enumerate(ranges):
        left = None
        for columns in ranges[number:]:
            own = np.flatnonzero((first >= rows.start) & (first < rows.stop))
            own = own[(second[own] >= columns.start) & (second[own] < columns.stop)]
            if own.size:
                left = scales.standardized(x, rows) if left is None else left
                right = left if columns == rows else scales.standardized(x, columns)
                sums[:, own] = _sums(left, right, first[own] - rows.start, second[own] - columns.start)
    return sums


def _sums_of_rows(scales: Sequence[Scales], first: Ints, second: Ints, block: Matrix, number: int, _: Ints) -> Floats:
    u = scales[number].standardized(block, slice(None))
    return _sums(u, u, first, second)


def _sums(left: Floats, right: Floats, first: Ints, second: Ints) -> Floats:
    """Sum for pairs of rows of two arrays; the fourth moments of both come last."""
    sums = np.empty((N_SUMS + 2, first.size))
    sums[N_SUMS], sums[N_SUMS + 1] = _fourth(left)[first], _fourth(right)[second]
    for places, i, j in _by_block(first, second):
        rows, columns = left[i], right[j]
        a, b = first[places] - i.start, second[places] - j.start
        if places.size > MIN_SHARE_OF_BLOCK * len(rows) * len(columns):
            products = [np.power(rows, p) @ np.power(columns, q).T for p, q in POWERS]
            sums[:N_SUMS, places] = [product[a, b] for product in products]
        else:
            step = budget.count(4 * 8 * left.shape[1])
            for start in range(0, places.size, step):
                some = slice(start, start + step)
                sums[:N_SUMS, places[some]] = _sums_of_pairs(rows[a[some]], columns[b[some]])
    return sums


def _fourth(u: Floats) -> Floats:
    return np.asarray(np.einsum("jn,jn,jn,jn->j", u, u, u, u))


def _sums_of_pairs(u: Floats, v: Floats) -> list[Floats]:
    both = u * v
    return [
        both.sum(axis=1),
        np.einsum("kn,kn->k", both, both),
        np.einsum("kn,kn,kn->k", both, u, u),
        np.einsum("kn,kn,kn->k", both, v, v),
    ]


def _by_block(first: Ints, second: Ints) -> Iterator[tuple[Ints, slice, slice]]:
    """Group pairs by blocks of features: their places, and the ranges of both features."""
    width = MAX_BLOCK_FEATURES
    block = (first // width) * (int(second.max(initial=0)) // width + 1) + second // width
    order = np.argsort(block, kind="stable")
    cuts = np.flatnonzero(np.diff(block[order])) + 1
    for places in np.split(order, cuts) if order.size else []:
        i, j = first[places[0]] // width * width, second[places[0]] // width * width
        yield places, slice(i, i + width), slice(j, j + width)
