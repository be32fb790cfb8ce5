"""The few things that differ between kinds of arrays: rows, columns, moments, Gram products.

Everything above this file sees an observations × features matrix and does not ask which kind it is.
Dense blocks are turned to float64 a block at a time, so float32 input stays float32 in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..runtime import budget
from ..typing import Bools, Floats, Ints, Matrix
from . import row_chunks as chunked
from .row_chunks import Chunked, added

#: number of rows, mean and variance of their columns
Counted: TypeAlias = tuple[int, Floats, Floats]
#: below this share of non-zeros a sparse product beats dense blocks
SPARSE_PAYS = 0.03


def rows_of(source: Any, rows: Ints, /) -> Matrix:
    """Take rows from an array, a sparse matrix or a file behind a backed AnnData.

    They are in memory then, but for those of a dask array, which are read when they are needed.
    """
    if chunked.is_dask(source):
        source = chunked.chunked(source)
    if isinstance(source, Chunked):
        return source[rows]
    if hasattr(source, "to_memory"):  # sparse dataset of a backed AnnData
        source = source.to_memory()
    if sp.issparse(source):
        return sp.csr_array(source)[rows] if source.format not in ("csr", "csc") else source[rows]
    if isinstance(source, np.ndarray):
        return np.asarray(source)[rows]
    return _rows_of_dataset(source, rows)


def _rows_of_dataset(source: Any, rows: Ints) -> Floats:
    # fancy indexing of HDF5 is slow: read runs of rows, keep those asked for
    step = budget.count(8 * source.shape[1])
    parts = []
    for start in range(0, source.shape[0], step):
        wanted = rows[(rows >= start) & (rows < start + step)]
        if wanted.size:
            parts.append(np.asarray(source[start : start + step])[wanted - start])
    return np.concatenate(parts)


def columns(x: Matrix, kept: Bools, /) -> Matrix:
    """Take columns; the same object when all are kept."""
    if kept.all():
        return x
    taken = x[:, np.flatnonzero(kept)]
    if isinstance(x, Chunked) and "summary" in x.memo:
        taken.memo["summary"] = x.memo["summary"].of(kept)
    return taken


def row_blocks(x: Matrix, /, height: int | None = None) -> Iterator[Any]:
    """Walk down the rows in blocks of `height`, by default small once dense; sparse ones stay sparse."""
    step = height or budget.count(8 * x.shape[1])
    if sp.issparse(x) and x.format == "csc":
        x = x.tocsr()
    for start in range(0, x.shape[0], step):
        yield x[start : start + step]


def column_blocks(x: Matrix, /, width: int | None = None) -> Iterator[tuple[slice, Any]]:
    """Walk over the columns in blocks of `width`, sparse ones staying sparse."""
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
    """What a first look at a matrix tells of its columns."""

    #: NaN and infinite values
    not_finite: Ints
    low: Floats
    high: Floats

    def of(self, columns: Bools) -> ColumnSummary:
        """Return what was seen of some columns."""
        return ColumnSummary(self.not_finite[columns], self.low[columns], self.high[columns])


def column_summaries(matrices: Sequence[Matrix], /) -> list[ColumnSummary]:
    """Look at matrices; those that must be read are read together, and never twice."""
    if not isinstance(matrices[0], Chunked):
        return [_look_at(x) for x in matrices]
    new = [x for x in matrices if "summary" not in x.memo]
    if new:
        found = chunked.reduce(new, _look_at_block, _looked_at_both, desc="looking at the data")
        for x, seen in zip(new, found, strict=True):
            x.memo["summary"] = seen
    return [x.memo["summary"] for x in matrices]


def _look_at(x: Matrix) -> ColumnSummary:
    return ColumnSummary(count_not_finite(x), *column_range(x))


def _look_at_block(x: Matrix, _: int, __: Ints) -> ColumnSummary:
    return _look_at(x)


def _looked_at_both(first: ColumnSummary, second: ColumnSummary) -> ColumnSummary:
    return ColumnSummary(
        first.not_finite + second.not_finite,
        np.minimum(first.low, second.low),
        np.maximum(first.high, second.high),
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
    """Smallest and largest value of every column."""
    if isinstance(x, Chunked):
        seen = column_summaries([x])[0]
        return seen.low, seen.high
    if sp.issparse(x):
        return _flat(x.min(axis=0)), _flat(x.max(axis=0))
    return np.min(x, axis=0), np.max(x, axis=0)


def mean_and_variance(x: Matrix, /) -> tuple[Floats, Floats]:
    """Mean and variance (divided by n) of every column, summed in float64 around the mean."""
    if isinstance(x, Chunked):
        return moments_of_each([x])[0]
    n = x.shape[0]
    if sp.issparse(x):
        x = float64(x)
        mean = _flat(x.sum(axis=0)) / n
        square = _flat(x.multiply(x).sum(axis=0)) / n
        return mean, np.maximum(square - mean**2, 0.0)
    mean = np.mean(x, axis=0, dtype=np.float64)
    total = np.zeros(x.shape[1])
    for block in row_blocks(x):
        centred = block - mean
        total += np.einsum("ij,ij->j", centred, centred)
    return mean, total / n


def moments_of_each(matrices: Sequence[Matrix], /) -> list[tuple[Floats, Floats]]:
    """Mean and variance of every column of each matrix; those that must be read are read once, all together."""
    if not isinstance(matrices[0], Chunked):
        return [mean_and_variance(x) for x in matrices]
    if any("moments" not in x.memo for x in matrices):
        for x, (_, *found) in zip(matrices, chunked.reduce(matrices, _block_moments, _merged_moments), strict=True):
            x.memo["moments"] = tuple(found)
    return [x.memo["moments"] for x in matrices]


def _block_moments(x: Matrix, _: int, __: Ints) -> Counted:
    return (x.shape[0], *mean_and_variance(x))


def _merged_moments(
    first: tuple[int, Floats, Floats], second: tuple[int, Floats, Floats]
) -> tuple[int, Floats, Floats]:
    """Join the moments of two sets of rows around the mean of both (Chan, Golub & LeVeque 1983)."""
    n, m = first[0], second[0]
    apart = second[1] - first[1]
    share = m / (n + m)
    variance = (1 - share) * first[2] + share * second[2] + share * (1 - share) * apart**2
    return n + m, first[1] + share * apart, variance


def gram(x: Matrix, /) -> Floats:
    """Inner products of all columns, XᵀX, in float64."""
    return cross(x, x)


def cross(x: Matrix, y: Matrix, /) -> Floats:
    """Inner products of the columns of two matrices with the same rows, XᵀY, in float64."""
    if isinstance(x, Chunked):
        return _streamed_cross(x, y)
    if _density(x) < SPARSE_PAYS and _density(y) < SPARSE_PAYS:
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
    """Multiply a matrix with a dense one from the right, XV, in float64."""
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
        # both sides are cut out of one block
        n = x.shape[1]
        both = _side_by_side(x, y)
        (total,) = chunked.reduce([both], partial(_cross_within, None if x is y else n), added)
        return total
    (total,) = chunked.reduce([x], partial(_cross_with, y), added)
    return total


def _side_by_side(x: Chunked, y: Chunked) -> Chunked:
    if x is y:
        return x
    everything = np.arange(x.source.n_columns)
    wanted = np.concatenate([everything if m.columns is None else m.columns for m in (x, y)])
    whole = Chunked(x.source, x.rows)[:, wanted]
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
