"""How far a direction can be from the best one: an upper bound of the squared Wasserstein distance."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from ..spectral.eigen import start_vector
from ..typing import Floats
from .divergence import DIVERGENCES, evaluate_divergence
from .labelings import Labelings

#: with no more features all eigenvalues are computed, with more the largest one iteratively
MAX_DENSE_EIGEN_FEATURES = 20


def certificate(labelings: Labelings, weights: Floats, /, *, seed: int = 0) -> float:
    """Return λ_max(W_M)/J for the coupling M at β: no direction exceeds the objective by more than this factor.

    For any β′, J(β′) ≤ β′ᵀW_Mβ′ ≤ λ_max(W_M), since J(β′) is a minimum over couplings and M is one of them.
    """
    p, only, coupling = labelings.n_features, np.zeros(1, dtype=int), labelings.coupling
    projected = labelings.project(weights[None], only)
    found = evaluate_divergence(*projected, DIVERGENCES["wasserstein2"], coupling)
    if found.values[0] <= 0:
        return np.nan

    def w_times(vector: Floats) -> Floats:
        u, v = labelings.project(vector.reshape(1, -1), only)
        # in the order of β, not of the vector: the coupling is fixed
        differences = coupling.differences(u[:, found.u_order[0]], v[:, found.v_order[0]])
        left, right = coupling.segment_sums(coupling.weight * differences)
        a, b = np.empty_like(left), np.empty_like(right)
        a[:, found.u_order[0]], b[:, found.v_order[0]] = left, right
        return np.asarray(labelings.gradient(a, -b, only)[0])

    if p <= MAX_DENSE_EIGEN_FEATURES:
        w = np.stack([w_times(row) for row in np.eye(p)])
        bound = float(np.linalg.eigvalsh((w + w.T) / 2)[-1])
    else:
        operator = LinearOperator((p, p), matvec=w_times, dtype=np.float64)
        bound = float(eigsh(operator, k=1, which="LA", v0=start_vector(p, seed), return_eigenvectors=False)[0])
    return max(1.0, bound / float(found.values[0]))
