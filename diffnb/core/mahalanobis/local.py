"""The local Mahalanobis distance, informed by clusters or not (Lahav, Talmon & Kluger, Section 4).

Every observation has its own metric W_i, from the covariance of its neighbourhood, and
d²(i, j) = ½(‖W_iᵀΔ‖² + ‖W_jᵀΔ‖²) with Δ = c_i − c_j. Metrics are made for a block of observations at a time and used
at once; all of them are never in memory together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..arrays.column_blocks import load_column_blocks
from ..arrays.ops import dense64, matmul
from ..arrays.row_chunks import Chunked
from ..runtime import budget
from ..typing import Floats, Ints, Matrix
from .clusters import cluster_by_products, indicators
from .covariance import SampleCovariance
from .metric import (
    MIN_RELATIVE_EIGENVALUE,
    DirectionSolver,
    Eigenvalues,
    MahalanobisMetric,
    chosen_eigenvalues,
    count_above_noise,
    count_by_hard_threshold,
    descending_eigenpairs,
    inverse_root,
    project_gradients,
)

#: one clustering of features for all neighbourhoods, or one for each; without any it is the plain local metric
Clustering: TypeAlias = Literal["shared", "each"]
CLUSTERINGS = ("shared", "each")
#: neighbourhoods that the number of components is chosen on
MAX_CONSULTED_NEIGHBORHOODS = 200
#: and the numbers in them; not a matter of the memory budget, since the choice depends on it
MAX_CONSULTED_NUMBERS = 8_000_000
#: observations that a neighbourhood counts as in this, where each has its own clustering
NEIGHBORHOOD_OBS_CONSULTED = 20


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """How local metrics are made."""

    n_components: int | Literal["auto"] = "auto"
    solver: DirectionSolver = "exact"
    eigenvalues: Eigenvalues = "pca"
    #: `None`: without clusters
    clustering: Clustering | None = None
    #: clusters of each neighbourhood, where each has its own clustering
    n_clusters: int = 2


@dataclass(frozen=True, slots=True)
class LocalMetrics:
    """Local metrics of all observations, computed on demand."""

    #: observations × coordinates, the space of Δ and W_i
    coordinates: Matrix
    #: W_i of some observations: observations × coordinates × components
    factors: Callable[[Ints], Floats]
    n_components: int
    #: where coordinates are read in row blocks: the same with the rows of some observations loaded
    with_rows_loaded: Callable[[Ints], LocalMetrics] | None = None


@dataclass(frozen=True, slots=True)
class RowCache:
    """Some loaded rows of a matrix that is read in row blocks, indexed as in the whole matrix."""

    rows: Ints
    block: Matrix
    shape: tuple[int, int]

    def __getitem__(self, rows: Ints) -> Matrix:
        return self.block[np.searchsorted(self.rows, rows)]


def cache_rows(x: Matrix, rows: Ints, /) -> Matrix:
    """Load some rows, all in one pass; a matrix that is in memory stays as it is."""
    if not isinstance(x, Chunked):
        return x
    wanted = np.unique(rows)
    return RowCache(wanted, x[wanted].load(), x.shape)


def local_metrics(
    data: SampleCovariance,
    neighborhoods: Ints,
    options: LocalOptions,
    /,
    *,
    fallback: MahalanobisMetric,
    labels: Ints | None = None,
) -> LocalMetrics:
    """Prepare local metrics on neighbourhoods, observations × N, the observation itself included (Algorithm 2).

    `labels` are the clusters that all neighbourhoods share. A neighbourhood of duplicates has no covariance: its
    observation gets the global metric `fallback`.
    """
    make = _with_own_clusters if options.clustering == "each" else _without_clusters
    if options.clustering != "shared" and isinstance(data.x, Chunked):
        return _by_passes(data, neighborhoods, options, fallback, make)
    # CSR, since rows of a CSC matrix would be searched for in every column
    data = replace(data, x=data.x.tocsr()) if sp.issparse(data.x) else data
    if options.clustering == "shared":
        assert labels is not None
        return _with_shared_clusters(data, neighborhoods, options, fallback, indicators(labels))
    return make(data, neighborhoods, options, fallback)


def _by_passes(
    data: SampleCovariance,
    neighborhoods: Ints,
    options: LocalOptions,
    fallback: MahalanobisMetric,
    make: Callable[[SampleCovariance, Ints, LocalOptions, MahalanobisMetric], LocalMetrics],
) -> LocalMetrics:
    """Prepare metrics of data that is read in row blocks: a pass loads the rows of many observations."""
    local = make(data, neighborhoods, options, fallback)
    resolved = replace(options, n_components=local.n_components)

    def with_rows_loaded(rows: Ints) -> LocalMetrics:
        return make(replace(data, x=cache_rows(data.x, rows)), neighborhoods, resolved, fallback)

    return replace(local, with_rows_loaded=with_rows_loaded)


def squared_distances_from(local: LocalMetrics, rows: Ints, /) -> Floats:
    """‖W_iᵀ(c_i − c_j)‖² of some observations i to all observations j."""
    w = local.factors(rows)
    b, q, d = w.shape
    stacked = np.ascontiguousarray(w.transpose(1, 0, 2)).reshape(q, b * d)
    projected = matmul(local.coordinates, stacked).reshape(-1, b, d)
    projected -= projected[rows, np.arange(b)]
    return np.asarray(np.einsum("jbd,jbd->bj", projected, projected))


def all_distances(local: LocalMetrics, /, *, progress: Callable[[Iterator[Ints]], Iterator[Ints]] = iter) -> Floats:
    """Distances between all observations (Eq. 48)."""
    n = local.coordinates.shape[0]
    squared = np.empty((n, n))
    for rows in progress(observation_blocks(n, local.n_components * n)):
        squared[rows] = squared_distances_from(local, rows)
    squared = (squared + squared.T) / 2
    np.fill_diagonal(squared, 0.0)
    return np.sqrt(squared)


def observation_blocks(n_obs: int, numbers_each: int, /) -> Iterator[Ints]:
    """Split observations into consecutive blocks that fit in memory, each observation with `numbers_each` numbers."""
    step = budget.count(8 * numbers_each)
    for start in range(0, n_obs, step):
        yield np.arange(start, min(start + step, n_obs))


def consulted_observations(n_obs: int, numbers_each: int, /) -> Ints:
    """Return the evenly spaced observations whose neighbourhoods stand for all."""
    count = min(n_obs, MAX_CONSULTED_NEIGHBORHOODS, max(1, MAX_CONSULTED_NUMBERS // max(1, numbers_each)))
    return np.unique(np.linspace(0, n_obs - 1, count).astype(int))


def _with_shared_clusters(
    data: SampleCovariance, neighborhoods: Ints, options: LocalOptions, fallback: MahalanobisMetric, h: Floats
) -> LocalMetrics:
    z = matmul(data.x, h)
    n, m = data.shape
    size = neighborhoods.shape[1]

    def products_of(rows: Ints) -> Floats:
        return _products(_centered(_gathered(data.x, neighborhoods[rows])))

    d = options.n_components
    if d == "auto":
        consulted = consulted_observations(n, m * size)
        d = _count_in_span(_centered(z[neighborhoods[consulted]]), products_of(consulted), m)
    factor = _cut_or_padded(h.T @ fallback.factor, d)
    needs_products = options.eigenvalues != "own" or options.solver == "gradient"

    if isinstance(data.x, Chunked) and needs_products:
        # small enough to keep for all: else the rows of neighbourhoods would be read again and again
        all_factors = np.empty((n, h.shape[1], d))
        for rows, products in _neighborhood_products_read(data.x, neighborhoods):
            around = _centered(z[neighborhoods[rows]])
            all_factors[rows] = _factors_in_span(around, products, options, factor, data.trace)
        return LocalMetrics(z, all_factors.__getitem__, d)

    def factors(rows: Ints) -> Floats:
        w = np.empty((rows.size, h.shape[1], d))
        for block in observation_blocks(rows.size, size * m):
            around = _centered(z[neighborhoods[rows[block]]])
            products = products_of(rows[block]) if needs_products else None
            w[block] = _factors_in_span(around, products, options, factor, data.trace)
        return w

    return LocalMetrics(z, factors, d)


def _neighborhood_products_read(x: Chunked, neighborhoods: Ints) -> Iterator[tuple[Ints, Floats]]:
    """Inner products within neighbourhoods, summed over column blocks, for as many observations as fit in memory."""
    n, size = neighborhoods.shape
    step = budget.count(8 * size**2, "kept")
    for start in range(0, n, step):
        group = np.arange(start, min(start + step, n))
        total = np.zeros((group.size, size, size))
        around = neighborhoods[group]
        rows, places = np.unique(around, return_inverse=True)
        places = places.reshape(around.shape)
        for where, (columns,) in load_column_blocks([x[rows]]):
            columns = columns.tocsr() if sp.issparse(columns) else columns
            for block in observation_blocks(group.size, size * (where.stop - where.start)):
                total[block] += _products(_centered(_gathered(columns, places[block])))
        yield group, total


def _with_own_clusters(
    data: SampleCovariance, neighborhoods: Ints, options: LocalOptions, fallback: MahalanobisMetric
) -> LocalMetrics:
    n, m = data.shape

    def clustered(row: int, x: Matrix) -> tuple[Floats, Floats, Floats]:
        """Return indicators of the clusters of a neighbourhood, its coordinates in their span, and its products."""
        raw = _gathered(x, neighborhoods[row][None])
        h = indicators(cluster_by_products(raw[0].T @ raw[0], options.n_clusters))
        centered = _centered(raw)
        return h, centered @ h, _products(centered)

    d = options.n_components
    if d == "auto":
        consulted = consulted_observations(n, NEIGHBORHOOD_OBS_CONSULTED * m)
        x = cache_rows(data.x, neighborhoods[consulted])
        found = [clustered(int(i), x) for i in consulted]
        d = int(np.median([_count_in_span(z, products, m) for _, z, products in found]))

    def factors(rows: Ints) -> Floats:
        w = np.zeros((rows.size, m, d))
        for block in observation_blocks(rows.size, neighborhoods.shape[1] * m):
            x = cache_rows(data.x, neighborhoods[rows[block]])
            for place in block:
                h, z, products = clustered(int(rows[place]), x)
                factor = _cut_or_padded(h.T @ fallback.factor, d)
                w[place] = h @ _factors_in_span(z, products, options, factor, data.trace)[0]
        return w

    return LocalMetrics(data.x, factors, d)


def _without_clusters(
    data: SampleCovariance, neighborhoods: Ints, options: LocalOptions, fallback: MahalanobisMetric
) -> LocalMetrics:
    n, m = data.shape
    size = neighborhoods.shape[1]
    d = options.n_components
    if d == "auto":
        consulted = neighborhoods[consulted_observations(n, m * size)]
        values = descending_eigenpairs(_products(_centered(_gathered(data.x, consulted))))[0] / (size - 1)
        d = count_by_hard_threshold(values[:, : min(size - 1, m)], size, m)
    factor = _cut_or_padded(fallback.factor, d)

    def factors(rows: Ints) -> Floats:
        w = np.empty((rows.size, m, d))
        for block in observation_blocks(rows.size, size * m):
            centered = _centered(_gathered(data.x, neighborhoods[rows[block]]))
            values, left = descending_eigenpairs(_products(centered))
            values = values[:, :d] / (size - 1)
            trace = np.einsum("bij,bij->b", centered, centered) / (size - 1)
            used = chosen_eigenvalues(options.eigenvalues, values, values, trace, size)
            # U = Xᵀ E Λ^(−½) / √(N − 1), of unit length
            roots = inverse_root(values) * inverse_root(used) / np.sqrt(size - 1)
            w[block] = np.swapaxes(centered, 1, 2) @ (left[:, :, :d] * roots[:, None])
            w[block[_without_variance(values, data.trace)]] = factor
        return w

    return LocalMetrics(data.x, factors, d)


def _factors_in_span(
    z: Floats, products: Floats | None, options: LocalOptions, fallback: Floats, trace_of_all: float
) -> Floats:
    """W_i in the span of clusters, from centred neighbourhoods there and their inner products over all features."""
    d, size = fallback.shape[1], z.shape[1]
    within = np.swapaxes(z, 1, 2) @ z / (size - 1)
    values, vectors = descending_eigenpairs(within)
    own, weights = values[:, :d], vectors[:, :, :d]
    pca, trace = own, np.zeros(len(z))
    if products is not None:
        trace = np.trace(products, axis1=1, axis2=2) / (size - 1)
        pca = _cut_or_padded(np.maximum(np.linalg.eigvalsh(products)[:, ::-1], 0.0) / (size - 1), d)
    if options.solver == "gradient":
        assert products is not None
        left = descending_eigenpairs(products)[1]
        # HᵀU of the local principal components, U = Xᵀ E Λ^(−½) / √(N − 1)
        start = np.swapaxes(z, 1, 2) @ (_cut_or_padded(left, d) * (inverse_root(pca) / np.sqrt(size - 1))[:, None])
        weights = project_gradients(within, start)
        own = np.einsum("bki,bkl,bli->bi", weights, within, weights)
    used = chosen_eigenvalues(options.eigenvalues, own, pca, trace, size)
    w = weights * inverse_root(used)[:, None]
    w[_without_variance(values, trace_of_all)] = fallback
    return np.asarray(w)


def _count_in_span(z: Floats, products: Floats, m: int) -> int:
    size = z.shape[1]
    values, _ = descending_eigenpairs(np.swapaxes(z, 1, 2) @ z / (size - 1))
    trace = np.trace(products, axis1=1, axis2=2) / (size - 1)
    return int(min(count_above_noise(values, trace, m, size), size - 1))


def _without_variance(values: Floats, trace_of_all: float) -> Ints:
    """Return the neighbourhoods whose largest variance is rounding of that of all data."""
    return np.flatnonzero(values[:, 0] <= MIN_RELATIVE_EIGENVALUE * trace_of_all)


def _gathered(x: Matrix, around: Ints) -> Floats:
    return dense64(x[around.ravel()]).reshape(*around.shape, x.shape[1])


def _centered(z: Floats) -> Floats:
    return np.asarray(z - z.mean(axis=1, keepdims=True))


def _products(centered: Floats) -> Floats:
    return np.asarray(centered @ np.swapaxes(centered, 1, 2))


def _cut_or_padded(values: Floats, d: int) -> Floats:
    """Cut the last axis to `d` entries, or pad it with zeros."""
    if values.shape[-1] >= d:
        return values[..., :d]
    return np.concatenate([values, np.zeros((*values.shape[:-1], d - values.shape[-1]))], axis=-1)
