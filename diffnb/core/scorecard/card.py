"""How a feature differs between two conditions: four tests, and the kind of difference that dominates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..arrays.count_moments import Counts
from ..arrays.residuals import covariate_designs, residuals
from ..runtime.progress import announce
from ..runtime.threads import thread_limits
from ..stats.pvalues import adjusted
from ..typing import Floats, Ints, Matrix
from .adjusted_marginal import AdjustedComparison
from .block_connectivity import connectivity_test_by_block
from .by_sample import Design, connectivity_test_by_sample, design, marginal_tests_by_sample
from .columnwise import with_fast_columns
from .connectivity import connectivity_test
from .correlation_blocks import multiplied_by_rows
from .count_connectivity import connectivity_test_of_counts, connectivity_test_of_counts_by_sample
from .marginal import CompareRows, FeatureTest, MarginalTests, marginal_tests
from .small_groups import compare_small_groups, needs_permutations

#: raw counts of both conditions
BothCounts: TypeAlias = tuple[Counts, Counts]

KINDS = ("mean", "spread", "distribution", "connectivity")
NONE = "none"
#: adjusted p-value below which a kind of difference counts
ALPHA = 0.05
#: digits of a statistic, and of the logarithm of a p-value, beyond which two kinds of difference are equal
DIGITS = 9


@dataclass(frozen=True, slots=True)
class ScorecardSettings:
    """What the tests used, as the data decided it."""

    #: units of each condition: observations, or samples where these were given
    n_units: tuple[int, int]
    #: whether the units are samples that occur in both conditions
    paired: bool
    #: folds of each condition in the test of connectivity; 0 where it needed none, or had too few observations
    n_folds: int
    #: whether p-values of mean, spread and distribution come from permuted labels, as those of small groups do
    permuted: bool


@dataclass(frozen=True, slots=True)
class ScorecardFit:
    """One row per feature, one column per kind of difference, in the order of `KINDS`."""

    settings: ScorecardSettings
    stat: Floats
    pval: Floats
    #: adjusted over features, each kind by itself
    pval_adj: Floats
    #: name of the kind that dominates, `NONE` where nothing is significant among all features and kinds
    kind: NDArray[np.str_]


#: the step of all tests but that of connectivity
MARGINAL_STEP = "mean, spread and distribution"


def fit_scorecard(
    group: Matrix,
    reference: Matrix,
    /,
    *,
    samples: tuple[Ints, Ints] | Design | None = None,
    covariates: tuple[Floats, Floats] | None = None,
    counts: BothCounts | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> ScorecardFit:
    """Compare all features of two conditions.

    `samples` are the samples of the rows of both conditions, as codes or as a design; they are the units then.
    `covariates` (observations × columns of both conditions) are taken out within each condition. From `counts`, raw
    ones of the same observations and features, connectivity is corrected for counting noise and depth. Where samples
    are blocks of a series (`Design.with_blocks`), `seed` draws the permutations of their labels.
    """
    with thread_limits(group.shape[1], n_jobs):
        if samples is None:
            return _compare_observations(group, reference, covariates, counts, n_jobs)
        units = samples if isinstance(samples, Design) else design(*samples)
        if covariates is not None:
            group, reference, units = _without_covariates(group, reference, units, covariates)
        return _compare_samples(group, reference, units, counts, seed, n_jobs)


def _compare_observations(
    group: Matrix,
    reference: Matrix,
    covariates: tuple[Floats, Floats] | None,
    counts: BothCounts | None,
    n_jobs: int | None,
) -> ScorecardFit:
    sizes = int(group.shape[0]), int(reference.shape[0])
    permuted = covariates is None and needs_permutations(*sizes)
    compare: CompareRows | None = compare_small_groups if permuted else None
    n_columns = 0
    related: Sequence[Matrix] = (group, reference)
    if covariates is not None:
        designs = covariate_designs(covariates)
        compare, n_columns = AdjustedComparison.of(*(own.values for own in designs)), covariates[0].shape[1]
        related = residuals(related, designs, exchangeable=False)
    if not multiplied_by_rows((group, reference)):
        group, reference = with_fast_columns(group), with_fast_columns(reference)  # once for all tests
    announce(MARGINAL_STEP)
    marginal = marginal_tests(group, reference, compare=compare, n_jobs=n_jobs)
    announce("connectivity")
    if counts is not None:
        connected = connectivity_test_of_counts(*counts, n_jobs=n_jobs)
    else:
        related = related if covariates is not None else (group, reference)
        connected = connectivity_test(*related, n_covariates=n_columns, n_jobs=n_jobs)
    return _card(marginal, connected, ScorecardSettings(sizes, False, connected.n_folds, permuted))


def _without_covariates(
    group: Matrix, reference: Matrix, units: Design, covariates: tuple[Floats, Floats]
) -> tuple[Matrix, Matrix, Design]:
    """Take covariates that vary within samples out of the observations, and leave the others to the samples."""
    codes = [_sample_of_rows(rows, len(z)) for rows, z in zip((units.group, units.reference), covariates, strict=True)]
    designs = covariate_designs(covariates, units=codes)
    varies = np.any([own.within.any(axis=0) for own in designs], axis=0)
    if not varies.all():
        group_values, reference_values = (own.values[:, ~varies] for own in designs)
        units = units.with_covariates(group_values, reference_values)
    if varies.any():
        own = covariate_designs([z[:, varies] for z in covariates], units=codes)
        group, reference = residuals((group, reference), own, exchangeable=False)
    return group, reference, units


def _sample_of_rows(rows: Sequence[Ints], n_obs: int) -> Ints:
    codes = np.full(n_obs, -1)
    for code, own in enumerate(rows):
        codes[own] = code
    return codes


def _compare_samples(
    group: Matrix, reference: Matrix, units: Design, counts: BothCounts | None, seed: int, n_jobs: int | None
) -> ScorecardFit:
    announce(MARGINAL_STEP)
    marginal = marginal_tests_by_sample(group, reference, units, n_jobs=n_jobs)
    announce("connectivity")
    if counts is not None:
        connected = connectivity_test_of_counts_by_sample(*counts, units, n_jobs=n_jobs)
    elif units.blocks is not None and not units.paired and not units.covariates:
        connected = connectivity_test_by_block(group, reference, units, units.blocks, seed=seed, n_jobs=n_jobs)
    else:
        connected = connectivity_test_by_sample(group, reference, units, n_jobs=n_jobs)
    return _card(marginal, connected, ScorecardSettings(units.sizes, units.paired, n_folds=0, permuted=False))


def _card(marginal: MarginalTests, connected: FeatureTest, settings: ScorecardSettings) -> ScorecardFit:
    tests: Sequence[FeatureTest] = (marginal.mean, marginal.spread, marginal.distribution, connected)
    stat = np.stack([test.stat for test in tests], axis=1)
    pval = np.stack([test.pval for test in tests], axis=1)
    return ScorecardFit(settings, stat, pval, *adjusted_and_named(stat, pval))


def adjusted_and_named(stat: Floats, pval: Floats, /) -> tuple[Floats, NDArray[np.str_]]:
    """Adjust p-values (features × kinds) over features, each kind by itself, and name the kind that dominates.

    Four columns have four times the chance of a false call: a kind is named if it is significant among all of them.
    """
    pval_adj = np.stack([adjusted(of_kind) for of_kind in pval.T], axis=1)
    together = adjusted(pval.ravel()).reshape(pval.shape)
    return pval_adj, dominant_kind(stat, np.maximum(pval_adj, together))


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
    # mean and spread of a feature that is mostly zero are the same test: rounding must not choose between them
    with np.errstate(divide="ignore"):
        chance = np.round(np.log(np.where(significant, pval_adj, np.inf)), DIGITS)
    with np.errstate(over="ignore"):  # a feature without spread may have a t that cannot be multiplied
        rounded = np.round(size, DIGITS)
    ranked = np.lexsort((-rounded, chance), axis=1)[:, 0]
    return np.where(significant.any(axis=1), np.asarray(KINDS)[ranked], NONE)
