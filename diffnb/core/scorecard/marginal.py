"""Marginal tests: mean, spread and whole distribution of every feature compared between two conditions.

All three follow from one sort of a column, so that a block of columns is made dense and sorted once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..arrays.column_blocks import load_column_blocks
from ..arrays.ops import dense64
from ..arrays.row_chunks import Chunked
from ..stats.tails import shifted_gamma_pvalues, t_pvalues
from ..typing import Bools, Floats, Ints, Matrix
from .columnwise import map_column_blocks, with_fast_columns
from .stored_values import LAST_BIT, by_stored_values, column_statistics

#: rows of both conditions (features × observations) → mean, spread and distribution as stat, pval each
CompareRows: TypeAlias = Callable[[Floats, Floats], Floats]

#: numbers in a block of columns that is sorted at once: what fits in the processor's cache
MAX_SORTED_NUMBERS = 250_000


@dataclass(frozen=True, slots=True)
class FeatureTest:
    """A statistic and its p-value for every feature."""

    stat: Floats
    pval: Floats


@dataclass(frozen=True, slots=True)
class MarginalTests:
    """Shift in mean, in spread and in whole distribution of every feature."""

    mean: FeatureTest
    spread: FeatureTest
    distribution: FeatureTest


def marginal_tests(
    group: Matrix,
    reference: Matrix,
    /,
    *,
    compare: CompareRows | None = None,
    n_jobs: int | None = None,
) -> MarginalTests:
    """Compare every column of `group` with that of `reference`.

    Mean: Welch's t. Spread: Brown–Forsythe as a signed t, the square of which is Levene's W around medians.
    Distribution: the 1-D Wasserstein distance in pooled standard deviations, with the p-value of an
    Anderson–Darling test whose null distribution follows from the ties of each column. `compare` may replace these
    tests of a block by others, such as those of `adjusted_marginal`.
    """
    if isinstance(group, Chunked):
        return _by_loaded_columns([group, reference], lambda x, y: marginal_tests(x, y, compare=compare, n_jobs=n_jobs))
    if compare is None and by_stored_values(group, reference):
        return _of_stored_values(group, reference, n_jobs)
    group, reference = with_fast_columns(group), with_fast_columns(reference)
    width = max(1, MAX_SORTED_NUMBERS // (group.shape[0] + reference.shape[0]))
    tests = compare_block if compare is None else compare

    def of_block(where: slice) -> Floats:
        return tests(dense64(group[:, where]).T, dense64(reference[:, where]).T)

    rows = np.concatenate(map_column_blocks(of_block, group.shape[1], width, n_jobs=n_jobs), axis=1)
    return MarginalTests(FeatureTest(*rows[0:2]), FeatureTest(*rows[2:4]), FeatureTest(*rows[4:6]))


def _of_stored_values(group: Matrix, reference: Matrix, n_jobs: int | None) -> MarginalTests:
    """Compare all columns without making them dense."""
    found = column_statistics(group, reference, n_jobs=n_jobs)
    n, m = int(group.shape[0]), int(reference.shape[0])
    first, second = found.group, found.reference
    mean = welch(first.mean - second.mean, (first.variance, second.variance), (n, m))
    spread = _student(first.distance - second.distance, (first.distance_variance, second.distance_variance), (n, m))
    within = ((n - 1) * first.variance + (m - 1) * second.variance) / (n + m - 2)
    between = n * m / (n + m) * (first.mean - second.mean) ** 2 / (n + m - 1)
    scale = np.sqrt(np.where(within > 0, within, between))
    cumulants = _inflated(found.cumulants, (n + m) / (n + m - 1))
    pvals = shifted_gamma_pvalues(n * m / (n + m) * found.statistic, cumulants)
    return MarginalTests(mean, spread, FeatureTest(found.area / np.where(scale > 0, scale, 1.0), pvals))


def _by_loaded_columns(
    matrices: Sequence[Chunked], work: Callable[[Matrix, Matrix], MarginalTests], /
) -> MarginalTests:
    """Compare as many columns at a time as fit into memory, each time in a pass over the rows."""
    blocks = [work(*loaded) for _, loaded in load_column_blocks(matrices)]
    return MarginalTests(
        _concatenated([block.mean for block in blocks]),
        _concatenated([block.spread for block in blocks]),
        _concatenated([block.distribution for block in blocks]),
    )


def _concatenated(tests: Sequence[FeatureTest]) -> FeatureTest:
    return FeatureTest(np.concatenate([t.stat for t in tests]), np.concatenate([t.pval for t in tests]))


def welch(mean_difference: Floats, variance: tuple[Floats, Floats], n: tuple[int, int], /) -> FeatureTest:
    """Welch's t from a difference in means, two unbiased variances and two sizes."""
    return welch_of_means(mean_difference, (variance[0] / n[0], variance[1] / n[1]), (n[0] - 1, n[1] - 1))


def welch_of_means(difference: Floats, variance: tuple[Floats, Floats], df: tuple[float, float], /) -> FeatureTest:
    """Welch's t from a difference in means, the variance of each mean and its degrees of freedom."""
    first, second = variance
    with np.errstate(divide="ignore", invalid="ignore"):
        joint_df = (first + second) ** 2 / (first**2 / df[0] + second**2 / df[1])
    return t_test(difference, np.sqrt(first + second), joint_df)


def t_test(difference: Floats, error: Floats, df: Floats | float, /) -> FeatureTest:
    """Two-sided t test; without any error, a difference is infinitely large and no difference is zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        stat = np.where(difference == 0, 0.0, difference / error)
    return FeatureTest(stat, t_pvalues(stat, np.where(error > 0, df, 1.0)))


def compare_block(group: Floats, reference: Floats) -> Floats:
    """Compare rows (features × observations); return mean, spread and distribution as stat, pval each."""
    n = (group.shape[1], reference.shape[1])
    values, in_group = _merge(group, reference)
    group, reference = values[in_group].reshape(group.shape), values[~in_group].reshape(reference.shape)
    variance = (_row_variances(group), _row_variances(reference))
    mean = welch(group.mean(axis=1) - reference.mean(axis=1), variance, n)
    spread = _brown_forsythe(group, reference)
    distribution = _distribution(values, in_group, n, variance)
    return np.stack([mean.stat, mean.pval, spread.stat, spread.pval, distribution.stat, distribution.pval])


def _merge(group: Floats, reference: Floats) -> tuple[Floats, Bools]:
    """Sort both conditions together, and return for each value whether it is of `group`."""
    both = np.concatenate([group, reference], axis=1)
    # the last bit of a number marks its condition, which costs less than sorting an index with the values
    bits = both.view(np.uint64)
    bits &= ~LAST_BIT
    bits[:, : group.shape[1]] |= LAST_BIT
    both.sort(axis=1)
    in_group = (bits & LAST_BIT).astype(bool)
    bits &= ~LAST_BIT
    return both, in_group


def _row_variances(x: Floats) -> Floats:
    centered = x - x.mean(axis=1, keepdims=True)
    return np.asarray(np.einsum("ij,ij->i", centered, centered) / (x.shape[1] - 1))


def _from_median(ordered: Floats) -> Floats:
    n = ordered.shape[1]
    median = (ordered[:, (n - 1) // 2] + ordered[:, n // 2]) / 2
    return np.abs(ordered - median[:, None])


def _brown_forsythe(group: Floats, reference: Floats) -> FeatureTest:
    """Student's t of the distances to the median, rows being sorted."""
    first, second = _from_median(group), _from_median(reference)
    variances = (_row_variances(first), _row_variances(second))
    return _student(first.mean(axis=1) - second.mean(axis=1), variances, (first.shape[1], second.shape[1]))


def _student(difference: Floats, variance: tuple[Floats, Floats], n: tuple[int, int]) -> FeatureTest:
    """Student's t from a difference in means, two unbiased variances and two sizes."""
    df = sum(n) - 2
    pooled = ((n[0] - 1) * variance[0] + (n[1] - 1) * variance[1]) / df
    return t_test(difference, np.sqrt(pooled * (1 / n[0] + 1 / n[1])), df)


def _distribution(values: Floats, in_group: Bools, n: tuple[int, int], variance: tuple[Floats, Floats]) -> FeatureTest:
    """Wasserstein distance in pooled standard deviations, and the p-value of Anderson–Darling."""
    gap = np.diff(values, axis=1)
    # F_group − F_reference after each value but the last, where both are one
    cdf_gap = np.cumsum(np.where(in_group[:, :-1], 1 / n[0], -1 / n[1]), axis=1)
    distance = np.einsum("ij,ij->i", np.abs(cdf_gap), gap)
    within = ((n[0] - 1) * variance[0] + (n[1] - 1) * variance[1]) / (sum(n) - 2)
    scale = np.sqrt(np.where(within > 0, within, _row_variances(values)))
    return FeatureTest(distance / np.where(scale > 0, scale, 1.0), anderson_darling(cdf_gap, gap > 0, n))


def anderson_darling(cdf_gap: Floats, is_step: Bools, n: tuple[int, int], /) -> Floats:
    """P-value of Anderson–Darling's statistic, summed over the steps between distinct values."""
    return bridge_pvalues(cdf_gap, is_step, n[0] * n[1] / sum(n))


def bridge_pvalues(cdf_gap: Floats, is_step: Bools, precision: float, /) -> Floats:
    """P-value of weighted sums Σ c over the observations up to each value, where Σ c = 0 and `precision` is 1 / Σ c².

    For two conditions, c is one over the size of each, with opposite signs; for a trend it is the centred dose. The
    weight of a step is half the observations tied on either side of it. Under permutation of the labels the
    statistic is a quadratic form of a Brownian bridge on the steps, whatever the ties; a shifted gamma
    distribution has the first three cumulants of that form.
    """
    total = cdf_gap.shape[1] + 1
    tied = ~is_step.all(axis=1)
    pval = np.empty(len(cdf_gap))
    if not tied.all():
        place = np.arange(1, total)[None]  # the same steps for all
        pval[~tied] = _pvalues_at_steps(cdf_gap[~tied], place, np.ones_like(place, dtype=bool), total, precision)
    if tied.any():
        slots, real = _step_places(is_step[tied])
        at_steps = np.take_along_axis(cdf_gap[tied], np.minimum(slots, total - 1) - 1, axis=1)
        pval[tied] = _pvalues_at_steps(at_steps, slots, real, total, precision)
    return pval


def _step_places(is_step: Bools) -> tuple[Ints, Bools]:
    """Left-align the places of the steps of every row and pad them with the number of values; mark the real ones."""
    found = is_step.sum(axis=1)
    row, column = np.nonzero(is_step)
    slot = np.arange(row.size) - np.repeat(np.cumsum(found) - found, found)
    places = np.full((len(is_step), found.max()), is_step.shape[1] + 1)
    places[row, slot] = column + 1
    return places, np.arange(places.shape[1]) < found[:, None]


def _pvalues_at_steps(cdf_gap: Floats, place: Ints, real: Bools, total: int, precision: float) -> Floats:
    """P-value of the differences at steps after `place` values, of which only the `real` ones count."""
    edge = np.ones((len(place), 1), dtype=place.dtype)
    tied = np.diff(place, axis=1, prepend=0 * edge, append=total * edge)  # observations between steps
    weight = np.where(real, (tied[:, :-1] + tied[:, 1:]) / (2 * total), 0.0)
    below = np.where(real, place / total, 0.5)
    statistic = precision * np.sum(np.square(cdf_gap) * (weight / (below * (1 - below))), axis=1)
    return shifted_gamma_pvalues(statistic, _bridge_cumulants(below, weight, total / (total - 1)))


def _bridge_cumulants(below: Floats, weight: Floats, inflation: float) -> Floats:
    """First three cumulants of Σ w B² / (H(1−H)), B being a Brownian bridge at H.

    Standardised values at H_i ≤ H_j have correlation √(g_i/g_j) with g = H/(1−H), so that the traces behind
    the cumulants are sums over ordered pairs and triples, computed by cumulative sums.
    """
    odds = below / (1 - below)
    up, down = weight * odds, weight / odds
    single = _sum_before(up)
    mean = weight.sum(axis=1)
    second = np.sum(weight**2 + 2 * down * single, axis=1)
    third = np.sum(
        weight**3 + 3 * down * (_sum_before(weight * up) + weight * single) + 6 * down * _sum_before(weight * single),
        axis=1,
    )
    return _inflated(np.stack([mean, second, third]), inflation)


def _inflated(sums: Floats, inflation: float) -> Floats:
    """First three cumulants from the sums over steps, and pairs and triples of them."""
    return np.asarray(np.array([1.0, 2.0, 8.0])[:, None] * inflation ** np.arange(1, 4)[:, None] * sums)


def _sum_before(x: Floats) -> Floats:
    """Sum of all entries to the left."""
    return np.cumsum(x, axis=1) - x
