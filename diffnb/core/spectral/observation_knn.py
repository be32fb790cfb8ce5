"""Exact neighbours of observations: in memory, or by a pass over the data for each block of them that fits.

Fast searches only propose candidates. Distances are recomputed from differences of coordinates, which have the same
digits however the data is stored, and equal ones are taken in the order of observations.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from ..arrays.affine import Affine
from ..arrays.ops import dense64, float64, row_blocks
from ..arrays.row_chunks import Chunked, reduce
from ..runtime import budget
from ..runtime.threads import openmp_limits
from ..typing import Bools, Floats, Ints, Matrix
from .ties import PRODUCT_ROUNDING, TIE_TOLERANCE, nearest_first, select_smallest

#: position and squared distance of the nearest so far, observations × neighbours
Found: TypeAlias = tuple[Ints, Floats]

#: coordinates up to which a tree finds neighbours faster than comparing all pairs
MAX_TREE_COORDINATES = 8
#: candidates beyond the neighbours asked for, among which equal distances are put in order
N_EXTRA_CANDIDATES = 8
#: differences whose square is below this share of the squared length are rounding of coordinates: duplicates
SQUARED_ROUNDING = 1e-26


def nearest_rows(points: Affine, count: int, /) -> Found:
    """Find the nearest others of every observation in Euclidean distance, nearest first.

    The shift of `points` is ignored, since distances do not depend on it.
    """
    n = points.x.shape[0]
    indices, squared = np.empty((n, count), dtype=np.int64), np.empty((n, count))
    for rows in _query_blocks(points.x):
        queries = loaded_rows(points, rows)
        work = partial(_nearest_in_scaled_block, queries, rows, points.map.scale, count)
        ((indices[rows], squared[rows]),) = reduce(
            [points.x], work, partial(_nearest_of_both, count), desc="neighbours"
        )
    return indices, squared


def nearest_in_memory(x: Matrix, count: int, /) -> Found:
    """Do the same for a dense or sparse matrix in memory."""
    from sklearn.neighbors import NearestNeighbors

    x = sp.csr_array(x) if sp.issparse(x) else np.asarray(x)
    n = x.shape[0]
    size = min(n, count + 1 + N_EXTRA_CANDIDATES)
    tree = x.shape[1] <= MAX_TREE_COORDINATES and not sp.issparse(x)
    search = NearestNeighbors(n_neighbors=size, algorithm="kd_tree" if tree else "brute").fit(x)
    with openmp_limits():
        candidates = search.kneighbors(x, return_distance=False).astype(np.int64)
    own = np.arange(n)
    squared = _pair_squared(x, x, own, candidates)
    squared[candidates == own[:, None]] = np.inf
    indices, squared = nearest_first(squared, candidates, size - 1)
    crowded = np.flatnonzero(~_separated(squared, count, _squared_lengths(x))) if size < n else own[:0]
    indices, squared = indices[:, :count].copy(), squared[:, :count].copy()
    step = budget.count(8 * x.shape[1], "kept")
    for start in range(0, crowded.size, step):
        rows = crowded[start : start + step]
        indices[rows], squared[rows] = _nearest_of_all_blocks(x, rows, count)
    return indices, squared


def loaded_rows(points: Affine, rows: Ints, /) -> Matrix:
    """Load some observations into memory, scaled; sparse ones stay sparse."""
    return _scaled(points.x[rows].load(), points.map.scale)


def _separated(squared: Floats, count: int, lengths: Floats) -> Bools:
    """Return for which rows the last candidate is farther than the last neighbour by more than rounding.

    The row itself is the last of the candidates, or missing among duplicates: then its last one is a duplicate, too.
    """
    finite = np.where(np.isinf(squared), -np.inf, squared)
    last, kth = finite.max(axis=1), squared[:, count - 1]
    slack = 2 * PRODUCT_ROUNDING * (lengths + lengths.max())
    return np.asarray(last > kth * (1 + TIE_TOLERANCE) + 2 * slack)


def _nearest_of_all_blocks(x: Matrix, rows: Ints, count: int) -> Found:
    queries, found, start = _scaled(x[rows], None), None, 0
    for block in row_blocks(x):
        positions = np.arange(start, start + block.shape[0])
        more = _nearest_in_block(queries, rows, count, _scaled(block, None), positions)
        found = more if found is None else _nearest_of_both(count, found, more)
        start += block.shape[0]
    assert found is not None
    return found


def _query_blocks(x: Chunked) -> Iterator[Ints]:
    step = budget.count(8 * x.shape[1], "kept")
    for start in range(0, x.shape[0], step):
        yield np.arange(start, min(start + step, x.shape[0]))


def _nearest_in_scaled_block(
    queries: Matrix, rows: Ints, scale: Floats | None, count: int, block: Matrix, _: int, positions: Ints
) -> Found:
    if (np.diff(positions) < 0).any():  # rows were selected in another order than they are stored in
        order = np.argsort(positions)
        block, positions = block[order], positions[order]
    return _nearest_in_block(queries, rows, count, _scaled(block, scale), positions)


def _nearest_in_block(queries: Matrix, rows: Ints, count: int, block: Matrix, positions: Ints) -> Found:
    """Nearest observations of a block for each query, as many as the block has."""
    kept = min(count, block.shape[0])
    indices, squared = np.empty((len(rows), kept), dtype=np.int64), np.empty((len(rows), kept))
    lengths, own = _squared_lengths(block), _squared_lengths(queries)
    step = budget.count(8 * block.shape[0])
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        products = _squared_distances(queries[part], own[part], block, lengths)
        itself = rows[part, None] == positions
        products[itself] = np.inf
        found = select_smallest(products, kept, 2 * PRODUCT_ROUNDING * own[part])
        exact = _pair_squared(queries[part], block, np.arange(len(found)), found)
        exact[np.take_along_axis(itself, found, axis=1)] = np.inf
        squared[part], indices[part] = exact, positions[found]
    return nearest_first(squared, indices, kept)


def _nearest_of_both(count: int, first: Found, second: Found) -> Found:
    indices, squared = (np.concatenate(both, axis=1) for both in zip(first, second, strict=True))
    return nearest_first(squared, indices, count)


def _squared_distances(queries: Matrix, own: Floats, block: Matrix, lengths: Floats) -> Floats:
    """Squared distances by inner products: fast, with the rounding of the lengths."""
    products = queries @ block.T
    squared = -2 * (products.toarray() if sp.issparse(products) else products)
    squared += own[:, None]
    squared += lengths
    return np.asarray(squared)


def _pair_squared(queries: Matrix, block: Matrix, rows: Ints, found: Ints) -> Floats:
    """Squared distances of some queries to those found for each, by differences; zero for duplicates."""
    squared = np.empty(found.shape)
    height = budget.count(8 * found.shape[1] * block.shape[1], "chunk")
    for start in range(0, len(rows), height):
        some = slice(start, start + height)
        squared[some] = _by_differences(queries[rows[some]], block, found[some])
    lengths = _squared_lengths(queries)[rows, None]
    squared[squared < SQUARED_ROUNDING * lengths] = 0.0
    return squared


def _by_differences(queries: Matrix, block: Matrix, found: Ints) -> Floats:
    n, k = found.shape
    if sp.issparse(block):
        differences = float64(block[found.ravel()]) - float64(queries[np.repeat(np.arange(n), k)])
        return np.asarray(differences.multiply(differences).sum(axis=1)).reshape(n, k)
    differences = dense64(block[found]) - dense64(queries)[:, None, :]
    return np.asarray(np.einsum("ijk,ijk->ij", differences, differences))


def _squared_lengths(x: Matrix) -> Floats:
    if sp.issparse(x):
        x = float64(x)
        return np.asarray(x.multiply(x).sum(axis=1)).ravel()
    return np.concatenate([np.einsum("ij,ij->i", *[dense64(block)] * 2) for block in row_blocks(x)])


def _scaled(block: Matrix, scale: Floats | None) -> Matrix:
    if sp.issparse(block):
        block = float64(block)
        return block if scale is None else sp.csr_array(block.multiply(scale))
    dense = dense64(block)
    return dense if scale is None else dense * scale
