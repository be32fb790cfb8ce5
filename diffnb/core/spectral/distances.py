"""Distances between the columns of a matrix, all of them or those to the nearest, block by block."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from ..arrays.affine import inverse
from ..runtime import budget
from ..runtime.threads import for_row_blocks
from ..typing import Floats, Ints
from .points import Columns

Metric: TypeAlias = Literal["euclidean", "correlation", "cosine"]
METRICS = ("euclidean", "correlation", "cosine")
#: squared distances below this share of the squared norms are rounding: the features are duplicates
DUPLICATE_TOLERANCE = 1e-13


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The nearest features of every feature, nearest first, itself left out."""

    indices: Ints
    squared: Floats


def squared_distances(points: Columns, /, *, metric: Metric = "euclidean") -> Floats:
    """All squared distances between columns."""
    products = _metric_inner(points, metric)
    norms = np.diag(products).copy()
    return _to_squared(products, norms, norms, start=0)


def nearest(points: Columns, n_neighbors: int, /, *, metric: Metric = "euclidean") -> Neighbors:
    """Find the nearest columns, by blocks, so that no p × p array is ever whole."""
    p = points.n_features
    points = _for_metric(points, metric)
    width = budget.count(8 * p, "kept")
    norms = points.norms() if width < p else None
    indices = np.empty((p, n_neighbors), dtype=np.int64)
    squared = np.empty((p, n_neighbors))
    for start in range(0, p, width):
        where = slice(start, min(start + width, p))
        products = points.inner(where)
        norms = np.diag(products).copy() if norms is None else norms
        lengths = norms
        if metric != "euclidean":
            products, lengths = _cosines(products, norms, where)
        distances = _to_squared(products, lengths[where], lengths, start=start)
        indices[where], squared[where] = smallest(distances, n_neighbors, start)
    return Neighbors(indices, squared)


def _for_metric(points: Columns, metric: Metric) -> Columns:
    return replace(points, within=True) if metric == "correlation" else points


def _metric_inner(points: Columns, metric: Metric) -> Floats:
    products = _for_metric(points, metric).inner()
    if metric == "euclidean":
        return products
    return _cosines(products, np.diag(products).copy(), slice(0, len(products)))[0]


def _cosines(products: Floats, norms: Floats, where: slice) -> tuple[Floats, Floats]:
    scale = inverse(np.sqrt(norms))
    products *= scale[where, None]
    products *= scale
    np.clip(products, -1.0, 1.0, out=products)
    return products, np.ones_like(norms)


def _to_squared(products: Floats, rows: Floats, cols: Floats, *, start: int) -> Floats:
    """Turn inner products into squared distances in place, the distance to itself zero."""

    def convert(part: slice) -> None:
        block, norms = products[part], rows[part, None]
        block *= -2.0
        block += norms
        block += cols
        # what is left of duplicates, which are as long as each other, is rounding
        block[block < (2 * DUPLICATE_TOLERANCE) * norms] = 0.0

    for_row_blocks(convert, products.shape)
    own = np.arange(len(rows))
    products[own, own + start] = 0.0
    return products


def smallest(distances: Floats, count: int, start: int = 0, /) -> tuple[Ints, Floats]:
    """Positions and values of the `count` smallest of every row, its own place left out; overwrites that place."""
    own = np.arange(len(distances))
    distances[own, own + start] = np.inf
    found = np.empty((len(distances), count), dtype=np.int64)

    def search(part: slice) -> None:
        found[part] = np.argpartition(distances[part], count - 1, axis=1)[:, :count]

    for_row_blocks(search, distances.shape)
    squared = np.take_along_axis(distances, found, axis=1)
    # by distance, then by position: the same neighbours whatever the blocks
    order = np.lexsort((found, squared), axis=1)
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(squared, order, axis=1)


def kth_smallest(distances: Floats, k: int, /) -> Floats:
    """Squared distance to the k-th neighbour, the feature itself not counted."""
    found: Floats = np.empty(len(distances))

    def search(part: slice) -> None:
        # its own zero is the smallest of each row, so the k-th neighbour stands at place k
        found[part] = np.partition(distances[part], k, axis=1)[:, k]

    for_row_blocks(search, distances.shape)
    return found
