"""How every feature changes with a dose: trends in mean, spread, distribution and connectivity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ..runtime.threads import thread_limits
from ..typing import Floats, Ints, Matrix
from .card import adjusted_and_named
from .connectivity import MIN_OBS_FOR_CONNECTIVITY
from .effects import CONFIDENCE
from .marginal import FeatureTest
from .trend_connectivity import connectivity_trend
from .trend_marginal import MarginalTrends, marginal_trends
from .trend_samples import (
    cells_of,
    connectivity_trend_by_sample,
    marginal_trends_by_sample,
    trend_units,
    without_covariates,
)

#: distinct doses up to which each is a level of its own; of more, levels are quantiles
MAX_DISTINCT_LEVELS = 12
#: quantiles, and the observations that each should hold
MAX_QUANTILE_LEVELS, MIN_OBS_PER_QUANTILE = 8, 40
#: observations of a level where there are enough for four of them
MIN_OBS_PER_LEVEL = 20


@dataclass(frozen=True, slots=True)
class TrendSettings:
    """What the tests used, as the data decided it."""

    n_levels: int
    #: folds of each level in the test of connectivity; 0 where it needed none, or had too few observations
    n_folds: int
    #: samples with one dose each, and with several; 0 where observations are the units
    n_single: int = 0
    n_multiple: int = 0


@dataclass(frozen=True, slots=True)
class TrendFit:
    """One row per feature, one column per kind of difference, as in a scorecard of two conditions."""

    settings: TrendSettings
    stat: Floats
    pval: Floats
    pval_adj: Floats
    kind: NDArray[np.str_]
    #: change of the mean for one unit of the dose, with its 95 % interval
    slope: Floats
    slope_low: Floats
    slope_high: Floats


def dose_levels(dose: Floats, /) -> Ints:
    """Return the level of every observation, in the order of the dose: distinct doses, or quantiles of many.

    Levels with too few observations for their correlations are joined with the next.
    """
    values, codes = np.unique(dose, return_inverse=True)
    if values.size > MAX_DISTINCT_LEVELS:
        n_levels = int(np.clip(dose.size // MIN_OBS_PER_QUANTILE, 2, MAX_QUANTILE_LEVELS))
        edges = np.unique(np.quantile(dose, np.arange(1, n_levels) / n_levels))
        codes = np.searchsorted(edges, dose, side="right")
    return _joined(np.asarray(codes))


def _joined(codes: Ints) -> Ints:
    """Join levels until each has enough observations, and number them from 0."""
    sizes = np.bincount(codes)
    least = int(np.clip(codes.size // 4, MIN_OBS_FOR_CONNECTIVITY, MIN_OBS_PER_LEVEL))
    level, taken, joined = 0, 0, np.zeros(sizes.size, dtype=int)
    for number, size in enumerate(sizes):
        joined[number] = level
        taken += size
        if taken >= least:
            level, taken = level + 1, 0
    if taken and level:  # what is left at the end is too few for a level of its own
        joined[joined == level] = level - 1
    return joined[codes]


def fit_trend(
    matrices: Sequence[Matrix],
    doses: Sequence[Floats],
    /,
    *,
    samples: Sequence[Ints] | None = None,
    covariates: Sequence[Floats] | None = None,
    n_jobs: int | None = None,
) -> TrendFit:
    """Test all features for trends; each matrix holds the observations of one level, in the order of the dose.

    `samples` are the samples of the rows, as codes; they are the units then. `covariates` are observations × columns.
    """
    with thread_limits(matrices[0].shape[1], n_jobs):
        if samples is None:
            marginal = marginal_trends(matrices, doses, covariates=_with_squares(covariates), n_jobs=n_jobs)
            connected = connectivity_trend(matrices, doses, covariates=covariates, n_jobs=n_jobs)
            return _fit(marginal, connected, TrendSettings(len(matrices), connected.n_folds))
        cells = cells_of(samples, doses)
        if covariates is not None:
            matrices, cells = without_covariates(matrices, cells, covariates)
        units = trend_units(cells)
        settings = TrendSettings(len(matrices), 0, units.n_single, units.n_multiple)
        marginal = marginal_trends_by_sample(matrices, units, n_jobs=n_jobs)
        return _fit(marginal, connectivity_trend_by_sample(matrices, units, n_jobs=n_jobs), settings)


def _with_squares(covariates: Sequence[Floats] | None) -> list[Floats] | None:
    """Add squares of numeric covariates, since spreads and shares of observations seldom follow them linearly."""
    if covariates is None:
        return None
    together = np.concatenate(list(covariates))
    mean, sd = together.mean(axis=0), together.std(axis=0)
    is_number = [np.unique(column).size > 2 for column in together.T]
    return [
        np.column_stack([own, np.square((own - mean) / np.where(sd > 0, sd, 1.0))[:, is_number]]) for own in covariates
    ]


def _fit(marginal: MarginalTrends, connected: FeatureTest, settings: TrendSettings) -> TrendFit:
    tests = (marginal.tests.mean, marginal.tests.spread, marginal.tests.distribution, connected)
    stat = np.stack([test.stat for test in tests], axis=1)
    pval = np.stack([test.pval for test in tests], axis=1)
    width = special.stdtrit(marginal.df, (1 + CONFIDENCE) / 2) * marginal.error
    slope = marginal.slope
    return TrendFit(settings, stat, pval, *adjusted_and_named(stat, pval), slope, slope - width, slope + width)
