"""Defaults that look at the data: how many neighbours, which graph, how many eigenvectors.

The sweep behind every number here is `benchmarks/defaults.py`; docs/defaults.md shows what it found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ._typing import Floats, Matrix
from .disc import KEPT, Disc, Geometry, Settings, as_points, from_walks, limited
from .graph import Columns, Neighbors, nearest, smallest, squared_distances
from .spectrum import walk_eigenvectors

#: more neighbours than this blur groups of 25 features, fewer lose the gap in σ
NEIGHBORS = 25
#: eigenvectors of the other conditions to project off, unless their spectrum shows more
EIGENVECTORS = 20
#: how far down the spectrum a gap is looked for
MOST_EIGENVECTORS = 40
#: a dense graph is worth trying up to this many features
DENSE_FEATURES = 2000
#: the dense graph is taken when its gaps in σ are this much wider, in geometric mean over conditions
DENSE_WINS = 1.4


@dataclass(frozen=True, slots=True)
class Request:
    """What the user settled and what is left to the data (`None`, or `"auto"` for the graph)."""

    graph: Literal["auto", "dense", "knn"] = "auto"
    n_neighbors: int | None = None
    n_eigenvectors: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """Settled settings, and the result that was computed on the way to them."""

    settings: Settings
    result: Disc


def neighbors_for(n_features: int, /) -> int:
    """Return 25 neighbours, or a fifth of the features where there are few."""
    return max(1, min(NEIGHBORS, n_features // 5, n_features - 1))


def eigenvectors_for(eigenvalues: Floats, n_features: int, n_conditions: int, /) -> int:
    """Return how many eigenvectors of a condition to project off.

    At least 20, or a twelfth of the features where there are few; more where the eigenvalues fall clearly
    only later, because structure that all conditions share must not be left in. Together the other
    conditions never take more than a third of the room.
    """
    most = max(1, n_features // (3 * max(1, n_conditions - 1)))
    base = max(2, min(EIGENVECTORS, n_features // 12))
    return min(most, max(base, _last_clear_drop(eigenvalues)))


def _last_clear_drop(eigenvalues: Floats) -> int:
    values = np.maximum(eigenvalues[1:], 1e-12)
    if len(values) < 3:
        return len(eigenvalues)
    drops = np.log(values[:-1] / values[1:])
    largest = int(drops.argmax())
    # a gap counts when it towers over the usual fall; a smooth spectrum has none
    return largest + 2 if drops[largest] > max(0.15, 8.0 * float(np.median(drops))) else 1


def choose(matrices: Sequence[Matrix], request: Request, base: Settings, /) -> Chosen:
    """Settle what was left open, and return the result for the settled values."""
    points = as_points(matrices, base.standardize)
    p = points[0].n_features
    k = neighbors_for(p) if request.n_neighbors is None else request.n_neighbors
    settings = replace(base, n_neighbors=k)
    kinds = _graphs_to_try(request.graph, p)
    geometries = [_geometry(c, settings, kinds) for c in points]
    tried = [_settled(geometries, replace(settings, graph=kind), request, p) for kind in kinds]
    if len(tried) == 1:
        return tried[0]
    nearest_only, dense = tried
    wider = np.mean([_gap(d) - _gap(s) for d, s in zip(dense.result.sigma, nearest_only.result.sigma, strict=True)])
    return dense if wider > np.log(DENSE_WINS) else nearest_only


def _graphs_to_try(graph: Literal["auto", "dense", "knn"], p: int) -> tuple[Literal["dense", "knn"], ...]:
    if graph != "auto":
        return (graph,)
    return ("knn", "dense") if p <= DENSE_FEATURES else ("knn",)


def _geometry(points: Columns, settings: Settings, kinds: Sequence[str]) -> Geometry:
    kept = min(KEPT * settings.n_neighbors, points.n_features - 1)
    if "dense" not in kinds:
        return Geometry(None, nearest(points, kept, metric=settings.metric))
    squared = squared_distances(points, metric=settings.metric)
    if "knn" not in kinds:
        return Geometry(squared, None)
    neighbors = Neighbors(*smallest(squared, kept))
    np.fill_diagonal(squared, 0.0)
    return Geometry(squared, neighbors)


def _settled(geometries: Sequence[Geometry], settings: Settings, request: Request, p: int) -> Chosen:
    walks = [geometry.walk(settings) for geometry in geometries]
    if request.n_eigenvectors is not None:
        settings = limited(replace(settings, n_eigenvectors=request.n_eigenvectors), p)
        return Chosen(settings, from_walks(walks, settings))
    most = max(2, min(MOST_EIGENVECTORS, p // 4))
    pairs = [walk_eigenvectors(walk, most, seed=settings.seed) for walk in walks]
    counts = tuple(eigenvectors_for(values, p, len(walks)) for values, _ in pairs)
    settings = limited(replace(settings, n_eigenvectors=counts), p)
    return Chosen(settings, from_walks(walks, settings, known=pairs))


def _gap(sigma: Floats) -> float:
    """Logarithm of the largest ratio of neighbouring σ."""
    if len(sigma) < 2:
        return 0.0
    sigma = np.maximum(sigma, 1e-12)
    return float(np.log(sigma[:-1] / sigma[1:]).max())
