"""The few things that differ between kinds of arrays: rows, columns, moments, Gram products.

Everything above this file sees an observations × features matrix and does not ask which kind it is.
Dense blocks are turned to float64 a block at a time, so float32 input stays float32 in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._typing import Bools, Floats, Ints, Matrix

#: numbers in one float64 block, 64 MB
BLOCK = 8_000_000
#: below this share of non-zeros a sparse product beats dense blocks
SPARSE_PAYS = 0.03


def rows_of(source: Any, rows: Ints, /) -> Matrix:
    """Take rows into memory from an array, a sparse matrix or a file behind a backed AnnData."""
    if hasattr(source, "to_memory"):  # sparse dataset of a backed AnnData
        source = source.to_memory()
    if sp.issparse(source):
        return sp.csr_array(source)[rows] if source.format not in ("csr", "csc") else source[rows]
    if isinstance(source, np.ndarray):
        return np.asarray(source)[rows]
    return _rows_of_dataset(source, rows)


def _rows_of_dataset(source: Any, rows: Ints) -> Floats:
    # fancy indexing of HDF5 is slow: read runs of rows, keep those asked for
    step = max(1, BLOCK // max(1, source.shape[1]))
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
    return x[:, np.flatnonzero(kept)]


def row_blocks(x: Matrix, /, height: int | None = None) -> Iterator[Any]:
    """Walk down the rows in blocks of `height`, by default small once dense; sparse ones stay sparse."""
    step = height or max(1, BLOCK // max(1, x.shape[1]))
    if sp.issparse(x) and x.format == "csc":
        x = x.tocsr()
    for start in range(0, x.shape[0], step):
        yield x[start : start + step]


def column_blocks(x: Matrix, /, width: int | None = None) -> Iterator[tuple[slice, Any]]:
    """Walk over the columns in blocks of `width`, sparse ones staying sparse."""
    width = width or max(1, BLOCK // max(1, x.shape[0]))
    if sp.issparse(x) and x.format != "csc":
        x = x.tocsc()
    for start in range(0, x.shape[1], width):
        where = slice(start, min(start + width, x.shape[1]))
        yield where, x[:, where]


def dense64(x: Matrix, /) -> Floats:
    """Return a dense float64 array, copied only where needed."""
    return np.asarray(x.toarray() if sp.issparse(x) else x, dtype=np.float64)


def float64(x: Matrix, /) -> Matrix:
    """Return the same kind of matrix in float64."""
    return x.astype(np.float64, copy=False)


def count_not_finite(x: Matrix, /) -> Ints:
    """Count NaN and infinite values per column."""
    if not np.issubdtype(x.dtype, np.inexact):
        return np.zeros(x.shape[1], dtype=int)
    if sp.issparse(x):
        if np.isfinite(x.data).all():
            return np.zeros(x.shape[1], dtype=int)
        entries = x.tocoo()
        return np.asarray(np.bincount(entries.col[~np.isfinite(entries.data)], minlength=x.shape[1]))
    counts = [(~np.isfinite(block)).sum(axis=0) for block in row_blocks(x)]
    return np.asarray(np.sum(counts, axis=0), dtype=int)


def column_range(x: Matrix, /) -> tuple[Floats, Floats]:
    """Smallest and largest value of every column."""
    if sp.issparse(x):
        return _flat(x.min(axis=0)), _flat(x.max(axis=0))
    return np.min(x, axis=0), np.max(x, axis=0)


def mean_and_variance(x: Matrix, /) -> tuple[Floats, Floats]:
    """Mean and variance (divided by n) of every column, summed in float64 around the mean."""
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


def gram(x: Matrix, /) -> Floats:
    """Inner products of all columns, XᵀX, in float64."""
    return cross(x, x)


def cross(x: Matrix, y: Matrix, /) -> Floats:
    """Inner products of the columns of two matrices with the same rows, XᵀY, in float64."""
    if _density(x) < SPARSE_PAYS and _density(y) < SPARSE_PAYS:
        return dense64(float64(x).T @ float64(y))
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and x.dtype == y.dtype == np.float64:
        return np.asarray(x.T @ y)
    total = np.zeros((x.shape[1], y.shape[1]))
    height = max(1, BLOCK // max(x.shape[1], y.shape[1]))
    for left, right in zip(row_blocks(x, height), row_blocks(y, height), strict=True):
        left64 = dense64(left)
        total += left64.T @ (left64 if x is y else dense64(right))
    return total


def times(x: Matrix, v: Floats, /) -> Floats:
    """Multiply a matrix with a dense one from the right, XV, in float64."""
    if sp.issparse(x):
        return np.asarray(float64(x) @ v)
    return np.concatenate([dense64(block) @ v for block in row_blocks(x)])


def _density(x: Matrix) -> float:
    return x.nnz / max(1, x.shape[0] * x.shape[1]) if sp.issparse(x) else 1.0


def _flat(x: Any) -> Floats:
    return np.asarray(x.toarray() if sp.issparse(x) else x, dtype=np.float64).ravel()
