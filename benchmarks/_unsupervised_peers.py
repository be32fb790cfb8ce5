"""MCFS and NDFS, selections of features without labels that Table S1 of the DUFS paper compares with."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from sklearn.cluster import KMeans
from sklearn.linear_model import lars_path
from sklearn.neighbors import kneighbors_graph

#: neighbours in the graph, as in the supplement of the DUFS paper
N_NEIGHBORS = 5
#: features with a weight in each regression of MCFS, at most
N_NONZERO = 100
#: weights of the terms of NDFS, and its number of iterations
ALPHA, BETA, GAMMA, N_ITERATIONS = 1.0, 1.0, 1e8, 30


def graph(x: np.ndarray) -> np.ndarray:
    """Return heat weights between neighbours, symmetric, with the mean squared distance as width."""
    near = kneighbors_graph(x, N_NEIGHBORS, mode="distance").toarray()
    squared = np.maximum(near, near.T) ** 2
    return np.where(squared > 0, np.exp(-squared / squared[squared > 0].mean()), 0.0)


def embedding(x: np.ndarray, k: int) -> np.ndarray:
    """Return the k smoothest vectors on the graph, the constant one left out."""
    weights = graph(x)
    degrees = np.diag(weights.sum(axis=1))
    return eigh(degrees - weights, degrees, subset_by_index=[1, k])[1]


def mcfs(x: np.ndarray, k: int) -> np.ndarray:
    """Multi-cluster feature selection (Cai, Zhang & He 2010): features in order of their largest weight.

    Every vector of the spectral embedding is regressed on the features with an L1 penalty.
    """
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    count = min(N_NONZERO, min(x.shape) - 2)
    score = np.zeros(x.shape[1])
    for vector in embedding(x, k).T:
        _, _, path = lars_path(x, vector - vector.mean(), method="lar", max_iter=count)
        score = np.maximum(score, np.abs(path[:, -1]))
    return np.argsort(-score, kind="stable")


def ndfs(x: np.ndarray, k: int, seed: int = 0) -> np.ndarray:
    """Nonnegative discriminative feature selection (Li, Yang, Liu, Zhou & Lu 2012): order by row norms of W.

    W regresses nearly orthogonal, nonnegative cluster indicators F, which are smooth on the graph, with an L2,1
    penalty. The ridge regressions are solved in as many dimensions as there are observations.
    """
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    n = len(x)
    weights = graph(x)
    root = 1 / np.sqrt(weights.sum(axis=1))
    laplacian = np.eye(n) - root[:, None] * weights * root
    f = np.eye(k)[KMeans(k, n_init=5, random_state=seed).fit_predict(x)] + 0.2
    f /= np.sqrt((f**2).sum(axis=0))
    inverse_d = np.ones(x.shape[1])
    for _ in range(N_ITERATIONS):
        inner = (x * inverse_d) @ x.T
        solved = np.linalg.solve(inner + ALPHA * np.eye(n), np.eye(n))
        w = inverse_d[:, None] * (x.T @ (solved @ f))
        inverse_d = 2 * np.sqrt((w**2).sum(axis=1)) + 1e-10
        m = laplacian + BETA * (np.eye(n) - inner @ solved)
        f = np.maximum(f * (GAMMA * f) / np.maximum(m @ f + GAMMA * f @ (f.T @ f), 1e-10), 1e-10)
        f /= np.sqrt((f**2).sum(axis=0))
    return np.argsort(-np.sqrt((w**2).sum(axis=1)), kind="stable")
