"""Kernels that turn distances between features into weights of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..runtime.threads import for_row_blocks
from ..typing import Floats
from .distances import Neighbors

#: (distance, bandwidth of one end, bandwidth of the other end) → weight, all arrays of one shape
KernelFunction: TypeAlias = Callable[[Floats, Floats, Floats], Floats]
Kernel: TypeAlias = Literal["self_tuning", "self_tuning_product", "rbf"] | KernelFunction
KERNELS = ("self_tuning", "self_tuning_product", "rbf")


def bandwidths(squared_kth: Floats, /) -> Floats:
    """Local scales σ from squared distances to the k-th neighbour; zero ones take the smallest that is not."""
    positive = squared_kth > 0
    floor = squared_kth[positive].min() if positive.any() else 1.0
    return np.sqrt(np.where(positive, squared_kth, floor))


def dense_weights(distances: Floats, sigma: Floats, /, *, kernel: Kernel = "self_tuning") -> Floats:
    """Weights between all features, from squared distances, which are overwritten."""
    if kernel == "self_tuning":

        def decay(part: slice) -> None:
            distances[part] /= -(sigma[part] ** 2)[:, None]
            np.exp(distances[part], out=distances[part])

        for_row_blocks(decay, distances.shape)
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
