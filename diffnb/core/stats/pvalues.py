"""P-values: how small one can be, how those of ordered components follow from each other, how many tests adjust them.

Every p-value of the package passes through here, so that a rule is changed in one place.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import false_discovery_control

from ..typing import Floats

#: differences below this share of the observed statistic are rounding, and count as ties
MIN_RELATIVE_DIFFERENCE = 1e-12
#: smallest p-value that a distribution can give; no evidence is infinite, and logarithms are taken of it
MIN_PVALUE = float(np.finfo(np.float64).tiny)


def permutation_pvalues(observed: Floats, null: Floats, /, *, tolerance: float = MIN_RELATIVE_DIFFERENCE) -> Floats:
    """Share of draws at least as large as the observed statistic, itself counted: never below 1/(N+1).

    The draws are the first axis of `null` (Phipson & Smyth 2010). Relative differences below `tolerance` are ties.
    """
    reached = null >= observed - tolerance * np.abs(observed)
    return np.asarray((1 + reached.sum(axis=0)) / (1 + len(null)))


def floored(pvals: Floats, /) -> Floats:
    """Keep p-values of a distribution between `MIN_PVALUE` and 1; NaN stays NaN."""
    return np.clip(pvals, MIN_PVALUE, 1.0)


def monotone(pvals: Floats, /) -> Floats:
    """Let no component be more significant than one before it, along the last axis.

    A component is tested after those before it have been accepted, so its p-value is the largest of all up to it.
    """
    return np.maximum.accumulate(pvals, axis=-1)


def adjusted(pvals: Floats, /) -> Floats:
    """Benjamini–Hochberg over what was tested; NaN stays NaN."""
    result = np.full(pvals.shape, np.nan)
    tested = np.isfinite(pvals)
    if tested.any():
        result[tested] = false_discovery_control(np.clip(pvals[tested], 0.0, 1.0))
    return result
