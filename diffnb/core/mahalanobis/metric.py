"""The Mahalanobis distance informed by clusters of features, global version (Lahav, Talmon & Kluger, Section 3).

Columns of the paper's D are observations here, and its rows are features. All principal directions that are
constant on clusters are U = H T with the normalised indicators H, so that everything after the clustering happens
in as many dimensions as there are clusters: on Z = X H.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from ..arrays.ops import gram, matmul
from ..spectral.eigen import fix_signs
from ..typing import Floats, Matrix
from .covariance import SampleCovariance

DirectionSolver: TypeAlias = Literal["exact", "gradient"]
Eigenvalues: TypeAlias = Literal["pca", "own", "floor"]

DIRECTION_SOLVERS = ("exact", "gradient")
EIGENVALUES = ("pca", "own", "floor")
#: eigenvalues below this share of the largest are rounding: the pseudo-inverse excludes them
MIN_RELATIVE_EIGENVALUE = 1e-10
#: steps of the gradient projection, and the change below which it has converged: directions of little variance take
#: thousands of steps, and momentum would end in another rotation of the directions than the steps of the paper
MAX_GRADIENT_STEPS = 10_000
MIN_GRADIENT_CHANGE = 1e-7


@dataclass(frozen=True, slots=True)
class MahalanobisMetric:
    """d²(i, j) = ‖Wᵀ(c_i − c_j)‖² with W = U Λ^(−½) (Eqs. 11, 26)."""

    #: U, features × components
    directions: Floats
    #: Λ, as used
    eigenvalues: Floats
    #: variance along U in the data
    own: Floats
    #: leading eigenvalues of the sample covariance
    pca: Floats

    @property
    def factor(self) -> Floats:
        """W, zero for directions of no variance."""
        return np.asarray(self.directions * inverse_root(self.eigenvalues))


def informed_metric(
    data: SampleCovariance,
    indicators: Floats,
    /,
    *,
    n_components: int | Literal["auto"] = "auto",
    solver: DirectionSolver = "exact",
    eigenvalues: Eigenvalues = "pca",
    seed: int = 0,
) -> MahalanobisMetric:
    """Principal directions within the span of clusters, and the metric they define (Algorithm 1).

    `solver="exact"` solves problem (30) by the eigenvectors of HᵀΣH; `"gradient"` projects gradients, as in (31).
    """
    n, m = data.shape
    within = gram(pool(data.x, indicators)) / (n - 1)
    values, vectors = descending_eigenpairs(within)
    if n_components == "auto":
        n_components = count_above_noise(values, data.trace, m, n)
    pca = data.leading(n_components, seed=seed, vectors=solver == "gradient")
    if solver == "exact":
        weights, own = fix_signs(vectors[:, :n_components]), values[:n_components]
    else:
        weights = project_gradients(within, indicators.T @ pca.vectors)
        own = np.einsum("ki,kl,li->i", weights, within, weights)
    used = chosen_eigenvalues(eigenvalues, own, pca.values, data.trace, n)
    return MahalanobisMetric(indicators @ weights, used, own, pca.values)


def conventional_metric(
    data: SampleCovariance,
    /,
    *,
    n_components: int | Literal["auto"] = "auto",
    eigenvalues: Eigenvalues = "pca",
    seed: int = 0,
) -> MahalanobisMetric:
    """Principal components without clusters (Eq. 10); `eigenvalues="floor"` adds a ridge to them."""
    if n_components == "auto":
        n_components = count_by_hard_threshold(*data.spectrum(seed=seed))
    found = data.leading(n_components, seed=seed)
    used = chosen_eigenvalues(eigenvalues, found.values, found.values, data.trace, data.shape[0])
    return MahalanobisMetric(fix_signs(found.vectors), used, found.values, found.values)


def reconstruction_error(data: SampleCovariance, directions: Floats, /) -> float:
    """Squared error of U Uᵀ c instead of c, summed over centred observations and divided by n − 1 (Eq. 29)."""
    products = gram(pool(data.x, directions)) / (data.shape[0] - 1)
    inner = directions.T @ directions
    return data.trace - 2 * float(np.trace(products)) + float(np.sum(inner * products))


def pool(x: Matrix, weights: Floats, /) -> Floats:
    """X W with every column centred."""
    pooled = matmul(x, weights)
    return np.asarray(pooled - pooled.mean(axis=0))


def inverse_root(eigenvalues: Floats, /) -> Floats:
    """λ^(−½) of every eigenvalue in the last axis; zero for those that are rounding."""
    largest = eigenvalues.max(axis=-1, keepdims=True)
    kept = (eigenvalues > MIN_RELATIVE_EIGENVALUE * largest) & (eigenvalues > 0)
    return np.where(kept, 1 / np.sqrt(np.where(kept, eigenvalues, 1.0)), 0.0)


def chosen_eigenvalues(which: Eigenvalues, own: Floats, pca: Floats, trace: Floats | float, n: int, /) -> Floats:
    """Λ of the metric: PCA's as in the paper, the directions' own, or these with a floor.

    The floor is what noise adds to eigenvalues of n observations: the variance outside the directions over n.
    """
    if which == "pca":
        return pca
    if which == "own":
        return own
    residual = np.maximum(np.asarray(trace)[..., None] - own.sum(axis=-1, keepdims=True), 0.0)
    return np.asarray(own + residual / n)


def count_above_noise(values: Floats, trace: Floats | float, m: int, n: int, /) -> int:
    """Count the directions in the span of K clusters with more variance than noise in n observations has.

    Noise is the variance within clusters, (tr Σ − tr HᵀΣH) / (m − K) in every direction; in K dimensions its
    largest eigenvalue stays below (1 + √(K/(n − 1)))² times that. Of many covariances, the median count is taken.
    """
    k = values.shape[-1]
    outside = np.maximum(np.asarray(trace) - values.sum(axis=-1), 0.0) / max(1, m - k)
    edge = outside * (1 + np.sqrt(k / (n - 1))) ** 2
    # data without noise has directions of no variance, which are rounding
    above = values > np.maximum(edge, MIN_RELATIVE_EIGENVALUE * values[..., 0])[..., None]
    return max(1, int(np.median(above.sum(axis=-1))))


def count_by_hard_threshold(values: Floats, n: int, m: int, /) -> int:
    """Count the principal components above the optimal hard threshold for unknown noise (Gavish & Donoho 2014).

    `values` are all min(n − 1, m) eigenvalues of a covariance; of many covariances, the median count is taken.
    """
    roots = np.sqrt(np.maximum(values, 0.0))
    beta = min(n - 1, m) / max(n - 1, m)
    omega = 0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43
    threshold = np.maximum(omega * np.median(roots, axis=-1), np.sqrt(MIN_RELATIVE_EIGENVALUE) * roots[..., 0])
    return max(1, int(np.median((roots > threshold[..., None]).sum(axis=-1))))


def project_gradients(within: Floats, start: Floats, /) -> Floats:
    """Gradient projection (31) in the coordinates of the clusters, then unit length (steps 3 and 4).

    With U = H T and S = HᵀΣH the projected gradient (32) is −2(2 S T − T TᵀS T − S T TᵀT); the first step
    leaves PCA's directions where they are and projects them, T = HᵀU. Many problems are solved at once, each until
    it has converged.
    """
    s, t = (within[None], start[None].copy()) if start.ndim == 2 else (within, start.copy())
    # the curvature of R is below eight times the largest eigenvalue: with steps shorter than its inverse R never rises
    step = 1 / (8 * np.maximum(np.linalg.eigvalsh(s)[:, -1], np.finfo(float).tiny))[:, None, None]
    active = np.arange(len(t))
    for _ in range(MAX_GRADIENT_STEPS):
        moving = t[active]
        image, transposed = s[active] @ moving, np.swapaxes(moving, 1, 2)
        change = 2 * step[active] * (2 * image - moving @ (transposed @ image) - image @ (transposed @ moving))
        t[active] = moving + change
        active = active[np.abs(change).max(axis=(1, 2)) >= MIN_GRADIENT_CHANGE]
        if not active.size:
            break
    lengths = np.linalg.norm(t, axis=1, keepdims=True)
    t /= np.where(lengths > 0, lengths, 1.0)
    return np.asarray(t.reshape(start.shape))


def descending_eigenpairs(symmetric: Floats, /) -> tuple[Floats, Floats]:
    """Eigenvalues in descending order, none below zero, and their eigenvectors; of many matrices at once."""
    values, vectors = np.linalg.eigh(symmetric)
    return np.maximum(values[..., ::-1], 0.0), vectors[..., ::-1]
