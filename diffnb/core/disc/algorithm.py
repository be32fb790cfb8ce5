"""DiSC: groups of features whose connectivity differs between conditions (Algorithms 1 and 2 of the paper).

Sristi, Mishne & Jaffe, "DiSC: Differential Spectral Clustering of Features", NeurIPS 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from ..arrays.affine import AffineMap, inverse, standardized
from ..arrays.gram_stats import GramStats, gram_fits, gram_stats
from ..arrays.ops import moments_of_each
from ..runtime.threads import thread_limits
from ..spectral.distances import Metric, kth_smallest, squared_distances
from ..spectral.eigen import complement, right_singular_pairs, walk_eigenvectors
from ..spectral.feature_knn import Search, nearest_features
from ..spectral.kernels import KernelFunction, bandwidths, dense_weights, knn_weights
from ..spectral.points import Columns, points_of, standardized_within
from ..spectral.walk import Walk, random_walk
from ..typing import Floats, Matrix, Standardize

GraphKind: TypeAlias = Literal["dense", "knn"]
#: eigenvalues in falling order, and eigenvectors as columns
Eigenpairs: TypeAlias = tuple[Floats, Floats]

#: neighbours kept per feature in a nearest-neighbour graph, in units of n_neighbors
KEPT = 2


@dataclass(frozen=True, slots=True)
class Settings:
    """All that DiSC needs to know besides the data; every number is settled."""

    n_neighbors: int
    n_eigenvectors: tuple[int, ...]
    graph: GraphKind = "dense"
    #: how a nearest-neighbour graph finds its neighbours
    neighbors: Search = "exact"
    n_components: int = 10
    metric: Metric = "euclidean"
    standardize: Standardize | None = None
    kernel: str | KernelFunction = "self_tuning"
    density_normalize: bool = True
    #: True puts the constant eigenvector among the projected ones; False leaves it out, as the authors' code does
    project_trivial: bool = True
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Disc:
    """What DiSC found: per condition, vectors over features and their significance levels."""

    #: conditions × features × components
    vectors: Floats
    #: conditions × components
    sigma: Floats
    #: per condition, the leading eigenvalues of its random walk
    eigenvalues: list[Floats]


def disc(matrices: Sequence[Matrix], settings: Settings, /) -> Disc:
    """Differential vectors of every condition against the span of all others (Eqs. 6, 7; 19–21)."""
    with thread_limits(matrices[0].shape[1]):
        points = as_points(matrices, settings.standardize)
        return from_walks([feature_walk(c, settings) for c in points], settings)


def as_points(matrices: Sequence[Matrix], standardize: Standardize | None, /) -> list[Columns]:
    """Return the features of every condition as points, standardised over all observations or within conditions."""
    if gram_fits(matrices[0]):
        return points_from_sums([(sums,) for sums in gram_stats(matrices)], standardize)
    if standardize is None:
        return [points_of(x) for x in matrices]
    if standardize == "within":
        return [standardized_within(x) for x in matrices]
    mean, sd = pooled_moments(matrices)
    return [Columns((standardized(x, mean, inverse(sd)),)) for x in matrices]


def points_from_sums(conditions: Sequence[Sequence[GramStats]], standardize: Standardize | None, /) -> list[Columns]:
    """Return the same from sums, one or more for every condition."""
    if standardize is None:
        return [Columns(tuple(parts)) for parts in conditions]
    if standardize == "within":
        # around the origin: what is standardised may stand anywhere, and there no digits are lost
        return [Columns(tuple(replace(s, map=AffineMap(s.origin)) for s in parts), within=True) for parts in conditions]
    together = Columns(tuple(replace(s, map=AffineMap(s.origin)) for parts in conditions for s in parts))
    apart, sd = together.moments()
    pooled = AffineMap(conditions[0][0].origin + apart, inverse(sd))
    return [Columns(tuple(replace(s, map=pooled) for s in parts)) for parts in conditions]


def pooled_moments(matrices: Sequence[Matrix], /) -> tuple[Floats, Floats]:
    """Mean and standard deviation of every feature over the observations of all conditions."""
    sizes = np.array([x.shape[0] for x in matrices], dtype=float)
    moments = moments_of_each(matrices)
    means = np.stack([mean for mean, _ in moments])
    share = (sizes / sizes.sum())[:, None]
    mean = (share * means).sum(axis=0)
    variance = (share * (np.stack([variance for _, variance in moments]) + (means - mean) ** 2)).sum(axis=0)
    return mean, np.sqrt(variance)


def kept_neighbors(n_neighbors: int, n_features: int, /) -> int:
    """Return how many neighbours a feature keeps in a nearest-neighbour graph."""
    return min(KEPT * n_neighbors, n_features - 1)


def feature_walk(points: Columns, settings: Settings, /) -> Walk:
    """Random walk on the features of one condition."""
    k = settings.n_neighbors
    weights: Any
    if settings.graph == "dense":
        squared = squared_distances(points, metric=settings.metric)
        weights = dense_weights(squared, bandwidths(kth_smallest(squared, k)), kernel=settings.kernel)
    else:
        neighbors = nearest_features(
            points,
            kept_neighbors(k, points.n_features),
            metric=settings.metric,
            search=settings.neighbors,
            seed=settings.seed,
        )
        weights = knn_weights(neighbors, bandwidths(neighbors.squared[:, k - 1]), kernel=settings.kernel)
    return random_walk(weights, density_normalize=settings.density_normalize)


def from_walks(walks: Sequence[Walk], settings: Settings, /, *, known: Sequence[Eigenpairs] | None = None) -> Disc:
    """Differential vectors from random walks, every condition against the others.

    `known` eigenpairs, at least as many as the settings ask for, are not computed again.
    """
    counts = settings.n_eigenvectors
    if known is None:
        pairs = [spanning(walk, count, settings) for walk, count in zip(walks, counts, strict=True)]
    else:
        first = 0 if settings.project_trivial else 1
        pairs = [
            (values, vectors[:, first : first + count]) for (values, vectors), count in zip(known, counts, strict=True)
        ]
    spans = [vectors for _, vectors in pairs]
    found = [differential(walks[m], spans[:m] + spans[m + 1 :], settings) for m in range(len(walks))]
    return Disc(
        vectors=np.stack([vectors for _, vectors in found]),
        sigma=np.stack([sigma for sigma, _ in found]),
        eigenvalues=[values for values, _ in pairs],
    )


def spanning(walk: Walk, count: int, settings: Settings, /) -> tuple[Floats, Floats]:
    """Eigenvalues and the eigenvectors U that other conditions are projected off."""
    if settings.project_trivial:
        return walk_eigenvectors(walk, count, seed=settings.seed)
    values, vectors = walk_eigenvectors(walk, count + 1, seed=settings.seed)
    return values, vectors[:, 1:]


def differential(walk: Walk, others: Sequence[Floats], settings: Settings, /) -> tuple[Floats, Floats]:
    """Significance levels and differential vectors of one condition against the spans of the others."""
    left_out = 0 if settings.project_trivial else 1
    sigma, vectors = right_singular_pairs(
        walk, complement(others), settings.n_components + left_out, seed=settings.seed
    )
    return sigma[left_out:], vectors[:, left_out:]


def diffusion_map(matrix: Matrix, count: int, settings: Settings, /) -> tuple[Floats, Floats]:
    """Diffusion map of the features of one condition: non-trivial eigenvalues and right eigenvectors of P."""
    return diffusion_maps([matrix], count, settings)[0]


def diffusion_maps(matrices: Sequence[Matrix], count: int, settings: Settings, /) -> list[tuple[Floats, Floats]]:
    """Diffusion maps of the features of each condition, by itself."""
    found = []
    for points in as_points(matrices, settings.standardize):
        values, vectors = walk_eigenvectors(feature_walk(points, settings), count + 1, seed=settings.seed)
        found.append((values[1:], vectors[:, 1:]))
    return found


def limited(settings: Settings, n_features: int, /) -> Settings:
    """Keep the number of components within what is left after the projection."""
    room = n_features - 1 - max(sum(settings.n_eigenvectors) - own for own in settings.n_eigenvectors)
    return replace(settings, n_components=max(1, min(settings.n_components, room)))


def scores(vectors: Floats, sigma: Floats, /) -> Floats:
    """Length of each feature's row in the vectors weighted by σ, over √p, so that 1 is an average feature."""
    weighted = vectors * sigma
    lengths = np.sqrt((weighted**2).sum(axis=1))
    typical = np.sqrt((lengths**2).mean())
    return np.asarray(lengths / typical if typical > 0 else lengths)
