"""The loss of DUFS and its gradient by µ, from the moments of gates or for drawn gates.

Per observation and feature the score is −F = ⟨Pᵗ, G⟩/(nd), and R is the mean probability of a gate to be open. The
loss is F/R (parameter-free) or F + λR.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from ..typing import Floats
from .gates import gate_moments, noisy_gates
from .smoothness import GraphOptions, smoothness

Gates: TypeAlias = Literal["deterministic", "per_sample", "per_feature"]

GATES = ("deterministic", "per_sample", "per_feature")
#: added to R, so that F/R stays finite when every gate closes, as in the authors' code
OPEN_SHARE_OFFSET = 1e-6


@dataclass(frozen=True, slots=True)
class ObjectiveValue:
    """Loss and its gradient by µ, with its two terms: the smoothness −F and the share R of open gates."""

    loss: float
    gradient: Floats
    smoothness: float
    open: float


def evaluate_objective(
    x: Floats,
    mu: Floats,
    graph: GraphOptions,
    /,
    *,
    gates: Gates = "deterministic",
    penalty: float | None = None,
    noise: Floats | None = None,
) -> ObjectiveValue:
    """Loss of gates µ on standardised observations `x`.

    `penalty` is λ; `None` is the parameter-free loss. Drawn gates need standard normal `noise`, a row for every
    observation (`"per_sample"`) or one for all (`"per_feature"`).
    """
    if noise is None:
        score, slope = _by_moments(x, mu, graph)
    else:
        score, slope = _by_draw(x, mu, graph, noise, shared=gates == "per_feature")
    per_entry = 1 / x.size
    value, value_slope = -score * per_entry, -slope * per_entry
    gate = gate_moments(mu)
    opened, opened_slope = float(gate.open.mean()) + OPEN_SHARE_OFFSET, gate.open_slope / len(mu)
    if penalty is None:
        loss = value / opened
        gradient = value_slope / opened - value / opened**2 * opened_slope
    else:
        loss = value + penalty * opened
        gradient = value_slope + penalty * opened_slope
    return ObjectiveValue(loss, gradient, -value, opened)


def _by_moments(x: Floats, mu: Floats, graph: GraphOptions) -> tuple[float, Floats]:
    """Score for the mean of G = YYᵀ over gates drawn for every observation and feature.

    Off the diagonal that is Σ_j (E z_j)² x_ij x_kj; on it E z_j² replaces the squared mean, since an observation
    has the same draw as itself. Distances are as large as with drawn gates this way, without any draw.
    """
    gate = gate_moments(mu)
    weight, weight_slope = gate.mean**2, 2 * gate.mean * gate.mean_slope
    spread, spread_slope = gate.square - weight, gate.square_slope - weight_slope
    own = np.arange(len(x))
    gram = (x * weight) @ x.T
    squares = x**2
    gram[own, own] += squares @ spread
    score, towards = smoothness(gram, graph)
    slope = np.einsum("ij,ij->j", x, towards @ x) * weight_slope
    slope += (np.diag(towards) @ squares) * spread_slope
    return score, slope


def _by_draw(x: Floats, mu: Floats, graph: GraphOptions, noise: Floats, *, shared: bool) -> tuple[float, Floats]:
    gate, moves = noisy_gates(mu, noise)
    gated = x * gate
    score, towards = smoothness(gated @ gated.T, graph)
    if shared:
        return score, 2 * gate * moves * np.einsum("ij,ij->j", x, towards @ x)
    return score, 2 * np.einsum("ij,ij,ij->j", towards @ gated, x, moves)
