"""Nearest in an order that rounding cannot change: equal distances are taken in the order of their positions.

Counts, binary data and duplicates have many equal distances. Computed by another formula, or from another kind of
matrix, they differ in their last digits; sorted by these, neighbours would depend on how the data is stored.
"""

from __future__ import annotations

import numpy as np

from ..runtime.threads import for_row_blocks
from ..typing import Floats, Ints

#: squared distances whose relative difference is below this are equal; that of rounding is far below
TIE_TOLERANCE = 1e-10
#: binary digits that are kept where rounding is removed
KEPT_BITS = 36
#: rounding of squared distances that follow from inner products, as a share of the squared lengths
PRODUCT_ROUNDING = 1e-14


def select_smallest(values: Floats, count: int, slack: Floats | None = None, /) -> Ints:
    """Positions of the `count` smallest values of every row, in ascending order of positions.

    Of values that are equal to rounding, those at the first positions are taken. `slack` is an absolute difference,
    for each row, up to which values are equal as well: the rounding of inner products.
    """
    found = np.empty((len(values), count), dtype=np.int64)

    def search(part: slice) -> None:
        block = values[part]
        kth = np.partition(block, count - 1, axis=1)[:, count - 1]
        low, high = _bounds(kth, None if slack is None else slack[part])
        chosen = block <= high
        crowded = np.flatnonzero(np.count_nonzero(chosen, axis=1) > count)
        if crowded.size:
            nearer = block[crowded] < low[crowded]
            tied = chosen[crowded] & ~nearer
            left = count - np.count_nonzero(nearer, axis=1)
            chosen[crowded] = nearer | (tied & (np.cumsum(tied, axis=1, dtype=np.int32) <= left[:, None]))
        found[part] = np.nonzero(chosen)[1].reshape(-1, count)

    for_row_blocks(search, values.shape)
    return found


def kth_position(values: Floats, k: int, slack: Floats | None = None, /) -> Ints:
    """Position of the k-th smallest value of every row, counted from 0; of equal ones in the order of positions."""
    low, high = _bounds(np.partition(values, k, axis=1)[:, k], slack)
    nearer = np.count_nonzero(values < low, axis=1)
    tied = (values >= low) & (values <= high)
    return np.asarray(np.argmax(np.cumsum(tied, axis=1, dtype=np.int32) == (k - nearer + 1)[:, None], axis=1))


def tie_order(values: Floats, positions: Ints, slack: Floats | None = None, /) -> Ints:
    """Order of every row by value and, where values are equal to rounding, by position."""
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    margin = 0.0 if slack is None else slack[:, None]
    above = ordered[:, 1:] * (1 - TIE_TOLERANCE) - margin > ordered[:, :-1]
    group = np.zeros(values.shape, dtype=np.int64)
    np.cumsum(above, axis=1, out=group[:, 1:])
    within = np.lexsort((np.take_along_axis(positions, order, axis=1), group), axis=1)
    return np.take_along_axis(order, within, axis=1)


def nearest_first(values: Floats, positions: Ints, count: int, slack: Floats | None = None, /) -> tuple[Ints, Floats]:
    """Positions and values of the first `count` of every row in this order; values never fall along a row."""
    order = tie_order(values, positions, slack)[:, :count]
    ordered = np.maximum.accumulate(np.take_along_axis(values, order, axis=1), axis=1)
    return np.take_along_axis(positions, order, axis=1), ordered


def without_rounding(values: Floats, /) -> Floats:
    """Make values (a vector, none negative) equal where they are equal to rounding.

    Trees of clusters compare sums of distances with one another: there the last digits of all of them decide.
    """
    order = np.argsort(values)
    ordered = values[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] * (1 - TIE_TOLERANCE) > ordered[:-1]]))
    mantissa, exponent = np.frexp(ordered[starts])
    rounded = np.ldexp(np.round(mantissa * 2.0**KEPT_BITS) / 2.0**KEPT_BITS, exponent)
    made = np.empty_like(values)
    made[order] = np.repeat(rounded, np.diff(np.append(starts, values.size)))
    return made


def _bounds(values: Floats, slack: Floats | None) -> tuple[Floats, Floats]:
    """Return the range of what is equal to the value of each row, as columns."""
    # of duplicates rounding may leave less than zero
    margin = TIE_TOLERANCE * np.abs(values) + (0.0 if slack is None else slack)
    with np.errstate(invalid="ignore"):
        low = np.where(np.isinf(values), values, values - margin)
    return low[:, None], (values + margin)[:, None]
