"""Nearest features among many: exact by a float32 sieve, or approximate by nearest-neighbour descent.

Both only propose candidates. Distances are recomputed in float64 from the differences of coordinates, so that weights
equal those of `distances.nearest` wherever the same neighbours are found. The sweep behind the constants here is
`benchmarks/features.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from threading import Lock
from typing import Literal, TypeAlias

import numpy as np

from ..arrays.affine import Affine, AffineMap, inverse
from ..arrays.row_chunks import Chunked
from ..runtime import budget
from ..runtime.seeds import generator
from ..runtime.threads import n_workers, one_blas_thread, thread_pool
from ..typing import Auto, Bools, Floats, Ints
from .distances import DUPLICATE_TOLERANCE, Metric, Neighbors, nearest
from .points import Columns
from .ties import PRODUCT_ROUNDING, nearest_first, select_smallest

Search: TypeAlias = Literal["exact", "approximate"]
SEARCHES = ("auto", "exact", "approximate")

#: from this many features on neighbours are approximate; an estimate, beyond the sizes that were measured
MIN_APPROXIMATE_FEATURES = 200_000
#: up to this many features, `distances.nearest` is as fast as the sieve
MAX_BLOCKWISE_FEATURES = 2000
#: and up to this many times the number of neighbours
MAX_BLOCKWISE_FEATURES_PER_NEIGHBOR = 20
#: rows and columns of one block of the sieve: 32 MB in float32 for each thread
BLOCK_ROWS, BLOCK_COLUMNS = 1024, 8192
#: the bound of the sieve is set by one feature of this many, and by at least so many
FEATURES_PER_SAMPLED, MIN_SAMPLED_FEATURES = 64, 1000
#: share of rows for which the bound may be too tight, so that they are searched again
MAX_RETRIED_SHARE = 1e-7
#: candidates beyond the neighbours asked for, so that float64 decides which are nearest
N_EXTRA_CANDIDATES = 8
#: dimensions of the random projection, for an approximate search in data that does not fit
PROJECTION_DIMENSIONS = 256

_NUMBA_LOCK = Lock()


def search_for(points: Columns, count: int, asked: Search | Auto = "auto", /) -> Search:
    """Return the search to use; always the exact one for few features or data that is not in memory."""
    p = points.n_features
    if _is_blockwise(p, count) or not _in_memory(points):
        return "exact"
    if asked == "auto":
        return "exact" if p < MIN_APPROXIMATE_FEATURES else "approximate"
    return asked


def nearest_features(
    points: Columns, count: int, /, *, metric: Metric = "euclidean", search: Search = "exact", seed: int = 0
) -> Neighbors:
    """Find the nearest columns of every column, all of them or, by an approximate search, most of them."""
    p = points.n_features
    # coordinates in float64; those in float32 take half as much again
    fits = budget.fits(8 * p * points.n_obs)
    search = search_for(points, count, search)
    if search == "exact" and (_is_blockwise(p, count) or not fits or not _in_memory(points)):
        return nearest(points, count, metric=metric)
    geometry = _Geometry.of(points, metric)
    coordinates = _Coordinates(geometry, geometry.coordinates() if fits else None)
    if search == "exact":
        return _sieve(coordinates, count)
    return _descent(coordinates, count, seed)


def _is_blockwise(n_features: int, count: int) -> bool:
    return n_features <= max(MAX_BLOCKWISE_FEATURES, MAX_BLOCKWISE_FEATURES_PER_NEIGHBOR * count)


def _in_memory(points: Columns) -> bool:
    return all(isinstance(part, Affine) and not isinstance(part.x, Chunked) for part in points.parts)


@dataclass(frozen=True, slots=True)
class _Geometry:
    """Columns as points with coordinates, for one metric.

    A feature without a direction (constant, or of length zero) is as long as the others and orthogonal to all of
    them: its coordinates are zero, and `orthogonal` is its squared length.
    """

    points: Columns
    #: of the coordinates, after that of each part
    map: AffineMap
    orthogonal: Floats
    #: squared length of every point, as in `distances.nearest`
    lengths: Floats

    @classmethod
    def of(cls, points: Columns, metric: Metric) -> _Geometry:
        points = replace(points, within=True) if metric == "correlation" else points
        center: Floats | None = None
        scale: Floats | None = None
        orthogonal = np.zeros(points.n_features)
        if points.within:
            center, sd = points.moments()
            scale = inverse(sd)
            orthogonal[sd == 0] = points.n_obs
        lengths = points.norms()
        if metric != "euclidean":
            unit = inverse(np.sqrt(lengths))
            scale = unit if scale is None else scale * unit
            orthogonal = np.where((orthogonal > 0) | (lengths == 0), 1.0, 0.0)
            lengths = np.ones_like(lengths)
        return cls(points, AffineMap(center, scale), orthogonal, lengths)

    def coordinates(self) -> Floats:
        """All coordinates, features × observations."""
        blocks = list(self.blocks(self.points.n_obs))
        return blocks[0] if len(blocks) == 1 else np.hstack(blocks)

    def blocks(self, width: int) -> Iterator[Floats]:
        """Coordinates in blocks of at most `width` observations, features × observations."""
        for part in self.points.parts:
            assert isinstance(part, Affine), "sums have no coordinates"
            for block in part.row_blocks(width):
                # a copy even of a single row, which would be contiguous both ways
                yield np.array(self.map.of(block).T, order="C")


@dataclass(frozen=True, slots=True)
class _Coordinates:
    """Coordinates to iterate over more than once: in memory, or recomputed block by block each time."""

    geometry: _Geometry
    #: features × observations; `None` if they do not fit
    whole: Floats | None

    @property
    def n_features(self) -> int:
        return self.geometry.points.n_features

    def __iter__(self) -> Iterator[Floats]:
        if self.whole is not None:
            return iter((self.whole,))
        return self.geometry.blocks(budget.count(8 * self.n_features, "chunk"))


def _sieve(coordinates: _Coordinates, count: int) -> Neighbors:
    """Exact neighbours: float32 products that exceed a bound from a sample of the features, which few do.

    The j-th nearest of a random sample is, for all data, about the (j p / sample)-th nearest of all: a few hundred
    numbers of a row exceed the bound, and no others are sorted. Rows with too few of them (an unlucky bound, or tied
    distances), and those where rounding in float32 could have cost a neighbour, are searched again in float64.
    """
    assert coordinates.whole is not None
    p, geometry = coordinates.n_features, coordinates.geometry
    centred, n_candidates = _around_centroid(coordinates.whole, geometry.orthogonal), count + N_EXTRA_CANDIDATES
    sample = _sampled_features(p)
    rank = min(n_candidates, _rank_in_sample(n_candidates * len(sample) / p))
    sampled = centred[sample]
    indices, squared = np.empty((p, count), dtype=np.int64), np.empty((p, count))
    certain = np.empty(p, dtype=bool)

    def search(start: int) -> None:
        own = np.arange(start, min(start + BLOCK_ROWS, p))
        rows = centred[own]
        rows[:, -1] = 1.0
        bound = _bound(rows @ sampled.T, own, sample, rank)
        found, closeness, enough = _above_bound(rows, centred, own, bound, n_candidates)
        certain[own] = enough & _separated(closeness, rows, count)
        indices[own], squared[own] = nearest_first(_pair_squared(coordinates, own, found), found, count)

    with one_blas_thread():
        _concurrently(search, range(0, p, BLOCK_ROWS))
    _search_in_full(coordinates, np.flatnonzero(~certain), indices, squared)
    return Neighbors(indices, squared)


def _concurrently(work: Callable[[int], None], items: Iterable[int]) -> None:
    with thread_pool(n_workers()) as pool:
        # list: raises an exception of a worker here
        list(pool.map(work, items))


def _sampled_features(n_features: int) -> Ints:
    """Draw the features that set the bound; the neighbours found do not depend on them, so neither on a seed."""
    size = min(n_features, max(MIN_SAMPLED_FEATURES, n_features // FEATURES_PER_SAMPLED))
    return np.sort(generator(0, "subsample", n_features).choice(n_features, size, replace=False))


def _around_centroid(coordinates: Floats, orthogonal: Floats) -> Floats:
    """Coordinates around the centroid, and −½ of the squared length as the last one, in float32.

    With 1 in place of its length, the product of a row with another is ½‖x‖² − ½d²: it ranks by nearness.
    """
    centred = np.empty((len(coordinates), coordinates.shape[1] + 1), dtype=np.float32)
    centroid = coordinates.mean(axis=0)
    # in units in which no square is too large or too small for float32
    unit = max(float(coordinates.max()), -float(coordinates.min())) or 1.0
    for start in range(0, len(coordinates), BLOCK_COLUMNS):
        where = slice(start, start + BLOCK_COLUMNS)
        moved = (coordinates[where] - centroid) / unit
        centred[where, :-1] = moved
        centred[where, -1] = -0.5 * (np.einsum("ij,ij->i", moved, moved) + orthogonal[where] / unit**2)
    return centred


def _rank_in_sample(expected: float) -> int:
    """Return the rank in the sample that is nearly always beyond the candidates, `expected` of which are in it."""
    from scipy.stats import poisson

    return int(poisson.isf(MAX_RETRIED_SHARE, expected)) + 1


def _bound(products: Floats, own: Ints, sample: Ints, rank: int) -> Floats:
    at = np.searchsorted(sample, own).clip(max=len(sample) - 1)
    drawn = np.flatnonzero(sample[at] == own)
    products[drawn, at[drawn]] = -np.inf
    products *= -1.0
    products.partition(rank - 1, axis=1)
    return np.asarray(-products[:, rank - 1, None])


def _above_bound(
    rows: Floats, centred: Floats, own: Ints, bound: Floats, n_candidates: int
) -> tuple[Ints, Floats, Bools]:
    """Positions and closeness of the closest features of every row above its bound, and whether there are enough.

    Closest first; a row with too few is filled with its own position.
    """
    row, column, value = _entries_above_bound(rows, centred, own, bound)
    counts = np.bincount(row, minlength=len(rows))
    order = np.argsort(row, kind="stable")
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    width = max(n_candidates, int(counts.max()))
    closeness = np.full((len(rows), width), -np.inf, dtype=np.float32)
    position = np.repeat(own[:, None], width, axis=1)
    closeness[row[order], place], position[row[order], place] = value[order], column[order]
    best = np.argpartition(-closeness, n_candidates - 1, axis=1)[:, :n_candidates]
    closeness = np.take_along_axis(closeness, best, axis=1)
    order = np.argsort(-closeness, axis=1, kind="stable")
    found = np.take_along_axis(np.take_along_axis(position, best, axis=1), order, axis=1)
    return found, np.take_along_axis(closeness, order, axis=1), counts >= n_candidates


def _entries_above_bound(rows: Floats, centred: Floats, own: Ints, bound: Floats) -> tuple[Ints, Ints, Floats]:
    """Rows, columns and values of the products above the bound of their row."""
    row_of, column_of, values = [], [], []
    for start in range(0, len(centred), BLOCK_COLUMNS):
        block = rows @ centred[start : start + BLOCK_COLUMNS].T
        inside = np.flatnonzero((own >= start) & (own < start + block.shape[1]))
        block[inside, own[inside] - start] = -np.inf
        above = np.flatnonzero(block > bound)
        row, column = np.divmod(above, block.shape[1])
        row_of.append(row.astype(np.uint16))
        column_of.append((column + start).astype(np.int64))
        values.append(block.ravel()[above])
    return np.concatenate(row_of), np.concatenate(column_of), np.concatenate(values)


def _separated(closeness: Floats, rows: Floats, count: int) -> Bools:
    """Return for which rows the last neighbour and the last candidate differ by more than rounding in float32."""
    coordinates = rows[:, :-1]
    length = np.einsum("ij,ij->i", coordinates, coordinates)
    # ½d² = ½‖x‖² − closeness; a neighbour is at most that much longer
    reach = np.sqrt(length) + np.sqrt(np.maximum(length - 2 * closeness[:, -1], 0.0))
    rounding = np.finfo(np.float32).eps * np.sqrt(rows.shape[1]) * reach**2
    with np.errstate(invalid="ignore"):  # rows with too few candidates
        return np.asarray(closeness[:, count - 1] - closeness[:, -1] > 2 * rounding)


def _search_in_full(coordinates: _Coordinates, rows: Ints, indices: Ints, squared: Floats) -> None:
    """Search the neighbours of some rows among all features, in float64, and overwrite those found before."""
    count, geometry = indices.shape[1], coordinates.geometry
    n_candidates = count + N_EXTRA_CANDIDATES
    height = budget.count(8 * coordinates.n_features, "kept")
    for start in range(0, len(rows), height):
        some = rows[start : start + height]
        distances = geometry.orthogonal + geometry.orthogonal[some, None]
        for block in coordinates:
            lengths = np.einsum("ij,ij->i", block, block)
            distances += lengths + lengths[some, None]
            distances -= 2.0 * (block[some] @ block.T)
        distances[np.arange(len(some)), some] = np.inf
        found = select_smallest(distances, n_candidates, 2 * PRODUCT_ROUNDING * geometry.lengths[some])
        indices[some], squared[some] = nearest_first(_pair_squared(coordinates, some, found), found, count)


def _descent(coordinates: _Coordinates, count: int, seed: int) -> Neighbors:
    """Approximate neighbours by nearest-neighbour descent; their distances are exact."""
    found = _descended(_search_coordinates(coordinates, seed), count + 1 + N_EXTRA_CANDIDATES, seed)
    own = np.arange(coordinates.n_features)
    found = np.where(found < 0, own[:, None], found)
    indices, squared = nearest_first(_pair_squared(coordinates, own, found), found, count)
    _search_in_full(coordinates, np.flatnonzero(~np.isfinite(squared[:, -1])), indices, squared)
    return Neighbors(indices, squared)


def _search_coordinates(coordinates: _Coordinates, seed: int) -> Floats:
    """Float32 coordinates for the descent: few enough, and random ones for features without a direction."""
    p, orthogonal = coordinates.n_features, coordinates.geometry.orthogonal
    rng = generator(seed, "projection", p)
    if coordinates.whole is not None:
        found = coordinates.whole.astype(np.float32)
    else:
        projected = np.zeros((p, PROJECTION_DIMENSIONS))
        for block in coordinates:
            projected += block @ rng.standard_normal((block.shape[1], PROJECTION_DIMENSIONS))
        found = (projected / np.sqrt(PROJECTION_DIMENSIONS)).astype(np.float32)
    without = np.flatnonzero(orthogonal > 0)
    if without.size:
        # random directions are nearly orthogonal to everything
        width = found.shape[1]
        found[without] = rng.standard_normal((without.size, width)) * np.sqrt(orthogonal[without] / width)[:, None]
    return found


def _descended(coordinates: Floats, count: int, seed: int) -> Ints:
    try:
        from pynndescent import NNDescent
    except ImportError as error:
        raise ImportError(
            f"an approximate search for neighbours among {len(coordinates):,} features needs the package pynndescent,"
            f" which could not be imported ({error}). Install it (pip install pynndescent), or search exactly:"
            " neighbors='exact' where the function has this argument."
        ) from error
    # Numba's default threading layer must not be entered concurrently
    with _NUMBA_LOCK:
        index = NNDescent(coordinates, metric="euclidean", n_neighbors=count, random_state=seed, compressed=False)
        return np.asarray(index.neighbor_graph[0], dtype=np.int64)


def _pair_squared(coordinates: _Coordinates, rows: Ints, found: Ints) -> Floats:
    """Squared distances from each of the rows to those found for it; its own position is infinitely far."""
    squared = np.zeros(found.shape)
    for block in coordinates:
        height = budget.count(8 * found.shape[1] * block.shape[1], "chunk")
        for start in range(0, len(rows), height):
            some = slice(start, start + height)
            differences = block[found[some]]
            differences -= block[rows[some], None, :]
            squared[some] += np.einsum("ijk,ijk->ij", differences, differences)
    return _without_rounding(squared, rows, found, coordinates.geometry)


def _without_rounding(squared: Floats, rows: Ints, found: Ints, geometry: _Geometry) -> Floats:
    squared += geometry.orthogonal[rows, None]
    squared += geometry.orthogonal[found]
    # the same rule for duplicates as in `distances.nearest`
    squared[squared < (2 * DUPLICATE_TOLERANCE) * geometry.lengths[rows, None]] = 0.0
    squared[found == rows[:, None]] = np.inf
    return squared
