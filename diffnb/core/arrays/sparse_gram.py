"""Inner products of the columns of a sparse matrix, row by row and on one side of the diagonal only.

A row with m numbers adds to m (m + 1) / 2 products, whatever the number of columns: of data with few numbers per row
that is far less than a product of dense blocks. The loop is compiled by numba where that is installed; importing and
compiling take a second, so they are left alone for small matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..typing import Floats, Ints, Matrix

#: multiplications of a dense product from which on the compiled loop is worth loading
MIN_MULTIPLICATIONS = 5e10
#: rows that stay in the processor's cache while their products are added
ROWS_AT_ONCE = 512
#: rows and columns of a square of which one side is copied to the other
MIRRORED_AT_ONCE = 2048
#: share of numbers that are not zero above which dense blocks are faster; making them dense is counted
MAX_DENSITY = 0.2


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
    total: Floats = np.zeros((width, rows.shape[1]))
    add = compiled() or add_products
    for start in range(0, rows.shape[0], ROWS_AT_ONCE):
        block = rows[start : start + ROWS_AT_ONCE]
        columns = block.tocsc()
        values = block.data.astype(np.float64, copy=False)
        starts = columns.indptr[: width + 1]
        add(block.indptr, block.indices, values, starts, columns.indices, block.indptr[:-1].copy(), total)
    _mirror(total[:, :width])
    return total


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
                line[columns[other]] += value * values[other]


@cache
def compiled() -> Callable[..., None] | None:
    """Return `add_products` compiled, once; `None` without numba."""
    try:
        numba: Any = import_module("numba")
    except ImportError:
        return None
    loop: Callable[..., None] = numba.njit(cache=True, nogil=True)(add_products)
    return loop
