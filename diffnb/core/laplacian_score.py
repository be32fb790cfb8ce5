"""Laplacian score: how little a feature varies along the nearest-neighbour graph of observations."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from ._typing import Floats, Matrix
from .arrays import column_blocks, dense64, mean_and_variance
from .graph import ROUNDING

EdgeWeights: TypeAlias = Literal["binary", "heat"]

EDGE_WEIGHTS = ("binary", "heat")


def scaled(x: Matrix, /) -> Matrix:
    """Divide every column by its standard deviation, sparse ones staying sparse: distances need no centring."""
    mean, variance = mean_and_variance(x)
    spreads = variance > ROUNDING * (variance + mean**2)
    inverse = np.divide(1.0, np.sqrt(variance), out=np.zeros(x.shape[1]), where=spreads)
    if sp.issparse(x):
        return sp.csr_array(x).multiply(inverse).tocsr()
    # centred all the same where it is free: a large mean costs digits
    return (dense64(x) - mean) * inverse


def neighbor_graph(x: Matrix, n_neighbors: int, /, *, weights: EdgeWeights = "binary") -> sp.csr_array:
    """Symmetric graph of observations; an edge stands if either end asks for it."""
    from sklearn.neighbors import NearestNeighbors

    x = x if sp.issparse(x) else dense64(x)
    search = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute" if sp.issparse(x) else "auto").fit(x)
    distances, indices = search.kneighbors()
    if weights == "binary":
        values = np.ones(distances.size)
    else:
        squared = distances.ravel() ** 2
        width = np.median(squared)
        values = np.exp(-squared / width) if width > 0 else np.ones(squared.size)
    n = x.shape[0]
    ends = np.repeat(np.arange(n), n_neighbors), indices.ravel()
    one_way = sp.csr_array((values, ends), shape=(n, n))
    return sp.csr_array(one_way.maximum(one_way.T))


def laplacian_score(x: Matrix, graph: Any, /) -> Floats:
    """Score f̃ᵀLf̃ / f̃ᵀDf̃ of every column, f̃ centred by degree; 0 is smoothest.

    `x` may have any scale and shift: neither changes the score.
    """
    degree = np.asarray(graph.sum(axis=1)).ravel()
    total = degree.sum()
    scores = np.empty(x.shape[1])
    for where, block in column_blocks(x):
        f = dense64(block)
        f = f - (degree @ f) / total
        spread = degree @ f**2
        rough = spread - np.einsum("ij,ij->j", f, graph @ f)
        scores[where] = np.divide(rough, spread, out=np.ones_like(spread), where=spread > 0)
    return scores
