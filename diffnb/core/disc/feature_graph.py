"""The graph of features of each condition, and the random walk on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays.affine import AffineMap, inverse, standardized
from ..arrays.count_correlations import count_correlations, shrinkage_noise
from ..arrays.count_moments import Counts, fit_damping
from ..arrays.gram_stats import GramStats, gram_fits, gram_stats
from ..arrays.ops import pooled_moments
from ..runtime.threads import thread_limits
from ..spectral.distances import kth_smallest, squared_distances
from ..spectral.feature_knn import nearest_features
from ..spectral.kernels import bandwidths, dense_weights, knn_weights
from ..spectral.points import Columns, points_of, standardized_within
from ..spectral.walk import Walk, random_walk
from ..typing import Matrix, Standardize
from .defaults import resolve_graph
from .settings import FeatureGraphOptions, FeatureGraphSettings, kept_neighbors


@dataclass(frozen=True, slots=True)
class FeatureWalks:
    """Random walks on the features, one per condition."""

    settings: FeatureGraphSettings
    walks: list[Walk]


def feature_walks(matrices: Sequence[Matrix], options: FeatureGraphOptions, /) -> FeatureWalks:
    """Build the graph of every condition, and resolve what the options leave to the data."""
    with thread_limits(matrices[0].shape[1]):
        points = as_points(matrices, options.standardize)
        settings = resolve_graph(points, options)
        return FeatureWalks(settings, [feature_walk(c, settings) for c in points])


def as_points(matrices: Sequence[Matrix], standardize: Standardize | None, /) -> list[Columns]:
    """Return the features of every condition as points, standardised over all observations or within conditions.

    From counts, inner products are corrected correlations, shrunk by what may be noise, however features are to be
    standardised.
    """
    if isinstance(matrices[0], Counts):
        return _points_from_counts(matrices)
    if gram_fits(matrices[0]):
        return points_from_stats([(stats,) for stats in gram_stats(matrices)], standardize)
    if standardize is None:
        return [points_of(x) for x in matrices]
    if standardize == "within":
        return [standardized_within(x) for x in matrices]
    mean, variance = pooled_moments(matrices)
    return [Columns((standardized(x, mean, inverse(np.sqrt(variance))),)) for x in matrices]


def _points_from_counts(conditions: Sequence[Counts]) -> list[Columns]:
    damping = fit_damping(conditions)
    noise = shrinkage_noise(conditions, damping)
    return [Columns((count_correlations([counts], damping, noise=noise),), within=True) for counts in conditions]


def points_from_stats(conditions: Sequence[Sequence[GramStats]], standardize: Standardize | None, /) -> list[Columns]:
    """Return the same from sums, one or more for every condition."""
    if standardize is None:
        return [Columns(tuple(parts)) for parts in conditions]
    if standardize == "within":
        # around the origin: the standardised columns do not depend on it, and no precision is lost there
        return [Columns(tuple(replace(s, map=AffineMap(s.origin)) for s in parts), within=True) for parts in conditions]
    everything = Columns(tuple(replace(s, map=AffineMap(s.origin)) for parts in conditions for s in parts))
    offset, sd = everything.moments()
    pooled = AffineMap(conditions[0][0].origin + offset, inverse(sd))
    return [Columns(tuple(replace(s, map=pooled) for s in parts)) for parts in conditions]


def feature_walk(points: Columns, settings: FeatureGraphSettings, /) -> Walk:
    """Random walk on the features of one condition."""
    weights = _dense_weights(points, settings) if settings.kind == "dense" else _knn_weights(points, settings)
    return random_walk(weights, density_normalize=settings.density_normalize)


def _dense_weights(points: Columns, settings: FeatureGraphSettings) -> Any:
    squared = squared_distances(points, metric=settings.metric)
    sigma = bandwidths(kth_smallest(squared, settings.n_neighbors), squared)
    return dense_weights(squared, sigma, kernel=settings.kernel)


def _knn_weights(points: Columns, settings: FeatureGraphSettings) -> Any:
    neighbors = nearest_features(
        points,
        kept_neighbors(settings.n_neighbors, points.n_features),
        metric=settings.metric,
        search=settings.search,
        seed=settings.seed,
    )
    sigma = bandwidths(neighbors.squared[:, settings.n_neighbors - 1], neighbors.squared)
    return knn_weights(neighbors, sigma, kernel=settings.kernel)
