"""How smooth gated features are on the graph of gated observations, and its closed-form gradient.

With Y the gated data and G = YYᵀ the squared distances are S_ij = G_ii + G_jj − 2G_ij, the graph
W = exp(−S/s), the walk P = D⁻¹W, and the score tr(YᵀPᵗY) = ⟨Pᵗ, G⟩. Everything is a function of the
n × n matrix G, so the gradient is one n × n matrix H = ∂score/∂G too, however many features there are:
∂score/∂Y = 2HY, and ∂score/∂q_j = x_jᵀHx_j for the weight q_j of a feature in G = Σ_j q_j x_j x_jᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from ..spectral.ties import PRODUCT_ROUNDING, kth_position, tie_order
from ..typing import Floats, Ints

Bandwidth: TypeAlias = Literal["median", "max", "local"]

BANDWIDTHS = ("median", "max", "local")
#: largest power t of the walk
MAX_POWER = 3
#: a squared distance to the k-th neighbour below this share of the mean one is rounding
MIN_RELATIVE_WIDTH = 1e-12


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """How the graph of observations is made.

    `n_neighbors` counts the observation itself, as the authors' code does: 2 is the nearest other one. With
    `leave_one_out` no observation is its own neighbour (W_ii = 0), so that every step of the walk leads to another.
    """

    n_neighbors: int = 2
    scale: float = 5.0
    bandwidth: Bandwidth = "median"
    power: int = 2
    leave_one_out: bool = False


def smoothness(gram: Floats, graph: GraphOptions, /) -> tuple[float, Floats]:
    """Score ⟨Pᵗ, G⟩ of gated data with Gram matrix `gram`, and its gradient H by it, symmetric."""
    squared = _squared(gram)
    walk, widths = _gated_walk(squared, graph)
    score, towards_walk, powered = _walk_score(walk, gram, graph.power)
    # through the normalisation of rows, and the exponential: ∂/∂ log W
    towards_walk -= np.einsum("ij,ij->i", towards_walk, walk)[:, None]
    towards_walk *= walk
    towards_squared = _through_kernel(towards_walk, squared, widths)
    gradient = powered
    gradient -= 2 * towards_squared
    own = np.arange(len(gram))
    gradient[own, own] += towards_squared.sum(axis=1) + towards_squared.sum(axis=0)
    return score, 0.5 * (gradient + gradient.T)


def smoothness_score(gram: Floats, graph: GraphOptions, /) -> float:
    """Score ⟨Pᵗ, G⟩ alone."""
    walk, _ = _gated_walk(_squared(gram), graph)
    powered = walk
    for _ in range(graph.power - 1):
        powered = powered @ walk
    return float(np.vdot(powered, gram))


@dataclass(frozen=True, slots=True)
class _Widths:
    """Kernel widths, one for all or one per observation, and the distances that they depend on."""

    values: Floats
    #: k-th neighbour of every observation
    kth: Ints
    #: derivative of the common width, or of each observation's width, by its squared k-th distance
    shares: Floats


def _squared(gram: Floats) -> Floats:
    norms = np.diag(gram)
    squared = norms[:, None] + norms
    squared -= 2 * gram
    np.maximum(squared, 0.0, out=squared)
    np.fill_diagonal(squared, 0.0)
    return squared


def _gated_walk(squared: Floats, graph: GraphOptions) -> tuple[Floats, _Widths]:
    widths = _widths(squared, graph)
    weights = squared / -_between(widths.values)
    if graph.leave_one_out:
        np.fill_diagonal(weights, -np.inf)
        # the weights of an observation far from all others would underflow: its nearest gets weight 1, which
        # leaves P as it is
        weights -= weights.max(axis=1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights, widths


def _between(values: Floats) -> Floats:
    """Width of every pair: the one width, or the geometric mean of those of both ends."""
    return values if values.size == 1 else np.sqrt(values[:, None] * values)


def _widths(squared: Floats, graph: GraphOptions) -> _Widths:
    n, k = len(squared), graph.n_neighbors
    # of equal distances one is taken by position, so that the gradient does not depend on rounding
    kth = kth_position(squared, k - 1, PRODUCT_ROUNDING * squared.max(axis=1))
    found = squared[np.arange(n), kth]
    mean = float(squared.mean()) or 1.0
    if graph.bandwidth == "local":
        # duplicates are at distance zero: their width is a small constant, which does not change with the gates
        flat = found <= MIN_RELATIVE_WIDTH * mean
        found = np.where(flat, MIN_RELATIVE_WIDTH * mean, found)
        return _Widths(graph.scale * found, kth, np.where(flat, 0.0, graph.scale))
    order = tie_order(found[None], np.arange(n)[None])[0]
    middle = order[-1:] if graph.bandwidth == "max" else order[(n - 1) // 2 : n // 2 + 1]
    shares = np.zeros(n)
    shares[middle] = 1 / len(middle)
    width = float(found @ shares)
    if width <= MIN_RELATIVE_WIDTH * mean:
        width, shares = mean, np.zeros(n)
    return _Widths(np.array([graph.scale * width]), kth, graph.scale * shares)


def _walk_score(walk: Floats, gram: Floats, power: int) -> tuple[float, Floats, Floats]:
    """⟨Pᵗ, G⟩, its gradient Σ (Pᵀ)ⁱ G (Pᵀ)^(t−1−i) by P, and Pᵗ."""
    if power == 1:
        return float(np.vdot(walk, gram)), gram.copy(), walk.copy()
    ahead = [gram]  # Pⁱ G
    for _ in range(power - 1):
        ahead.append(walk @ ahead[-1])
    score = float(np.einsum("ij,ji->", walk, ahead[-1]))
    total = gram
    for step in ahead[1:]:
        total = total @ walk
        total += step
    powered = walk @ walk
    for _ in range(power - 2):
        powered = walk @ powered
    return score, np.ascontiguousarray(total.T), powered


def _through_kernel(towards_log: Floats, squared: Floats, widths: _Widths) -> Floats:
    """Gradient by S, from the one by log W = −S/s: through S itself, and through the widths, which depend on S."""
    n = len(squared)
    pairs = _between(widths.values)
    found = towards_log / -pairs
    if widths.values.size == 1:
        by_width = -np.vdot(found, squared) / pairs
    else:
        each = found * squared
        by_width = -0.5 * (each.sum(axis=1) + each.sum(axis=0)) / widths.values
    found[np.arange(n), widths.kth] += by_width * widths.shares
    return np.asarray(found)
