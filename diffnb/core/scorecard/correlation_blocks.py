"""Correlations of all pairs of features within groups of rows, block by block, in memory or read in row blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from ..arrays.ops import cross, dense64, gram, moments_of_each
from ..arrays.row_chunks import Chunked, add_in_place, reduce
from ..arrays.sparse_gram import band_by_rows, by_rows
from ..runtime import budget
from ..runtime.threads import n_workers, thread_limits, thread_pool
from ..typing import Floats, Ints, Matrix

#: features on either side of a block of correlations
MAX_BLOCK_FEATURES = 128
#: a spread below this share of the mean is rounding
MIN_RELATIVE_SPREAD = 1e-12
#: a correlation r in n observations counts as at most 1 − this/n, so that its Fisher z is large but finite
CORRELATION_MARGIN = 0.1
#: rows and columns of a block of correlations, as ranges of features
BlockPair: TypeAlias = tuple[slice, slice]
#: correlations of a block, groups × rows × columns, as a new array
Correlate: TypeAlias = Callable[[slice, slice], Floats]


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Observations of a condition, and the rows of each fold or sample within which features are correlated."""

    matrix: Matrix
    rows: Sequence[Ints]
    #: degrees of freedom that every group bears of covariates, whose slopes are estimated once per condition
    lost: float = 0.0

    def unit_columns(self, where: slice, /) -> list[Floats]:
        """Columns within every group, centred and of length one, so that their products are correlations."""
        block = dense64(self.matrix[:, where])
        return [_unit_length(block[rows]) for rows in self.rows]

    def variances(self) -> list[float]:
        """Variance of Fisher z in every group."""
        return [1 / (rows.size - 3 - self.lost) for rows in self.rows]


def sum_over_correlation_blocks(
    conditions: Sequence[RowGroups],
    work: Callable[[Floats, bool], tuple[Floats, Floats]],
    /,
    *,
    n_jobs: int | None = None,
) -> Floats:
    """Sum what `work` returns over the blocks on and above the diagonal of features × features.

    `work` gets the Fisher z of all groups in a block (groups × rows × columns) and whether the block is on the
    diagonal, and returns what it adds to the features of the rows and of the columns, features being last.
    """
    sizes = np.array([rows.size for condition in conditions for rows in condition.rows])
    limit = (1 - CORRELATION_MARGIN / sizes)[:, None, None]

    def add(correlations: Floats, diagonal: bool) -> tuple[Floats, Floats]:
        np.clip(correlations, -limit, limit, out=correlations)
        return work(np.arctanh(correlations, out=correlations), diagonal)

    return sum_over_blocks(correlations_by_block(conditions), add, conditions[0].matrix.shape[1], n_jobs=n_jobs)


def correlations_by_block(conditions: Sequence[RowGroups], /) -> Iterator[tuple[Correlate, list[BlockPair]]]:
    """Iterate over the blocks on and above the diagonal, and how to correlate the features of each in all groups."""
    matrices = [condition.matrix for condition in conditions]
    if isinstance(matrices[0], Chunked) or multiplied_by_rows(matrices):
        return _correlations_in_bands(conditions)
    return _correlations_in_memory(conditions)


def multiplied_by_rows(matrices: Sequence[Matrix], /) -> bool:
    """Return whether products of sparse columns in memory are added row by row."""
    n_rows = sum(x.shape[0] for x in matrices)
    return all(by_rows(x, n_rows) for x in matrices)


def sum_over_blocks(
    source: Iterable[tuple[Correlate, list[BlockPair]]],
    work: Callable[[Floats, bool], tuple[Floats, Floats]],
    n_features: int,
    /,
    *,
    n_jobs: int | None = None,
) -> Floats:
    """Sum over features what `work` returns for the numbers of every block of a source."""
    from joblib import Parallel, delayed

    def add(correlate: Correlate, first: slice, second: slice) -> tuple[Floats, Floats]:
        return work(correlate(first, second), first == second)

    total: Floats = np.zeros(0)
    with Parallel(n_jobs=n_jobs, require="sharedmem") as parallel:
        for correlate, pairs in source:
            # products of blocks are too small for threads of BLAS; whole blocks are computed concurrently instead
            with thread_limits(0):
                results = parallel(delayed(add)(correlate, first, second) for first, second in pairs)
            for (first, second), (to_rows, to_columns) in zip(pairs, results, strict=True):
                if not total.size:
                    total = np.zeros((*to_rows.shape[:-1], n_features))
                total[..., first] += to_rows
                total[..., second] += to_columns
    return total


def feature_ranges(n_features: int, bytes_per_feature: int, /) -> list[slice]:
    """Split features into ranges of whole blocks that fit in memory as dense columns."""
    width = MAX_BLOCK_FEATURES * budget.count(MAX_BLOCK_FEATURES * bytes_per_feature)
    return [slice(start, min(start + width, n_features)) for start in range(0, n_features, width)]


def _correlations_in_memory(conditions: Sequence[RowGroups]) -> Iterator[tuple[Correlate, list[BlockPair]]]:
    """Iterate over pairs of wide ranges of features, made dense two at a time, and the blocks within them."""
    n_obs = max(condition.matrix.shape[0] for condition in conditions)
    ranges = feature_ranges(conditions[0].matrix.shape[1], 8 * n_obs)
    for number, rows in enumerate(ranges):
        left = [x for condition in conditions for x in condition.unit_columns(rows)]
        for columns in ranges[number:]:
            right = left
            if columns != rows:
                right = [x for condition in conditions for x in condition.unit_columns(columns)]
            yield partial(_multiplied, left, right, rows.start, columns.start), block_pairs(rows, columns)


def _multiplied(left: list[Floats], right: list[Floats], row: int, column: int, first: slice, second: slice) -> Floats:
    i, j = relative(first, row), relative(second, column)
    correlations = np.empty((len(left), i.stop - i.start, j.stop - j.start))
    for x, y, correlation in zip(left, right, correlations, strict=True):
        np.matmul(x[:, i].T, y[:, j], out=correlation)
    return correlations


def _correlations_in_bands(conditions: Sequence[RowGroups]) -> Iterator[tuple[Correlate, list[BlockPair]]]:
    """Iterate over bands of features, each with all features from its own on, from products that are not centred.

    Data that is read takes one pass over the rows per band; sparse data in memory is not made dense.
    """
    parts = [part for condition in conditions for part in _parts(condition)]
    moments = moments_of_each(parts)
    sizes = np.array([part.shape[0] for part in parts])
    # around the mean of all rows, so that a large one costs no digits; zeros of sparse data must stay zeros
    origin = np.average([mean for mean, _ in moments], axis=0, weights=sizes)
    is_read = isinstance(parts[0], Chunked)
    dense = is_read and not parts[0].is_sparse
    centered = [part.centered(origin) for part in parts] if dense else parts
    means = [mean - origin if dense else mean for mean, _ in moments]
    scales = [
        _inverse_length(mean, np.sqrt(n * variance), n) for n, (mean, variance) in zip(sizes, moments, strict=True)
    ]
    multiply = _read_products if is_read else _sparse_products
    n_features, start = parts[0].shape[1], 0
    while start < n_features:
        bytes_per_block = 8 * MAX_BLOCK_FEATURES * len(parts) * (n_features - start)
        width = MAX_BLOCK_FEATURES * budget.count(bytes_per_block, "kept")
        band = slice(start, min(start + width, n_features))
        correlations = multiply(centered, band)
        for products, n, mean, scale in zip(correlations, sizes, means, scales, strict=True):
            products -= np.outer(n * mean[band], mean[start:])
            products *= scale[band, None]
            products *= scale[start:]
        yield partial(_sliced, correlations, start), block_pairs(band, slice(start, n_features))
        start = band.stop


def _parts(condition: RowGroups) -> list[Matrix]:
    x = condition.matrix if isinstance(condition.matrix, Chunked) else sp.csr_array(condition.matrix)
    return [x[rows] for rows in condition.rows]


def _sparse_products(parts: Sequence[Matrix], band: slice) -> list[Floats]:
    """Multiply each part, several concurrently where threads are allowed."""

    def multiply(part: Matrix) -> Floats:
        later = part if band.start == 0 else part[:, band.start :]
        return band_by_rows(later, band.stop - band.start)

    with thread_pool(n_workers(len(parts))) as pool:
        return list(pool.map(multiply, parts))


def _read_products(parts: Sequence[Chunked], band: slice) -> list[Floats]:
    return reduce(parts, partial(_products_of_band, band, sum(part.shape[0] for part in parts)), add_in_place)


def _products_of_band(band: slice, n_rows: int, block: Matrix, _: int, __: Ints) -> Floats:
    if by_rows(block, n_rows):
        return band_by_rows(block if band.start == 0 else block[:, band.start :], band.stop - band.start)
    everything = band.start == 0 and band.stop == block.shape[1]
    return gram(block) if everything else cross(block[:, band], block[:, band.start :])


def _sliced(correlations: list[Floats], start: int, first: slice, second: slice) -> Floats:
    i, j = relative(first, start), relative(second, start)
    return np.stack([correlation[i, j] for correlation in correlations])


def block_pairs(rows: slice, columns: slice, /) -> list[BlockPair]:
    """Split two ranges of features into pairs of blocks on and above the diagonal."""
    return [
        (first, second)
        for first in _split(rows)
        for second in _split(slice(max(first.start, columns.start), columns.stop))
    ]


def _split(where: slice) -> list[slice]:
    starts = range(where.start, where.stop, MAX_BLOCK_FEATURES)
    return [slice(start, min(start + MAX_BLOCK_FEATURES, where.stop)) for start in starts]


def relative(where: slice, start: int, /) -> slice:
    """Count the places of a range of features from `start` on."""
    return slice(where.start - start, where.stop - start)


def _unit_length(x: Floats) -> Floats:
    mean = x.mean(axis=0)
    x -= mean
    x *= _inverse_length(mean, np.sqrt(np.einsum("ij,ij->j", x, x)), x.shape[0])
    return x


def _inverse_length(mean: Floats, length: Floats, n: int) -> Floats:
    # a constant feature has a length of rounding only: it is set to zero and correlates with nothing
    constant = length <= MIN_RELATIVE_SPREAD * np.sqrt(n) * np.abs(mean)
    return np.where(constant, 0.0, 1 / np.where(constant, 1.0, length))
