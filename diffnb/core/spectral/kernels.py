"""Kernels that turn distances between features into weights of a graph.

A new kernel is one more entry of `KERNELS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from ..runtime.threads import for_row_blocks
from ..typing import Floats
from .distances import Neighbors

#: (distances, bandwidths of one end, bandwidths of the other end) → weights, all arrays of one shape
KernelFunction: TypeAlias = Callable[[Floats, Floats, Floats], Floats]


def _unchanged(sigma: Floats) -> Floats:
    return sigma


@dataclass(frozen=True, slots=True)
class Kernel:
    """Weights of pairs of features from their squared distance and the bandwidths of both ends."""

    #: (squared distances, bandwidths of one end, of the other end) → weights; shapes broadcast, and the result may be
    #: written into the squared distances
    weights: Callable[[Floats, Floats, Floats], Floats]
    #: `weights` depends on which end comes first, and the mean of both directions is taken
    directed: bool = False
    #: bandwidths to use instead of the local ones
    scales: Callable[[Floats], Floats] = _unchanged
    #: a function of the user: called once with whole arrays, and its result is checked
    user_defined: bool = False


def _gaussian(squared: Floats, first: Floats, _: Floats) -> Floats:
    squared /= -np.square(first)
    return np.exp(squared, out=squared)


def _gaussian_product(squared: Floats, first: Floats, second: Floats) -> Floats:
    squared /= -first
    squared /= second
    return np.exp(squared, out=squared)


def _median(sigma: Floats) -> Floats:
    return np.full_like(sigma, np.median(sigma))


KERNELS: dict[str, Kernel] = {
    # ½[exp(−d²/σᵢ²) + exp(−d²/σⱼ²)], as in the code of the DiSC paper
    "self_tuning": Kernel(_gaussian, directed=True),
    # exp(−d²/σᵢσⱼ)
    "self_tuning_product": Kernel(_gaussian_product),
    # exp(−d²/ε²), ε the median bandwidth
    "rbf": Kernel(_gaussian, scales=_median),
}


def bandwidths(squared_kth: Floats, /, squared: Floats | None = None) -> Floats:
    """Local scales σ from squared distances to the k-th neighbour; a zero is replaced by the smallest other one.

    Where all are zero, every feature has duplicates: by the smallest of all distances, so that no unit is preferred.
    """
    positive = squared_kth > 0
    known = squared_kth if positive.any() or squared is None else squared
    floor = known[known > 0].min() if (known > 0).any() else 1.0
    return np.sqrt(np.where(positive, squared_kth, floor))


def dense_weights(squared: Floats, sigma: Floats, /, *, kernel: str | KernelFunction = "self_tuning") -> Floats:
    """Weights between all features, from squared distances, which are overwritten."""
    chosen = _kernel(kernel)
    scales = chosen.scales(sigma)

    def weigh(rows: slice) -> None:
        block = squared[rows]
        weights = chosen.weights(block, scales[rows, None], scales)
        if weights is not block:
            block[...] = weights

    if chosen.user_defined:
        weigh(slice(0, len(squared)))
        _check_symmetric(squared)
        return squared
    for_row_blocks(weigh, squared.shape)
    if not chosen.directed:
        return squared
    both: Floats = squared + squared.T
    both *= 0.5
    return both


def knn_weights(
    neighbors: Neighbors, sigma: Floats, /, *, kernel: str | KernelFunction = "self_tuning"
) -> sp.csr_array:
    """Weights along the edges of the nearest-neighbour graph; two features are connected if either is a neighbour."""
    chosen = _kernel(kernel)
    p = len(neighbors.indices)
    low, high, squared = _edges(neighbors)
    scales = chosen.scales(sigma)
    values = chosen.weights(squared.copy(), scales[low], scales[high])
    if chosen.directed:
        values += chosen.weights(squared, scales[high], scales[low])
        values *= 0.5
    own = chosen.weights(np.zeros(p), scales, scales)
    upper = sp.coo_array((values, (low, high)), shape=(p, p))
    return sp.csr_array(upper + upper.T + sp.dia_array((own[None, :], [0]), shape=(p, p)))


def _edges(neighbors: Neighbors) -> tuple[Floats, Floats, Floats]:
    """Return every edge once, from its smaller end, so that both directions have exactly the same weight."""
    p, k = neighbors.indices.shape
    rows, cols = np.repeat(np.arange(p), k), neighbors.indices.ravel()
    low, high = np.minimum(rows, cols), np.maximum(rows, cols)
    _, once = np.unique(low * p + high, return_index=True)
    return low[once], high[once], neighbors.squared.ravel()[once]


def _kernel(kernel: str | KernelFunction) -> Kernel:
    if isinstance(kernel, str):
        return KERNELS[kernel]
    return Kernel(partial(_checked, kernel), user_defined=True)


def _checked(function: KernelFunction, squared: Floats, first: Floats, second: Floats) -> Floats:
    """Call a kernel function of the user with arrays of one shape, and check its result."""
    weights = np.asarray(function(*np.broadcast_arrays(np.sqrt(squared), first, second)), dtype=np.float64)
    if weights.shape != squared.shape:
        raise ValueError(f"kernel returned shape {weights.shape} for distances of shape {squared.shape}.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("kernel must return finite weights that are not negative.")
    return weights


def _check_symmetric(weights: Floats) -> None:
    if not np.allclose(weights, weights.T, rtol=1e-8, atol=1e-12):
        raise ValueError("kernel returned weights that are not symmetric: w(d, s, t) must equal w(d, t, s).")
