"""Defaults that look at the data: how many neighbours, which graph, how many eigenvectors.

The sweep behind every number here is `benchmarks/defaults.py`; docs/validation/defaults.md shows the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..spectral.distances import Metric
from ..spectral.eigen import walk_eigenvectors
from ..spectral.feature_knn import search_for
from ..spectral.points import Columns
from ..typing import Floats, Matrix
from .algorithm import Disc, GraphKind, Settings, as_points, feature_walk, from_walks, kept_neighbors, limited

#: more neighbours than this blur groups of 25 features, fewer lose the gap in σ
NEIGHBORS = 25
#: eigenvectors of the other conditions to project off where the spectrum is smooth, and at least where it is not
EIGENVECTORS, AT_LEAST = 20, 10
#: and of all other conditions together where the spectrum is smooth
TOGETHER = 60
#: how far down the spectrum a gap is looked for
MOST_EIGENVECTORS = 40
#: a dense graph holds several p × p arrays: 200 MB each at this many features
DENSE_FEATURES = 5000
#: features are on one scale when the 90 % quantile of their lengths is below this many times the 10 % one
ONE_SCALE = 3.5


@dataclass(frozen=True, slots=True)
class Request:
    """What the user settled and what is left to the data (`None`, or `"auto"` for the graph and its neighbours)."""

    graph: Literal["auto", "dense", "knn"] = "auto"
    n_neighbors: int | None = None
    n_eigenvectors: tuple[int, ...] | None = None
    neighbors: Literal["auto", "exact", "approximate"] = "auto"


@dataclass(frozen=True, slots=True)
class Chosen:
    """Settled settings, and the result that was computed on the way to them."""

    settings: Settings
    result: Disc


def neighbors_for(n_features: int, /) -> int:
    """Return 25 neighbours, or a fifth of the features where there are few."""
    return max(1, min(NEIGHBORS, n_features // 5, n_features - 1))


def graph_for(points: Sequence[Columns], metric: Metric, /) -> GraphKind:
    """Return the dense graph for features on one scale, nearest neighbours otherwise or where there are many.

    On one scale every pair of unrelated features is about equally far apart, and a dense kernel averages that
    flat background out, where nearest neighbours of an unrelated feature are chance. On many scales a long
    feature reaches all others through the dense kernel, and its nearest neighbours say more.
    """
    if points[0].n_features > DENSE_FEATURES:
        return "knn"
    return "dense" if metric != "euclidean" or all(_one_scale(c) for c in points) else "knn"


def _one_scale(points: Columns) -> bool:
    short, long = np.quantile(np.sqrt(points.norms()), [0.1, 0.9])
    return bool(long < ONE_SCALE * short)


def eigenvectors_for(eigenvalues: Floats, n_features: int, n_conditions: int, /) -> int:
    """Return how many eigenvectors of a condition to project off.

    Where one fall of the eigenvalues towers over the others, all before it and a quarter more, because
    structure that all conditions share must not be left in; at least 10, because structure may be finer than
    its gap. In a smooth spectrum 20, and fewer where many others are projected off: what they share is taken off
    by any of them, and with all of them together little would be left. Never more than a twelfth of the features
    without a gap, nor, the other conditions together, than a third of them.
    """
    others = max(1, n_conditions - 1)
    most = max(1, n_features // (3 * others))
    few = max(2, n_features // 12)
    gap = _towering_gap(eigenvalues)
    if gap:
        wanted = max(min(AT_LEAST, few), gap + gap // 4)
    else:
        wanted = min(EIGENVECTORS, few, max(2, TOGETHER // others))
    return min(most, len(eigenvalues), wanted)


def _towering_gap(eigenvalues: Floats) -> int:
    """Return the number of eigenvalues before a fall that towers over the usual one; a smooth spectrum has none."""
    values = np.maximum(eigenvalues[1:], 1e-12)
    if len(values) < 3:
        return 0
    falls = np.log(values[:-1] / values[1:])
    largest = int(falls.argmax())
    return largest + 2 if falls[largest] > max(0.15, 8.0 * float(np.median(falls))) else 0


def with_search(settings: Settings, points: Columns, asked: Literal["auto", "exact", "approximate"], /) -> Settings:
    """Settle how neighbours are found; a dense graph has every distance."""
    if settings.graph == "dense":
        return replace(settings, neighbors="exact")
    kept = kept_neighbors(settings.n_neighbors, points.n_features)
    return replace(settings, neighbors=search_for(points, kept, asked))


def choose(matrices: Sequence[Matrix], request: Request, base: Settings, /) -> Chosen:
    """Settle what was left open, and return the result for the settled values."""
    points = as_points(matrices, base.standardize)
    p = points[0].n_features
    settings = replace(
        base,
        n_neighbors=neighbors_for(p) if request.n_neighbors is None else request.n_neighbors,
        graph=graph_for(points, base.metric) if request.graph == "auto" else request.graph,
    )
    settings = with_search(settings, points[0], request.neighbors)
    walks = [feature_walk(c, settings) for c in points]
    if request.n_eigenvectors is not None:
        settings = limited(replace(settings, n_eigenvectors=request.n_eigenvectors), p)
        return Chosen(settings, from_walks(walks, settings))
    looked_at = max(2, min(MOST_EIGENVECTORS, p // 4))
    pairs = [walk_eigenvectors(walk, looked_at, seed=settings.seed) for walk in walks]
    trivial = 0 if settings.project_trivial else 1
    counts = tuple(eigenvectors_for(values, p, len(walks)) - trivial for values, _ in pairs)
    settings = limited(replace(settings, n_eigenvectors=counts), p)
    return Chosen(settings, from_walks(walks, settings, known=pairs))
