"""Variances of many tests with few degrees of freedom each, moderated by what they have in common.

Smyth, Stat. Appl. Genet. Mol. Biol. 2004: the variances of all tests follow a scaled inverse χ² distribution, whose
parameters are those for which the logarithms of the sample variances have the observed mean and spread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from ..typing import Floats

#: the prior never counts more than so many degrees of freedom: variances that look alike need not be equal
MAX_PRIOR_DF = 50.0
#: tests from whose variances a prior is estimated
MIN_VARIANCES = 10
#: variances below this share of their median are raised to it, since logarithms are taken
MIN_RELATIVE_VARIANCE = 1e-5


@dataclass(frozen=True, slots=True)
class VariancePrior:
    """What the variances of all tests say about that of each: a variance and the degrees of freedom it counts for."""

    variance: float = 0.0
    df: float = 0.0

    def moderate(self, variances: Floats, df: float, /) -> Floats:
        """Shrink sample variances with `df` degrees of freedom towards that of the prior."""
        return np.asarray((self.df * self.variance + df * variances) / (self.df + df))


def variance_prior(variances: Floats, df: float, /) -> VariancePrior:
    """Estimate the prior from sample variances with `df` degrees of freedom each."""
    known = variances[np.isfinite(variances) & (variances > 0)]
    if known.size < MIN_VARIANCES or df < 1:
        return VariancePrior()
    logs = np.log(np.maximum(known, MIN_RELATIVE_VARIANCE * np.median(known)))
    centred = logs - special.digamma(df / 2) + np.log(df / 2)
    excess = centred.var(ddof=1) - special.polygamma(1, df / 2)
    prior_df = MAX_PRIOR_DF if excess <= 0 else min(2 * _inverse_trigamma(float(excess)), MAX_PRIOR_DF)
    offset = special.digamma(prior_df / 2) - np.log(prior_df / 2)
    return VariancePrior(float(np.exp(centred.mean() + offset)), float(prior_df))


def _inverse_trigamma(y: float) -> float:
    """Solve ψ′(x) = y by Newton's method on 1/ψ′, which is convex (Smyth 2004, appendix)."""
    x = 0.5 + 1 / y
    for _ in range(50):
        value = float(special.polygamma(1, x))
        step = value * (1 - value / y) / float(special.polygamma(2, x))
        x += step
        if -step / x < 1e-10:
            break
    return x
