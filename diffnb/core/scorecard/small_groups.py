"""P-values of the marginal tests by permutation of labels, where groups are too small or too unequal for formulas.

Of a skewed feature or one of few distinct values, the mean of a small group is far from normal: with 5 and 30
observations Welch's t rejects 10 to 30 % of such features without a difference at the level of 5 %. Permuted labels
hold the level whatever the distribution (Janssen, Statistics & Probability Letters 1997, of t with unequal variances).

Labels are permuted over the *sorted* values of every feature. All features then share the assignments, whatever the
order of observations: sums, medians, distances to them and distribution functions of all assignments are products of
one matrix of labels with the sorted values. Few assignments are enumerated; of many, as many are drawn as a feature
needs (Besag & Clifford, Biometrika 1991): more for one that is hardly ever reached. A statistic beyond all that were
drawn continues their tail like that of the formula, but never below one in the number of distinct assignments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np
from scipy import special

from ..runtime.seeds import generator
from ..stats.pvalues import MIN_PVALUE
from ..typing import Bools, Floats, Ints
from .marginal import compare_block

#: smallest group below which labels are permuted
MIN_OBS_FOR_FORMULAS = 20
#: the same where the other group is at least `MIN_UNEQUAL_RATIO` times as large
MIN_OBS_FOR_FORMULAS_IF_UNEQUAL = 100
MIN_UNEQUAL_RATIO = 2.0
#: assignments of labels that are all evaluated, each once; of more, a sample is drawn
MAX_ENUMERATED = 20_000
#: assignments that reach a statistic after which its p-value is known well enough
MIN_REACHED = 20
#: sizes of the sample of assignments, of which a feature takes the next one as long as it needs more
N_DRAWS = (250, 1000, 4000, 16_000)
#: decay of the tail of Anderson–Darling's statistic, that of a feature with two values; with more it is steeper
MIN_TAIL_DECAY = 0.5
#: numbers per step of work, assignments × features
MAX_BLOCK_NUMBERS = 1_000_000
#: sorted values of a feature; of more, so many evenly spaced ones stand for all as far as assignments are concerned
MAX_POOLED = 1000
#: variances below this share of the feature's are rounding
MIN_VARIANCE = 1e-10
#: statistics that differ by less, relatively (of those below one, absolutely), are ties
MAX_RELATIVE_TIE = 1e-9


def needs_permutations(n: int, m: int, /) -> bool:
    """Return whether groups of these sizes are too small, or too unequal, for the formulas of `marginal`."""
    few, many = sorted((n, m))
    unequal = many >= MIN_UNEQUAL_RATIO * few
    return few < (MIN_OBS_FOR_FORMULAS_IF_UNEQUAL if unequal else MIN_OBS_FOR_FORMULAS)


def smallest_pvalue(n: int, m: int, /) -> float:
    """Return the smallest p-value that a feature without ties can have if every assignment is evaluated."""
    return (2 if n == m else 1) / comb(n + m, min(n, m))


def compare_small_groups(group: Floats, reference: Floats, /) -> Floats:
    """Compare rows as `marginal.compare_block`, with p-values by permutation of labels."""
    rows = compare_block(group, reference)
    rows[1::2] = permuted_pvalues(group, reference)
    return rows


def permuted_pvalues(group: Floats, reference: Floats, /) -> Floats:
    """P-values of mean, spread and distribution for rows (features × observations), each in a row of its own."""
    if group.shape[1] > reference.shape[1]:
        group, reference = reference, group
    n_small = group.shape[1]
    values = np.concatenate([group, reference], axis=1)
    order = np.argsort(values, axis=1, kind="stable")
    labels = (order < n_small).astype(float)
    values = _standardized(np.take_along_axis(values, order, axis=1))
    observed, df = _statistics(labels, _Sorted.of(values), _Own)
    pooled, every = _thinned(values), comb(values.shape[1], n_small)
    if every <= MAX_ENUMERATED:
        return _reached_by_all(pooled, observed, n_small) / every
    pvals = _sampled(pooled, observed, df, n_small)
    return np.maximum(pvals, smallest_pvalue(n_small, values.shape[1] - n_small))


def _reached_by_all(values: Floats, observed: Floats, n_small: int) -> Floats:
    pool, reached = _Sorted.of(values), np.zeros(observed.shape)
    for labels in _enumerated(values.shape[1], n_small, len(values)):
        reached += (_statistics(labels, pool, _Every)[0] >= _threshold(observed)[:, None]).sum(axis=1)
    return reached


def _sampled(values: Floats, observed: Floats, df: Floats, n_small: int) -> Floats:
    """Draw assignments, always the same ones, until each p-value is known well enough."""
    rng = generator(0, "permutations")
    pvals, reached, highest = np.ones(observed.shape), np.zeros(observed.shape), np.zeros(observed.shape)
    active, threshold, n_before = np.arange(len(values)), _threshold(observed), 0
    for n_draws in N_DRAWS:
        pool = _Sorted.of(values[active])
        for labels in _drawn(rng, n_draws - n_before, values.shape[1], n_small, active.size):
            found = _statistics(labels, pool, _Every)[0]
            reached[:, active] += (found >= threshold[:, None, active]).sum(axis=1)
            highest[:, active] = np.maximum(highest[:, active], found.max(axis=1))
        n_before = n_draws
        pvals[:, active] = (1 + reached[:, active]) / (1 + n_draws)
        active = active[(reached[:, active] < MIN_REACHED).any(axis=0)]
        if not active.size:
            break
    return np.asarray(np.where(reached == 0, pvals * _tail_beyond(highest, observed, df), pvals))


def _tail_beyond(highest: Floats, observed: Floats, df: Floats) -> Floats:
    """P-value of the observed statistic in that of the highest one drawn, by the tails of the formulas."""
    share = np.ones(observed.shape)
    for number, own_df in enumerate(df):
        beyond, at = (special.stdtr(own_df, -np.sqrt(x[number])) for x in (observed, highest))
        share[number] = beyond / np.maximum(at, MIN_PVALUE)
    share[2] = np.exp(-MIN_TAIL_DECAY * (observed[2] - highest[2]))
    return np.minimum(share, 1.0)


def _threshold(observed: Floats) -> Floats:
    # of equal means rounding leaves anything near zero: there the difference is absolute
    return observed - MAX_RELATIVE_TIE * np.maximum(1.0, np.abs(observed))


def _enumerated(n: int, n_small: int, n_features: int) -> Iterator[Floats]:
    every = combinations(range(n), n_small)
    while chosen := list(islice(every, _height(n_features))):
        yield _labels(np.array(chosen), n)


def _drawn(rng: np.random.Generator, count: int, n: int, n_small: int, n_features: int) -> Iterator[Floats]:
    """Yield labels of `count` assignments; they do not depend on the number of features."""
    step = _height(n_features)
    for start in range(0, count, step):
        size = min(step, count - start)
        yield _labels(np.argpartition(rng.random((size, n)), n_small - 1, axis=1)[:, :n_small], n)


def _height(n_features: int) -> int:
    return max(1, MAX_BLOCK_NUMBERS // max(1, n_features))


def _labels(chosen: Ints, n: int) -> Floats:
    labels: Floats = np.zeros((len(chosen), n))
    np.put_along_axis(labels, chosen, 1.0, axis=1)
    return labels


def _standardized(values: Floats) -> Floats:
    centered = values - values.mean(axis=1, keepdims=True)
    scale = np.sqrt(np.mean(centered**2, axis=1, keepdims=True))
    return np.asarray(centered / np.where(scale > 0, scale, 1.0))


def _thinned(values: Floats) -> Floats:
    """Let evenly spaced values stand for all where these are many; the small group keeps its size."""
    n = values.shape[1]
    if n <= MAX_POOLED:
        return values
    return values[:, np.floor((np.arange(MAX_POOLED) + 0.5) * n / MAX_POOLED).astype(int)]


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Sorted values of features, and the weights of the steps between them: observations × features."""

    values: Floats
    squares: Floats
    steps: Floats

    @classmethod
    def of(cls, values: Floats) -> _Sorted:
        """Take rows of sorted values, features × observations."""
        return cls(values.T, values.T**2, _step_weights(np.diff(values, axis=1) > 0).T)


def _step_weights(is_step: Bools) -> Floats:
    """Weight of the squared difference of distribution functions after each value, as in `anderson_darling`."""
    total = is_step.shape[1] + 1
    after = np.arange(1, total)
    # number of values up to the step before, and up to the one after
    before = np.maximum.accumulate(np.where(is_step, after, 0), axis=1)
    before = np.concatenate([np.zeros_like(before[:, :1]), before[:, :-1]], axis=1)
    behind = np.where(is_step, after, total)[:, ::-1]
    behind = np.minimum.accumulate(behind, axis=1)[:, ::-1]
    behind = np.concatenate([behind[:, 1:], np.full_like(behind[:, :1], total)], axis=1)
    below = after / total
    return np.asarray(np.where(is_step, (behind - before) / (2 * total), 0.0) / (below * (1 - below)))


class _Every:
    """Assignments that all features share: results are assignments × features."""

    @staticmethod
    def sums(labels: Floats, values: Floats) -> Floats:
        """Sum values with weights."""
        return labels @ values

    @staticmethod
    def at(place: Ints, values: Floats) -> Floats:
        """Take the values at a place."""
        return values[place]


class _Own:
    """The observed assignment of each feature: labels are features × observations, results are per feature."""

    @staticmethod
    def sums(labels: Floats, values: Floats) -> Floats:
        """Sum values with weights."""
        return np.asarray(np.einsum("jn,nj->j", labels, values))

    @staticmethod
    def at(place: Ints, values: Floats) -> Floats:
        """Take the values at a place."""
        return values[place, np.arange(place.size)]


def _statistics(labels: Floats, pool: _Sorted, how: type[_Every] | type[_Own]) -> tuple[Floats, Floats]:
    """Squared t of mean and of spread and Anderson–Darling's statistic, and the degrees of freedom of both t.

    `labels` are one in the small group.
    """
    total, n = pool.values.sum(axis=0), labels.shape[1]
    n_small = int(labels[0].sum())
    sums, squares = how.sums(labels, pool.values), how.sums(labels, pool.squares)
    sides = [
        _side(labels, n_small, sums, squares, pool, how),
        _side(1 - labels, n - n_small, total - sums, pool.squares.sum(axis=0) - squares, pool, how),
    ]
    errors = [np.maximum(side.squares / side.size, MIN_VARIANCE) / (side.size - 1) for side in sides]
    mean = (sides[0].mean - sides[1].mean) ** 2 / sum(errors)
    df = sum(errors) ** 2 / sum(error**2 / (side.size - 1) for error, side in zip(errors, sides, strict=True))
    pooled = np.maximum(sum(side.distance_squares for side in sides) / (n - 2), MIN_VARIANCE)
    spread = (sides[0].distance - sides[1].distance) ** 2 / (pooled * sum(1 / side.size for side in sides))
    below = np.cumsum(labels, axis=1)[:, :-1]
    cdf_gap = below / n_small - (np.arange(1, n) - below) / (n - n_small)
    return np.stack([mean, spread, how.sums(cdf_gap**2, pool.steps)]), np.stack([df, np.full_like(df, n - 2)])


@dataclass(frozen=True, slots=True)
class _Side:
    """Sums over one of both groups, for every assignment and feature."""

    size: int
    mean: Floats
    #: around the mean
    squares: Floats
    #: mean distance to the median, and its squares around that
    distance: Floats
    distance_squares: Floats


def _side(
    labels: Floats, size: int, sums: Floats, squares: Floats, pool: _Sorted, how: type[_Every] | type[_Own]
) -> _Side:
    rank = np.cumsum(labels, axis=1) * labels  # 1 … size within the group, 0 outside
    half = size // 2
    signs = (rank > size - half).astype(float) - ((rank > 0) & (rank <= half))
    lower, upper = (how.at(np.argmax(rank == r, axis=1), pool.values) for r in ((size + 1) // 2, half + 1))
    mean, median, distance = sums / size, (lower + upper) / 2, how.sums(signs, pool.values) / size
    around_median = squares - 2 * median * sums + size * median**2
    return _Side(size, mean, squares - size * mean**2, distance, around_median - size * distance**2)
