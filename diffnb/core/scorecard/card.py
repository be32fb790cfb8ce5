"""How a feature differs between two conditions: four tests, and the kind of difference that dominates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..arrays.count_moments import Counts
from ..runtime.threads import thread_limits
from ..stats.pvalues import adjusted
from ..typing import Floats, Ints, Matrix
from .by_sample import Design, connectivity_test_by_sample, design, marginal_tests_by_sample
from .columnwise import with_fast_columns
from .connectivity import connectivity_test
from .count_connectivity import connectivity_test_of_counts, connectivity_test_of_counts_by_sample
from .marginal import FeatureTest, MarginalTests, marginal_tests

#: raw counts of both conditions
BothCounts: TypeAlias = tuple[Counts, Counts]

KINDS = ("mean", "spread", "distribution", "connectivity")
NONE = "none"
#: adjusted p-value below which a kind of difference counts
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class ScorecardOptions:
    """What a user asks for."""

    #: seed of the folds in which correlations are compared
    seed: int = 0


@dataclass(frozen=True, slots=True)
class ScorecardSettings:
    """What the tests used, as the data decided it."""

    #: units of each condition: observations, or samples where these were given
    n_units: tuple[int, int]
    #: whether the units are samples that occur in both conditions
    paired: bool
    #: folds of each condition in the test of connectivity; 0 where it needed none, or had too few observations
    n_folds: int


@dataclass(frozen=True, slots=True)
class ScorecardFit:
    """One row per feature, one column per kind of difference, in the order of `KINDS`."""

    settings: ScorecardSettings
    stat: Floats
    pval: Floats
    #: adjusted over features, each kind by itself
    pval_adj: Floats
    #: name of the kind that dominates, `NONE` where nothing is significant
    kind: NDArray[np.str_]


def fit_scorecard(
    group: Matrix,
    reference: Matrix,
    options: ScorecardOptions,
    /,
    *,
    samples: tuple[Ints, Ints] | Design | None = None,
    counts: BothCounts | None = None,
    n_jobs: int | None = None,
) -> ScorecardFit:
    """Compare all features of two conditions.

    `samples` are the samples of the rows of both conditions, as codes or as a design; they are the units then. From
    `counts`, raw ones of the same observations and features, connectivity is corrected for counting noise and depth.
    """
    with thread_limits(group.shape[1], n_jobs):
        if samples is None:
            return _compare_observations(group, reference, options, counts, n_jobs)
        units = samples if isinstance(samples, Design) else design(*samples)
        return _compare_samples(group, reference, units, counts, n_jobs)


def _compare_observations(
    group: Matrix, reference: Matrix, options: ScorecardOptions, counts: BothCounts | None, n_jobs: int | None
) -> ScorecardFit:
    group, reference = with_fast_columns(group), with_fast_columns(reference)  # once for all tests
    marginal = marginal_tests(group, reference, n_jobs=n_jobs)
    if counts is None:
        connected = connectivity_test(group, reference, seed=options.seed, n_jobs=n_jobs)
    else:
        connected = connectivity_test_of_counts(*counts, seed=options.seed, n_jobs=n_jobs)
    n_units = int(group.shape[0]), int(reference.shape[0])
    return _card(marginal, connected, ScorecardSettings(n_units, paired=False, n_folds=connected.n_folds))


def _compare_samples(
    group: Matrix, reference: Matrix, units: Design, counts: BothCounts | None, n_jobs: int | None
) -> ScorecardFit:
    marginal = marginal_tests_by_sample(group, reference, units, n_jobs=n_jobs)
    if counts is None:
        connected = connectivity_test_by_sample(group, reference, units, n_jobs=n_jobs)
    else:
        connected = connectivity_test_of_counts_by_sample(*counts, units, n_jobs=n_jobs)
    return _card(marginal, connected, ScorecardSettings(units.sizes, units.paired, n_folds=0))


def _card(marginal: MarginalTests, connected: FeatureTest, settings: ScorecardSettings) -> ScorecardFit:
    tests: Sequence[FeatureTest] = (marginal.mean, marginal.spread, marginal.distribution, connected)
    stat = np.stack([test.stat for test in tests], axis=1)
    pval = np.stack([test.pval for test in tests], axis=1)
    pval_adj = np.stack([adjusted(test.pval) for test in tests], axis=1)
    return ScorecardFit(settings, stat, pval, pval_adj, dominant_kind(stat, pval_adj))


def dominant_kind(stat: Floats, pval_adj: Floats, /) -> NDArray[np.str_]:
    """Name the kind of difference that dominates in every row.

    It is the kind with the smallest adjusted p-value among those below `ALPHA`, and of equal ones that with
    the larger statistic. A shift in mean or spread changes the whole distribution too: `"distribution"` is
    named only where neither of them is significant.
    """
    significant = np.nan_to_num(pval_adj, nan=1.0) < ALPHA
    mean, spread, distribution, _ = range(len(KINDS))
    significant[:, distribution] &= ~(significant[:, mean] | significant[:, spread])
    # the distance of distributions is on another scale than the three ratios, and so never breaks a tie
    size = np.abs(np.nan_to_num(stat))
    size[:, distribution] = 0.0
    ranked = np.lexsort((-size, np.where(significant, pval_adj, np.inf)), axis=1)[:, 0]
    return np.where(significant.any(axis=1), np.asarray(KINDS)[ranked], NONE)
