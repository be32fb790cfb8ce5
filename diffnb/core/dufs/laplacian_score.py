"""Laplacian score: how little a feature varies along the nearest-neighbour graph of observations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..arrays.affine import Affine, AffineMap, inverse_sd
from ..arrays.column_blocks import load_column_blocks
from ..arrays.ops import column_blocks, dense64, mean_and_variance
from ..arrays.row_chunks import Chunked
from ..runtime import budget
from ..runtime.threads import thread_limits
from ..spectral.observation_knn import loaded_rows, nearest_in_memory, nearest_rows
from ..typing import Floats, Ints, Matrix

EdgeWeights: TypeAlias = Literal["binary", "heat"]

EDGE_WEIGHTS = ("binary", "heat")


@dataclass(frozen=True, slots=True)
class LaplacianScoreOptions:
    """What a user asks for."""

    n_neighbors: int = 5
    weights: EdgeWeights = "binary"
    #: `"global"`: features in units of their standard deviation, for the graph
    standardize: Literal["global"] | None = "global"


@dataclass(frozen=True, slots=True)
class LaplacianScoreFit:
    """The score of every feature, and the graph of observations that it refers to."""

    scores: Floats
    graph: sp.csr_array


def fit_laplacian_score(
    x: Matrix, options: LaplacianScoreOptions, /, *, points: Matrix | None = None, n_jobs: int | None = None
) -> LaplacianScoreFit:
    """Score every feature of `x` on the graph of `points`, a row per observation; by default `x` itself."""
    points = x if points is None else points
    with thread_limits(max(x.shape), n_jobs):
        if options.standardize is not None:
            points = with_unit_variance(points)
        graph = neighbor_graph(points, options.n_neighbors, weights=options.weights)
        return LaplacianScoreFit(laplacian_scores(x, graph), graph)


def with_unit_variance(x: Matrix, /) -> Matrix | Affine:
    """Divide every column by its standard deviation; sparse data stay sparse, since distances need no centring."""
    mean, variance = mean_and_variance(x)
    scale = inverse_sd(mean, variance)
    if isinstance(x, Chunked):
        return Affine(x.centered(mean), AffineMap(scale=scale))
    if sp.issparse(x):
        return sp.csr_array(x).multiply(scale).tocsr()
    # centred all the same where it costs nothing: a large mean costs digits
    return (dense64(x) - mean) * scale


def neighbor_graph(x: Matrix | Affine, n_neighbors: int, /, *, weights: EdgeWeights = "binary") -> sp.csr_array:
    """Symmetric graph of observations, in which two are connected if either is among the nearest of the other."""
    return _graph(*_neighbors(x, n_neighbors), weights)


def nested_neighbor_graphs(x: Matrix | Affine, sizes: Sequence[int], /) -> list[sp.csr_array]:
    """Binary graphs of the same observations for several numbers of neighbours, from one search."""
    distances, indices = _neighbors(x, max(sizes))
    return [_graph(distances[:, :k], indices[:, :k], "binary") for k in sizes]


def _graph(distances: Floats, indices: Ints, weights: EdgeWeights) -> sp.csr_array:
    if weights == "binary":
        values = np.ones(distances.size)
    else:
        squared = distances.ravel() ** 2
        width = np.median(squared)
        values = np.exp(-squared / width) if width > 0 else np.ones(squared.size)
    n, n_neighbors = distances.shape
    ends = np.repeat(np.arange(n), n_neighbors), indices.ravel()
    directed = sp.csr_array((values, ends), shape=(n, n))
    return sp.csr_array(directed.maximum(directed.T))


def _neighbors(x: Matrix | Affine, count: int) -> tuple[Floats, Ints]:
    if isinstance(x, Chunked):
        x = Affine(x.centered(mean_and_variance(x)[0]))
    if isinstance(x, Affine):
        if not budget.fits(8 * x.n_obs * x.n_features, "block"):
            indices, squared = nearest_rows(x, count)
            return np.sqrt(squared), indices
        x = loaded_rows(x, np.arange(x.n_obs))
    indices, squared = nearest_in_memory(x, count)
    return np.sqrt(squared), indices


def laplacian_scores(x: Matrix, graph: Any, /) -> Floats:
    """Score f̃ᵀLf̃ / f̃ᵀDf̃ of every column, f̃ centred by degree; 0 is smoothest.

    `x` may have any scale and shift: neither changes the score.
    """
    return np.asarray(laplacian_scores_of_each(x, [graph])[0])


def laplacian_scores_of_each(x: Matrix, graphs: Sequence[Any], /) -> Floats:
    """Scores on several graphs of the same observations, graphs × features, in one iteration over the columns."""
    scores = np.empty((len(graphs), x.shape[1]))
    for where, block in _blocks_of_columns(x):
        values = dense64(block)
        for number, graph in enumerate(graphs):
            scores[number, where] = _block_scores(values, graph)
    return scores


def _block_scores(f: Floats, graph: Any) -> Floats:
    degree = np.asarray(graph.sum(axis=1)).ravel()
    f = f - (degree @ f) / degree.sum()
    spread = degree @ f**2
    rough = spread - np.einsum("ij,ij->j", f, graph @ f)
    return np.asarray(np.divide(rough, spread, out=np.ones_like(spread), where=spread > 0))


def _blocks_of_columns(x: Matrix) -> Iterator[tuple[slice, Matrix]]:
    """Iterate over blocks of columns; of data that is read in row blocks, as many as fit in memory per pass."""
    if not isinstance(x, Chunked):
        yield from column_blocks(x)
        return
    for where, (loaded,) in load_column_blocks([x]):
        for within, block in column_blocks(loaded):
            yield slice(where.start + within.start, where.start + within.stop), block
