"""Correlations of all pairs of features in every unit, tile by tile, whether the data is in memory or read in runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from ..arrays.ops import cross, dense64, gram, moments_of_each
from ..arrays.row_chunks import Chunked, add_in_place, reduce
from ..runtime import budget
from ..runtime.threads import thread_limits
from ..typing import Floats, Ints, Matrix

#: features on either side of the pairs that are looked at together
TILE = 128
#: a spread below this share of the mean is rounding
CONSTANT = 1e-12
#: two runs of features
Tile: TypeAlias = tuple[slice, slice]
#: correlations of a tile, units × rows × columns, to be written to
Correlate: TypeAlias = Callable[[slice, slice], Floats]


@dataclass(frozen=True, slots=True)
class Units:
    """A matrix and the rows of each of its units: folds or samples."""

    matrix: Matrix
    rows: Sequence[Ints]

    def correlators(self, where: slice, /) -> list[Floats]:
        """Columns of every unit, centred and of length one, so that their products are correlations."""
        block = dense64(self.matrix[:, where])
        return [_unit_length(block[rows]) for rows in self.rows]


def over_correlation_blocks(
    units: Sequence[Units], work: Callable[[Floats, bool], tuple[Floats, Floats]], n_jobs: int | None, /
) -> Floats:
    """Sum up `work` over the tiles on and above the diagonal of features × features.

    `work` gets the Fisher z of all units in a tile (units × rows × columns) and whether the tile is on the
    diagonal, and returns what it adds to the features of the rows and of the columns, features being last.
    """
    from joblib import Parallel, delayed

    n_features = units[0].matrix.shape[1]
    sizes = np.array([rows.size for unit in units for rows in unit.rows])
    # a correlation of ±1 in few observations is worth a large z, not an infinite one
    limit = (1 - 0.1 / sizes)[:, None, None]

    def add(correlate: Correlate, first: slice, second: slice) -> tuple[Floats, Floats]:
        z = correlate(first, second)
        np.clip(z, -limit, limit, out=z)
        return work(np.arctanh(z, out=z), first == second)

    total: Floats = np.zeros(0)
    source = _streamed(units) if isinstance(units[0].matrix, Chunked) else _in_memory(units)
    with Parallel(n_jobs=n_jobs or 1, require="sharedmem") as parallel:
        for correlate, tiles in source:
            # products of tiles are too small for BLAS to share out; tiles are shared out instead
            with thread_limits(0):
                results = parallel(delayed(add)(correlate, first, second) for first, second in tiles)
            for (first, second), (to_rows, to_columns) in zip(tiles, results, strict=True):
                if not total.size:
                    total = np.zeros((*to_rows.shape[:-1], n_features))
                total[..., first] += to_rows
                total[..., second] += to_columns
    return total


def _in_memory(units: Sequence[Units]) -> Iterator[tuple[Correlate, list[Tile]]]:
    """Walk over pairs of wide blocks of features, made dense two at a time, and the tiles inside."""
    n_features = units[0].matrix.shape[1]
    wide = TILE * budget.count(8 * TILE * max(unit.matrix.shape[0] for unit in units))
    blocks = [slice(start, min(start + wide, n_features)) for start in range(0, n_features, wide)]
    for number, rows in enumerate(blocks):
        left = [x for unit in units for x in unit.correlators(rows)]
        for block in blocks[number:]:
            same = block == rows
            right = left if same else [x for unit in units for x in unit.correlators(block)]
            yield partial(_multiplied, left, right, rows.start, block.start), _tiles(rows, block)


def _multiplied(left: list[Floats], right: list[Floats], row: int, column: int, first: slice, second: slice) -> Floats:
    i, j = _within(first, row), _within(second, column)
    z = np.empty((len(left), i.stop - i.start, j.stop - j.start))
    for x, y, correlation in zip(left, right, z, strict=True):
        np.matmul(x[:, i].T, y[:, j], out=correlation)
    return z


def _streamed(units: Sequence[Units]) -> Iterator[tuple[Correlate, list[Tile]]]:
    """Walk over bands of features with all that come after them, each in one pass over the rows."""
    parts = [unit.matrix[rows] for unit in units for rows in unit.rows]
    moments = moments_of_each(parts)
    sizes = np.array([part.shape[0] for part in parts])
    # around the mean of all, so that a large one costs no digits; zeros of sparse data must stay zeros
    origin = np.average([mean for mean, _ in moments], axis=0, weights=sizes)
    around = [part.centered(origin) for part in parts]
    apart = [mean if parts[0].is_sparse else mean - origin for mean, _ in moments]
    inverse = [
        _inverse_length(mean, np.sqrt(n * variance), n) for n, (mean, variance) in zip(sizes, moments, strict=True)
    ]
    n_features, start = parts[0].shape[1], 0
    while start < n_features:
        width = TILE * budget.count(8 * TILE * len(parts) * (n_features - start), "kept")
        band = slice(start, min(start + width, n_features))
        correlations = reduce(around, partial(_products_of_band, band), add_in_place)
        for products, n, mean, scale in zip(correlations, sizes, apart, inverse, strict=True):
            products -= np.outer(n * mean[band], mean[start:])
            products *= scale[band, None]
            products *= scale[start:]
        yield partial(_cut_out, correlations, start), _tiles(band, slice(start, n_features))
        start = band.stop


def _products_of_band(band: slice, block: Matrix, _: int, __: Ints) -> Floats:
    everything = band.start == 0 and band.stop == block.shape[1]
    return gram(block) if everything else cross(block[:, band], block[:, band.start :])


def _cut_out(correlations: list[Floats], start: int, first: slice, second: slice) -> Floats:
    i, j = _within(first, start), _within(second, start)
    return np.stack([correlation[i, j] for correlation in correlations])


def _tiles(rows: slice, block: slice) -> list[Tile]:
    """Part a band and what it is multiplied with into tiles on and above the diagonal."""
    return [
        (first, second)
        for first in _narrow(rows)
        for second in _narrow(slice(max(first.start, block.start), block.stop))
    ]


def _narrow(block: slice) -> list[slice]:
    return [slice(start, min(start + TILE, block.stop)) for start in range(block.start, block.stop, TILE)]


def _within(where: slice, start: int) -> slice:
    return slice(where.start - start, where.stop - start)


def _unit_length(x: Floats) -> Floats:
    mean = x.mean(axis=0)
    x -= mean
    x *= _inverse_length(mean, np.sqrt(np.einsum("ij,ij->j", x, x)), x.shape[0])
    return x


def _inverse_length(mean: Floats, length: Floats, n: int) -> Floats:
    # what rounding leaves of a constant is nought, so that it correlates with nothing
    constant = length <= CONSTANT * np.sqrt(n) * np.abs(mean)
    return np.where(constant, 0.0, 1 / np.where(constant, 1.0, length))
