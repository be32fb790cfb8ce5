"""Comparisons of units through linear contrasts: of one number per unit, or of vectors through their inner products.

Vectors (quantile functions, correlations) are compared by the squared length of the effect over its expectation from
differences between units of one stratum, an F ratio whose degrees of freedom are estimated from the units too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import helmert

from ..stats.tails import f_pvalues
from ..typing import Floats
from .marginal import FeatureTest, t_test


@dataclass(frozen=True, slots=True)
class Strata:
    """Contrasts of units, and those within strata that are free of the effect and of covariates.

    Strata of a comparison are the conditions, or the differences of pairs; of a trend, slopes within samples, and
    samples that hold one dose each.
    """

    #: the number that divides the variance of each stratum; lower than that of its units with covariates
    sizes: list[float]
    #: the effect as weights of the units
    effect: Floats
    #: orthonormal contrasts within each stratum, free of covariates
    residuals: list[Floats]

    @property
    def dfs(self) -> list[int]:
        """Degrees of freedom of each stratum."""
        return [len(rows) for rows in self.residuals]


def intercept(n: int, covariates: Floats | None = None, /) -> tuple[float, Floats, Floats]:
    """Return the effective size, the weights and the orthonormal residual contrasts of a mean at covariates of 0."""
    if covariates is None or not covariates.shape[1]:
        return n, np.full(n, 1 / n), helmert(n)
    columns = np.column_stack([np.ones(n), covariates])
    weights = np.linalg.pinv(columns)[0]
    basis = np.linalg.qr(columns, mode="complete")[0]
    return float(1 / np.sum(weights**2)), weights, basis[:, columns.shape[1] :].T


def weight_of_first(first: float, second: float, /) -> float:
    """Share of the first of two estimates, given their variances, in their most precise average."""
    return second / (first + second)


def effect_in(values: Floats, strata: Strata, /) -> tuple[Floats, Floats, Floats | float]:
    """Effect on one number per unit (units × features), its standard error, and degrees of freedom (Welch)."""
    effect = strata.effect @ values
    variances = [
        np.square(rows @ values).mean(axis=0) / n for rows, n in zip(strata.residuals, strata.sizes, strict=True)
    ]
    if len(variances) == 1:
        return effect, np.sqrt(variances[0]), float(strata.dfs[0])
    total = np.sum(variances, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = total**2 / sum(v**2 / n for v, n in zip(variances, strata.dfs, strict=True))
    return effect, np.sqrt(total), df


def compare_numbers_in(values: Floats, strata: Strata, /) -> FeatureTest:
    """Compare one number per unit (units × features) by a t test."""
    return t_test(*effect_in(values, strata))


def compare_vectors_in(products: Floats, strata: Strata, /) -> FeatureTest:
    """F ratio of mean vectors from the inner products of all samples (features × samples × samples).

    The numerator sums squares over an effective number of independent directions, (Σλ)² / Σλ² for eigenvalues λ
    of the covariance between samples. That number is estimated from products of contrasts within conditions and
    over all features, so that few samples suffice; it is lower for a feature whose samples are correlated.
    """
    squared = _quadratic(products, strata.effect[None])[:, 0, 0]
    within = [_quadratic(products, rows) for rows in strata.residuals]
    variances = np.stack(
        [np.trace(w, axis1=1, axis2=2) / len(w[0]) / size for w, size in zip(within, strata.sizes, strict=True)]
    )
    error = variances.sum(axis=0)
    df = error**2 / np.maximum(sum(v**2 / n for v, n in zip(variances, strata.dfs, strict=True)), 1e-300)
    known = error > 0
    directions = _directions(_quadratic(products, np.concatenate(strata.residuals)), strata.dfs, variances)
    ratio = np.divide(squared, error, out=np.ones_like(error), where=known)
    spread = np.sqrt(2 / directions * (1 + 1 / np.where(known, df, 1.0)))
    pval = f_pvalues(ratio, directions, directions * np.where(known, df, 1.0))
    return FeatureTest(np.where(known, (ratio - 1) / spread, np.nan), np.where(known, pval, np.nan))


def _directions(products: Floats, dfs: Sequence[int], variances: Floats) -> Floats:
    """Effective number of independent directions of every feature, at most that of all features together.

    Its inverse is the mean squared cosine between contrasts within conditions, weighted by their lengths, on average
    over all orthonormal contrasts: the order of samples changes nothing.
    """
    known = (variances > 0).all(axis=0)
    if sum(dfs) < 2 or not known.any():
        return np.ones(len(products))
    angles, lengths = _squared_cosines(products[known], dfs, variances[:, known])
    of_all = angles.sum() / lengths.sum()
    cosine = np.full(len(products), of_all)
    cosine[known] = np.maximum(angles / np.where(lengths > 0, lengths, np.inf), of_all)
    return np.asarray(1 / np.clip(cosine, 1e-9, 1.0))


def _squared_cosines(products: Floats, dfs: Sequence[int], variances: Floats) -> tuple[Floats, Floats]:
    """Sum squared products of different contrasts, and products of their squared lengths, over all pairs.

    Each pair is weighted by the inverse variances of its strata, so that conditions have equal weight.
    """
    angles, lengths = np.zeros((2, len(products)))
    ends = np.cumsum(dfs)
    strata = [slice(end - df, end) for df, end in zip(dfs, ends, strict=True)]
    traces = [np.trace(products[:, own, own], axis1=1, axis2=2) for own in strata]
    for i, (own, df) in enumerate(zip(strata, dfs, strict=True)):
        if df > 1:  # expected products of two rows of a random rotation of the contrasts
            squares = np.sum(products[:, own, own] ** 2, axis=(1, 2))
            angle = (df * squares - traces[i] ** 2) / (2 * (df + 2))
            angles += angle / variances[i] ** 2
            lengths += ((df - 1) * squares / 2 - (df + 1) * angle) / variances[i] ** 2
        for k in range(i):
            weight = 1 / (variances[i] * variances[k])
            angles += np.sum(products[:, own, strata[k]] ** 2, axis=(1, 2)) * weight
            lengths += traces[i] * traces[k] * weight
    return angles, lengths


def _quadratic(products: Floats, contrasts: Floats) -> Floats:
    return np.asarray(contrasts @ products @ contrasts.T)
