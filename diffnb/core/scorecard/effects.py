"""How large the differences between two conditions are, with 95 % intervals in closed form.

Every effect is, to first order, a difference of means of one number per unit (its influence): of the value itself, of
the distance from the median over its mean, or of the function h that tells two distributions apart. Units are
observations or samples. The distance of distributions, ∫|F − G|, is E h(y) − E h(x) for h' = sign(F − G); the sign is
taken from other units (cross-fitting), so that no difference gives no distance, on average.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from ..arrays.column_blocks import load_column_blocks
from ..arrays.ops import dense64
from ..arrays.row_chunks import Chunked
from ..runtime import budget
from ..runtime.seeds import generator
from ..runtime.threads import thread_limits
from ..typing import Floats, Ints, Matrix
from .by_sample import Design
from .columnwise import map_column_blocks, with_fast_columns
from .connectivity_effect import connectivity_effects
from .interval import Interval, concatenated

#: level of the intervals
CONFIDENCE = 0.95
#: parts of the units; the sign of F − G for each part comes from the others
N_FOLDS = 5
#: share of the gap between the plain and the cross-fitted distance by which the latter is taken to be too small
OPTIMISM_SHARE = 0.25
#: standard error of that correction, as a multiple of itself
ERROR_OF_BIAS = 2.0


@dataclass(frozen=True, slots=True)
class Effects:
    """Effects of every feature, the group against the reference."""

    mean: Interval
    #: log₂ of the ratio of means, on the linear scale; NaN where values are negative
    log2_fold_change: Interval
    #: ratio of mean distances from the median
    spread: Interval
    #: Wasserstein distance in pooled standard deviations
    distribution: Interval
    #: mean absolute difference of the correlations with its partners
    connectivity: Interval
    n_partners: Floats


@dataclass(frozen=True, slots=True)
class Units:
    """Units of both conditions: rows of each sample, or `None` where every row is a unit."""

    rows: tuple[Sequence[Ints] | None, Sequence[Ints] | None] = (None, None)
    paired: bool = False

    @classmethod
    def of(cls, samples: Design | None) -> Units:
        """Take samples as units where there are any."""
        return cls() if samples is None else cls((samples.group, samples.reference), samples.paired)

    def means(self, x: Floats, condition: int) -> Floats:
        """Average the rows of every unit."""
        rows = self.rows[condition]
        return x if rows is None else np.stack([x[own].mean(axis=0) for own in rows])

    def used(self, x: Floats, condition: int) -> tuple[Floats, Ints]:
        """Return the rows that belong to a unit, and the number of the unit of each."""
        rows = self.rows[condition]
        if rows is None:
            return x, np.arange(len(x))
        return x[np.concatenate(rows)], np.repeat(np.arange(len(rows)), [own.size for own in rows])

    def contrast(self, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
        """Difference of means of units (units × features), its standard error and degrees of freedom."""
        difference = a.mean(axis=0) - b.mean(axis=0)
        if self.paired:
            error = (a - b).std(axis=0, ddof=1) / np.sqrt(len(a))
            return difference, error, np.full_like(error, len(a) - 1.0)
        first, second = a.var(axis=0, ddof=1) / len(a), b.var(axis=0, ddof=1) / len(b)
        total = first + second
        df = np.divide(total**2, first**2 / (len(a) - 1) + second**2 / (len(b) - 1), where=total > 0, out=total + 1.0)
        return difference, np.sqrt(total), df


def fit_effects(
    group: Matrix,
    reference: Matrix,
    /,
    *,
    samples: Design | None = None,
    is_log1p: bool = False,
    n_jobs: int | None = None,
) -> Effects:
    """Estimate all effects of every feature; `is_log1p` says that values are log(1 + x)."""
    units = Units.of(samples)
    with thread_limits(group.shape[1], n_jobs):
        if isinstance(group, Chunked):
            blocks = [_marginal(x, y, units, is_log1p, n_jobs) for _, (x, y) in load_column_blocks([group, reference])]
            parts = [part for block in blocks for part in block]
        else:
            parts = _marginal(group, reference, units, is_log1p, n_jobs)
        connected, n_partners = connectivity_effects(group, reference, samples)
    columns = [concatenated(list(each)) for each in zip(*parts, strict=True)]
    return Effects(columns[0], columns[1], columns[2], columns[3], connected, n_partners)


def _marginal(
    group: Matrix, reference: Matrix, units: Units, is_log1p: bool, n_jobs: int | None
) -> list[tuple[Interval, ...]]:
    group, reference = with_fast_columns(group), with_fast_columns(reference)
    width = budget.count(8 * 8 * (group.shape[0] + reference.shape[0]))
    found: list[tuple[Interval, ...]] = []

    def of_block(where: slice) -> tuple[Interval, ...]:
        x, y = dense64(group[:, where]), dense64(reference[:, where])
        return _mean(x, y, units), _fold_change(x, y, units, is_log1p), _spread(x, y, units), _distance(x, y, units)

    found += map_column_blocks(of_block, group.shape[1], width, n_jobs=n_jobs)  # type: ignore[arg-type]
    return found


def _interval(estimate: Floats, error: Floats, df: Floats) -> Interval:
    width = special.stdtrit(df, (1 + CONFIDENCE) / 2) * error
    return Interval(estimate, estimate - width, estimate + width)


def _mean(x: Floats, y: Floats, units: Units) -> Interval:
    return _interval(*units.contrast(units.means(x, 0), units.means(y, 1)))


def _log_ratio(a: Floats, b: Floats, units: Units) -> Interval:
    """Interval of the logarithm of the ratio of means of units, by the delta method."""
    first, second = a.mean(axis=0), b.mean(axis=0)
    known = (first > 0) & (second > 0)
    first, second = np.where(known, first, 1.0), np.where(known, second, 1.0)
    _, error, df = units.contrast(a / first, b / second)
    found = _interval(np.log(first / second), error, df)
    return found.where(known)


def _fold_change(x: Floats, y: Floats, units: Units, is_log1p: bool) -> Interval:
    negative = (x.min(axis=0) < 0) | (y.min(axis=0) < 0)
    if is_log1p:
        x, y = np.expm1(x), np.expm1(y)
    ratio = _log_ratio(units.means(x, 0), units.means(y, 1), units)
    return ratio.map(lambda value: value / np.log(2)).where(~negative)


def _spread(x: Floats, y: Floats, units: Units) -> Interval:
    ratio = _log_ratio(_distances(x, 0, units), _distances(y, 1, units), units)
    return ratio.map(np.exp)


def _distances(x: Floats, condition: int, units: Units) -> Floats:
    """Mean distance from the median of the condition or, of samples, from that of each of them."""
    rows = units.rows[condition]
    if rows is None:
        return np.abs(x - np.median(x, axis=0))
    return np.stack([np.abs(x[own] - np.median(x[own], axis=0)).mean(axis=0) for own in rows])


def _distance(x: Floats, y: Floats, units: Units) -> Interval:
    (x, of_x), (y, of_y) = units.used(x, 0), units.used(y, 1)
    weights = len(x) / (len(x) + len(y)), len(y) / (len(x) + len(y))
    squares = [(each - each.mean(axis=0)) ** 2 for each in (x, y)]
    variance = weights[0] * squares[0].mean(axis=0) + weights[1] * squares[1].mean(axis=0)
    sd = np.where(variance > 0, np.sqrt(variance), 1.0)
    folds = _folds(of_x), _folds(of_y)
    h_x, h_y, optimism = np.empty_like(x), np.empty_like(y), np.empty(x.shape[1])
    for j in range(x.shape[1]):
        h_x[:, j], h_y[:, j], own = _cross_fitted(x[:, j], y[:, j], *folds)
        optimism[j] = own - (h_y[:, j].mean() - h_x[:, j].mean())
    first, second = (_by_unit(h, of) for h, of in ((h_x, of_x), (h_y, of_y)))
    distance = second.mean(axis=0) - first.mean(axis=0)
    # the scale is estimated too: (x − μ)² is the influence of an observation on the variance
    part = [w * _by_unit(s, of) for w, s, of in zip(weights, squares, (of_x, of_y), strict=True)]
    scaled = distance / (2 * sd**3)
    influence = second / sd - scaled * part[1], first / sd + scaled * part[0]
    _, error, df = units.contrast(*influence)
    # wrong signs make the distance too small here and too large without cross-fitting: the truth lies in between
    bias = OPTIMISM_SHARE * np.maximum(optimism, 0.0) / sd
    found = _interval(distance / sd + bias, np.hypot(error, ERROR_OF_BIAS * bias), df)
    return found.map(lambda value: np.maximum(value, 0.0)).where(variance > 0)


def _by_unit(values: Floats, unit: Ints) -> Floats:
    if unit[-1] == len(unit) - 1:
        return values
    starts = np.flatnonzero(np.r_[True, np.diff(unit) > 0])
    return np.asarray(np.add.reduceat(values, starts, axis=0) / np.bincount(unit)[:, None])


def _folds(unit: Ints) -> Ints:
    """Assign units to folds; those of pairs are the same in both conditions, which have as many."""
    n = int(unit[-1]) + 1
    number = generator(0, "folds", n).permutation(np.arange(n) % min(N_FOLDS, n))
    return np.asarray(number[unit])


def _cross_fitted(x: Floats, y: Floats, fold_x: Ints, fold_y: Ints) -> tuple[Floats, Floats, float]:
    """Evaluate h at every observation, with the sign of F − G from observations of other folds.

    The last number is the distance with the signs of all observations.
    """
    grid, place = np.unique(np.concatenate([x, y]), return_inverse=True)
    at_x, at_y = place[: len(x)], place[len(x) :]
    widths = np.diff(grid)
    h_x, h_y = np.zeros(len(x)), np.zeros(len(y))
    for fold in range(int(max(fold_x.max(), fold_y.max())) + 1):
        cumulative = [
            np.cumsum(np.bincount(at[other != fold], minlength=grid.size)) / max(1, int((other != fold).sum()))
            for at, other in ((at_x, fold_x), (at_y, fold_y))
        ]
        h = np.concatenate([[0.0], np.cumsum(np.sign(cumulative[0] - cumulative[1])[:-1] * widths)])
        # centred on the reference: h is known up to a constant, which must not differ between folds
        h -= h[at_y[fold_y != fold]].mean()
        h_x[fold_x == fold], h_y[fold_y == fold] = h[at_x[fold_x == fold]], h[at_y[fold_y == fold]]
    shares = [np.bincount(at, minlength=grid.size) / at.size for at in (at_x, at_y)]
    return h_x, h_y, float(np.abs(np.cumsum(shares[0] - shares[1])[:-1]) @ widths)
