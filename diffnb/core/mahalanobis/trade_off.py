"""Directions between those of clusters and those of PCA, for clusters that are not quite right.

Every observation is moved a part w of the way to its means over clusters, c → A c with A = (1 − w) I + w H Hᵀ, and the
principal directions of what results are taken: PCA's for w = 0, those that are constant on clusters (problem 30 of the
paper) for w = 1. Since A² = κ I + (1 − κ) H Hᵀ with κ = (1 − w)², all inner products of moved observations follow from
those of the observations and of their means over clusters.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ..arrays.ops import cross, take_rows
from ..runtime.seeds import generator
from ..spectral.eigen import fix_signs, leading_eigenpairs
from ..typing import Floats, Ints
from .covariance import MAX_GRAM_POINTS, SampleCovariance, sample_covariance
from .metric import (
    Eigenvalues,
    MahalanobisMetric,
    chosen_eigenvalues,
    count_above_noise,
    count_by_hard_threshold,
    descending_eigenpairs,
    pool,
)

#: weights that `"auto"` compares
WEIGHTS = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
#: observations that are compared, and folds of which each is left out once
MAX_VALIDATED_OBS, N_FOLDS = 500, 10
#: directions whose variance is below this share of the largest are rounding
MIN_RELATIVE_VARIANCE = 1e-12


def blended_metric(
    data: SampleCovariance,
    indicators: Floats,
    weight: float | Literal["auto"],
    /,
    *,
    n_components: int | Literal["auto"] = "auto",
    eigenvalues: Eigenvalues = "pca",
    seed: int = 0,
) -> tuple[MahalanobisMetric, float]:
    """Return the metric between that of clusters and that of PCA, and the weight of the clusters.

    `"auto"`: the weight whose directions keep most of the variance of observations that were left out.
    """
    count = _count(data, indicators, seed) if n_components == "auto" else n_components
    used = chosen_weight(data, indicators, count, seed=seed) if weight == "auto" else weight
    directions = blended_directions(data, indicators, used, count, seed=seed)
    own = (pool(data.x, directions) ** 2).sum(axis=0) / (data.shape[0] - 1)
    pca = data.leading(count, seed=seed, vectors=False).values
    return MahalanobisMetric(
        directions, chosen_eigenvalues(eigenvalues, own, pca, data.trace, data.shape[0]), own, pca
    ), used


def _count(data: SampleCovariance, indicators: Floats, seed: int) -> int:
    """Return the larger number of directions above noise: of clusters, or of all features."""
    n, m = data.shape
    within = descending_eigenpairs(_between(pool(data.x, indicators).T) / (n - 1))[0]
    of_clusters = count_above_noise(within, data.trace, m, n)
    of_features = count_by_hard_threshold(*data.spectrum(seed=seed))
    return min(max(of_clusters, of_features), n - 1, int(indicators.shape[1]))


def blended_directions(
    data: SampleCovariance, indicators: Floats, weight: float, count: int, /, *, seed: int = 0
) -> Floats:
    """Leading eigenvectors of A Σ A, features × components."""
    n, m = data.shape
    if n <= MAX_GRAM_POINTS:
        kept = (1 - weight) ** 2
        inner = kept * data.between_observations()
        inner += (1 - kept) / (n - 1) * _between(pool(data.x, indicators))
        values, left = leading_eigenpairs(inner, count, seed=seed)
        found = _moved(cross(data.x, left - left.mean(axis=0)), indicators, weight)
        lengths = np.linalg.norm(found, axis=0)
        varies = values > MIN_RELATIVE_VARIANCE * max(float(values[0]), np.finfo(float).tiny)
        return fix_signs(found * np.where(varies, 1 / np.where(varies, lengths, 1.0), 0.0))

    def product(v: Floats) -> Floats:
        return _moved(data.times(_moved(v.reshape(m, -1), indicators, weight)), indicators, weight)

    operator = LinearOperator((m, m), matvec=lambda v: product(v).ravel(), dtype=np.float64)
    return fix_signs(leading_eigenpairs(product(np.eye(m)) if m <= MAX_GRAM_POINTS else operator, count, seed=seed)[1])


def _moved(vectors: Floats, indicators: Floats, weight: float) -> Floats:
    return np.asarray((1 - weight) * vectors + weight * indicators @ (indicators.T @ vectors))


def _between(pooled: Floats) -> Floats:
    return np.asarray(pooled @ pooled.T)


def chosen_weight(data: SampleCovariance, indicators: Floats, count: int, /, *, seed: int = 0) -> float:
    """Return the weight whose directions keep most variance of left-out observations; of equal ones the largest."""
    rng = generator(seed, "folds")
    n = data.shape[0]
    if n > MAX_VALIDATED_OBS:
        drawn = np.sort(generator(seed, "subsample").choice(n, MAX_VALIDATED_OBS, replace=False))
        data, n = sample_covariance(take_rows(data.x, drawn)), MAX_VALIDATED_OBS
    inner, pooled = data.between_observations() * (n - 1), pool(data.x, indicators)
    kept = np.zeros(len(WEIGHTS))
    for fold in np.array_split(rng.permutation(n), min(N_FOLDS, n)):
        kept += _kept_variance(inner, pooled, np.sort(fold), count)
    equal = np.flatnonzero(kept >= kept.max() * (1 - MIN_RELATIVE_VARIANCE))
    return float(WEIGHTS[int(equal[-1])])


def _kept_variance(inner: Floats, pooled: Floats, left_out: Ints, count: int) -> Floats:
    """Return, for each weight, the squared length of left-out observations along directions of the others."""
    train = np.setdiff1d(np.arange(len(inner)), left_out)
    mean = inner[np.ix_(train, train)].mean(axis=0)
    of_train = inner[np.ix_(train, train)] - mean - mean[:, None] + mean.mean()
    across = inner[np.ix_(left_out, train)]
    across = across - across.mean(axis=1, keepdims=True) - mean + mean.mean()
    center = pooled[train].mean(axis=0)
    means_train, means_out = pooled[train] - center, pooled[left_out] - center
    pairs_train, pairs_across = means_train @ means_train.T, means_out @ means_train.T
    kept = []
    for weight in WEIGHTS:
        share = (1 - weight) ** 2
        values, vectors = descending_eigenpairs(share * of_train + (1 - share) * pairs_train)
        values, vectors = values[:count], vectors[:, :count]
        varies = values > MIN_RELATIVE_VARIANCE * max(float(values[0]), np.finfo(float).tiny)
        along = ((1 - weight) * across + weight * pairs_across) @ vectors[:, varies]
        kept.append(float((along**2 / values[varies]).sum()))
    return np.array(kept)
