"""Laplacian score: how little a feature varies along the nearest-neighbour graph of observations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..arrays.affine import Affine, AffineMap, inverse_sd
from ..arrays.column_blocks import load_column_blocks
from ..arrays.ops import column_blocks, dense64, mean_and_variance
from ..arrays.row_chunks import Chunked
from ..runtime import budget
from ..spectral.observation_knn import loaded_rows, nearest_rows
from ..typing import Floats, Ints, Matrix

EdgeWeights: TypeAlias = Literal["binary", "heat"]

EDGE_WEIGHTS = ("binary", "heat")


def scaled(x: Matrix, /) -> Matrix | Affine:
    """Divide every column by its standard deviation, sparse ones staying sparse: distances need no centring."""
    mean, variance = mean_and_variance(x)
    scale = inverse_sd(mean, variance)
    if isinstance(x, Chunked):
        return Affine(x.centered(mean), AffineMap(scale=scale))
    if sp.issparse(x):
        return sp.csr_array(x).multiply(scale).tocsr()
    # centred all the same where it is free: a large mean costs digits
    return (dense64(x) - mean) * scale


def neighbor_graph(x: Matrix | Affine, n_neighbors: int, /, *, weights: EdgeWeights = "binary") -> sp.csr_array:
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


def _neighbors(x: Matrix | Affine, count: int) -> tuple[Floats, Ints]:
    from sklearn.neighbors import NearestNeighbors

    if isinstance(x, Chunked):
        x = Affine(x.centered(mean_and_variance(x)[0]))
    if isinstance(x, Affine):
        if not budget.fits(8 * x.n_obs * x.n_features, "block"):
            indices, squared = nearest_rows(x, count)
            return np.sqrt(squared), indices
        x = loaded_rows(x, np.arange(x.n_obs))
    x = x if sp.issparse(x) else dense64(x)
    search = NearestNeighbors(n_neighbors=count, algorithm="brute" if sp.issparse(x) else "auto").fit(x)
    distances, indices = search.kneighbors()
    return distances, indices


def _slabs(x: Matrix) -> Iterator[tuple[slice, Matrix]]:
    """Walk over the columns: of data that is read in runs, as many as fit in memory, with a pass for these."""
    if not isinstance(x, Chunked):
        yield from column_blocks(x)
        return
    for where, (slab,) in load_column_blocks([x]):
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
