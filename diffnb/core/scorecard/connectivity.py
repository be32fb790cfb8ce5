"""Shift in connectivity: whether the correlations of a feature with all others differ between two conditions.

Observations of each condition are split into folds of equal size, at random but by their own values (see `folds`),
and the Fisher z of every pair of features is computed in every fold. A balanced contrast of the folds between
conditions is the difference in z; contrasts within conditions are made of the same numbers, have the same variance
and contain no difference. Some of them estimate the variance of a pair, the others enter the same statistic and form
its null distribution. Nothing is assumed of the marginal distributions or of the correlations among features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from scipy import special
from scipy.linalg import hadamard

from ..arrays.ops import column_ranges, take_columns
from ..stats.tails import null_sample_pvalues
from ..typing import Bools, Floats, Ints, Matrix
from .columnwise import with_fast_columns
from .correlation_blocks import RowGroups, multiplied_by_rows
from .count_blocks import AnyGroups, sum_over_groups
from .folds import ContentOrder, content_order, numbered, random_folds
from .marginal import FeatureTest

#: observations that a condition needs for its correlations to be compared
MIN_OBS_FOR_CONNECTIVITY = 8
#: possible numbers of folds, and the observations of a condition that each needs; the largest possible is used
MIN_OBS_BY_N_FOLDS = {8: 160, 4: 40, 2: MIN_OBS_FOR_CONNECTIVITY}
#: features above which four folds give enough null values, and the largest number of folds is not used
MAX_FEATURES_FOR_MOST_FOLDS = 5000
#: contrasts within a condition that form the null distribution; the rest of them estimate variances
N_NULL_CONTRASTS = {2: 1, 4: 1, 8: 3}
#: features up to which null contrasts are combined in all pairs and folds are drawn repeatedly
MAX_FEATURES_FOR_MORE_NULLS = 1000
#: null values wanted where features are few, and the most draws of folds to reach them
MIN_NULL_VALUES, MAX_FOLD_DRAWS = 10_000, 10
#: degrees of freedom of the prior variance, the one that Fisher z has for most pairs
PRIOR_DF = 20.0
#: share of partners that exceed the lower of both levels by chance
BROAD_LEVEL_SHARE = 0.02
#: standard deviations above which the excess over the lower level counts at all, so that it does not order features
#: without a difference
MIN_BROAD_EXCESS_SD = 1.0


@dataclass(frozen=True, slots=True)
class ConnectivityTest(FeatureTest):
    """The test of every feature, and the folds that it used; 0 where there were too few observations."""

    n_folds: int


def connectivity_test(
    group: Matrix, reference: Matrix, /, *, n_covariates: int = 0, n_jobs: int | None = None
) -> ConnectivityTest:
    """Test for every feature whether its correlations with all others differ between two conditions.

    With z the Fisher transform of a correlation, t_jk is the difference in z of features j and k over its
    standard error, and the excess of j over a level c is Σ_k max(t_jk² − c, 0). One partner in all exceeds the
    higher level by chance, which is sensitive to few strong changes; a share of `BROAD_LEVEL_SHARE` exceeds the
    lower one, which is sensitive to many weak ones. The statistic is the excess over the higher level, in standard
    deviations of its null distribution, plus that over the lower one as far as it is above `MIN_BROAD_EXCESS_SD`.
    The result is again in standard deviations of its null distribution; NaN for features that are constant in a
    condition, and for all with fewer than `MIN_OBS_FOR_CONNECTIVITY` observations in one.

    `n_covariates` columns have been taken out of each condition: it has so many observations less to offer.
    """
    n_features = group.shape[1]
    varies = varying(group, reference)
    stat, pval = np.full(n_features, np.nan), np.full(n_features, np.nan)
    n_folds = n_folds_for(min(group.shape[0], reference.shape[0]) - n_covariates, int(varies.sum()))
    if n_folds:
        fast = (group, reference)
        if not multiplied_by_rows(fast):
            fast = (with_fast_columns(group), with_fast_columns(reference))
        kept = [take_columns(x, varies) for x in fast]
        in_folds = partial(RowGroups, lost=n_covariates / n_folds)
        orders = [content_order(x) for x in kept]
        stat[varies], pval[varies] = compare_over_folds(kept, orders, in_folds, n_folds, n_jobs)
    return ConnectivityTest(stat, pval, n_folds)


def varying(*matrices: Matrix) -> Bools:
    """Return which columns are constant in none of the matrices."""
    return np.asarray(np.all([high > low for low, high in column_ranges(matrices)], axis=0))


def n_folds_for(n_obs: int, n_features: int, /) -> int:
    """Return the number of folds of each condition; 0 where there is too little to compare."""
    if n_features < 2:
        return 0
    most = max(MIN_OBS_BY_N_FOLDS)
    for n_folds, min_obs in MIN_OBS_BY_N_FOLDS.items():
        if n_obs >= min_obs and not (n_folds == most and n_features > MAX_FEATURES_FOR_MOST_FOLDS):
            return n_folds
    return 0


def compare_over_folds(
    matrices: Sequence[Matrix],
    orders: Sequence[ContentOrder],
    in_folds: Callable[[Matrix, Sequence[Ints]], AnyGroups],
    n_folds: int,
    n_jobs: int | None,
    /,
) -> tuple[Floats, Floats]:
    """Statistic and p-value from folds of ordered observations; all draws but the first only add null values."""
    numbers = numbered(orders)

    def excess_of_draw(draw: int) -> Floats:
        rows = [random_folds(order, n_folds, draw, number) for order, number in zip(orders, numbers, strict=True)]
        return _excess([in_folds(x, own) for x, own in zip(matrices, rows, strict=True)], n_jobs)

    return compare_with_null(excess_of_draw, matrices[0].shape[1], n_folds)


def compare_with_null(
    excess_of_draw: Callable[[int], Floats], n_features: int, n_folds: int, /
) -> tuple[Floats, Floats]:
    """Statistic and p-value from draws of folds, each levels × (observed, then null contrasts) × features."""
    draws = [excess_of_draw(draw) for draw in range(_n_fold_draws(n_features, n_folds))]
    observed = draws[0][:, 0]
    null = np.concatenate([excess[:, 1:].reshape(len(excess), -1) for excess in draws], axis=1)
    mean, deviation = null.mean(axis=1), null.std(axis=1)
    deviation[deviation == 0] = 1.0
    observed, null = (combined_levels(*((x.T - mean) / deviation).T) for x in (observed, null))
    return (observed - null.mean()) / (null.std() or 1.0), null_sample_pvalues(observed, null)


def _n_fold_draws(n_features: int, n_folds: int) -> int:
    if n_features > MAX_FEATURES_FOR_MORE_NULLS:
        return 1
    values_per_draw = n_features * len(_null_pairs(N_NULL_CONTRASTS[n_folds], n_features))
    return min(MAX_FOLD_DRAWS, -(-MIN_NULL_VALUES // values_per_draw))


def combined_levels(high: Floats, low: Floats, /) -> Floats:
    """Add to the excess over the higher level that over the lower one, as far as it is above chance."""
    return np.asarray(high + np.maximum(low - MIN_BROAD_EXCESS_SD, 0.0))


def _excess(folds: Sequence[AnyGroups], n_jobs: int | None) -> Floats:
    """Sum the excess of every feature: levels × (observed, then contrasts without a difference) × features."""
    n_features, n_folds = folds[0].matrix.shape[1], len(folds[0].rows)
    n_null = N_NULL_CONTRASTS[n_folds]
    df = 2 * (n_folds - 1 - n_null) + PRIOR_DF
    levels = excess_levels(n_features, df)
    prior = sum(variance for condition in folds for variance in condition.variances()) / n_folds**2
    balanced = hadamard(n_folds) / n_folds
    pairs = _null_pairs(n_null, n_features)

    def add_excess(z: Floats, diagonal: bool) -> tuple[Floats, Floats]:
        first, second = (np.tensordot(balanced, half, axes=1) for half in (z[:n_folds], z[n_folds:]))
        residuals = [*first[1 + n_null :], *second[1 + n_null :]]
        threshold = levels[-1] * _contrast_variance(residuals, prior, df, z.shape[1:])
        if diagonal:
            threshold[np.tril_indices(len(threshold))] = np.inf
        to_rows, to_columns = (np.empty((len(levels), 1 + len(pairs), size)) for size in threshold.shape)
        for number, (i, j, combine) in enumerate([(0, 0, np.subtract), *pairs]):
            sums = excess_of_features(combine(first[i], second[j]), threshold, levels)
            to_rows[:, number], to_columns[:, number] = sums
        return to_rows, to_columns

    return sum_over_groups(folds, add_excess, n_jobs=n_jobs)


def excess_levels(n_features: int, df: float, /) -> Floats:
    """Squared t above which one partner in all is by chance, and above which a share of them is."""
    # with few features one partner is a larger share than that of the lower level, and both levels are the same
    return np.asarray(special.fdtri(1, df, 1 - np.array([1 / n_features, max(BROAD_LEVEL_SHARE, 1 / n_features)])))


def _null_pairs(n_null: int, n_features: int) -> list[tuple[int, int, np.ufunc]]:
    """Combine the null contrasts of both conditions: all pairs where features are few, else one with one."""
    numbers = range(1, 1 + n_null)
    few = n_features <= MAX_FEATURES_FOR_MORE_NULLS
    combined = product(numbers, numbers) if few else zip(numbers, numbers, strict=True)
    return [(i, j, combine) for i, j in combined for combine in (np.add, np.subtract)]


def _contrast_variance(contrasts: Sequence[Floats], prior: float, df: float, shape: tuple[int, ...]) -> Floats:
    """Variance of a contrast of every pair, shrunk towards that of Fisher z."""
    variance = np.full(shape, PRIOR_DF * prior / df)
    for contrast in contrasts:
        variance += (2 / df) * np.square(contrast)
    return variance


def excess_of_features(difference: Floats, threshold: Floats, levels: Floats, /) -> tuple[Floats, Floats]:
    """Sum over rows and over columns how far t² of the pairs exceeds the levels.

    `threshold` is the squared difference at the lowest level, the last.
    """
    squared = np.square(difference, out=difference)
    over = np.flatnonzero(squared > threshold)
    row, column = np.divmod(over, difference.shape[1])
    excess = np.maximum(levels[-1] * squared.ravel()[over] / threshold.ravel()[over] - levels[:, None], 0.0)
    return (
        np.stack([_summed(row, values, difference.shape[0]) for values in excess]),
        np.stack([_summed(column, values, difference.shape[1]) for values in excess]),
    )


def _summed(place: Ints, values: Floats, size: int) -> Floats:
    return np.bincount(place, values, minlength=size).astype(np.float64, copy=False)
