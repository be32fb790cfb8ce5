"""Laplacian score: how little a feature varies along the nearest-neighbour graph of observations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..arrays.column_blocks import load_column_blocks
from ..arrays.ops import BLOCK, column_blocks, dense64, mean_and_variance
from ..arrays.row_chunks import Chunked
from ..spectral.observation_knn import Scaled, nearest_rows
from ..spectral.points import ROUNDING
from ..typing import Floats, Ints, Matrix

EdgeWeights: TypeAlias = Literal["binary", "heat"]

EDGE_WEIGHTS = ("binary", "heat")
#: numbers up to which data that is read in runs is loaded to find neighbours; larger data is read several times
LOADED = BLOCK
#: bytes of the columns that are in memory together, where data is read in runs
SLAB = 128_000_000


def scaled(x: Matrix, /) -> Matrix | Scaled:
    """Divide every column by its standard deviation, sparse ones staying sparse: distances need no centring."""
    mean, variance = mean_and_variance(x)
    spreads = variance > ROUNDING * (variance + mean**2)
    inverse = np.divide(1.0, np.sqrt(variance), out=np.zeros(x.shape[1]), where=spreads)
    if isinstance(x, Chunked):
        return Scaled(x.centered(mean), inverse)
    if sp.issparse(x):
        return sp.csr_array(x).multiply(inverse).tocsr()
    # centred all the same where it is free: a large mean costs digits
    return (dense64(x) - mean) * inverse


def neighbor_graph(x: Matrix | Scaled, n_neighbors: int, /, *, weights: EdgeWeights = "binary") -> sp.csr_array:
    """Symmetric graph of observations; an edge stands if either end asks for it."""
    distances, indices = _neighbors(x, n_neighbors)
    if weights == "binary":
        values = np.ones(distances.size)
    else:
        squared = distances.ravel() ** 2
        width = np.median(squared)
        values = np.exp(-squared / width) if width > 0 else np.ones(squared.size)
    n = len(distances)
    ends = np.repeat(np.arange(n), n_neighbors), indices.ravel()
    one_way = sp.csr_array((values, ends), shape=(n, n))
    return sp.csr_array(one_way.maximum(one_way.T))


def _neighbors(x: Matrix | Scaled, count: int) -> tuple[Floats, Ints]:
    from sklearn.neighbors import NearestNeighbors

    if isinstance(x, Chunked):
        x = Scaled(x.centered(mean_and_variance(x)[0]))
    if isinstance(x, Scaled):
        if x.x.shape[0] * x.x.shape[1] > LOADED:
            indices, squared = nearest_rows(x, count)
            return np.sqrt(squared), indices
        x = x.loaded(np.arange(x.x.shape[0]))
    x = x if sp.issparse(x) else dense64(x)
    search = NearestNeighbors(n_neighbors=count, algorithm="brute" if sp.issparse(x) else "auto").fit(x)
    distances, indices = search.kneighbors()
    return distances, indices


def _slabs(x: Matrix) -> Iterator[tuple[slice, Matrix]]:
    """Walk over the columns: of data that is read in runs, as many as fit in memory, with a pass for these."""
    if not isinstance(x, Chunked):
        yield from column_blocks(x)
        return
    for where, (slab,) in load_column_blocks([x], SLAB):
        for within, block in column_blocks(slab):
            yield slice(where.start + within.start, where.start + within.stop), block


def laplacian_scores(x: Matrix, graph: Any, /) -> Floats:
    """Score f̃ᵀLf̃ / f̃ᵀDf̃ of every column, f̃ centred by degree; 0 is smoothest.

    `x` may have any scale and shift: neither changes the score.
    """
    degree = np.asarray(graph.sum(axis=1)).ravel()
    total = degree.sum()
    scores = np.empty(x.shape[1])
    for where, block in _slabs(x):
        f = dense64(block)
        f = f - (degree @ f) / total
        spread = degree @ f**2
        rough = spread - np.einsum("ij,ij->j", f, graph @ f)
        scores[where] = np.divide(rough, spread, out=np.ones_like(spread), where=spread > 0)
    return scores
