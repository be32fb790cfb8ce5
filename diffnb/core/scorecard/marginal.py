"""Two samples of every feature compared: mean, spread and whole distribution, columns at a time.

All three come out of one sort of a column, so that a block of columns is made dense and sorted once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy import special

from ..arrays.column_blocks import load_column_blocks
from ..arrays.ops import dense64
from ..arrays.row_chunks import Chunked
from ..stats.pvalues import floored
from ..typing import Bools, Floats, Ints, Matrix

LAST_BIT = np.uint64(1)
#: numbers in a block of columns that is sorted at once: what stays close to the processor
SORTED = 250_000


@dataclass(frozen=True, slots=True)
class Tested:
    """A statistic and its p-value for every feature."""

    stat: Floats
    pval: Floats


@dataclass(frozen=True, slots=True)
class TwoSample:
    """Shift in mean, in spread and in whole distribution of every feature."""

    mean: Tested
    spread: Tested
    distribution: Tested


def two_sample(group: Matrix, reference: Matrix, /, *, n_jobs: int | None = None) -> TwoSample:
    """Compare every column of `group` with that of `reference`.

    Mean: Welch's t. Spread: Brown–Forsythe as a signed t, the square of which is Levene's W around medians.
    Distribution: the 1-D Wasserstein distance in pooled standard deviations, with the p-value of an
    Anderson–Darling test whose null distribution follows from the ties of each column.
    """
    if isinstance(group, Chunked):
        return by_column_blocks([group, reference], lambda x, y: two_sample(x, y, n_jobs=n_jobs))
    group, reference = by_columns(group), by_columns(reference)
    width = max(1, SORTED // (group.shape[0] + reference.shape[0]))

    def compare(where: slice) -> Floats:
        return _compare_block(dense64(group[:, where]).T, dense64(reference[:, where]).T)

    rows = np.concatenate(in_blocks(compare, group.shape[1], width, n_jobs), axis=1)
    return TwoSample(Tested(*rows[0:2]), Tested(*rows[2:4]), Tested(*rows[4:6]))


def by_column_blocks(matrices: Sequence[Chunked], work: Callable[[Matrix, Matrix], TwoSample], /) -> TwoSample:
    """Compare as many columns at a time as fit into memory, each time in a pass over the rows."""
    slabs = [work(*loaded) for _, loaded in load_column_blocks(matrices)]
    kinds = [[getattr(slab, kind) for slab in slabs] for kind in ("mean", "spread", "distribution")]
    joined = [
        Tested(np.concatenate([t.stat for t in tested]), np.concatenate([t.pval for t in tested])) for tested in kinds
    ]
    return TwoSample(*joined)


def by_columns(x: Matrix, /) -> Matrix:
    """Return a matrix from which columns are taken quickly."""
    return sp.csc_array(x) if sp.issparse(x) else x


def in_blocks(work: Callable[[slice], Floats], n_columns: int, width: int, n_jobs: int | None) -> list[Floats]:
    """Run `work` on one slice of columns after the other, or `n_jobs` at a time."""
    slices = [slice(start, min(start + width, n_columns)) for start in range(0, n_columns, width)]
    if n_jobs in (None, 1) or len(slices) == 1:
        return [work(where) for where in slices]
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(work)(where) for where in slices))


def welch(mean_difference: Floats, variance: tuple[Floats, Floats], n: tuple[int, int]) -> Tested:
    """Welch's t from a difference in means, two unbiased variances and two sizes."""
    first, second = variance[0] / n[0], variance[1] / n[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        df = (first + second) ** 2 / (first**2 / (n[0] - 1) + second**2 / (n[1] - 1))
    return t_test(mean_difference, np.sqrt(first + second), df)


def t_test(difference: Floats, error: Floats, df: Floats | float) -> Tested:
    """Two-sided t test; without any error a difference is all the evidence, and none is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        stat = np.where(difference == 0, 0.0, difference / error)
    pval = np.where(np.isfinite(stat), 2 * special.stdtr(np.where(error > 0, df, 1.0), -np.abs(stat)), 0.0)
    return Tested(stat, floored(pval))


def _compare_block(group: Floats, reference: Floats) -> Floats:
    """Compare rows (features × observations); return mean, spread and distribution as stat, pval each."""
    n = (group.shape[1], reference.shape[1])
    values, in_group = _merge(group, reference)
    group, reference = values[in_group].reshape(group.shape), values[~in_group].reshape(reference.shape)
    variance = (_variance(group), _variance(reference))
    mean = welch(group.mean(axis=1) - reference.mean(axis=1), variance, n)
    spread = _brown_forsythe(group, reference)
    distribution = _distribution(values, in_group, n, variance)
    return np.stack([mean.stat, mean.pval, spread.stat, spread.pval, distribution.stat, distribution.pval])


def _merge(group: Floats, reference: Floats) -> tuple[Floats, Bools]:
    """Sort both samples together; say of each value whether it is of `group`."""
    both = np.concatenate([group, reference], axis=1)
    # the last bit of a number says where it is from, which costs less than sorting an index along
    bits = both.view(np.uint64)
    bits &= ~LAST_BIT
    bits[:, : group.shape[1]] |= LAST_BIT
    both.sort(axis=1)
    in_group = (bits & LAST_BIT).astype(bool)
    bits &= ~LAST_BIT
    return both, in_group


def _variance(x: Floats) -> Floats:
    centred = x - x.mean(axis=1, keepdims=True)
    return np.asarray(np.einsum("ij,ij->i", centred, centred) / (x.shape[1] - 1))


def _from_median(ordered: Floats) -> Floats:
    n = ordered.shape[1]
    median = (ordered[:, (n - 1) // 2] + ordered[:, n // 2]) / 2
    return np.abs(ordered - median[:, None])


def _brown_forsythe(group: Floats, reference: Floats) -> Tested:
    """Student's t of the distances to the median, rows being sorted."""
    first, second = _from_median(group), _from_median(reference)
    n, m = first.shape[1], second.shape[1]
    pooled = ((n - 1) * _variance(first) + (m - 1) * _variance(second)) / (n + m - 2)
    return t_test(first.mean(axis=1) - second.mean(axis=1), np.sqrt(pooled * (1 / n + 1 / m)), n + m - 2)


def _distribution(values: Floats, in_group: Bools, n: tuple[int, int], variance: tuple[Floats, Floats]) -> Tested:
    """Wasserstein distance in pooled standard deviations, and the p-value of Anderson–Darling."""
    gap = np.diff(values, axis=1)
    # F_group − F_reference after each value but the last, where both are one
    apart = np.cumsum(np.where(in_group[:, :-1], 1 / n[0], -1 / n[1]), axis=1)
    distance = np.einsum("ij,ij->i", np.abs(apart), gap)
    within = ((n[0] - 1) * variance[0] + (n[1] - 1) * variance[1]) / (sum(n) - 2)
    scale = np.sqrt(np.where(within > 0, within, _variance(values)))
    return Tested(distance / np.where(scale > 0, scale, 1.0), _anderson_darling(apart, gap > 0, n))


def _anderson_darling(apart: Floats, is_step: Bools, n: tuple[int, int]) -> Floats:
    """P-value of Anderson–Darling's statistic, summed over the steps between distinct values.

    A step weighs half the observations tied on either side of it. Under permutation of the labels the
    statistic is a quadratic form of a Brownian bridge on the steps, whatever the ties; its first three
    cumulants are exact for that bridge, and a shifted gamma distribution takes them over.
    """
    total = sum(n)
    tied = ~is_step.all(axis=1)
    pval = np.empty(len(apart))
    if not tied.all():
        place = np.arange(1, total)[None]  # the same steps for all
        pval[~tied] = _bridge_pval(apart[~tied], place, np.ones_like(place, dtype=bool), n)
    if tied.any():
        slots, real = _step_places(is_step[tied])
        at_steps = np.take_along_axis(apart[tied], np.minimum(slots, total - 1) - 1, axis=1)
        pval[tied] = _bridge_pval(at_steps, slots, real, n)
    return pval


def _step_places(is_step: Bools) -> tuple[Ints, Bools]:
    """Gather the places of the steps of every row to the left, the rest filled with the number of values."""
    found = is_step.sum(axis=1)
    row, column = np.nonzero(is_step)
    slot = np.arange(row.size) - np.repeat(np.cumsum(found) - found, found)
    places = np.full((len(is_step), found.max()), is_step.shape[1] + 1)
    places[row, slot] = column + 1
    return places, np.arange(places.shape[1]) < found[:, None]


def _bridge_pval(apart: Floats, place: Ints, real: Bools, n: tuple[int, int]) -> Floats:
    """P-value of the differences at steps after `place` values, of which only the `real` ones count."""
    total = sum(n)
    edge = np.ones((len(place), 1), dtype=place.dtype)
    tied = np.diff(place, axis=1, prepend=0 * edge, append=total * edge)  # observations between steps
    weight = np.where(real, (tied[:, :-1] + tied[:, 1:]) / (2 * total), 0.0)
    below = np.where(real, place / total, 0.5)
    statistic = (n[0] * n[1] / total) * np.sum(np.square(apart) * (weight / (below * (1 - below))), axis=1)
    return shifted_gamma_sf(statistic, _bridge_cumulants(below, weight, total / (total - 1)))


def _bridge_cumulants(below: Floats, weight: Floats, inflation: float) -> Floats:
    """First three cumulants of Σ w B² / (H(1−H)), B being a Brownian bridge at H.

    Standardised values at H_i ≤ H_j correlate by √(g_i/g_j) with g = H/(1−H), so that the traces behind
    the cumulants are sums over ordered pairs and triples, which running sums give.
    """
    odds = below / (1 - below)
    up, down = weight * odds, weight / odds
    one = _before(up)
    mean = weight.sum(axis=1)
    second = np.sum(weight**2 + 2 * down * one, axis=1)
    third = np.sum(
        weight**3 + 3 * down * (_before(weight * up) + weight * one) + 6 * down * _before(weight * one),
        axis=1,
    )
    return np.stack([inflation * mean, 2 * inflation**2 * second, 8 * inflation**3 * third])


def _before(x: Floats) -> Floats:
    """Sum of all entries to the left."""
    return np.cumsum(x, axis=1) - x


def shifted_gamma_sf(x: Floats, cumulants: Floats) -> Floats:
    """Upper tail of the shifted gamma distribution with these first three cumulants."""
    mean, variance, third = np.where(cumulants[1] > 0, cumulants, 1.0)
    scale = third / (2 * variance)
    shape = 4 * variance**3 / third**2
    tail = special.gammaincc(shape, np.maximum((x - mean) / scale + shape, 0.0))
    return np.where(cumulants[1] > 0, floored(tail), 1.0)  # what cannot vary is never in the tail
