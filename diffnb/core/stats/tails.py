"""P-values from the upper tails of distributions: Student's t, F, a shifted gamma, and a sample of null values.

Each is floored by `pvalues.floored`, so that none is exactly zero.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from ..typing import Floats
from .pvalues import floored

#: share of the null values beyond which the generalised Pareto distribution replaces ranks
TAIL_SHARE = 0.1
#: null values in the tail below which no distribution is fitted to them
MIN_TAIL_VALUES = 5
#: a generalised Pareto shape below this is that of an exponential distribution
MIN_PARETO_SHAPE = 1e-6


def t_pvalues(t: Floats, df: Floats | float, /) -> Floats:
    """Two-sided p-value of Student's t; an infinite statistic has the smallest p-value there is."""
    return floored(2 * special.stdtr(df, -np.abs(t)))


def f_pvalues(ratio: Floats, df_numerator: Floats, df_denominator: Floats, /) -> Floats:
    """Upper tail of the F distribution."""
    return floored(special.fdtrc(df_numerator, df_denominator, ratio))


def shifted_gamma_pvalues(x: Floats, cumulants: Floats, /) -> Floats:
    """Upper tail of the shifted gamma distribution with these first three cumulants, a row each.

    A distribution without variance has no tail: the p-value is 1.
    """
    varies = cumulants[1] > 0
    mean, variance, third = np.where(varies, cumulants, 1.0)
    scale = third / (2 * variance)
    shape = 4 * variance**3 / third**2
    tail = special.gammaincc(shape, np.maximum((x - mean) / scale + shape, 0.0))
    return np.where(varies, floored(tail), 1.0)


def null_sample_pvalues(observed: Floats, null: Floats, /) -> Floats:
    """P-value against one sample of null values: by rank, and in its tail by a generalised Pareto fit."""
    ordered = np.sort(null)
    threshold = np.quantile(ordered, 1 - TAIL_SHARE)
    excesses = ordered[ordered > threshold] - threshold
    by_rank = 1 - np.interp(observed, ordered, np.arange(ordered.size) / (ordered.size + 1))
    by_rank = np.where(observed <= ordered[0], 1.0, by_rank)
    if excesses.size < MIN_TAIL_VALUES:
        return floored(by_rank)
    share = (excesses.size + 1) / (ordered.size + 1)
    in_tail = share * _pareto_tail(np.maximum(observed - threshold, 0.0), excesses)
    return floored(np.where(observed > threshold, in_tail, by_rank))


def _pareto_tail(x: Floats, excesses: Floats) -> Floats:
    """Upper tail at `x` of the generalised Pareto distribution fitted to excesses over a threshold."""
    shape, scale = _pareto_fit(excesses)
    scaled = x / scale
    return np.asarray(np.exp(-scaled if shape < MIN_PARETO_SHAPE else -np.log1p(shape * scaled) / shape))


def _pareto_fit(excesses: Floats) -> tuple[float, float]:
    """Shape, from 0 (exponential) to ½, and scale by probability-weighted moments (Hosking & Wallis 1987)."""
    size = excesses.size
    mean = float(excesses.mean())
    weighted = float(np.mean(excesses * (1 - (np.arange(1, size + 1) - 0.35) / size)))
    shape = min(max(2 - mean / (mean - 2 * weighted), 0.0), 0.5) if mean > 2 * weighted else 0.5
    return shape, mean * (1 - shape)
