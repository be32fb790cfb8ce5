"""Inner products of the columns of a sparse matrix on one side of the diagonal only, row by row where few are not zero.

A row with m numbers adds to m (m + 1) / 2 products, whatever the number of columns: of data with few numbers per row
that is far less than a product of dense blocks. Columns with many numbers are the exception in most data, and take most
of this work: they are made dense, a block of rows at a time, and multiplied with each other as matrices, and with the
other columns by adding whole rows of them. The loops are compiled by numba where that is installed; importing and
compiling take a second, so they are left alone for small matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..typing import Bools, Floats, Ints, Matrix

#: multiplications of a dense product from which on the compiled loop is worth loading
MIN_MULTIPLICATIONS = 5e10
#: rows that stay in the processor's cache while their products are added
ROWS_AT_ONCE = 1024
#: rows and columns of a square of which one side is copied to the other
MIRRORED_AT_ONCE = 128
#: share of numbers that are not zero above which the whole matrix is multiplied as dense blocks
MAX_DENSITY = 0.5
#: the same of a column, above which it is made dense
MAX_COLUMN_DENSITY = 0.2


def by_rows(x: Matrix, /, n_rows: int | None = None) -> bool:
    """Return whether products are taken row by row: sparse enough, large enough, and numba is at hand.

    `n_rows` is the number of rows in all, where `x` is a part of them.
    """
    if not sp.issparse(x) or x.nnz > MAX_DENSITY * x.shape[0] * x.shape[1]:
        return False
    return is_large(n_rows or x.shape[0], x.shape[1]) and compiled() is not None


def is_large(n_rows: int, n_columns: int, /) -> bool:
    """Return whether products of all columns take so long that preparing for them pays."""
    return float(n_rows) * n_columns**2 >= MIN_MULTIPLICATIONS


def gram_by_rows(x: Matrix, /) -> Floats:
    """Inner products of all columns of a sparse matrix, in float64."""
    return band_by_rows(x, x.shape[1])


def band_by_rows(x: Matrix, width: int, /) -> Floats:
    """Inner products of the first `width` columns of a sparse matrix with all columns, in float64."""
    rows = sp.csr_array(x)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    is_dense = _column_counts(rows) > MAX_COLUMN_DENSITY * rows.shape[0]
    total: Floats = np.zeros((width, rows.shape[1]))
    mixed: Floats = np.zeros((rows.shape[1], int(is_dense.sum())))
    of_dense: Floats = np.zeros((int(is_dense[:width].sum()), mixed.shape[1]))
    for start in range(0, rows.shape[0], ROWS_AT_ONCE):
        few, dense = _split(rows[start : start + ROWS_AT_ONCE], is_dense)
        _add_block(few, dense, total, mixed, of_dense)
    _mirror(total[:, :width])
    if mixed.size:
        first, second = np.flatnonzero(is_dense[:width]), np.flatnonzero(is_dense)
        total[first] = mixed[:, : first.size].T
        total[:, second] += mixed[:width]
        total[np.ix_(first, second)] = of_dense
    return total


def columns_by_rows(x: Matrix, where: slice, /) -> Floats:
    """Inner products of the columns in `where` with all columns of a sparse matrix, in float64."""
    n_columns = x.shape[1]
    chosen = np.arange(where.start, where.stop)
    order = np.concatenate([chosen, np.delete(np.arange(n_columns), chosen)])
    found = np.empty((chosen.size, n_columns))
    found[:, order] = band_by_rows(sp.csr_array(x)[:, order], chosen.size)
    return found


def _add_block(few: sp.csr_array, dense: Floats, total: Floats, mixed: Floats, of_dense: Floats) -> None:
    """Add the products of a block of rows, of which some columns are dense."""
    add, add_dense = compiled() or (add_products, add_dense_products)
    columns, width, n_first = few.tocsc(), len(total), len(of_dense)
    starts = columns.indptr
    add(few.indptr, few.indices, few.data, starts[: width + 1], columns.indices, few.indptr[:-1].copy(), total)
    if not dense.size:
        return
    # columns outside the band are needed with those dense ones that are in it
    add_dense(starts[: width + 1], columns.indices, columns.data, dense, dense.shape[1], mixed)
    if n_first and width < few.shape[1]:
        add_dense(starts[width:], columns.indices, columns.data, dense, n_first, mixed[width:])
    of_dense += dense[:, :n_first].T @ dense if n_first < dense.shape[1] else dense.T @ dense


def _column_counts(rows: sp.csr_array) -> Ints:
    return np.bincount(rows.indices, minlength=rows.shape[1])


def _split(block: sp.csr_array, is_dense: Bools) -> tuple[sp.csr_array, Floats]:
    """Split rows into columns that stay sparse, the others being empty, and those that are made dense."""
    values = block.data.astype(np.float64, copy=False)
    if not is_dense.any():
        return sp.csr_array((values, block.indices, block.indptr), shape=block.shape), np.empty((block.shape[0], 0))
    chosen = is_dense[block.indices]
    n_before = np.concatenate([[0], np.cumsum(chosen)])[block.indptr].astype(block.indptr.dtype)
    place = (np.cumsum(is_dense) - 1).astype(block.indices.dtype)
    dense = sp.csr_array(
        (values[chosen], place[block.indices[chosen]], n_before), shape=(block.shape[0], int(is_dense.sum()))
    )
    few = sp.csr_array((values[~chosen], block.indices[~chosen], block.indptr - n_before), shape=block.shape)
    return few, dense.toarray()


def _mirror(total: Floats) -> None:
    """Copy what is above the diagonal below it."""
    for start in range(0, len(total), MIRRORED_AT_ONCE):
        own = slice(start, start + MIRRORED_AT_ONCE)
        total[own, own] += np.triu(total[own, own], 1).T
        total[own.stop :, own] = total[own, own.stop :].T


def add_products(
    starts: Ints, columns: Ints, values: Floats, column_starts: Ints, rows: Ints, place: Ints, total: Floats, /
) -> None:
    """Add products of numbers of one row, column by column, on and above the diagonal.

    `starts`, `columns` and `values` are the rows, `column_starts` and `rows` the columns of the matrix. `place` is
    where each row has been read up to: the start, at first, and it is overwritten.
    """
    for first in range(len(column_starts) - 1):
        line = total[first]
        for k in range(column_starts[first], column_starts[first + 1]):
            row = rows[k]
            own = place[row]
            place[row] += 1
            value = values[own]
            for other in range(own, starts[row + 1]):
                # without a sign, no compiler has to ask whether it counts from the end
                line[np.uint32(columns[other])] += value * values[other]


def add_dense_products(
    column_starts: Ints, rows: Ints, values: Floats, dense: Floats, n_dense: int, total: Floats, /
) -> None:
    """Add products of sparse columns with the first `n_dense` dense ones; `total` is sparse × dense columns."""
    for first in range(len(column_starts) - 1):
        line = total[first]
        for k in range(column_starts[first], column_starts[first + 1]):
            value, row = values[k], dense[rows[k]]
            for other in range(n_dense):
                line[other] += value * row[other]


@cache
def compiled() -> tuple[Callable[..., None], Callable[..., None]] | None:
    """Return `add_products` and `add_dense_products` compiled, once; `None` without numba."""
    try:
        numba: Any = import_module("numba")
    except ImportError:
        return None
    compile_loop = numba.njit(cache=True, nogil=True)
    return compile_loop(add_products), compile_loop(add_dense_products)
