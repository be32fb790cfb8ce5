"""P-values of slopes by permutation of doses, where few observations decide the slope.

The t of a slope with a robust error is permuted, not the slope: it holds the level where doses do not matter at all,
and, with many observations, where only the spread follows them. All features share the permutations; a feature that
is hardly ever reached takes more of them (Besag & Clifford, Biometrika 1991), and a statistic beyond all of them
continues their tail like that of the formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from scipy import special

from ..runtime.seeds import generator
from ..stats.pvalues import MIN_PVALUE
from ..typing import Floats, Ints
from .marginal import FeatureTest

#: draws so many permutations for some features: blocks of squared t, permutations × features
Draw: TypeAlias = Callable[[np.random.Generator, int, Ints], Iterator[Floats]]
#: permutations, of which a feature takes the next number as long as it needs more
N_DRAWS = (250, 1000, 4000)
#: permutations that reach a statistic after which its p-value is known well enough
MIN_REACHED = 20
#: numbers of a block of permuted doses
MAX_BLOCK_NUMBERS = 1_000_000
#: residual variances below this share of a feature's are rounding
MIN_VARIANCE = 1e-12
#: statistics that differ by less, relatively, are ties
MAX_RELATIVE_TIE = 1e-9


def permuted_slopes(x: Floats, weights: Floats, stat: Floats, df: float, /) -> FeatureTest:
    """Replace the p-values of slopes of rows (features × observations) on centred weights."""
    values, unit = _standardized(x), weights / np.linalg.norm(weights)
    step = max(1, MAX_BLOCK_NUMBERS // unit.size)

    def of_doses(rng: np.random.Generator, count: int, active: Ints) -> Iterator[Floats]:
        for start in range(0, count, step):
            drawn = rng.permuted(np.tile(unit, (min(step, count - start), 1)), axis=1)
            yield _squared_t(drawn, values[:, active])

    return _tested(of_doses, _squared_t(unit[None], values)[0], stat, df)


def permuted_spreads(
    x: Floats, distances: Callable[[Floats], Floats], weights: Floats, stat: Floats, df: float, /
) -> FeatureTest:
    """Replace the p-values of slopes of distances from medians, which are taken again of every permutation.

    Of few distinct values, the median of a small level jumps, and moves all its distances together.
    """
    unit = weights / np.linalg.norm(weights)

    def of_values(rng: np.random.Generator, count: int, active: Ints) -> Iterator[Floats]:
        for _ in range(count):
            permuted = x[np.ix_(active, rng.permutation(unit.size))]
            yield _squared_t(unit[None], _standardized(distances(permuted)))

    return _tested(of_values, _squared_t(unit[None], _standardized(distances(x)))[0], stat, df)


def _tested(draw: Draw, observed: Floats, stat: Floats, df: float) -> FeatureTest:
    """P-values of squared t: of more permutations for features that are hardly ever reached."""
    reached, highest, pval = np.zeros(observed.size), np.zeros(observed.size), np.ones(observed.size)
    active, n_before, rng = np.arange(observed.size), 0, generator(0, "permutations")
    for n_draws in N_DRAWS:
        for found in draw(rng, n_draws - n_before, active):
            reached[active] += (found >= observed[active] * (1 - MAX_RELATIVE_TIE)).sum(axis=0)
            highest[active] = np.maximum(highest[active], found.max(axis=0))
        n_before = n_draws
        pval[active] = (1 + reached[active]) / (1 + n_draws)
        active = active[reached[active] < MIN_REACHED]
        if not active.size:
            break
    beyond, at = (special.stdtr(df, -np.sqrt(t)) for t in (observed, highest))
    share = np.minimum(beyond / np.maximum(at, MIN_PVALUE), 1.0)
    return FeatureTest(stat, np.where(reached == 0, np.maximum(pval * share, MIN_PVALUE), pval))


def _standardized(x: Floats) -> Floats:
    """Return centred columns of unit variance, observations × features."""
    centered = x - x.mean(axis=1, keepdims=True)
    scale = np.sqrt(np.mean(centered**2, axis=1, keepdims=True))
    return np.asarray((centered / np.where(scale > 0, scale, 1.0)).T)


def _squared_t(weights: Floats, values: Floats) -> Floats:
    """Squared robust t of all features for weights of length one (permutations × observations)."""
    inflation = 1 / np.maximum(1 - weights**2 - 1 / weights.shape[1], 0.01) ** 2
    slope = weights @ values
    inflated = inflation * weights**2
    variance = inflated @ values**2 - 2 * slope * ((inflated * weights) @ values)
    variance += slope**2 * np.sum(inflated * weights**2, axis=1)[:, None]
    return np.asarray(slope**2 / np.maximum(variance, MIN_VARIANCE))
