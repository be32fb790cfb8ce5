"""Reference implementation of the informed Mahalanobis distance: Algorithms 1 and 2, step by step, on D = Xᵀ."""

from __future__ import annotations

import numpy as np


def kmeans(rows, k, rng, n_init=1, n_rounds=100):
    """k-means from random rows, the best of several starts (Eq. 12)."""
    best, least = None, np.inf
    for _ in range(n_init):
        centres = rows[rng.choice(len(rows), k, replace=False)]
        for _ in range(n_rounds):
            apart = ((rows[:, None] - centres) ** 2).sum(axis=2)
            labels = apart.argmin(axis=1)
            moved = np.array([rows[labels == j].mean(axis=0) if (labels == j).any() else centres[j] for j in range(k)])
            if np.allclose(moved, centres):
                break
            centres = moved
        cost = apart.min(axis=1).sum()
        if cost < least:
            best, least = labels, cost
    return np.unique(best, return_inverse=True)[1]


def indicators(labels):
    """H (Eq. 13)."""
    k = labels.max() + 1
    h = np.zeros((len(labels), k))
    for j in range(k):
        members = labels == j
        h[members, j] = 1 / np.sqrt(members.sum())
    return h


def covariance(d):
    """Σ_D of the columns of D, rows centred."""
    centred = d - d.mean(axis=1, keepdims=True)
    return centred @ centred.T / (d.shape[1] - 1)


def principal(sigma, count):
    """Leading eigenvalues and eigenvectors."""
    values, vectors = np.linalg.eigh(sigma)
    return values[::-1][:count], vectors[:, ::-1][:, :count]


def error(u, sigma):
    """R(U) = E‖c − UUᵀc‖² of centred c (Eq. 29)."""
    rest = np.eye(len(sigma)) - u @ u.T
    return np.trace(rest @ sigma @ rest.T)


def gradient(u, sigma):
    """∇R (Eq. 32)."""
    rest = np.eye(len(sigma)) - u @ u.T
    return -2 * (rest @ sigma + sigma @ rest) @ u


def gradient_projection(u, sigma, h, n_steps=10_000, tolerance=1e-7):
    """Steps 3 and 4 of Algorithm 1: step, project on the span of H, in the end normalise.

    The paper leaves the step open; ours is an eighth of the inverse of the largest variance within the span. All
    iterates are U = H T, and the gradient in T is that in U with S = HᵀΣH for Σ: the same steps in fewer numbers.
    """
    s = h.T @ sigma @ h
    alpha = 1 / (8 * np.linalg.eigvalsh(s)[-1])
    t = h.T @ u
    for _ in range(n_steps):
        change = -alpha * gradient(t, s)
        t = t + change
        if np.abs(change).max() < tolerance:
            break
    return h @ t / np.linalg.norm(t, axis=0)


def inverse_covariance(d, labels, count, solver="gradient", eigenvalues="pca"):
    """Σ̃⁻¹ = Ũ Λ⁻¹ Ũᵀ (Eqs. 27, 47), from the clusters of rows of D."""
    h, sigma = indicators(labels), covariance(d)
    values, u = principal(sigma, count)
    if solver == "gradient":
        u = gradient_projection(u, sigma, h)
    else:
        # the best directions in the span of H: principal ones of the data projected on it (Eq. 30)
        u = principal(h @ h.T @ sigma @ h @ h.T, count)[1]
    own = np.array([c @ sigma @ c for c in u.T])
    if eigenvalues == "own":
        values = own
    elif eigenvalues == "floor":
        values = own + (np.trace(sigma) - own.sum()) / d.shape[1]
    return u @ np.diag(1 / values) @ u.T


def conventional_inverse(d, count, ridge=False):
    """Σ̂⁻¹ = U Λ⁻¹ Uᵀ (Eq. 10), with what is left of the variance over n added where a ridge is asked for."""
    sigma = covariance(d)
    values, u = principal(sigma, count)
    if ridge:
        values = values + (np.trace(sigma) - values.sum()) / d.shape[1]
    return u @ np.diag(1 / values) @ u.T


def global_distances(d, inverse):
    """Eq. 26 for all pairs of columns."""
    n = d.shape[1]
    found = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            apart = d[:, i] - d[:, j]
            found[i, j] = np.sqrt(max(apart @ inverse @ apart, 0))
    return found


def neighborhood(d, i, size):
    """The column itself and its nearest."""
    apart = ((d - d[:, [i]]) ** 2).sum(axis=0)
    apart[i] = -1
    return np.argsort(apart, kind="stable")[:size]


def local_distances(d, size, inverse_of):
    """Eq. 48 for all pairs; `inverse_of` makes Σ_i⁻¹ of the columns of a neighbourhood."""
    n = d.shape[1]
    inverses = [inverse_of(d[:, neighborhood(d, i, size)]) for i in range(n)]
    found = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            apart = d[:, i] - d[:, j]
            found[i, j] = np.sqrt(max(0.5 * apart @ (inverses[i] + inverses[j]) @ apart, 0))
    return found


def informed_local_distances(d, size, k, count, rng):
    """Algorithm 2 as printed: k-means with random starts and gradient projection for every neighbourhood."""
    return local_distances(d, size, lambda part: inverse_covariance(part, kmeans(part, k, rng), count))
