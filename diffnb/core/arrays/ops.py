"""Operations that differ between kinds of arrays: rows, columns, moments, Gram products.

Modules above this one work with an observations × features matrix of any kind. Dense data is converted to float64 block
by block, so float32 input stays float32 in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..runtime import budget
from ..typing import Bools, Floats, Ints, Matrix
from . import row_chunks as chunked
from .row_chunks import Chunked, add_in_place
from .sparse_gram import by_rows, columns_by_rows, gram_by_rows

#: number of rows, mean and variance of their columns
CountedMoments: TypeAlias = tuple[int, Floats, Floats]
#: below this share of non-zero numbers a sparse product is faster than dense blocks
MAX_SPARSE_PRODUCT_DENSITY = 0.03


def take_rows(source: Any, rows: Ints, /) -> Matrix:
    """Take rows from an array, a sparse matrix or a file behind a backed AnnData.

    The result is in memory, except for a dask array, whose rows are read when they are needed.
    """
    if chunked.is_dask(source):
        source = chunked.chunked(source)
    if isinstance(source, Chunked):
        return source[rows]
    if hasattr(source, "to_memory"):  # a sparse dataset of a backed AnnData
        source = source.to_memory()
    if sp.issparse(source):
        return sp.csr_array(source)[rows] if source.format not in ("csr", "csc") else source[rows]
    if isinstance(source, np.ndarray):
        return np.asarray(source)[rows]
    return _take_dataset_rows(source, rows)


def _take_dataset_rows(source: Any, rows: Ints) -> Floats:
    # fancy indexing of HDF5 is slow: read blocks of rows and keep the selected ones
    step = budget.count(8 * source.shape[1])
    parts = []
    for start in range(0, source.shape[0], step):
        wanted = rows[(rows >= start) & (rows < start + step)]
        if wanted.size:
            parts.append(np.asarray(source[start : start + step])[wanted - start])
    return np.concatenate(parts)


def take_columns(x: Matrix, kept: Bools, /) -> Matrix:
    """Take columns; the same object if all are kept."""
    if kept.all():
        return x
    selected = x[:, np.flatnonzero(kept)]
    if isinstance(x, Chunked) and "summary" in x.memo:
        selected.memo["summary"] = x.memo["summary"].take(kept)
    return selected


def row_blocks(x: Matrix, /, height: int | None = None) -> Iterator[Any]:
    """Iterate over blocks of `height` rows, by default as many as fit if dense; sparse blocks stay sparse."""
    step = height or budget.count(8 * x.shape[1])
    if sp.issparse(x) and x.format == "csc":
        x = x.tocsr()
    for start in range(0, x.shape[0], step):
        yield x[start : start + step]


def column_blocks(x: Matrix, /, width: int | None = None) -> Iterator[tuple[slice, Any]]:
    """Iterate over blocks of `width` columns; sparse blocks stay sparse."""
    width = width or budget.count(8 * x.shape[0])
    if sp.issparse(x) and x.format != "csc":
        x = x.tocsc()
    for start in range(0, x.shape[1], width):
        where = slice(start, min(start + width, x.shape[1]))
        yield where, x[:, where]


def dense64(x: Matrix, /) -> Floats:
    """Return a dense float64 array, copied only where needed."""
    if isinstance(x, Chunked):
        x = x.load()
    return np.asarray(x.toarray() if sp.issparse(x) else x, dtype=np.float64)


def float64(x: Matrix, /) -> Matrix:
    """Return the same kind of matrix in float64."""
    return x.astype(np.float64, copy=False)


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """Range and missing values of every column of a matrix, and how many values are at the ends of the range."""

    #: number of NaN and infinite values
    not_finite: Ints
    low: Floats
    high: Floats
    #: number of values equal to the lowest, and to the highest one
    n_low: Ints
    n_high: Ints

    def take(self, columns: Bools) -> ColumnSummary:
        """Return the summary of some columns."""
        return ColumnSummary(*(getattr(self, f.name)[columns] for f in fields(self)))

    def n_seen(self, n_obs: int) -> Ints:
        """Count, of every column, the values apart from its most common end: those above zero in most counts."""
        return np.asarray(n_obs - np.maximum(self.n_low, self.n_high))


def column_summaries(matrices: Sequence[Matrix], /) -> list[ColumnSummary]:
    """Summarise the columns of each matrix; chunked ones are read once, all in one pass."""
    if not isinstance(matrices[0], Chunked):
        return [_summarize(x) for x in matrices]
    new = [x for x in matrices if "summary" not in x.memo]
    if new:
        found = chunked.reduce(new, _summarize_block, _merged_summaries, desc="summarising columns")
        for x, summary in zip(new, found, strict=True):
            x.memo["summary"] = summary
    return [x.memo["summary"] for x in matrices]


def _summarize(x: Matrix) -> ColumnSummary:
    low, high = column_range(x)
    return ColumnSummary(count_not_finite(x), low, high, *_count_equal(x, low, high))


def _count_equal(x: Matrix, *values: Floats) -> list[Ints]:
    """Count the entries of every column that equal its value, for each set of values."""
    if not sp.issparse(x):
        return [np.sum([(block == own).sum(axis=0) for block in row_blocks(x)], axis=0, dtype=int) for own in values]
    column = x.indices if x.format == "csr" else x.tocoo().col
    n_zeros = x.shape[0] - np.bincount(column, minlength=x.shape[1])
    found: list[Ints] = []
    for own in values:
        equal = column[x.data == (own[column] if own.any() else 0.0)]
        found.append(np.bincount(equal, minlength=x.shape[1]) + np.where(own == 0, n_zeros, 0))
    return found


def _summarize_block(x: Matrix, _: int, __: Ints) -> ColumnSummary:
    return _summarize(x)


def _merged_summaries(first: ColumnSummary, second: ColumnSummary) -> ColumnSummary:
    low, high = np.minimum(first.low, second.low), np.maximum(first.high, second.high)
    return ColumnSummary(
        first.not_finite + second.not_finite,
        low,
        high,
        first.n_low * (first.low == low) + second.n_low * (second.low == low),
        first.n_high * (first.high == high) + second.n_high * (second.high == high),
    )


def count_not_finite(x: Matrix, /) -> Ints:
    """Count NaN and infinite values per column."""
    if not np.issubdtype(x.dtype, np.inexact):
        return np.zeros(x.shape[1], dtype=int)
    if isinstance(x, Chunked):
        return column_summaries([x])[0].not_finite
    if sp.issparse(x):
        if np.isfinite(x.data).all():
            return np.zeros(x.shape[1], dtype=int)
        entries = x.tocoo()
        return np.asarray(np.bincount(entries.col[~np.isfinite(entries.data)], minlength=x.shape[1]))
    counts = [(~np.isfinite(block)).sum(axis=0) for block in row_blocks(x)]
    return np.asarray(np.sum(counts, axis=0), dtype=int)


def column_range(x: Matrix, /) -> tuple[Floats, Floats]:
    """Smallest and largest value of every column, in float64, where differences of integers do not overflow."""
    if isinstance(x, Chunked):
        summary = column_summaries([x])[0]
        return summary.low, summary.high
    if sp.issparse(x):
        return _flat(x.min(axis=0)), _flat(x.max(axis=0))
    return _flat(np.min(x, axis=0)), _flat(np.max(x, axis=0))


def column_ranges(matrices: Sequence[Matrix], /) -> list[tuple[Floats, Floats]]:
    """Smallest and largest value of every column of each matrix; chunked ones are read once, all in one pass."""
    if isinstance(matrices[0], Chunked):
        column_summaries(matrices)
    return [column_range(x) for x in matrices]


def squared(x: Matrix, /) -> Matrix:
    """Square every entry of a sparse matrix."""
    if x.format not in ("csr", "csc") or not x.has_canonical_format:
        return x.multiply(x)
    return type(x)((np.square(x.data), x.indices, x.indptr), shape=x.shape)


def mean_and_variance(x: Matrix, /) -> tuple[Floats, Floats]:
    """Mean and variance (divided by n) of every column, summed in float64 around the mean."""
    if isinstance(x, Chunked):
        return moments_of_each([x])[0]
    n = x.shape[0]
    if sp.issparse(x):
        x = float64(x)
        mean = _flat(x.sum(axis=0)) / n
        square = _flat(squared(x).sum(axis=0)) / n
        return mean, np.maximum(square - mean**2, 0.0)
    mean = np.mean(x, axis=0, dtype=np.float64)
    total = np.zeros(x.shape[1])
    for block in row_blocks(x):
        centred = block - mean
        total += np.einsum("ij,ij->j", centred, centred)
    return mean, total / n


def moments_of_each(matrices: Sequence[Matrix], /) -> list[tuple[Floats, Floats]]:
    """Mean and variance of every column of each matrix; chunked ones are read once, all in one pass."""
    if not isinstance(matrices[0], Chunked):
        return [mean_and_variance(x) for x in matrices]
    if any("moments" not in x.memo for x in matrices):
        for x, (_, *found) in zip(matrices, chunked.reduce(matrices, _block_moments, _merged_moments), strict=True):
            x.memo["moments"] = tuple(found)
    return [x.memo["moments"] for x in matrices]


def _block_moments(x: Matrix, _: int, __: Ints) -> CountedMoments:
    return (x.shape[0], *mean_and_variance(x))


def _merged_moments(first: CountedMoments, second: CountedMoments) -> CountedMoments:
    """Combine the moments of two sets of rows around their joint mean (Chan, Golub & LeVeque 1983)."""
    n, m = first[0], second[0]
    difference = second[1] - first[1]
    share = m / (n + m)
    variance = (1 - share) * first[2] + share * second[2] + share * (1 - share) * difference**2
    return n + m, first[1] + share * difference, variance


def pooled_moments(matrices: Sequence[Matrix], /) -> tuple[Floats, Floats]:
    """Mean and variance (divided by n) of every column over the rows of all matrices."""
    sizes = np.array([x.shape[0] for x in matrices], dtype=float)
    share = (sizes / sizes.sum())[:, None]
    means, variances = (np.stack(part) for part in zip(*moments_of_each(matrices), strict=True))
    mean = (share * means).sum(axis=0)
    return mean, (share * (variances + (means - mean) ** 2)).sum(axis=0)


def gram(x: Matrix, /, *, n_rows: int | None = None) -> Floats:
    """Inner products of all columns, XᵀX, in float64; `n_rows` in all, where `x` is one of many parts."""
    return gram_by_rows(x) if by_rows(x, n_rows) else cross(x, x)


def gram_band(x: Matrix, where: slice, /) -> Floats:
    """Inner products of the columns in `where` with all columns, in float64."""
    return columns_by_rows(x, where) if by_rows(x) else cross(x[:, where], x)


def cross(x: Matrix, y: Matrix, /) -> Floats:
    """Inner products of the columns of two matrices with the same rows, XᵀY, in float64."""
    if isinstance(x, Chunked):
        return _streamed_cross(x, y)
    if _density(x) < MAX_SPARSE_PRODUCT_DENSITY and _density(y) < MAX_SPARSE_PRODUCT_DENSITY:
        return dense64(float64(x).T @ float64(y))
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and x.dtype == y.dtype == np.float64:
        return np.asarray(x.T @ y)
    total = np.zeros((x.shape[1], y.shape[1]))
    height = budget.count(8 * max(x.shape[1], y.shape[1]))
    for left, right in zip(row_blocks(x, height), row_blocks(y, height), strict=True):
        left64 = dense64(left)
        total += left64.T @ (left64 if x is y else dense64(right))
    return total


def matmul(x: Matrix, v: Floats, /) -> Floats:
    """Multiply a matrix by a dense one, XV, in float64."""
    if isinstance(x, Chunked):
        return chunked.map_rows(x, partial(_matmul_block, v), v.shape[1])
    if sp.issparse(x):
        return np.asarray(float64(x) @ v)
    return np.concatenate([dense64(block) @ v for block in row_blocks(x)])


def _matmul_block(v: Floats, block: Matrix) -> Floats:
    return matmul(block, v)


def _streamed_cross(x: Chunked, y: Matrix) -> Floats:
    if isinstance(y, Chunked):
        if x.rows is not y.rows or x.source is not y.source:
            raise ValueError("only columns of the same rows can be multiplied.")
        # both factors are taken from the same block
        n = x.shape[1]
        both = _hstack(x, y)
        (total,) = chunked.reduce([both], partial(_cross_within, None if x is y else n), add_in_place)
        return total
    (total,) = chunked.reduce([x], partial(_cross_with, y), add_in_place)
    return total


def _hstack(x: Chunked, y: Chunked) -> Chunked:
    if x is y:
        return x
    everything = np.arange(x.source.n_columns)
    wanted = np.concatenate([everything if m.columns is None else m.columns for m in (x, y)])
    whole = replace(x, columns=wanted, origin=None, memo={})
    if x.origin is not None and y.origin is not None:
        whole = whole.centered(np.concatenate([x.origin, y.origin]))
    return whole


def _cross_within(n: int | None, block: Matrix, _: int, __: Ints) -> Floats:
    return gram(block) if n is None else cross(block[:, :n], block[:, n:])


def _cross_with(y: Matrix, block: Matrix, _: int, positions: Ints) -> Floats:
    return cross(block, y[positions])


def _density(x: Matrix) -> float:
    return x.nnz / max(1, x.shape[0] * x.shape[1]) if sp.issparse(x) else 1.0


def _flat(x: Any) -> Floats:
    return np.asarray(x.toarray() if sp.issparse(x) else x, dtype=np.float64).ravel()
