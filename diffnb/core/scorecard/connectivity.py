"""Shift in connectivity: whether a feature correlates with the others as it did.

Observations of each condition are dealt into folds of equal size, and the Fisher z of every pair of features
is taken in every fold. A balanced contrast of the folds between conditions is the difference in z; contrasts
within conditions are made of the same numbers, share its variance and hold no difference. Some of them give
the variance of a pair, the others are put through the same statistic and give its null distribution. Nothing
is assumed of the marginal distributions or of the correlations among features.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy import special
from scipy.linalg import hadamard

from ..arrays.ops import column_summaries, take_columns
from ..runtime.seeds import generator
from ..stats.pvalues import floored
from ..typing import Bools, Floats, Ints, Matrix
from .correlation_blocks import Units, over_correlation_blocks
from .marginal import Tested, by_columns

#: observations of a condition below which there are no correlations to compare
MIN_OBS_FOR_CONNECTIVITY = 8
#: features above which fewer null contrasts, and above which four folds, give null values enough
FEW_FEATURES, MANY_FEATURES = 1000, 5000
#: folds, and the observations of a condition that they need
FOLDS = ((8, 160), (4, 40), (2, MIN_OBS_FOR_CONNECTIVITY))
#: contrasts within a condition that make the null distribution; the rest of them give variances
NULL_CONTRASTS = {2: 1, 4: 1, 8: 3}
#: degrees of freedom given to the variance that Fisher z has for most pairs
PRIOR_DF = 20.0
#: share of partners that pass the lower of both levels by chance, and the standard deviations by which its sum has to
#: stand out to count at all, so that features without a difference are not ordered by it
WIDE, SLACK = 0.02, 1.0
#: share of the null values beyond which the generalised Pareto distribution takes over
TAIL = 0.1
#: null values that are enough where features are few, and the most deals of the folds to get them
ENOUGH, MAX_DEALS = 10_000, 10


def connectivity(group: Matrix, reference: Matrix, /, *, seed: int = 0, n_jobs: int | None = None) -> Tested:
    """Test for every feature whether its correlations with all others differ between two conditions.

    With z the Fisher transform of a correlation, t_jk is the difference in z of features j and k over its
    standard error, and the excess of j over a level c is Σ_k max(t_jk² − c, 0). One level is passed by one
    partner in all by chance and sees a few strong changes, the other by `WIDE` of the partners and sees many
    weak ones. The statistic is the first, in standard deviations of its null distribution, and what the
    second is above `SLACK` of its own. The result is in standard deviations of its null distribution again;
    NaN for features that are constant in a condition, and for all with fewer than `MIN_OBS_FOR_CONNECTIVITY`
    observations in one.
    """
    n_features = group.shape[1]
    varies = varying(group, reference)
    stat, pval = np.full(n_features, np.nan), np.full(n_features, np.nan)
    n_folds = _n_folds(min(group.shape[0], reference.shape[0]), int(varies.sum()))
    if n_folds and varies.sum() > 1:
        kept = [take_columns(by_columns(x), varies) for x in (group, reference)]
        stat[varies], pval[varies] = _over_deals(kept, n_folds, seed, n_jobs)
    return Tested(stat, pval)


def tail_pval(observed: Floats, null: Floats, /) -> Floats:
    """P-value against a pooled null sample: by rank, and in its tail by a generalised Pareto fit."""
    ordered = np.sort(null)
    border = np.quantile(ordered, 1 - TAIL)
    beyond = ordered[ordered > border] - border
    by_rank = 1 - np.interp(observed, ordered, np.arange(ordered.size) / (ordered.size + 1))
    by_rank = np.where(observed <= ordered[0], 1.0, by_rank)
    if beyond.size < 5:
        return np.asarray(by_rank)
    shape, scale = _pareto(beyond)
    share = (beyond.size + 1) / (ordered.size + 1)
    reach = np.maximum(observed - border, 0.0) / scale
    log_tail = -reach if shape < 1e-6 else -np.log1p(shape * reach) / shape
    return floored(np.where(observed > border, share * np.exp(log_tail), by_rank))


def _pareto(beyond: Floats) -> tuple[float, float]:
    """Shape (0, exponential, to ½) and scale by probability-weighted moments (Hosking & Wallis 1987)."""
    size = beyond.size
    mean = float(beyond.mean())
    weighted = float(np.mean(beyond * (1 - (np.arange(1, size + 1) - 0.35) / size)))
    shape = min(max(2 - mean / (mean - 2 * weighted), 0.0), 0.5) if mean > 2 * weighted else 0.5
    return shape, mean * (1 - shape)


def _over_deals(matrices: Sequence[Matrix], n_folds: int, seed: int, n_jobs: int | None) -> tuple[Floats, Floats]:
    """Deal out folds; further deals only add to the null distribution where features are few."""
    rng = generator(seed, "folds")
    n_features = matrices[0].shape[1]
    n_values = n_features * len(_null_pairs(NULL_CONTRASTS[n_folds], n_features))
    n_labelings = min(MAX_DEALS, -(-ENOUGH // n_values)) if n_features <= FEW_FEATURES else 1
    deals = []
    for _ in range(n_labelings):
        units = [Units(x, np.array_split(rng.permutation(x.shape[0]), n_folds)) for x in matrices]
        deals.append(_excess(units, n_jobs))
    observed = deals[0][:, 0]
    null = np.concatenate([excess[:, 1:].reshape(len(excess), -1) for excess in deals], axis=1)
    mean, deviation = null.mean(axis=1), null.std(axis=1)
    deviation[deviation == 0] = 1.0
    observed, null = (_both_levels(*((x.T - mean) / deviation).T) for x in (observed, null))
    return (observed - null.mean()) / (null.std() or 1.0), tail_pval(observed, null)


def _both_levels(narrow: Floats, wide: Floats) -> Floats:
    return np.asarray(narrow + np.maximum(wide - SLACK, 0.0))


def _excess(units: Sequence[Units], n_jobs: int | None) -> Floats:
    """Sum up the excess of every feature: levels × (observed, then contrasts without a difference) × features."""
    n_features, n_folds = units[0].matrix.shape[1], len(units[0].rows)
    n_null = NULL_CONTRASTS[n_folds]
    df = 2 * (n_folds - 1 - n_null) + PRIOR_DF
    # with few features one partner is a larger share than the wide one, and both levels are the same
    levels = special.fdtri(1, df, 1 - np.array([1 / n_features, max(WIDE, 1 / n_features)]))
    prior = sum(1 / (rows.size - 3) for unit in units for rows in unit.rows) / n_folds**2
    balanced = hadamard(n_folds) / n_folds
    pairs = _null_pairs(n_null, n_features)

    def add_excess(z: Floats, diagonal: bool) -> tuple[Floats, Floats]:
        ours, theirs = (np.tensordot(balanced, half, axes=1) for half in (z[:n_folds], z[n_folds:]))
        bar = levels[-1] * _variance([*ours[1 + n_null :], *theirs[1 + n_null :]], prior, df, z.shape[1:])
        if diagonal:
            bar[np.tril_indices(len(bar))] = np.inf
        to_rows, to_columns = (np.empty((len(levels), 1 + len(pairs), size)) for size in bar.shape)
        for number, (i, j, combine) in enumerate([(0, 0, np.subtract), *pairs]):
            sums = _excess_of_features(combine(ours[i], theirs[j]), bar, levels)
            to_rows[:, number], to_columns[:, number] = sums
        return to_rows, to_columns

    return over_correlation_blocks(units, add_excess, n_jobs)


def _null_pairs(n_null: int, n_features: int) -> list[tuple[int, int, np.ufunc]]:
    """Pair the contrasts of the conditions: each with each where features are few, else one with one."""
    numbers = range(1, 1 + n_null)
    mates = product(numbers, numbers) if n_features <= FEW_FEATURES else zip(numbers, numbers, strict=True)
    return [(i, j, combine) for i, j in mates for combine in (np.add, np.subtract)]


def _variance(contrasts: Sequence[Floats], prior: float, df: float, shape: tuple[int, ...]) -> Floats:
    """Variance of a contrast of every pair, drawn towards that of Fisher z."""
    variance = np.full(shape, PRIOR_DF * prior / df)
    for contrast in contrasts:
        variance += (2 / df) * np.square(contrast)
    return variance


def _excess_of_features(difference: Floats, bar: Floats, levels: Floats) -> tuple[Floats, Floats]:
    """Sum over rows and over columns by how much t² of the pairs exceeds the levels; `bar` is the lowest, the last."""
    squared = np.square(difference, out=difference)
    over = np.flatnonzero(squared > bar)
    row, column = np.divmod(over, difference.shape[1])
    excess = np.maximum(levels[-1] * squared.ravel()[over] / bar.ravel()[over] - levels[:, None], 0.0)
    return (
        np.stack([_summed(row, values, difference.shape[0]) for values in excess]),
        np.stack([_summed(column, values, difference.shape[1]) for values in excess]),
    )


def _summed(place: Ints, values: Floats, size: int) -> Floats:
    return np.bincount(place, values, minlength=size).astype(np.float64, copy=False)


def varying(*matrices: Matrix) -> Bools:
    """Say which columns are constant in none of the matrices."""
    return np.asarray(np.all([seen.high > seen.low for seen in column_summaries(matrices)], axis=0))


def _n_folds(n_obs: int, n_features: int) -> int:
    for n_folds, needed in FOLDS:
        if n_obs >= needed and not (n_folds == FOLDS[0][0] and n_features > MANY_FEATURES):
            return n_folds
    return 0
