"""Neighbours under a metric: exact for coordinates, candidates measured anew for local metrics; graph and map."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ..arrays.affine import Affine
from ..arrays.ops import dense64, matmul, mean_and_variance
from ..arrays.row_chunks import Chunked
from ..runtime import budget
from ..spectral.distances import smallest
from ..spectral.eigen import leading_eigenpairs, walk_eigenvectors
from ..spectral.observation_knn import nearest_rows
from ..spectral.walk import random_walk
from ..typing import Floats, Ints, Matrix
from .covariance import Observed
from .local import Local, runs, some

#: neighbourhoods are exact up to this many multiplications of pairs (n² m), and above it among principal components
EXACT_WORK = 10_000_000_000
AXES = 50
#: candidates for each neighbour that is kept
CANDIDATES = 3
#: coordinates up to which a tree finds neighbours faster than trying all pairs
TREE_MOST = 8
#: what UMAP's authors chose: rounds of bisection, and the smallest scale over the mean distance
BISECTIONS = 64
SMALLEST_SCALE = 1e-3


@dataclass(frozen=True, slots=True)
class Nearest:
    """Neighbours of every sample, nearest first, the sample itself left out."""

    indices: Ints
    distances: Floats

    def as_graph(self) -> sp.csr_matrix:
        """Distances as a sparse matrix, a row a sample."""
        n, k = self.indices.shape
        ends = np.arange(0, n * k + 1, k)
        # copies: sorting must not reach what is in order of distance here
        graph = sp.csr_matrix((self.distances.ravel().copy(), self.indices.ravel().copy(), ends), shape=(n, n))
        graph.sort_indices()
        return graph


def nearest_of_all(distances: Floats, count: int, /) -> Nearest:
    """Find neighbours among all distances."""
    return Nearest(*smallest(distances.copy(), count))


def nearest_points(points: Matrix, count: int, /) -> Nearest:
    """Find the exact neighbours of points with few coordinates; those that are read in runs may have many."""
    from sklearn.neighbors import NearestNeighbors

    if isinstance(points, Chunked):
        if not budget.fits(8 * points.shape[0] * points.shape[1], "block"):
            indices, squared = nearest_rows(Affine(points.centered(mean_and_variance(points)[0])), count)
            return Nearest(indices, np.sqrt(squared))
        points = points.load()
    method = "kd_tree" if points.shape[1] <= TREE_MOST and not sp.issparse(points) else "brute"
    searched = NearestNeighbors(n_neighbors=count + 1, algorithm=method).fit(points)
    distances, indices = searched.kneighbors(points)
    return _without_self(indices, distances)


def nearest_in_space(data: Observed, count: int, /, *, seed: int = 0) -> Ints:
    """Nearest samples of each in Euclidean distance; of large data, among the 50 leading principal components."""
    return nearest_points(_euclidean_points(data, seed), count).indices


def mean_metric_points(local: Local, /) -> Floats:
    """Points whose Euclidean distance is the mean of local metrics, W_iW_iᵀ of some samples, on its leading axes."""
    n, q = local.coordinates.shape
    mean = np.zeros((q, q))
    looked = some(n, q * local.n_components)
    for part in runs(looked.size, q * local.n_components):
        for w in local.factors(looked[part]):
            mean += w @ w.T
    values, vectors = leading_eigenpairs(mean, min(q, AXES))
    return matmul(local.coordinates, vectors * np.sqrt(np.maximum(values, 0.0)))


def with_self(nearest: Ints, size: int, /) -> Ints:
    """Neighbourhoods of `size` samples: each itself and its nearest."""
    return np.column_stack([np.arange(len(nearest)), nearest[:, : size - 1]])


def candidates(*nearest: Ints) -> sp.csr_matrix:
    """Pairs that may be neighbours: all that either list counts among its nearest, both ways round."""
    columns = np.concatenate(nearest, axis=1)
    n, each = columns.shape
    pairs = sp.csr_matrix((np.ones(columns.size, dtype=bool), columns.ravel(), np.arange(0, n * each + 1, each)))
    pairs.resize(n, n)
    both = sp.csr_matrix(pairs + pairs.T)
    both.sort_indices()
    return both


def nearest_of_candidates(
    local: Local, pairs: sp.csr_matrix, count: int, /, *, wrap: Callable[[list[Ints]], Iterator[Ints]] = iter
) -> Nearest:
    """Measure candidate pairs by local metrics and keep the nearest of every sample."""
    n = pairs.shape[0]
    squared = np.empty(pairs.nnz)
    if local.holding is None:
        for rows in wrap(_runs_of_like_degree(pairs, local, np.arange(n))):
            _measure(local, pairs, rows, squared)
    else:
        for group in wrap(_sharing(pairs, budget.count(8 * local.coordinates.shape[1], "kept"))):
            nearby = local.holding(_with_candidates(pairs, group))
            for rows in _runs_of_like_degree(pairs, nearby, group):
                _measure(nearby, pairs, rows, squared)
    forth = sp.csr_matrix((squared, pairs.indices, pairs.indptr), shape=(n, n))
    back = forth.T.tocsr()
    back.sort_indices()
    return _nearest_in_rows(pairs, np.sqrt((forth.data + back.data) / 2), count)


def connectivities(found: Nearest, /) -> sp.csr_matrix:
    """Fuzzy simplicial set of the neighbours, the weights that UMAP and Leiden work on (McInnes et al. 2018)."""
    n, k = found.indices.shape
    distances = found.distances
    nearest = np.where(distances > 0, distances, np.inf).min(axis=1)
    nearest[np.isinf(nearest)] = 0.0
    beyond = np.maximum(distances - nearest[:, None], 0.0)
    scale = _scales(beyond, np.log2(k + 1))
    # the sample itself counts among its neighbours, at distance zero
    mean = np.where(nearest > 0, distances.sum(axis=1) / (k + 1), distances.sum() / (n * (k + 1)))
    scale = np.maximum(scale, SMALLEST_SCALE * mean)
    weights = np.exp(-beyond / np.where(scale > 0, scale, 1.0)[:, None])
    graph = sp.csr_matrix((weights.ravel(), found.indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    turned = graph.T.tocsr()
    union = sp.csr_matrix(graph + turned - graph.multiply(turned))
    union.eliminate_zeros()
    union.sort_indices()
    return union


def diffusion_map(distances: Matrix, count: int, /, *, seed: int = 0) -> tuple[Floats, Floats]:
    """Eigenvalues and embedding λ_i φ_i of the walk with weights exp(−d²/ε) (Eqs. 33–36), the trivial one left out.

    ε is twice the squared median distance, as in the authors' code. Of a sparse graph of neighbours the pairs
    that either end counts as neighbours take part.
    """
    if sp.issparse(distances):
        near = distances.copy()
        # weights before both ways are joined: distances of zero are places that a sparse matrix would drop
        near.data = _weights(near.data, float(np.median(near.data)))
        near = sp.csr_matrix(near.maximum(near.T) + sp.eye(near.shape[0]))
    else:
        median = float(np.median(distances[np.triu_indices(len(distances), 1)]))
        near = _weights(distances, median)
    values, vectors = walk_eigenvectors(random_walk(near, density_normalize=False), count + 1, seed=seed)
    return values[1:], vectors[:, 1:] * values[1:]


def _weights(distances: Floats, median: float) -> Floats:
    # more than half of all pairs are duplicates: only those are near
    return np.exp(-np.square(distances) / (2 * median**2)) if median > 0 else (distances == 0).astype(float)


def _euclidean_points(data: Observed, seed: int) -> Matrix:
    n, m = data.shape
    if m <= AXES or n * n * m <= EXACT_WORK:
        # as it is: sparse data stay sparse, and single precision is enough to tell who is near
        return data.x
    return matmul(data.x, data.leading(AXES, seed=seed).vectors)


def _without_self(indices: Ints, distances: Floats) -> Nearest:
    """Drop each sample from its own neighbours; where duplicates hide it, drop the last."""
    own = indices == np.arange(len(indices))[:, None]
    own[~own.any(axis=1), -1] = True
    kept = ~own
    n, k = indices.shape
    return Nearest(indices[kept].reshape(n, k - 1), distances[kept].reshape(n, k - 1))


def _sharing(pairs: sp.csr_matrix, most: int) -> list[Ints]:
    """Part samples into groups that share candidates, as many as need no more than so many rows in memory."""
    groups: list[Ints] = []
    order = reverse_cuthill_mckee(pairs, symmetric_mode=True)
    needed: set[int] = set()
    start = 0
    for place, sample in enumerate(order):
        mine = {int(sample), *pairs.indices[pairs.indptr[sample] : pairs.indptr[sample + 1]].tolist()}
        if place > start and len(needed | mine) > most:
            groups.append(order[start:place])
            start, needed = place, set()
        needed |= mine
    return [*groups, order[start:]]


def _with_candidates(pairs: sp.csr_matrix, samples: Ints) -> Ints:
    return np.unique(np.concatenate([samples, pairs[samples].indices]))


def _runs_of_like_degree(pairs: sp.csr_matrix, local: Local, samples: Ints) -> list[Ints]:
    """Part samples into runs of like numbers of candidates, so that little is filled up in vain."""
    degrees = np.diff(pairs.indptr)
    order = samples[np.argsort(degrees[samples], kind="stable")]
    q = local.coordinates.shape[1]
    start = 0
    parted: list[Ints] = []
    while start < order.size:
        # the last of a run has the most candidates: look ahead as far as it allows
        step = budget.count(8 * q * max(int(degrees[order[start]]), local.n_components))
        stop = min(start + step, order.size)
        most = max(int(degrees[order[stop - 1]]), local.n_components)
        stop = min(stop, start + budget.count(8 * q * most))
        parted.append(order[start:stop])
        start = stop
    return parted


def _measure(local: Local, pairs: sp.csr_matrix, rows: Ints, squared: Floats) -> None:
    """‖W_iᵀ(c_i − c_j)‖² of the candidates of some samples, written to their places."""
    starts = pairs.indptr[rows]
    degrees = pairs.indptr[rows + 1] - starts
    places = np.arange(int(degrees.max()))
    taken = places < degrees[:, None]
    where = np.where(taken, starts[:, None] + places, 0)
    others = np.where(taken, pairs.indices[where], rows[:, None])
    apart = dense64(local.coordinates[others.ravel()]).reshape(*others.shape, -1)
    apart = apart - dense64(local.coordinates[rows])[:, None]
    seen = apart @ local.factors(rows)
    squared[where[taken]] = np.einsum("bcd,bcd->bc", seen, seen)[taken]


def _nearest_in_rows(pairs: sp.csr_matrix, distances: Floats, count: int) -> Nearest:
    n = pairs.shape[0]
    rows = np.repeat(np.arange(n), np.diff(pairs.indptr))
    order = np.lexsort((pairs.indices, distances, rows))
    first = pairs.indptr[:-1, None] + np.arange(count)
    chosen = order[first]
    return Nearest(pairs.indices[chosen].astype(np.int64), distances[chosen])


def _scales(beyond: Floats, target: float) -> Floats:
    """Find σ with Σ exp(−d/σ) = target in every row, by bisection."""
    low, high, middle = (np.full(len(beyond), v) for v in (0.0, np.inf, 1.0))
    for _ in range(BISECTIONS):
        total = np.exp(-beyond / middle[:, None]).sum(axis=1)
        above = total > target
        high = np.where(above, middle, high)
        low = np.where(above, low, middle)
        with np.errstate(invalid="ignore"):
            middle = np.where(np.isinf(high), 2 * middle, (low + high) / 2)
    return middle
