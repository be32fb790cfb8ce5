"""Nearest features where there are many: exact by a float32 sieve, or approximate by nearest-neighbour descent.

Both only propose neighbours. Distances are computed anew in float64 from the differences of coordinates, so that
weights are those of the plain blocks of `graph.nearest` wherever the same neighbours are found. The sweep for
the numbers here is `benchmarks/features.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock
from typing import Literal, TypeAlias

import numpy as np

from ..arrays.affine import Affine, AffineMap, inverse
from ..arrays.row_chunks import Chunked
from ..runtime import budget
from ..runtime.threads import for_row_blocks, n_workers, one_blas_thread
from ..typing import Bools, Floats, Ints
from .distances import DUPLICATE_TOLERANCE, Metric, Neighbors, nearest
from .points import Columns

Search: TypeAlias = Literal["exact", "approximate"]
SEARCHES = ("auto", "exact", "approximate")

#: from this many features on neighbours are approximate; an estimate, beyond the sizes that were tried
MIN_APPROXIMATE_FEATURES = 200_000
#: with fewer features plain blocks are as fast as the sieve
MAX_BLOCKWISE_FEATURES = 2000
#: and so they are where more than one feature of so many is asked for
MAX_BLOCKWISE_FEATURES_PER_NEIGHBOR = 20
#: rows and columns of one tile of the sieve: 32 MB in float32 for each thread
BLOCK_ROWS, BLOCK_COLUMNS = 1024, 8192
#: one feature of so many, but at least 1000, sets the bound of the sieve
FEATURES_PER_SAMPLED = 64
#: share of rows for which the bound may turn out too tight, so that they are done again
MAX_RETRIED_SHARE = 1e-7
#: proposed beyond those asked for, so that float64 has the last word on who is nearest
N_EXTRA_CANDIDATES = 8
#: dimensions that more observations than fit are projected to before an approximate search
PROJECTION_DIMENSIONS = 256

_NUMBA_LOCK = Lock()


def search_for(points: Columns, count: int, asked: Literal["auto", "exact", "approximate"] = "auto", /) -> Search:
    """Return the search to use: exact up to where it pays, and always where there are few features."""
    p = points.n_features
    if p <= max(MAX_BLOCKWISE_FEATURES, MAX_BLOCKWISE_FEATURES_PER_NEIGHBOR * count) or not _in_memory(points):
        return "exact"
    if asked == "auto":
        return "exact" if p < MIN_APPROXIMATE_FEATURES else "approximate"
    return asked


def nearest_features(
    points: Columns, count: int, /, *, metric: Metric = "euclidean", search: Search = "exact", seed: int = 0
) -> Neighbors:
    """Find the nearest columns of every column, exactly, or most of them."""
    p = points.n_features
    # and half as much again in float32
    fits = budget.fits(8 * p * points.n_obs)
    search = search_for(points, count, search)
    if search == "exact" and (
        p <= max(MAX_BLOCKWISE_FEATURES, MAX_BLOCKWISE_FEATURES_PER_NEIGHBOR * count)
        or not fits
        or not _in_memory(points)
    ):
        return nearest(points, count, metric=metric)
    frame = _Frame.of(points, metric)
    # what fits is made dense once, what does not is made dense again for every pass
    cloud = frame.whole() if fits else None
    if search == "exact" and cloud is not None:
        return _sieve(cloud, frame, count)
    return _descent(_Slabs(frame, cloud), count, seed)


def _in_memory(points: Columns) -> bool:
    return all(isinstance(part, Affine) and not isinstance(part.x, Chunked) for part in points.parts)


@dataclass(frozen=True, slots=True)
class _Frame:
    """How columns become points with coordinates, for one metric.

    A feature without a direction of its own (no spread, or no length) is as long as the others and at right
    angles to all of them: it has no coordinates, and `apart` is its squared length.
    """

    points: Columns
    #: of the coordinates, after that of each part
    map: AffineMap
    apart: Floats
    #: squared length of every point, as the plain blocks have it
    lengths: Floats

    @classmethod
    def of(cls, points: Columns, metric: Metric) -> _Frame:
        points = replace(points, within=True) if metric == "correlation" else points
        center: Floats | None = None
        scale: Floats | None = None
        apart = np.zeros(points.n_features)
        if points.within:
            center, sd = points.moments()
            scale = inverse(sd)
            apart[sd == 0] = points.n_obs
        lengths = points.norms()
        if metric != "euclidean":
            unit = inverse(np.sqrt(lengths))
            scale = unit if scale is None else scale * unit
            # no direction: nothing is left of the coordinates, and the length is that of all others
            apart = np.where((apart > 0) | (lengths == 0), 1.0, 0.0)
            lengths = np.ones_like(lengths)
        return cls(points, AffineMap(center, scale), apart, lengths)

    def whole(self) -> Floats:
        """All coordinates, features × observations."""
        slabs = list(self.slabs(self.points.n_obs))
        return slabs[0] if len(slabs) == 1 else np.hstack(slabs)

    def slabs(self, height: int) -> Iterator[Floats]:
        """Coordinates over runs of at most `height` observations, features × observations."""
        for part in self.points.parts:
            assert isinstance(part, Affine), "sums have no coordinates"
            for block in part.row_blocks(height):
                # a copy even of a single row, which would be contiguous both ways
                yield np.array(self.map.of(block).T, order="C")


@dataclass(frozen=True, slots=True)
class _Slabs:
    """Coordinates to be walked over more than once: held whole, or made anew each time."""

    frame: _Frame
    cloud: Floats | None

    def __iter__(self) -> Iterator[Floats]:
        if self.cloud is not None:
            return iter((self.cloud,))
        return self.frame.slabs(budget.count(8 * self.frame.points.n_features, "chunk"))


def _sieve(cloud: Floats, frame: _Frame, count: int) -> Neighbors:
    """Exact neighbours: float32 products against a bound from a sample of the features, which few pass.

    The j-th nearest of a random sample is, whatever the data, about the (j p / sample)-th nearest of all: a few
    hundred numbers of a row pass the bound, and no others are ever sorted. Rows that too few pass (the bound was
    unlucky, or distances are tied), and those where rounding in float32 could have cost a neighbour, are done
    again in float64.
    """
    p = len(cloud)
    around, kept = _around_centroid(cloud, frame.apart), count + N_EXTRA_CANDIDATES
    sample = np.sort(np.random.default_rng(p).choice(p, min(p, max(1000, p // FEATURES_PER_SAMPLED)), replace=False))
    place = min(kept, _place_in_sample(kept * len(sample) / p))
    sampled = around[sample]
    indices, squared = np.empty((p, count), dtype=np.int64), np.empty((p, count))
    sure = np.empty(p, dtype=bool)

    def search(start: int) -> None:
        own = np.arange(start, min(start + BLOCK_ROWS, p))
        rows = around[own]
        rows[:, -1] = 1.0
        bound = _bound(rows @ sampled.T, own, sample, place)
        found, closeness, enough = _passing(rows, around, own, bound, kept)
        sure[own] = enough & _separated(closeness, rows, count)
        indices[own], squared[own] = _keep_nearest(_pair_squared((cloud,), own, found, frame), found, count)

    with one_blas_thread():
        _concurrently(search, range(0, p, BLOCK_ROWS))
    _search_in_full(_Slabs(frame, cloud), np.flatnonzero(~sure), indices, squared)
    return Neighbors(indices, squared)


def _concurrently(work: Callable[[int], None], items: Iterable[int]) -> None:
    with ThreadPoolExecutor(n_workers()) as pool:
        # list: an error in a worker is raised here
        list(pool.map(work, items))


def _around_centroid(cloud: Floats, apart: Floats) -> Floats:
    """Coordinates around the centroid, and −½ of the squared length behind them, in float32.

    With 1 in place of its length, the product of a row with another is ½‖x‖² − ½d²: it ranks by nearness.
    """
    around = np.empty((len(cloud), cloud.shape[1] + 1), dtype=np.float32)
    centroid = cloud.mean(axis=0)
    # in units in which no square is too large or too small for float32
    unit = max(float(cloud.max()), -float(cloud.min())) or 1.0
    for start in range(0, len(cloud), BLOCK_COLUMNS):
        where = slice(start, start + BLOCK_COLUMNS)
        moved = (cloud[where] - centroid) / unit
        around[where, :-1] = moved
        around[where, -1] = -0.5 * (np.einsum("ij,ij->i", moved, moved) + apart[where] / unit**2)
    return around


def _place_in_sample(expected: float) -> int:
    """Return the place in the sample that nearly always lies beyond those wanted, `expected` of which are in it."""
    from scipy.stats import poisson

    return int(poisson.isf(MAX_RETRIED_SHARE, expected)) + 1


def _bound(products: Floats, own: Ints, sample: Ints, place: int) -> Floats:
    at = np.searchsorted(sample, own).clip(max=len(sample) - 1)
    drawn = np.flatnonzero(sample[at] == own)
    products[drawn, at[drawn]] = -np.inf
    products *= -1.0
    products.partition(place - 1, axis=1)
    return np.asarray(-products[:, place - 1, None])


def _passing(rows: Floats, around: Floats, own: Ints, bound: Floats, kept: int) -> tuple[Ints, Floats, Bools]:
    """Positions and closeness of the `kept` closest of every row among those above its bound, and if there are so many.

    Closest first; a row with too few is filled with its own position.
    """
    row_of, column_of, values = [], [], []
    for start in range(0, len(around), BLOCK_COLUMNS):
        tile = rows @ around[start : start + BLOCK_COLUMNS].T
        inside = np.flatnonzero((own >= start) & (own < start + tile.shape[1]))
        tile[inside, own[inside] - start] = -np.inf
        passed = np.flatnonzero(tile > bound)
        row, column = np.divmod(passed, tile.shape[1])
        row_of.append(row.astype(np.uint16))
        column_of.append((column + start).astype(np.int64))
        values.append(tile.ravel()[passed])
    row, column, value = (np.concatenate(parts) for parts in (row_of, column_of, values))
    counts = np.bincount(row, minlength=len(rows))
    order = np.argsort(row, kind="stable")
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    width = max(kept, int(counts.max()))
    closeness = np.full((len(rows), width), -np.inf, dtype=np.float32)
    position = np.repeat(own[:, None], width, axis=1)
    closeness[row[order], place], position[row[order], place] = value[order], column[order]
    best = np.argpartition(-closeness, kept - 1, axis=1)[:, :kept]
    closeness = np.take_along_axis(closeness, best, axis=1)
    order = np.argsort(-closeness, axis=1, kind="stable")
    found = np.take_along_axis(np.take_along_axis(position, best, axis=1), order, axis=1)
    return found, np.take_along_axis(closeness, order, axis=1), counts >= kept


def _separated(closeness: Floats, rows: Floats, count: int) -> Bools:
    """Say for which rows the last one wanted and the last one kept differ by more than float32 may round."""
    coordinates = rows[:, :-1]
    length = np.einsum("ij,ij->i", coordinates, coordinates)
    # ½d² = ½‖x‖² − closeness; a neighbour is at most that much longer
    reach = np.sqrt(length) + np.sqrt(np.maximum(length - 2 * closeness[:, -1], 0.0))
    rounding = np.finfo(np.float32).eps * np.sqrt(rows.shape[1]) * reach**2
    with np.errstate(invalid="ignore"):  # where too few passed
        return np.asarray(closeness[:, count - 1] - closeness[:, -1] > 2 * rounding)


def _search_in_full(slabs: _Slabs, rows: Ints, indices: Ints, squared: Floats) -> None:
    """Search some rows in full, in float64, and write what is found over what was."""
    count, frame = indices.shape[1], slabs.frame
    p, kept = frame.points.n_features, count + N_EXTRA_CANDIDATES
    height = budget.count(8 * p, "kept")
    for start in range(0, len(rows), height):
        some = rows[start : start + height]
        distances = np.tile(frame.apart, (len(some), 1))
        for slab in slabs:
            distances += np.einsum("ij,ij->i", slab, slab)
            distances -= 2.0 * (slab[some] @ slab.T)
        distances[np.arange(len(some)), some] = np.inf
        found = np.empty((len(some), kept), dtype=np.int64)

        def select(part: slice, distances: Floats = distances, found: Ints = found) -> None:
            found[part] = np.argpartition(distances[part], kept - 1, axis=1)[:, :kept]

        for_row_blocks(select, distances.shape)
        indices[some], squared[some] = _keep_nearest(_pair_squared(slabs, some, found, frame), found, count)


def _descent(slabs: _Slabs, count: int, seed: int) -> Neighbors:
    """Approximate neighbours, by nearest-neighbour descent; their distances are exact."""
    frame = slabs.frame
    p = frame.points.n_features
    found = _descended(_stand_ins(slabs, seed), count + 1 + N_EXTRA_CANDIDATES, seed)
    own = np.arange(p)
    found = np.where(found < 0, own[:, None], found)
    indices, squared = _keep_nearest(_pair_squared(slabs, own, found, frame), found, count)
    _search_in_full(slabs, np.flatnonzero(~np.isfinite(squared[:, -1])), indices, squared)
    return Neighbors(indices, squared)


def _stand_ins(slabs: _Slabs, seed: int) -> Floats:
    """Float32 coordinates to search in: few enough, and some for features that have none."""
    frame = slabs.frame
    p = frame.points.n_features
    rng = np.random.default_rng([seed, p])
    if slabs.cloud is not None:
        stand_ins = slabs.cloud.astype(np.float32)
    else:
        projected = np.zeros((p, PROJECTION_DIMENSIONS))
        for slab in slabs:
            projected += slab @ rng.standard_normal((slab.shape[1], PROJECTION_DIMENSIONS))
        stand_ins = (projected / np.sqrt(PROJECTION_DIMENSIONS)).astype(np.float32)
    alone = np.flatnonzero(frame.apart > 0)
    if alone.size:
        # random directions are nearly at right angles to everything
        width = stand_ins.shape[1]
        directions = rng.standard_normal((alone.size, width)) * np.sqrt(frame.apart[alone] / width)[:, None]
        stand_ins[alone] = directions
    return stand_ins


def _descended(coordinates: Floats, count: int, seed: int) -> Ints:
    from pynndescent import NNDescent

    # Numba's default threads must not be entered twice at a time
    with _NUMBA_LOCK:
        index = NNDescent(coordinates, metric="euclidean", n_neighbors=count, random_state=seed, compressed=False)
        return np.asarray(index.neighbor_graph[0], dtype=np.int64)


def _pair_squared(slabs: Iterable[Floats], rows: Ints, found: Ints, frame: _Frame) -> Floats:
    """Squared distances from each of the rows to those found for it; its own position is infinitely far."""
    squared = np.zeros(found.shape)
    for slab in slabs:
        height = budget.count(8 * found.shape[1] * slab.shape[1], "chunk")
        for start in range(0, len(rows), height):
            some = slice(start, start + height)
            differences = slab[found[some]]
            differences -= slab[rows[some], None, :]
            squared[some] += np.einsum("ijk,ijk->ij", differences, differences)
    return _rounded(squared, rows, found, frame)


def _rounded(squared: Floats, rows: Ints, found: Ints, frame: _Frame) -> Floats:
    squared += frame.apart[rows, None]
    squared += frame.apart[found]
    # the same rule for duplicates as that of the plain blocks
    squared[squared < (2 * DUPLICATE_TOLERANCE) * frame.lengths[rows, None]] = 0.0
    squared[found == rows[:, None]] = np.inf
    return squared


def _keep_nearest(squared: Floats, found: Ints, count: int) -> tuple[Ints, Floats]:
    """Order by distance, then by position, and keep the first."""
    order = np.lexsort((found, squared), axis=1)[:, :count]
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(squared, order, axis=1)
