"""Graphs of features: distances between columns, kernels, and the random walk on them.

The walk P = diag(K1)⁻¹K is kept as its symmetric twin, P = diag(1/h) S diag(h) with h = √(K1), because
S has the same eigenvalues and orthogonal eigenvectors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from ._typing import Floats, Ints, Matrix
from .arrays import cross, dense64, gram, mean_and_variance
from .chunked import Chunked
from .sums import Summed
from .threads import by_rows

Metric: TypeAlias = Literal["euclidean", "correlation", "cosine"]
#: (distance, bandwidth of one end, bandwidth of the other end) → weight, all arrays of one shape
KernelFunction: TypeAlias = Callable[[Floats, Floats, Floats], Floats]
Kernel: TypeAlias = Literal["self_tuning", "self_tuning_product", "rbf"] | KernelFunction

METRICS = ("euclidean", "correlation", "cosine")
KERNELS = ("self_tuning", "self_tuning_product", "rbf")
#: numbers in one block of distances, 320 MB
DISTANCE_BLOCK = 40_000_000
#: squared distances below this share of the squared norms are rounding: the features are duplicates
DUPLICATE = 1e-13
#: a variance below this share of the mean square is rounding: the feature is constant
ROUNDING = 1e-14


@dataclass(frozen=True, slots=True)
class Part:
    """Some observations of the points: (x − shift) · scale, the affine part never made dense."""

    x: Matrix
    shift: Floats | None = None
    scale: Floats | None = None

    @property
    def n_obs(self) -> int:
        """Number of coordinates of every point."""
        return int(self.x.shape[0])

    @property
    def n_features(self) -> int:
        """Number of points."""
        return int(self.x.shape[1])

    def moments(self) -> tuple[Floats, Floats]:
        """Mean and mean square of every column."""
        mean, variance = mean_and_variance(self.x)
        if self.shift is not None:
            mean = mean - self.shift
        square = variance + mean**2
        return (mean, square) if self.scale is None else (mean * self.scale, square * self.scale**2)

    def inner(self, where: slice) -> Floats:
        """Inner products of the columns in `where` with all columns."""
        whole = where.start == 0 and where.stop == self.x.shape[1]
        products = gram(self.x) if whole else cross(self.x[:, where], self.x)
        if self.shift is not None:
            mean = mean_and_variance(self.x)[0]
            shifted = np.outer(mean[where], self.shift)
            shifted += np.outer(self.shift[where], mean - self.shift)
            products -= self.x.shape[0] * shifted
        if self.scale is not None:
            products *= self.scale[where, None]
            products *= self.scale
        return products


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of one condition as points, over one or more parts of the observations.

    With `within`, the columns are standardised over all parts together.
    """

    parts: tuple[Part | Summed, ...]
    within: bool = False

    @property
    def n_features(self) -> int:
        """Number of points."""
        return self.parts[0].n_features

    @property
    def n_obs(self) -> int:
        """Number of coordinates of every point."""
        return sum(part.n_obs for part in self.parts)

    def moments(self) -> tuple[Floats, Floats]:
        """Mean and standard deviation of every column; a spread that is rounding of the mean is none."""
        shares = [part.n_obs / self.n_obs for part in self.parts]
        moments = [part.moments() for part in self.parts]
        mean = np.sum([w * m for w, (m, _) in zip(shares, moments, strict=True)], axis=0)
        square = np.sum([w * q for w, (_, q) in zip(shares, moments, strict=True)], axis=0)
        variance = square - mean**2
        return mean, np.sqrt(np.where(variance > ROUNDING * square, variance, 0.0))

    def inner(self, where: slice | None = None) -> Floats:
        """Inner products of the columns in `where` (all by default) with all columns."""
        where = slice(0, self.n_features) if where is None else where
        products = self.parts[0].inner(where)
        for part in self.parts[1:]:
            products += part.inner(where)
        if self.within:
            mean, sd = self.moments()
            inverse = _inverse(sd)
            products -= self.n_obs * np.outer(mean[where], mean)
            products *= inverse[where, None]
            products *= inverse
            # a feature without spread has no direction: a point of its own, as long as the others
            silent = np.flatnonzero(sd[where] == 0)
            products[silent, silent + where.start] = self.n_obs
        return products

    def norms(self) -> Floats:
        """Squared length of every point."""
        if self.within:
            return np.full(self.n_features, float(self.n_obs))
        return np.asarray(sum(part.n_obs * part.moments()[1] for part in self.parts))


def _inverse(values: Floats) -> Floats:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def points_of(x: Matrix, /) -> Columns:
    """Return the columns as they are."""
    return Columns((Part(x),))


def standardized(x: Matrix, /, *, mean: Floats, sd: Floats) -> Part:
    """Return the columns less `mean` over `sd`, dense ones computed, sparse ones left as they are."""
    if isinstance(x, Chunked) and not x.is_sparse:
        return Part(x.less(mean), scale=_inverse(sd))
    if isinstance(x, Chunked) or sp.issparse(x):
        return Part(x, shift=mean, scale=_inverse(sd))
    moved = dense64(x) - mean
    moved *= _inverse(sd)
    return Part(moved)


def standardized_within(x: Matrix, /) -> Columns:
    """Standardise every column by its own mean and standard deviation."""
    if sp.issparse(x):
        return Columns((Part(x),), within=True)
    # centred first, so that a large mean costs no digits
    if isinstance(x, Chunked):
        return Columns((Part(x.less(mean_and_variance(x)[0])),), within=True)
    return Columns((Part(dense64(x) - mean_and_variance(x)[0]),), within=True)


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
    width = max(1, DISTANCE_BLOCK // p)
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
    inverse = _inverse(np.sqrt(norms))
    products *= inverse[where, None]
    products *= inverse
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
        block[block < (2 * DUPLICATE) * norms] = 0.0

    by_rows(convert, products.shape)
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

    by_rows(search, distances.shape)
    squared = np.take_along_axis(distances, found, axis=1)
    # by distance, then by position: the same neighbours whatever the blocks
    order = np.lexsort((found, squared), axis=1)
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(squared, order, axis=1)


def bandwidths(squared_kth: Floats, /) -> Floats:
    """Local scales σ from squared distances to the k-th neighbour; zero ones take the smallest that is not."""
    positive = squared_kth > 0
    floor = squared_kth[positive].min() if positive.any() else 1.0
    return np.sqrt(np.where(positive, squared_kth, floor))


def kth_smallest(distances: Floats, k: int, /) -> Floats:
    """Squared distance to the k-th neighbour, the feature itself not counted."""
    found: Floats = np.empty(len(distances))

    def search(part: slice) -> None:
        # its own zero is the smallest of each row, so the k-th neighbour stands at place k
        found[part] = np.partition(distances[part], k, axis=1)[:, k]

    by_rows(search, distances.shape)
    return found


def dense_weights(distances: Floats, sigma: Floats, /, *, kernel: Kernel = "self_tuning") -> Floats:
    """Weights between all features, from squared distances, which are overwritten."""
    if kernel == "self_tuning":

        def decay(part: slice) -> None:
            distances[part] /= -(sigma[part] ** 2)[:, None]
            np.exp(distances[part], out=distances[part])

        by_rows(decay, distances.shape)
        weights: Floats = distances + distances.T
        weights *= 0.5
        return weights
    if kernel == "self_tuning_product":
        distances /= -sigma[:, None]
        distances /= sigma
        return np.exp(distances, out=distances)
    if kernel == "rbf":
        distances /= -(np.median(sigma) ** 2)
        return np.exp(distances, out=distances)
    first, second = np.broadcast_arrays(sigma[:, None], sigma[None, :])
    weights = _called(kernel, np.sqrt(distances), first, second)
    if not np.allclose(weights, weights.T, rtol=1e-8, atol=1e-12):
        raise ValueError("kernel gave weights that are not symmetric: w(d, s, t) must equal w(d, t, s).")
    return weights


def knn_weights(neighbors: Neighbors, sigma: Floats, /, *, kernel: Kernel = "self_tuning") -> sp.csr_array:
    """Weights along the edges of the nearest-neighbour graph; an edge stands if either end asks for it."""
    p, k = neighbors.indices.shape
    rows = np.repeat(np.arange(p), k)
    cols = neighbors.indices.ravel()
    squared = neighbors.squared.ravel()
    # every edge once, from its smaller end, so that both directions carry the same number
    low, high = np.minimum(rows, cols), np.maximum(rows, cols)
    _, once = np.unique(low * p + high, return_index=True)
    low, high, squared = low[once], high[once], squared[once]
    first, second = sigma[low], sigma[high]
    values: Floats
    if kernel == "self_tuning":
        values = 0.5 * (np.exp(-squared / first**2) + np.exp(-squared / second**2))
    elif kernel == "self_tuning_product":
        values = np.exp(-squared / (first * second))
    elif kernel == "rbf":
        values = np.exp(-squared / np.median(sigma) ** 2)
    else:
        values = _called(kernel, np.sqrt(squared), first, second)
    own: Floats = _called(kernel, np.zeros(p), sigma, sigma) if callable(kernel) else np.ones(p)
    upper = sp.coo_array((values, (low, high)), shape=(p, p))
    return sp.csr_array(upper + upper.T + sp.dia_array((own[None, :], [0]), shape=(p, p)))


def _called(kernel: KernelFunction, distance: Floats, first: Floats, second: Floats) -> Floats:
    weights = np.asarray(kernel(distance, first, second), dtype=np.float64)
    if weights.shape != distance.shape:
        raise ValueError(f"kernel returned shape {weights.shape} for distances of shape {distance.shape}.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("kernel must return finite weights that are not negative.")
    return weights


@dataclass(frozen=True, slots=True)
class Walk:
    """A random walk on features: P = diag(1/root) symmetric diag(root)."""

    symmetric: Any
    root: Floats

    @property
    def n_features(self) -> int:
        """Number of nodes."""
        return len(self.root)

    def step(self, v: Floats) -> Floats:
        """P v."""
        root = self.root if v.ndim == 1 else self.root[:, None]
        return np.asarray(self.symmetric @ (root * v) / root)

    def step_back(self, v: Floats) -> Floats:
        """Pᵀ v."""
        root = self.root if v.ndim == 1 else self.root[:, None]
        return np.asarray(root * (self.symmetric @ (v / root)))


def random_walk(weights: Any, /, *, density_normalize: bool = True) -> Walk:
    """Normalise weights to a random walk, after dividing out the density of features where asked.

    With density step: K = W / (q qᵀ), q = W1; without: K = W. Dense weights are overwritten.
    """
    if density_normalize:
        weights = _scaled(weights, 1.0 / _row_sums(weights))
    root = np.sqrt(_row_sums(weights))
    return Walk(_scaled(weights, 1.0 / root), root)


def _row_sums(weights: Any) -> Floats:
    return np.asarray(weights.sum(axis=1)).ravel()


def _scaled(weights: Any, factor: Floats) -> Any:
    if sp.issparse(weights):
        weights = weights.copy()
        weights.data *= np.repeat(factor, np.diff(weights.indptr)) * factor[weights.indices]
        return weights
    weights *= factor[:, None]
    weights *= factor
    return weights
