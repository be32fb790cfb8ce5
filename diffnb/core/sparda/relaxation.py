"""RELAX: the semidefinite relaxation of principal differences (PDA, Sec. 4.1, Eq. 6 and 7).

A direction β enters the problem as B = ββᵀ; without the constraint that B has rank one, maximising the distance is
a concave problem over positive semidefinite matrices of unit trace, here with the duals u and v of the
coupling in place of the coupling itself. Each step costs n·m for the distances and d³ for the projection.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..arrays.ops import dense64
from ..runtime.seeds import generator
from ..spectral.eigen import fix_signs
from ..typing import Floats, Ints, Matrix

#: eigenvectors to tighten from: where the relaxation is loose, the best direction is not always the first
N_RELAXED_DIRECTIONS = 3
#: observations of a population beyond which a seeded subsample replaces it, since the cost grows with all pairs
MAX_RELAXED_OBSERVATIONS = 1500
#: steps of the duals before each step of B, so that B follows duals close to those of a coupling
N_DUAL_STEPS = 5
#: first step of B as a share of its trace, and of the duals as a share of the mean squared distance
B_STEP_SHARE, DUAL_STEP_SHARE = 0.5, 0.1
#: eigenvalues below this share of the trace are rounding
MIN_EIGENVALUE_SHARE = 1e-12


@dataclass(frozen=True, slots=True)
class Relaxed:
    """The relaxed optimum: B, its leading eigenvectors as columns, and the objective (7) after every step."""

    directions: Floats
    matrix: Floats
    objective: Floats

    @property
    def weights(self) -> Floats:
        """±√B_jj, of unit length: β itself where the relaxation is tight, B = ββᵀ.

        Where it is not, several directions share B, and the diagonal counts the features of all of them. Signs are
        those of the leading eigenvector.
        """
        return np.where(self.directions[:, 0] < 0, -1.0, 1.0) * np.sqrt(np.maximum(self.matrix.diagonal(), 0.0))


def relax(x: Matrix, y: Matrix, /, *, penalty: float = 0.0, n_steps: int = 200, seed: int = 0) -> Relaxed:
    """Maximise the dual (7) of the relaxation over B, u and v, from observations × features of two populations.

    The B returned is the one with the best objective. Its objective is no upper bound: it approaches the relaxed
    optimum, which no projection exceeds, from below.
    """
    x, y = (dense64(population[subsampled_rows(population.shape[0], seed)]) for population in (x, y))
    centre = (x.mean(axis=0) + y.mean(axis=0)) / 2  # the same distances, with fewer digits lost
    x, y = x - centre, y - centre
    duals = _Duals(len(x), len(y))
    b, factor = _project_to_unit_trace(np.eye(x.shape[1]))
    best, best_value, history = b, -np.inf, []
    for step in range(n_steps):
        active = duals.ascend(_squared_distances(x @ factor, y @ factor))
        value = duals.value - penalty * float(np.abs(b).sum())
        history.append(value)
        if value > best_value:
            best, best_value = b, value
        slope = duals.weight * _slope(x, y, active)
        np.fill_diagonal(slope, slope.diagonal() - np.trace(slope) / len(slope))  # the trace of B is fixed
        size = float(np.linalg.norm(slope))
        if size > 0:  # otherwise no pair is active yet, and only the duals take steps
            length = B_STEP_SHARE / np.sqrt(step + 1) / size
            b, factor = _project_to_unit_trace(_soft_threshold(b + length * slope, length * penalty))
    return Relaxed(_leading_eigenvectors(best), best, np.array(history))


class _Duals:
    """u and v of (7), ascended by Adagrad, with a step size per entry."""

    def __init__(self, n: int, m: int) -> None:
        self.u, self.v = np.zeros(n), np.zeros(m)
        # sums of squared gradients
        self.u_squares, self.v_squares = np.zeros(n), np.zeros(m)
        # no entry of a coupling exceeds 1/max(n, m), so this weight makes (7) as exact as the paper's 1/min(n, m)
        self.weight = 1 / max(n, m)
        self.value = -np.inf
        self._started = False

    def ascend(self, cost: Floats) -> sp.csr_array:
        """Take a few steps at this cost; return the active pairs, whose cost is below the sum of their duals."""
        if not self._started:
            self.u += cost.min(axis=1) / 2
            self.v += cost.min(axis=0) / 2
            self._started = True
        rate = DUAL_STEP_SHARE * float(cost.mean())
        for _ in range(N_DUAL_STEPS):
            active = cost < self.u[:, None] + self.v
            _adagrad(self.u, self.u_squares, 1 / self.u.size - self.weight * active.sum(axis=1), rate)
            _adagrad(self.v, self.v_squares, 1 / self.v.size - self.weight * active.sum(axis=0), rate)
        gap = cost - self.u[:, None] - self.v
        active = gap < 0
        self.value = float(self.u.mean() + self.v.mean() + self.weight * gap[active].sum())
        return sp.csr_array(active.astype(float))


def _adagrad(dual: Floats, squares: Floats, gradient: Floats, rate: float) -> None:
    squares += gradient**2
    dual += rate * gradient / np.sqrt(np.where(squares > 0, squares, 1.0))


def subsampled_rows(n: int, seed: int, /) -> Ints | slice:
    """Return the rows of a population of n observations that the relaxation uses: all, or a subsample."""
    if n <= MAX_RELAXED_OBSERVATIONS:
        return slice(None)
    # seeded by the size, so that exchanging the populations exchanges the subsamples
    return np.sort(generator(seed, "relaxation", n).choice(n, MAX_RELAXED_OBSERVATIONS, replace=False))


def _squared_distances(x: Floats, y: Floats) -> Floats:
    cost = np.einsum("ij,ij->i", x, x)[:, None] + np.einsum("ij,ij->i", y, y) - 2 * (x @ y.T)
    return np.asarray(np.maximum(cost, 0.0))


def _slope(x: Floats, y: Floats, active: sp.csr_array) -> Floats:
    """Sum of (x_i − y_j)(x_i − y_j)ᵀ over the active pairs: XᵀRX + YᵀCY − XᵀAY − YᵀAᵀX."""
    rows, columns = np.asarray(active.sum(axis=1)), np.asarray(active.sum(axis=0))
    across = x.T @ (active @ y)
    return np.asarray((x.T * rows) @ x + (y.T * columns) @ y - across - across.T)


def _soft_threshold(b: Floats, threshold: float) -> Floats:
    """Shrink every entry towards zero by `threshold`, the proximal step of λ‖B‖₁."""
    return np.asarray(np.sign(b) * np.maximum(np.abs(b) - threshold, 0.0)) if threshold > 0 else b


def _project_to_unit_trace(b: Floats) -> tuple[Floats, Floats]:
    """Return the nearest positive semidefinite matrix of unit trace, and F with FFᵀ equal to it."""
    values, vectors = scipy.linalg.eigh((b + b.T) / 2, check_finite=False)
    values = project_to_simplex(values)
    kept = values > MIN_EIGENVALUE_SHARE
    factor = vectors[:, kept] * np.sqrt(values[kept])
    return factor @ factor.T, factor


def project_to_simplex(values: Floats, /) -> Floats:
    """Return the nearest point whose entries are non-negative and sum to one, exactly."""
    ordered = np.sort(values)[::-1]
    excess = np.cumsum(ordered) - 1
    counts = np.arange(1, values.size + 1)
    kept = np.flatnonzero(ordered * counts > excess)[-1]
    return np.asarray(np.maximum(values - excess[kept] / counts[kept], 0.0))


def _leading_eigenvectors(b: Floats) -> Floats:
    _, vectors = scipy.linalg.eigh(b, check_finite=False)
    return fix_signs(vectors[:, ::-1][:, :N_RELAXED_DIRECTIONS])
