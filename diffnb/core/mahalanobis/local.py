"""The local Mahalanobis distance, informed by clusters or not (Lahav, Talmon & Kluger, Section 4).

Every sample has a metric of its own, W_i, from the covariance of its neighbourhood, and
d²(i, j) = ½(‖W_iᵀΔ‖² + ‖W_jᵀΔ‖²) with Δ = c_i − c_j. Metrics are made for a run of samples at a time and used at
once; never are all of them in memory.
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
from .covariance import Observed
from .metric import (
    RANK,
    Eigenvalues,
    Metric,
    Solver,
    chosen_eigenvalues,
    count_above_noise,
    count_by_hard_threshold,
    falling_eigenpairs,
    inverse_root,
    project_gradients,
)

#: one clustering of features for all neighbourhoods, or one each; none is the plain local metric
Clustering: TypeAlias = Literal["shared", "each"]
#: neighbourhoods looked at to choose the number of components
LOOKED_AT = 200
#: and the numbers in them; not a matter of the memory budget, since the choice depends on it
MAX_CONSULTED_NUMBERS = 8_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """How local metrics are made."""

    n_components: int | None = None
    solver: Solver = "exact"
    eigenvalues: Eigenvalues = "pca"
    #: clusters of a clustering for each neighbourhood
    n_clusters: int = 2


@dataclass(frozen=True, slots=True)
class Local:
    """Local metrics of all samples, made when they are asked for."""

    #: samples × coordinates; Δ and W_i live there
    coordinates: Matrix
    #: W_i of some samples: samples × coordinates × components
    factors: Callable[[Ints], Floats]
    n_components: int
    #: where coordinates are read in runs: the same with the rows of some samples and their neighbours in memory
    holding: Callable[[Ints], Local] | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """Some rows of a matrix that is read in runs, in the place of all of them."""

    rows: Ints
    block: Matrix
    shape: tuple[int, int]

    def __getitem__(self, rows: Ints) -> Matrix:
        return self.block[np.searchsorted(self.rows, rows)]


def held(x: Matrix, rows: Ints, /) -> Matrix:
    """Read some rows, all in one pass; a matrix that is in memory stays as it is."""
    if not isinstance(x, Chunked):
        return x
    wanted = np.unique(rows)
    return Held(wanted, x[wanted].load(), x.shape)


def local_metrics(
    data: Observed,
    neighborhoods: Ints,
    plan: Plan,
    /,
    *,
    spare: Metric,
    labels: Ints | None = None,
    clustering: Clustering | None = None,
) -> Local:
    """Prepare local metrics on neighbourhoods, samples × N, the sample itself counted (Algorithm 2).

    `labels` are the clusters that all neighbourhoods share. A neighbourhood of duplicates has no covariance: its
    sample takes the global metric `spare`.
    """
    if clustering != "shared" and isinstance(data.x, Chunked):
        return _read(data, neighborhoods, plan, spare, _each if clustering == "each" else _plain)
    # rows of a matrix that is sparse by columns would be searched for in all of them
    data = replace(data, x=data.x.tocsr()) if sp.issparse(data.x) else data
    if clustering == "shared":
        assert labels is not None
        return _shared(data, neighborhoods, plan, indicators(labels), spare)
    each = _each if clustering == "each" else _plain
    return each(data, neighborhoods, plan, spare)


def _read(
    data: Observed,
    neighborhoods: Ints,
    plan: Plan,
    spare: Metric,
    make: Callable[[Observed, Ints, Plan, Metric], Local],
) -> Local:
    """Prepare metrics in all features of data that is read in runs: rows are gathered for many samples in one pass."""
    local = make(data, neighborhoods, plan, spare)
    given = replace(plan, n_components=local.n_components)

    def holding(rows: Ints) -> Local:
        return make(replace(data, x=held(data.x, rows)), neighborhoods, given, spare)

    return replace(local, holding=holding)


def one_sided(local: Local, rows: Ints, /) -> Floats:
    """‖W_iᵀ(c_i − c_j)‖² of some samples i to all samples j."""
    w = local.factors(rows)
    b, q, d = w.shape
    stacked = np.ascontiguousarray(w.transpose(1, 0, 2)).reshape(q, b * d)
    seen = matmul(local.coordinates, stacked).reshape(-1, b, d)
    seen -= seen[rows, np.arange(b)]
    return np.asarray(np.einsum("jbd,jbd->bj", seen, seen))


def all_distances(local: Local, /, *, wrap: Callable[[Iterator[Ints]], Iterator[Ints]] = iter) -> Floats:
    """Distances between all samples (Eq. 48)."""
    n = local.coordinates.shape[0]
    squared = np.empty((n, n))
    for rows in wrap(runs(n, local.n_components * n)):
        squared[rows] = one_sided(local, rows)
    squared = (squared + squared.T) / 2
    np.fill_diagonal(squared, 0.0)
    return np.sqrt(squared)


def runs(n: int, each: int, /) -> Iterator[Ints]:
    """Part samples into runs, of as many as fit in memory when each takes `each` numbers."""
    step = budget.count(8 * each)
    for start in range(0, n, step):
        yield np.arange(start, min(start + step, n))


def some(n: int, each: int, /) -> Ints:
    """Take some samples, evenly spread, as many as fit in memory."""
    count = min(n, LOOKED_AT, max(1, MAX_CONSULTED_NUMBERS // max(1, each)))
    return np.unique(np.linspace(0, n - 1, count).astype(int))


def _shared(data: Observed, neighborhoods: Ints, plan: Plan, h: Floats, spare: Metric) -> Local:
    z = matmul(data.x, h)
    n, m = data.shape

    def needed(rows: Ints, by_noise: bool) -> tuple[Floats, Floats | None]:
        around = neighborhoods[rows]
        local = z[around]
        products = None
        if by_noise or _by_products(plan):
            products = _products(_centred(_gathered(data.x, around)))
        return _centred(local), products

    d = plan.n_components
    if d is None:
        looked = some(n, data.x.shape[1] * neighborhoods.shape[1])
        d = _count_in_span(*needed(looked, True), m)
    given = Plan(d, plan.solver, plan.eigenvalues)
    fallback = _fitted(h.T @ spare.factor, d)

    if isinstance(data.x, Chunked) and _by_products(plan):
        # small enough for all samples: neighbourhoods would be gathered from all over the data again and again
        all_factors = np.empty((n, h.shape[1], d))
        for part, products in _products_read(data.x, neighborhoods):
            all_factors[part] = _in_span(_centred(z[neighborhoods[part]]), products, given, fallback, data.total)
        return Local(z, all_factors.__getitem__, d)

    def factors(rows: Ints) -> Floats:
        w = np.empty((rows.size, h.shape[1], d))
        for part in runs(rows.size, neighborhoods.shape[1] * m):
            local, products = needed(rows[part], False)
            w[part] = _in_span(local, products, given, fallback, data.total)
        return w

    return Local(z, factors, d)


def _by_products(plan: Plan) -> bool:
    return plan.eigenvalues != "own" or plan.solver == "gradient"


def _products_read(x: Chunked, neighborhoods: Ints) -> Iterator[tuple[Ints, Floats]]:
    """Inner products within neighbourhoods, summed up over features, as many as fit in memory at a time."""
    n, size = neighborhoods.shape
    step = budget.count(8 * size**2, "kept")
    for start in range(0, n, step):
        group = np.arange(start, min(start + step, n))
        total = np.zeros((group.size, size, size))
        around = neighborhoods[group]
        rows, places = np.unique(around, return_inverse=True)
        places = places.reshape(around.shape)
        for where, (slab,) in load_column_blocks([x[rows]]):
            slab = slab.tocsr() if sp.issparse(slab) else slab
            for part in runs(group.size, size * (where.stop - where.start)):
                total[part] += _products(_centred(_gathered(slab, places[part])))
        yield group, total


def _each(data: Observed, neighborhoods: Ints, plan: Plan, spare: Metric) -> Local:
    n, m = data.shape

    def needed(row: int, x: Matrix) -> tuple[Floats, Floats, Floats]:
        around = neighborhoods[row][None]
        raw = _gathered(x, around)
        h = indicators(cluster_by_products(raw[0].T @ raw[0], plan.n_clusters))
        centred = _centred(raw)
        return h, centred @ h, _products(centred)

    d = plan.n_components
    if d is None:
        looked = some(n, 20 * m)
        x = held(data.x, neighborhoods[looked])
        found = [needed(int(i), x) for i in looked]
        d = int(np.median([_count_in_span(z, products, m) for _, z, products in found]))
    given = Plan(d, plan.solver, plan.eigenvalues)

    def factors(rows: Ints) -> Floats:
        w = np.zeros((rows.size, m, d))
        for part in runs(rows.size, neighborhoods.shape[1] * m):
            x = held(data.x, neighborhoods[rows[part]])
            for place in part:
                h, z, products = needed(int(rows[place]), x)
                fallback = _fitted(h.T @ spare.factor, d)
                w[place] = h @ _in_span(z, products, given, fallback, data.total)[0]
        return w

    return Local(data.x, factors, d)


def _plain(data: Observed, neighborhoods: Ints, plan: Plan, spare: Metric) -> Local:
    n, m = data.shape
    size = neighborhoods.shape[1]
    d = plan.n_components
    if d is None:
        looked = neighborhoods[some(n, m * size)]
        values = falling_eigenpairs(_products(_centred(_gathered(data.x, looked))))[0] / (size - 1)
        d = count_by_hard_threshold(values[:, : min(size - 1, m)], size, m)
    fallback = _fitted(spare.factor, d)

    def factors(rows: Ints) -> Floats:
        w = np.empty((rows.size, m, d))
        for part in runs(rows.size, size * m):
            centred = _centred(_gathered(data.x, neighborhoods[rows[part]]))
            values, left = falling_eigenpairs(_products(centred))
            values = values[:, :d] / (size - 1)
            total = np.einsum("bij,bij->b", centred, centred) / (size - 1)
            used = chosen_eigenvalues(plan.eigenvalues, values, values, total, size)
            # U = Xᵀ E Λ^(−½) / √(N − 1), of unit length
            roots = inverse_root(values) * inverse_root(used) / np.sqrt(size - 1)
            w[part] = np.swapaxes(centred, 1, 2) @ (left[:, :, :d] * roots[:, None])
            w[part[_no_spread(values, data.total)]] = fallback
        return w

    return Local(data.x, factors, d)


def _in_span(z: Floats, products: Floats | None, plan: Plan, fallback: Floats, everywhere: float) -> Floats:
    """W_i in the coordinates of clusters, from neighbourhoods there and their inner products in all features."""
    d, size = fallback.shape[1], z.shape[1]
    within = np.swapaxes(z, 1, 2) @ z / (size - 1)
    values, vectors = falling_eigenpairs(within)
    own, turned = values[:, :d], vectors[:, :, :d]
    pca, total = own, np.zeros(len(z))
    if products is not None:
        total = np.trace(products, axis1=1, axis2=2) / (size - 1)
        pca = _as_many(np.maximum(np.linalg.eigvalsh(products)[:, ::-1], 0.0) / (size - 1), d)
    if plan.solver == "gradient":
        assert products is not None
        left = falling_eigenpairs(products)[1]
        # HᵀU of the local principal components, U = Xᵀ E Λ^(−½) / √(N − 1)
        start = np.swapaxes(z, 1, 2) @ (_as_many(left, d) * (inverse_root(pca) / np.sqrt(size - 1))[:, None])
        turned = project_gradients(within, start)
        own = np.einsum("bki,bkl,bli->bi", turned, within, turned)
    used = chosen_eigenvalues(plan.eigenvalues, own, pca, total, size)
    w = turned * inverse_root(used)[:, None]
    w[_no_spread(values, everywhere)] = fallback
    return np.asarray(w)


def _count_in_span(z: Floats, products: Floats | None, m: int) -> int:
    assert products is not None
    size = z.shape[1]
    values, _ = falling_eigenpairs(np.swapaxes(z, 1, 2) @ z / (size - 1))
    total = np.trace(products, axis1=1, axis2=2) / (size - 1)
    return int(min(count_above_noise(values, total, m, size), size - 1))


def _no_spread(values: Floats, everywhere: float) -> Ints:
    """Neighbourhoods whose largest variance is rounding of that of all data."""
    return np.flatnonzero(values[:, 0] <= RANK * everywhere)


def _gathered(x: Matrix, around: Ints) -> Floats:
    return dense64(x[around.ravel()]).reshape(*around.shape, x.shape[1])


def _centred(z: Floats) -> Floats:
    return np.asarray(z - z.mean(axis=1, keepdims=True))


def _products(centred: Floats) -> Floats:
    return np.asarray(centred @ np.swapaxes(centred, 1, 2))


def _as_many(values: Floats, d: int) -> Floats:
    """Cut or fill the last axis with zeros."""
    if values.shape[-1] >= d:
        return values[..., :d]
    return np.concatenate([values, np.zeros((*values.shape[:-1], d - values.shape[-1]))], axis=-1)


def _fitted(factor: Floats, d: int) -> Floats:
    return _as_many(factor, d)
