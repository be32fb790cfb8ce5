"""DiSC as its authors' code computes it, with full matrices and full decompositions."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist


def weights(x, k, kernel="self_tuning"):
    """Kernel between the columns of x; the k-th neighbour does not count the feature itself."""
    d = cdist(x.T, x.T)
    others = d + np.diag(np.full(len(d), np.inf))
    sigma = np.sort(others, axis=1)[:, k - 1]
    if kernel == "self_tuning":
        return (np.exp(-(d**2) / sigma[:, None] ** 2) + np.exp(-(d**2) / sigma[None, :] ** 2)) / 2
    if kernel == "self_tuning_product":
        return np.exp(-(d**2) / np.outer(sigma, sigma))
    return np.exp(-(d**2) / np.median(sigma) ** 2)


def transition(w, density_normalize=True):
    """P = diag(K1)⁻¹ K, K = W / (q qᵀ)."""
    if density_normalize:
        q = w.sum(axis=1)
        w = np.diag(1 / q) @ w @ np.diag(1 / q)
    return np.diag(1 / w.sum(axis=1)) @ w


def eigenvectors(p, first, count):
    """Right eigenvectors of P from position `first` on."""
    values, vectors = np.linalg.eig(p)
    order = np.argsort(values.real)[::-1]
    return vectors.real[:, order][:, first : first + count]


def disc(matrices, k, d, *, n_components=10, trivial_in_u=False, kernel="self_tuning", density_normalize=True):
    """σ and right singular vectors of P_m Q, Q off the eigenvectors of all other conditions (Eqs. 6, 7, 19–21).

    Without the trivial eigenvector in U, as in the authors' code, it reappears as the first singular
    vector and is dropped.
    """
    steps = [transition(weights(x, k, kernel), density_normalize) for x in matrices]
    spans = [eigenvectors(p, 0 if trivial_in_u else 1, d) for p in steps]
    dropped = 0 if trivial_in_u else 1
    found = []
    for m, p in enumerate(steps):
        u = np.hstack([span for j, span in enumerate(spans) if j != m])
        # the pseudo-inverse: spans of several conditions share the constant vector
        q = np.eye(len(p)) - u @ np.linalg.pinv(u, rcond=1e-10)
        _, sigma, vt = np.linalg.svd(p @ q)
        found.append((sigma[dropped : dropped + n_components], vt[dropped : dropped + n_components].T))
    return found
