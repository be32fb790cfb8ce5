"""Defaults that depend on the data: how many neighbours, which graph, how many eigenvectors.

The sweep behind every number here is `benchmarks/defaults.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..spectral.distances import Metric
from ..spectral.feature_knn import search_for
from ..spectral.points import Columns
from ..typing import Floats
from .settings import FeatureGraphOptions, FeatureGraphSettings, GraphKind, kept_neighbors

#: with more neighbours groups of 25 features blur, with fewer the gap in σ vanishes
DEFAULT_NEIGHBORS = 25
#: eigenvectors of another condition to project off where its spectrum is smooth, and at least where it has a gap
SMOOTH_EIGENVECTORS, MIN_EIGENVECTORS = 20, 10
#: and of all other conditions together where spectra are smooth
SMOOTH_EIGENVECTORS_TOGETHER = 60
#: eigenvalues among which a gap is searched
MAX_EIGENVECTORS = 40
#: a dense graph needs several p × p arrays: 200 MB each at this many features
MAX_DENSE_FEATURES = 5000
#: features are on one scale if the 90 % quantile of their lengths is below this many times the 10 % quantile
MAX_LENGTH_RATIO = 3.5
#: a gap is a fall in log eigenvalues above both of these: absolute, and relative to the median fall
MIN_GAP, MIN_GAP_RATIO = 0.15, 8.0


def resolve_graph(points: Sequence[Columns], options: FeatureGraphOptions, /) -> FeatureGraphSettings:
    """Resolve what the options leave to the data."""
    p = points[0].n_features
    n_neighbors = neighbors_for(p) if options.n_neighbors == "auto" else options.n_neighbors
    kind = graph_for(points, options.metric) if options.kind == "auto" else options.kind
    return FeatureGraphSettings(
        n_neighbors,
        kind,
        # a dense graph computes every distance
        search="exact" if kind == "dense" else search_for(points[0], kept_neighbors(n_neighbors, p), options.search),
        metric=options.metric,
        standardize=options.standardize,
        kernel=options.kernel,
        density_normalize=options.density_normalize,
        seed=options.seed,
    )


def neighbors_for(n_features: int, /) -> int:
    """Return 25 neighbours, or a fifth of the features where there are few."""
    return max(1, min(DEFAULT_NEIGHBORS, n_features // 5, n_features - 1))


def graph_for(points: Sequence[Columns], metric: Metric, /) -> GraphKind:
    """Return the dense graph for features on one scale, nearest neighbours otherwise or where there are many.

    On one scale all pairs of unrelated features are about equally distant. A dense kernel averages over this flat
    background, whereas the nearest neighbours of an unrelated feature are random. On many scales a long feature
    connects to all others through the dense kernel, and its nearest neighbours are more informative.
    """
    if points[0].n_features > MAX_DENSE_FEATURES:
        return "knn"
    return "dense" if metric != "euclidean" or all(_on_one_scale(c) for c in points) else "knn"


def _on_one_scale(points: Columns) -> bool:
    short, long = np.quantile(np.sqrt(points.norms()), [0.1, 0.9])
    return bool(long < MAX_LENGTH_RATIO * short)


def n_eigenvalues_for(n_features: int, /) -> int:
    """Return how many eigenvalues of a condition `eigenvectors_for` needs."""
    return max(2, min(MAX_EIGENVECTORS, n_features // 4))


@dataclass(frozen=True, slots=True)
class EigenvectorCount:
    """How many eigenvectors of a condition to project off, and what decided it."""

    value: int
    #: whether no gap in the spectrum singles out a number
    smooth: bool
    #: whether the gap, or the rule without one, asks for more than can be projected off
    limited: bool

    def describe(self) -> str:
        """Return a sentence on what is undecided about the number; an empty string where a gap decided it."""
        if self.limited:
            return f"n_eigenvectors={self.value} is the largest number that leaves enough dimensions."
        return f"n_eigenvectors={self.value} is the default: the spectrum has no gap." if self.smooth else ""


def eigenvectors_for(eigenvalues: Floats, n_features: int, n_conditions: int, /) -> int:
    """Return how many eigenvectors of a condition to project off; see `eigenvector_count`."""
    return eigenvector_count(eigenvalues, n_features, n_conditions).value


def eigenvector_count(eigenvalues: Floats, n_features: int, n_conditions: int, /) -> EigenvectorCount:
    """Choose how many eigenvectors of a condition to project off.

    If the eigenvalues have a gap, those before it and a quarter more, because structure that all conditions share must
    be projected off; at least 10, because structure may be finer than the gap suggests. In a smooth spectrum 20, and
    fewer with many other conditions: what all share is projected off with any of them, and with all of them together
    little would remain. Without a gap at most a twelfth of the features; all other conditions together at most a
    third of them.
    """
    n_others = max(1, n_conditions - 1)
    largest = max(1, n_features // (3 * n_others))
    twelfth = max(2, n_features // 12)
    before_gap = _n_before_gap(eigenvalues)
    if before_gap:
        wanted = max(min(MIN_EIGENVECTORS, twelfth), before_gap + before_gap // 4)
    else:
        wanted = min(SMOOTH_EIGENVECTORS, twelfth, max(2, SMOOTH_EIGENVECTORS_TOGETHER // n_others))
    value = min(largest, len(eigenvalues), wanted)
    return EigenvectorCount(value, smooth=not before_gap, limited=value < wanted)


def _n_before_gap(eigenvalues: Floats) -> int:
    """Return the number of eigenvalues before a fall much larger than the median one; 0 for a smooth spectrum."""
    values = np.maximum(eigenvalues[1:], 1e-12)
    if len(values) < 3:
        return 0
    falls = np.log(values[:-1] / values[1:])
    largest = int(falls.argmax())
    return largest + 2 if falls[largest] > max(MIN_GAP, MIN_GAP_RATIO * float(np.median(falls))) else 0


def components_for(n_components: int, n_eigenvectors: Sequence[int], n_features: int, /) -> int:
    """Limit the number of components to the dimensions that remain after the projection."""
    remaining = n_features - 1 - max(sum(n_eigenvectors) - own for own in n_eigenvectors)
    return max(1, min(n_components, remaining))
