"""Neighbours under a metric: exact for coordinates, among candidates for local metrics; their graph and map."""

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
from ..spectral.observation_knn import nearest_in_memory, nearest_rows
from ..spectral.ties import TIE_TOLERANCE
from ..spectral.walk import random_walk
from ..typing import Floats, Ints, Matrix
from .covariance import SampleCovariance
from .local import LocalMetrics, consulted_observations, observation_blocks

#: neighbourhoods are exact up to this many multiplications (n² m); above, they are those among principal components
MAX_EXACT_MULTIPLICATIONS = 10_000_000_000
N_PRINCIPAL_AXES = 50
#: candidates for each neighbour that is kept
CANDIDATES_PER_NEIGHBOR = 3
#: what UMAP's authors chose: iterations of the bisection, and the smallest scale over the mean distance
N_BISECTIONS = 64
MIN_SCALE_TO_MEAN = 1e-3


@dataclass(frozen=True, slots=True)
class ObservationNeighbors:
    """Neighbours of every observation, nearest first, itself excluded."""

    indices: Ints
    distances: Floats

    def as_graph(self) -> sp.csr_matrix:
        """Distances as a sparse matrix, one row per observation."""
        n, k = self.indices.shape
        ends = np.arange(0, n * k + 1, k)
        # copies, since sorting by column would undo the order by distance here
        graph = sp.csr_matrix((self.distances.ravel().copy(), self.indices.ravel().copy(), ends), shape=(n, n))
        graph.sort_indices()
        return graph


def nearest_of_all(distances: Floats, count: int, /) -> ObservationNeighbors:
    """Find neighbours among all distances."""
    return ObservationNeighbors(*smallest(distances.copy(), count))


def nearest_points(points: Matrix, count: int, /) -> ObservationNeighbors:
    """Find the exact neighbours of points with few coordinates; points that are read in row blocks may have many."""
    if isinstance(points, Chunked):
        if not budget.fits(8 * points.shape[0] * points.shape[1], "block"):
            indices, squared = nearest_rows(Affine(points.centered(mean_and_variance(points)[0])), count)
            return ObservationNeighbors(indices, np.sqrt(squared))
        points = points.load()
    indices, squared = nearest_in_memory(points, count)
    return ObservationNeighbors(indices, np.sqrt(squared))


def nearest_in_space(data: SampleCovariance, count: int, /, *, seed: int = 0) -> Ints:
    """Nearest observations of each in Euclidean distance; of large data, on the leading principal axes."""
    return nearest_points(_euclidean_points(data, seed), count).indices


def mean_metric_points(local: LocalMetrics, /) -> Floats:
    """Points whose Euclidean distance is the mean metric W_iW_iᵀ of some observations, on its leading axes."""
    n, q = local.coordinates.shape
    mean = np.zeros((q, q))
    consulted = consulted_observations(n, q * local.n_components)
    for block in observation_blocks(consulted.size, q * local.n_components):
        for w in local.factors(consulted[block]):
            mean += w @ w.T
    values, vectors = leading_eigenpairs(mean, min(q, N_PRINCIPAL_AXES))
    return matmul(local.coordinates, vectors * np.sqrt(np.maximum(values, 0.0)))


def with_self(nearest: Ints, size: int, /) -> Ints:
    """Neighbourhoods of `size` observations: each itself and its nearest."""
    return np.column_stack([np.arange(len(nearest)), nearest[:, : size - 1]])


def candidate_pairs(*nearest: Ints) -> sp.csr_matrix:
    """Pairs that may be neighbours: those in any of the lists, in both directions."""
    ends = np.concatenate(nearest, axis=1)
    n, each = ends.shape
    pairs = sp.csr_matrix((np.ones(ends.size, dtype=bool), ends.ravel(), np.arange(0, n * each + 1, each)))
    pairs.resize(n, n)
    both = sp.csr_matrix(pairs + pairs.T)
    both.sort_indices()
    return both


def nearest_of_candidates(
    local: LocalMetrics,
    pairs: sp.csr_matrix,
    count: int,
    /,
    *,
    progress: Callable[[list[Ints]], Iterator[Ints]] = iter,
) -> ObservationNeighbors:
    """Compute the local distance of candidate pairs and keep the nearest of every observation."""
    n = pairs.shape[0]
    squared = np.empty(pairs.nnz)
    if local.with_rows_loaded is None:
        for rows in progress(_blocks_of_like_degree(pairs, local, np.arange(n))):
            _measure(local, pairs, rows, squared)
    else:
        max_rows = budget.count(8 * local.coordinates.shape[1], "kept")
        for group in progress(_groups_sharing_candidates(pairs, max_rows)):
            loaded = local.with_rows_loaded(_with_candidates(pairs, group))
            for rows in _blocks_of_like_degree(pairs, loaded, group):
                _measure(loaded, pairs, rows, squared)
    forth = sp.csr_matrix((squared, pairs.indices, pairs.indptr), shape=(n, n))
    back = forth.T.tocsr()
    back.sort_indices()
    return _nearest_in_rows(pairs, np.sqrt((forth.data + back.data) / 2), count)


def connectivities(found: ObservationNeighbors, /) -> sp.csr_matrix:
    """Fuzzy simplicial set of the neighbours, the weights that UMAP and Leiden use (McInnes et al. 2018)."""
    n, k = found.indices.shape
    distances = found.distances
    nearest = np.where(distances > 0, distances, np.inf).min(axis=1)
    nearest[np.isinf(nearest)] = 0.0
    beyond = np.maximum(distances - nearest[:, None], 0.0)
    scale = _scales(beyond, np.log2(k + 1))
    # the observation itself counts among its neighbours, at distance zero
    mean = np.where(nearest > 0, distances.sum(axis=1) / (k + 1), distances.sum() / (n * (k + 1)))
    scale = np.maximum(scale, MIN_SCALE_TO_MEAN * mean)
    weights = np.exp(-beyond / np.where(scale > 0, scale, 1.0)[:, None])
    graph = sp.csr_matrix((weights.ravel(), found.indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    transposed = graph.T.tocsr()
    union = sp.csr_matrix(graph + transposed - graph.multiply(transposed))
    union.eliminate_zeros()
    union.sort_indices()
    return union


def observation_diffusion_map(distances: Matrix, count: int, /, *, seed: int = 0) -> tuple[Floats, Floats]:
    """Eigenvalues and embedding λ_i φ_i of the walk with weights exp(−d²/ε) (Eqs. 33–36), without the trivial one.

    ε is twice the squared median distance, as in the authors' code. In a sparse graph of neighbours, two observations
    are connected if either is a neighbour of the other.
    """
    if sp.issparse(distances):
        near = distances.copy()
        # weights before both directions are joined, since a sparse matrix would drop distances of zero
        near.data = _weights(near.data, float(np.median(near.data)))
        near = sp.csr_matrix(near.maximum(near.T) + sp.eye(near.shape[0]))
    else:
        median = float(np.median(distances[np.triu_indices(len(distances), 1)]))
        near = _weights(distances, median)
    values, vectors = walk_eigenvectors(random_walk(near, density_normalize=False), count + 1, seed=seed)
    return values[1:], vectors[:, 1:] * values[1:]


def _weights(distances: Floats, median: float) -> Floats:
    # a median of zero: more than half of all pairs are duplicates, and only those are connected
    return np.exp(-np.square(distances) / (2 * median**2)) if median > 0 else (distances == 0).astype(float)


def _euclidean_points(data: SampleCovariance, seed: int) -> Matrix:
    n, m = data.shape
    if m <= N_PRINCIPAL_AXES or n * n * m <= MAX_EXACT_MULTIPLICATIONS:
        # unchanged: sparse data stay sparse, and single precision is enough to find neighbours
        return data.x
    return matmul(data.x, data.leading(N_PRINCIPAL_AXES, seed=seed).vectors)


def _groups_sharing_candidates(pairs: sp.csr_matrix, max_rows: int) -> list[Ints]:
    """Split observations into groups that share candidates, so that a group needs at most `max_rows` rows loaded."""
    groups: list[Ints] = []
    order = reverse_cuthill_mckee(pairs, symmetric_mode=True)
    needed: set[int] = set()
    start = 0
    for place, row in enumerate(order):
        more = {int(row), *pairs.indices[pairs.indptr[row] : pairs.indptr[row + 1]].tolist()}
        if place > start and len(needed | more) > max_rows:
            groups.append(order[start:place])
            start, needed = place, set()
        needed |= more
    return [*groups, order[start:]]


def _with_candidates(pairs: sp.csr_matrix, rows: Ints) -> Ints:
    return np.unique(np.concatenate([rows, pairs[rows].indices]))


def _blocks_of_like_degree(pairs: sp.csr_matrix, local: LocalMetrics, rows: Ints) -> list[Ints]:
    """Split observations into blocks with similar numbers of candidates, so that little is padded."""
    degrees = np.diff(pairs.indptr)
    order = rows[np.argsort(degrees[rows], kind="stable")]
    q = local.coordinates.shape[1]
    start = 0
    blocks: list[Ints] = []
    while start < order.size:
        # the last of a block has the most candidates, and limits how many fit in memory
        step = budget.count(8 * q * max(int(degrees[order[start]]), local.n_components))
        stop = min(start + step, order.size)
        largest = max(int(degrees[order[stop - 1]]), local.n_components)
        stop = min(stop, start + budget.count(8 * q * largest))
        blocks.append(order[start:stop])
        start = stop
    return blocks


def _measure(local: LocalMetrics, pairs: sp.csr_matrix, rows: Ints, squared: Floats) -> None:
    """Write ‖W_iᵀ(c_i − c_j)‖² of the candidates of some observations to their places in `squared`."""
    starts = pairs.indptr[rows]
    degrees = pairs.indptr[rows + 1] - starts
    places = np.arange(int(degrees.max()))
    real = places < degrees[:, None]
    where = np.where(real, starts[:, None] + places, 0)
    others = np.where(real, pairs.indices[where], rows[:, None])
    difference = dense64(local.coordinates[others.ravel()]).reshape(*others.shape, -1)
    difference = difference - dense64(local.coordinates[rows])[:, None]
    projected = difference @ local.factors(rows)
    squared[where[real]] = np.einsum("bcd,bcd->bc", projected, projected)[real]


def _nearest_in_rows(pairs: sp.csr_matrix, distances: Floats, count: int) -> ObservationNeighbors:
    n = pairs.shape[0]
    rows = np.repeat(np.arange(n), np.diff(pairs.indptr))
    order = np.lexsort((pairs.indices, distances, rows))
    # equal to rounding: by position
    tied = (distances[order[1:]] * (1 - TIE_TOLERANCE) <= distances[order[:-1]]) & (rows[1:] == rows[:-1])
    order = order[np.lexsort((pairs.indices[order], np.concatenate([[0], np.cumsum(~tied)])))]
    first = pairs.indptr[:-1, None] + np.arange(count)
    chosen = order[first]
    return ObservationNeighbors(pairs.indices[chosen].astype(np.int64), distances[chosen])


def _scales(beyond: Floats, target: float) -> Floats:
    """Find σ with Σ exp(−d/σ) = target in every row, by bisection."""
    low, high, middle = (np.full(len(beyond), v) for v in (0.0, np.inf, 1.0))
    for _ in range(N_BISECTIONS):
        total = np.exp(-beyond / middle[:, None]).sum(axis=1)
        above = total > target
        high = np.where(above, middle, high)
        low = np.where(above, low, middle)
        with np.errstate(invalid="ignore"):
            middle = np.where(np.isinf(high), 2 * middle, (low + high) / 2)
    return middle
