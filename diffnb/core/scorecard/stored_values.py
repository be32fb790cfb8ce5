"""Marginal statistics of two sparse matrices from the numbers that are stored, zeros being counted only.

A column of counts is mostly zeros, all tied: sorting the others and walking through them once takes as many steps as
there are numbers. The loops are compiled by numba where that is installed; for small matrices, loading it takes longer
than sorting dense columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..typing import Bools, Floats, Ints, Matrix
from .columnwise import map_column_blocks

#: numbers of both matrices, zeros included, from which on the compiled loops are worth loading
MIN_NUMBERS = 20_000_000
#: share of numbers that are not zero above which columns are sorted as dense ones
MAX_DENSITY = 0.5
#: columns that are sorted before the loops run over them
COLUMNS_AT_ONCE = 64
LAST_BIT = np.uint64(1)
N_SIDE, N_STEPS = 4, 5


@dataclass(frozen=True, slots=True)
class Side:
    """Statistics of every column in one condition: variances are unbiased, distances are those to the median."""

    mean: Floats
    variance: Floats
    distance: Floats
    distance_variance: Floats


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """What the marginal tests of every column need to know."""

    group: Side
    reference: Side
    #: area between the distribution functions
    area: Floats
    #: weighted sum of their squared differences over the steps between distinct values
    statistic: Floats
    #: sums behind its first three cumulants under permutation
    cumulants: Floats


def by_stored_values(group: Matrix, reference: Matrix, /) -> bool:
    """Return whether statistics are taken from what is stored: sparse, large enough, and numba is at hand."""
    if not (sp.issparse(group) and sp.issparse(reference)):
        return False
    size = (group.shape[0] + reference.shape[0]) * group.shape[1]
    if size < MIN_NUMBERS or group.nnz + reference.nnz > MAX_DENSITY * size:
        return False
    return compiled() is not None


def column_statistics(group: Matrix, reference: Matrix, /, *, n_jobs: int | None = None) -> ColumnStatistics:
    """Compare the columns of two sparse matrices."""
    of_side, of_steps = compiled() or (side_statistics, step_statistics)
    n, m = (int(x.shape[0]) for x in (group, reference))
    columns = [_canonical(x) for x in (group, reference)]

    def of_block(where: slice) -> Floats:
        values, in_group, starts = _sorted(columns, where)
        found: Floats = np.zeros((2 * N_SIDE + N_STEPS, len(starts) - 1))
        of_side(values, in_group, starts, True, n, found[:N_SIDE])
        of_side(values, in_group, starts, False, m, found[N_SIDE : 2 * N_SIDE])
        of_steps(values, in_group, starts, n, m, found[2 * N_SIDE :])
        return found

    found = np.concatenate(map_column_blocks(of_block, group.shape[1], COLUMNS_AT_ONCE, n_jobs=n_jobs), axis=1)
    sides, (area, statistic, *cumulants) = found[: 2 * N_SIDE], found[2 * N_SIDE :]
    return ColumnStatistics(Side(*sides[:N_SIDE]), Side(*sides[N_SIDE:]), area, statistic, np.stack(cumulants))


def _canonical(x: Matrix) -> sp.csc_array:
    columns = sp.csc_array(x)
    if not columns.has_canonical_format:
        columns = columns.copy()
        columns.sum_duplicates()
    return columns


def _sorted(columns: list[sp.csc_array], where: slice) -> tuple[Floats, Bools, Ints]:
    """Sort what both matrices store in every column, mark what is of the first, and return where columns start."""
    edges = [x.indptr[where.start : where.stop + 1].astype(np.int64) for x in columns]
    starts = np.sum([own - own[0] for own in edges], axis=0)
    values: Floats = np.empty(starts[-1])
    bits = values.view(np.uint64)
    for j, (start, stop) in enumerate(pairwise(starts)):
        middle = start + edges[0][j + 1] - edges[0][j]
        values[start:middle] = columns[0].data[edges[0][j] : edges[0][j + 1]]
        values[middle:stop] = columns[1].data[edges[1][j] : edges[1][j + 1]]
        # the last bit of a number marks its condition, as in `marginal`
        bits[start:stop] &= ~LAST_BIT
        bits[start:middle] |= LAST_BIT
        values[start:stop].sort()
    in_group = (bits & LAST_BIT).astype(bool)
    bits &= ~LAST_BIT
    return values, in_group, starts


def side_statistics(values: Floats, in_group: Bools, starts: Ints, side: bool, n: int, out: Floats, /) -> None:
    """Write mean and variance of each column, and those of the distances to the median, of one condition of `n` rows.

    `values` are sorted within columns; what is missing are zeros.
    """
    for j in range(len(starts) - 1):
        total, n_stored, n_negative = 0.0, 0, 0
        for k in range(starts[j], starts[j + 1]):
            if in_group[k] == side:
                total += values[k]
                n_stored += 1
                n_negative += values[k] < 0
        n_zeros = n - n_stored
        lower, upper, rank = 0.0, 0.0, 0
        for k in range(starts[j], starts[j + 1]):
            if in_group[k] == side:
                place = rank if rank < n_negative else rank + n_zeros
                if place == (n - 1) // 2:
                    lower = values[k]
                if place == n // 2:
                    upper = values[k]
                rank += 1
        mean, median = total / n, (lower + upper) / 2
        squares, distance = n_zeros * mean**2, n_zeros * abs(median)
        for k in range(starts[j], starts[j + 1]):
            if in_group[k] == side:
                squares += (values[k] - mean) ** 2
                distance += abs(values[k] - median)
        distance /= n
        distance_squares = n_zeros * (abs(median) - distance) ** 2
        for k in range(starts[j], starts[j + 1]):
            if in_group[k] == side:
                distance_squares += (abs(values[k] - median) - distance) ** 2
        out[0, j], out[1, j] = mean, squares / (n - 1)
        out[2, j], out[3, j] = distance, distance_squares / (n - 1)


def step_statistics(values: Floats, in_group: Bools, starts: Ints, n: int, m: int, out: Floats, /) -> None:
    """Write the area between both distribution functions, Anderson–Darling's sum and those behind its cumulants.

    As `marginal.bridge_pvalues`, in one walk over the distinct values.
    """
    total = n + m
    for j in range(len(starts) - 1):
        k, stop = starts[j], starts[j + 1]
        n_zeros, zeros_in_group = total - (stop - k), n
        for i in range(k, stop):
            zeros_in_group -= in_group[i]
        zeros_left = n_zeros > 0
        place, place_in_group, place_before, before = 0, 0, 0, 0.0
        area, statistic, mean, second, third = 0.0, 0.0, 0.0, 0.0, 0.0
        single, of_weights, of_singles = 0.0, 0.0, 0.0
        while k < stop or zeros_left:
            taken, taken_in_group = 0, 0
            if zeros_left and (k == stop or values[k] >= 0):
                value, taken, taken_in_group, zeros_left = 0.0, n_zeros, zeros_in_group, False
            else:
                value = values[k]
            while k < stop and values[k] == value:
                taken += 1
                taken_in_group += in_group[k]
                k += 1
            if place > 0:  # the step from the value before to this one
                gap = place_in_group / n - (place - place_in_group) / m
                area += abs(gap) * (value - before)
                weight = (place - place_before + taken) / (2 * total)
                odds = place / (total - place)
                statistic += gap**2 * weight * total**2 / (place * (total - place))
                up, down = weight * odds, weight / odds
                mean += weight
                second += weight**2 + 2 * down * single
                third += weight**3 + 3 * down * (of_weights + weight * single) + 6 * down * of_singles
                of_singles += weight * single
                of_weights += weight * up
                single += up
                place_before = place
            place += taken
            place_in_group += taken_in_group
            before = value
        out[0, j], out[1, j], out[2, j], out[3, j], out[4, j] = area, statistic, mean, second, third


@cache
def compiled() -> tuple[Callable[..., None], Callable[..., None]] | None:
    """Return `side_statistics` and `step_statistics` compiled, once; `None` without numba."""
    try:
        numba: Any = import_module("numba")
    except ImportError:
        return None
    compile_loop = numba.njit(cache=True, nogil=True)
    return compile_loop(side_statistics), compile_loop(step_statistics)
