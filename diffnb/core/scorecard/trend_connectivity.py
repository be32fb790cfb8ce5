"""Trend in connectivity: whether the correlations of a feature with all others change steadily with a dose.

Observations of every level are split into folds, and z, the Fisher transform of a correlation, is computed in each.
The trend is the slope of z over the levels, a weighted sum; the same weights on contrasts between the folds of one
level give numbers of the same variance that hold no trend, and form the null distribution (see `connectivity`, which
this is for two levels). Folds of all levels are of similar size, since the bias of a correlation depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import hadamard

from ..arrays.ops import take_columns
from ..arrays.residuals import covariate_designs, residuals
from ..typing import Floats, Matrix
from .columnwise import with_fast_columns
from .connectivity import (
    MAX_FEATURES_FOR_MORE_NULLS,
    N_NULL_CONTRASTS,
    PRIOR_DF,
    ConnectivityTest,
    compare_with_null,
    excess_levels,
    excess_of_features,
    n_folds_for,
    varying,
)
from .correlation_blocks import RowGroups, sum_over_correlation_blocks
from .folds import content_order, random_folds

#: folds of a large level, which has more than the smallest one
MAX_FOLDS = 64
#: for each level, which of its contrasts is taken and with what sign
Pattern = Sequence[tuple[int, float]]


def connectivity_trend(
    matrices: Sequence[Matrix],
    doses: Sequence[Floats],
    /,
    *,
    covariates: Sequence[Floats] | None = None,
    n_jobs: int | None = None,
) -> ConnectivityTest:
    """Test for every feature whether its correlations with all others have a trend; a matrix holds one level each.

    The dose itself and the covariates are taken out within levels, so that a trend in the mean of two features is not
    a correlation.
    """
    taken_out = _columns_within_levels(doses, covariates)
    n_columns = taken_out[0].shape[1] if taken_out else 0
    varies = varying(*matrices)
    stat, pval = np.full(varies.size, np.nan), np.full(varies.size, np.nan)
    n_folds = n_folds_for(min(x.shape[0] for x in matrices) - n_columns, int(varies.sum()))
    if not n_folds:
        return ConnectivityTest(stat, pval, 0)
    if taken_out:
        matrices = residuals(matrices, covariate_designs(taken_out), exchangeable=False)
    kept = [take_columns(with_fast_columns(x), varies) for x in matrices]
    orders = [content_order(x) for x in kept]
    sizes = [x.shape[0] for x in kept]
    slopes = slope_weights([float(own.mean()) for own in doses], sizes)
    numbers = folds_of_levels(sizes, n_folds)

    def excess_of_draw(draw: int) -> Floats:
        levels = [
            RowGroups(x, random_folds(order, n, draw, level), lost=n_columns / n)
            for level, (x, order, n) in enumerate(zip(kept, orders, numbers, strict=True))
        ]
        return _excess(levels, slopes, n_folds, n_jobs)

    stat[varies], pval[varies] = compare_with_null(excess_of_draw, int(varies.sum()), n_folds)
    return ConnectivityTest(stat, pval, n_folds)


def slope_weights(doses: Sequence[float], sizes: Sequence[int], /) -> Floats:
    """Weights of the levels in a slope: least squares with levels weighted by their observations.

    Their scale changes nothing; the absolute weights sum to 2, as those of a difference of two levels do.
    """
    dose, size = np.asarray(doses, dtype=float), np.asarray(sizes, dtype=float)
    weights = size * (dose - np.average(dose, weights=size))
    return np.asarray(2 * weights / np.abs(weights).sum())


def folds_of_levels(sizes: Sequence[int], n_folds: int, /) -> list[int]:
    """Return the number of folds of every level, a power of two, so that all folds are of similar size."""
    doublings = np.rint(np.log2(np.asarray(sizes) / min(sizes))).astype(int)
    return [int(min(n_folds * 2**k, max(MAX_FOLDS, n_folds))) for k in doublings]


def _columns_within_levels(doses: Sequence[Floats], covariates: Sequence[Floats] | None) -> list[Floats]:
    columns: list[Floats] = [np.empty((own.size, 0)) for own in doses] if covariates is None else list(covariates)
    if any(np.ptp(own) > 0 for own in doses):
        columns = [np.column_stack([own, dose]) for own, dose in zip(columns, doses, strict=True)]
    return columns if columns[0].shape[1] else []


def _excess(levels: Sequence[RowGroups], slopes: Floats, n_folds: int, n_jobs: int | None) -> Floats:
    """Sum the excess of every feature: levels of excess × (observed, then null contrasts) × features."""
    n_features, n_null = levels[0].matrix.shape[1], N_NULL_CONTRASTS[n_folds]
    numbers = [len(own.rows) for own in levels]
    # means of all folds, and as many contrasts between them as the smallest level has
    contrasts_of = [hadamard(n)[:n_folds] / n for n in numbers]
    ends = np.cumsum([0, *numbers])
    shares = np.array([c**2 * sum(own.variances()) / n**2 for c, own, n in zip(slopes, levels, numbers, strict=True)])
    prior = float(shares.sum())
    # contrasts of unequal weight tell less about their sum than as many equal ones
    df_of_each = prior**2 / float(np.sum(shares**2))
    n_residual = n_folds - 1 - n_null
    df = PRIOR_DF + n_residual * df_of_each
    thresholds = excess_levels(n_features, df)
    patterns = [[(0, 1.0)] * len(levels), *_null_patterns(n_null, len(levels), n_features)]

    def add_excess(z: Floats, diagonal: bool) -> tuple[Floats, Floats]:
        each = zip(contrasts_of, ends[:-1], ends[1:], strict=True)
        of_levels = [np.tensordot(weights, z[start:end], axes=1) for weights, start, end in each]
        variance = np.full(z.shape[1:], PRIOR_DF * prior / df)
        for c, contrasts in zip(slopes, of_levels, strict=True):
            for contrast in contrasts[1 + n_null :]:
                variance += (df_of_each * c**2 / df) * np.square(contrast)
        variance *= thresholds[-1]
        if diagonal:
            variance[np.tril_indices(len(variance))] = np.inf
        shape = len(thresholds), len(patterns)
        to_rows, to_columns = np.empty((*shape, len(variance))), np.empty((*shape, len(variance.T)))
        for number, pattern in enumerate(patterns):
            slope = _weighted(of_levels, slopes, pattern)
            to_rows[:, number], to_columns[:, number] = excess_of_features(slope, variance, thresholds)
        return to_rows, to_columns

    return sum_over_correlation_blocks(levels, add_excess, n_jobs=n_jobs)


def _weighted(of_levels: Sequence[Floats], slopes: Floats, pattern: Pattern) -> Floats:
    total: Floats = np.zeros_like(of_levels[0][0])
    for contrasts, c, (number, sign) in zip(of_levels, slopes, pattern, strict=True):
        total += (sign * c) * contrasts[number]
    return total


def _null_patterns(n_null: int, n_levels: int, n_features: int) -> list[Pattern]:
    """Combine null contrasts of all levels, with equal and alternating signs; in more ways where features are few."""
    shifts = range(n_null) if n_features <= MAX_FEATURES_FOR_MORE_NULLS else [0]
    signs = [np.ones(n_levels), np.where(np.arange(n_levels) % 2, -1.0, 1.0)]
    return [
        [(1 + (first + shift * level) % n_null, float(sign[level])) for level in range(n_levels)]
        for shift in shifts
        for first in range(n_null)
        for sign in signs
    ]
