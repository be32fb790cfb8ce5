"""Exact neighbours of observations that are read in runs: some of them in memory at a time, and a pass for these."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from ..arrays.affine import Affine
from ..arrays.ops import dense64, float64
from ..arrays.row_chunks import Chunked, reduce
from ..runtime import budget
from ..typing import Floats, Ints, Matrix
from .distances import DUPLICATE_TOLERANCE

#: position and squared distance of the nearest so far, observations × neighbours
Found: TypeAlias = tuple[Ints, Floats]


def nearest_rows(points: Affine, count: int, /) -> Found:
    """Find the nearest others of every observation in Euclidean distance, nearest first.

    Distances know nothing of the shift of `points`: those of sparse data need none.
    """
    n = points.x.shape[0]
    indices, squared = np.empty((n, count), dtype=np.int64), np.empty((n, count))
    for rows in _groups(points.x):
        held = loaded_rows(points, rows)
        work = partial(_compared, held, rows, points.map.scale, count)
        ((indices[rows], squared[rows]),) = reduce(
            [points.x], work, partial(_nearest_of_both, count), desc="neighbours"
        )
    return indices, squared


def loaded_rows(points: Affine, rows: Ints, /) -> Matrix:
    """Bring some observations into memory, scaled; sparse ones stay sparse."""
    return _scaled(points.x[rows].load(), points.map.scale)


def _groups(x: Chunked) -> Iterator[Ints]:
    step = budget.count(8 * x.shape[1], "kept")
    for start in range(0, x.shape[0], step):
        yield np.arange(start, min(start + step, x.shape[0]))


def _compared(held: Matrix, rows: Ints, scale: Floats | None, count: int, block: Matrix, _: int, places: Ints) -> Found:
    """Nearest of the held observations among those of a block, as many as there are."""
    block = _scaled(block, scale)
    kept = min(count, block.shape[0])
    indices, squared = np.empty((len(rows), kept), dtype=np.int64), np.empty((len(rows), kept))
    lengths = _squared_lengths(block)
    step = budget.count(8 * block.shape[0])
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        distances = _squared_distances(held[part], block, lengths)
        distances[rows[part, None] == places] = np.inf
        found = np.argpartition(distances, kept - 1, axis=1)[:, :kept]
        squared[part], indices[part] = np.take_along_axis(distances, found, axis=1), places[found]
    return _ordered(indices, squared, kept)


def _nearest_of_both(count: int, first: Found, second: Found) -> Found:
    indices, squared = (np.concatenate(both, axis=1) for both in zip(first, second, strict=True))
    return _ordered(indices, squared, count)


def _ordered(indices: Ints, squared: Floats, count: int) -> Found:
    # by distance, then by position: the same whatever the runs
    order = np.lexsort((indices, squared), axis=1)[:, :count]
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(squared, order, axis=1)


def _squared_distances(held: Matrix, block: Matrix, lengths: Floats) -> Floats:
    own = _squared_lengths(held)[:, None]
    products = held @ block.T
    squared = -2 * (products.toarray() if sp.issparse(products) else products)
    squared += own
    squared += lengths
    # what is left of duplicates is rounding
    squared[squared < 2 * DUPLICATE_TOLERANCE * own] = 0.0
    return np.asarray(squared)


def _squared_lengths(x: Matrix) -> Floats:
    if sp.issparse(x):
        return np.asarray(x.multiply(x).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", x, x))


def _scaled(block: Matrix, scale: Floats | None) -> Matrix:
    if sp.issparse(block):
        block = float64(block)
        return block if scale is None else sp.csr_array(block.multiply(scale))
    dense = dense64(block)
    return dense if scale is None else dense * scale
