"""Distances between the columns of a matrix: all of them, or those to the nearest columns, block by block."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from ..arrays.affine import inverse
from ..runtime import budget
from ..runtime.threads import for_row_blocks
from ..typing import Floats, Ints
from .points import Columns
from .ties import PRODUCT_ROUNDING, nearest_first, select_smallest

Metric: TypeAlias = Literal["euclidean", "correlation", "cosine"]
METRICS = ("euclidean", "correlation", "cosine")
#: squared distances below this share of the squared norms are rounding errors: the features are duplicates
DUPLICATE_TOLERANCE = 1e-13


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The nearest features of every feature, nearest first, without the feature itself."""

    indices: Ints
    squared: Floats


def squared_distances(points: Columns, /, *, metric: Metric = "euclidean") -> Floats:
    """All squared distances between columns."""
    products = _metric_inner(points, metric)
    norms = np.diag(products).copy()
    return _to_squared(products, norms, norms, start=0)


def nearest(points: Columns, n_neighbors: int, /, *, metric: Metric = "euclidean") -> Neighbors:
    """Find the nearest columns block by block, without a p × p array."""
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
        slack = 2 * PRODUCT_ROUNDING * lengths[where]
        indices[where], squared[where] = smallest(distances, n_neighbors, start, slack=slack)
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
    """Turn inner products into squared distances in place; that of a column to itself is zero."""

    def convert(part: slice) -> None:
        block, norms = products[part], rows[part, None]
        block *= -2.0
        block += norms
        block += cols
        # duplicates, which have equal norms: what remains is rounding error
        block[block < (2 * DUPLICATE_TOLERANCE) * norms] = 0.0

    for_row_blocks(convert, products.shape)
    own = np.arange(len(rows))
    products[own, own + start] = 0.0
    return products


def smallest(distances: Floats, count: int, start: int = 0, /, *, slack: Floats | None = None) -> tuple[Ints, Floats]:
    """Positions and values of the `count` smallest of every row without its own position, which is overwritten.

    Values that differ by rounding, of `slack` in each row, count as equal, and are taken in the order of positions.
    """
    own = np.arange(len(distances))
    distances[own, own + start] = np.inf
    found = select_smallest(distances, count, slack)
    return nearest_first(np.take_along_axis(distances, found, axis=1), found, count, slack)


def kth_smallest(distances: Floats, k: int, /) -> Floats:
    """Squared distance to the k-th neighbour, the feature itself not counted."""
    found: Floats = np.empty(len(distances))

    def search(part: slice) -> None:
        # the zero of the feature itself comes first, so the k-th neighbour is at index k
        found[part] = np.partition(distances[part], k, axis=1)[:, k]

    for_row_blocks(search, distances.shape)
    return found
