"""PDA and SPARDA as plain loops: optimal transport as a linear program, the ascent with one start at a time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.optimize import linprog


def transport(u, v, power=2):
    """Cost and coupling of least cost between two samples on a line, as a linear program (Eq. 2)."""
    n, m = len(u), len(v)
    cost = np.abs(np.subtract.outer(u, v)) ** power
    rows = np.kron(np.eye(n), np.ones(m))
    cols = np.kron(np.ones(n), np.eye(m))
    marginals = np.r_[np.full(n, 1 / n), np.full(m, 1 / m)]
    done = linprog(cost.ravel(), A_eq=np.vstack([rows, cols]), b_eq=marginals, method="highs")
    return done.fun, done.x.reshape(n, m)


def quantile_distance(u, v, power=2):
    """∫ |F⁻¹ − G⁻¹|^p over all levels, one step of either quantile function after the other."""
    u, v = np.sort(u), np.sort(v)
    levels = sorted({i * len(v) for i in range(len(u) + 1)} | {j * len(u) for j in range(len(v) + 1)})
    total = 0.0
    for low, high in pairwise(levels):
        step = abs(u[low // len(v)] - v[low // len(u)]) ** power
        total += step * (high - low) / (len(u) * len(v))
    return total


def kolmogorov(u, v):
    """Largest distance between the cumulative distribution functions."""
    return max(abs((u <= c).mean() - (v <= c).mean()) for c in np.r_[u, v])


def between(x, y, coupling):
    """W_M = Σ M_ij (x_i − y_j)(x_i − y_j)ᵀ (below Eq. 3)."""
    total = np.zeros((x.shape[1], x.shape[1]))
    for i in range(len(x)):
        for j in range(len(y)):
            z = x[i] - y[j]
            total += coupling[i, j] * np.outer(z, z)
    return total


def objective(x, y, beta):
    """J(β) = min_M βᵀ W_M β."""
    return quantile_distance(x @ beta, y @ beta)


def gradient(x, y, beta):
    """2 W_M β with the best coupling M at β."""
    _, coupling = transport(x @ beta, y @ beta)
    return 2 * between(x, y, coupling) @ beta


def tighten(x, y, beta, k, n_steps=60, tolerance=1e-4, rise=1e-7, resolution=2.0**-26):
    """β ← normalise(top_k(β + t g)) from one start (Sec. 4.2), rounded to multiples of the resolution."""

    def feasible(b):
        kept = np.zeros_like(b)
        largest = np.argsort(-np.abs(b))[:k]
        kept[largest] = b[largest]
        kept = resolution * np.round(kept / np.linalg.norm(kept) / resolution)
        return kept / np.linalg.norm(kept)

    beta = feasible(beta)
    value = objective(x, y, beta)
    step, refused, slow = 1 / (2 * value), 0, 0
    for _ in range(n_steps):
        trial = feasible(beta + step * gradient(x, y, beta))
        new = objective(x, y, trial)
        if new > value * (1 + rise):
            slow = slow + 1 if new < value * (1 + tolerance) else 0
            beta, value, step, refused = trial, new, 2 * step, 0
        else:
            step, refused = step / 4, refused + 1
        if slow == 2 or refused == 3:
            break
    return beta, value


def largest_deviations(objectives):
    """For every labeling (row), the most that log J(k) exceeds its mean over labelings, in standard deviations."""
    found = []
    for row in objectives:
        at_k = []
        for k, value in enumerate(row):
            logs = [np.log(other[k]) for other in objectives]
            at_k.append((np.log(value) - np.mean(logs)) / np.std(logs))
        found.append(max(at_k))
    return found


def pvalue(observed, null):
    """Share of statistics, the observed one among them, that reach the observed one."""
    return (1 + sum(value >= observed for value in null)) / (1 + len(null))
