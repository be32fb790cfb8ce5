"""Folds of observations that follow from the data alone, so that neither a seed nor the order of rows changes them.

Observations are brought into an order that hangs on their values only, and the positions in that order are split at
random, always in the same way. The order takes features in units of their own condition, so that it does not hang on
shifts and scales either, and is the same whatever the order of features, unless observations are equally far from the
mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp

from ..arrays.affine import inverse
from ..arrays.ops import float64, mean_and_variance, row_blocks, squared
from ..arrays.row_chunks import Chunked, map_rows
from ..runtime.seeds import generator
from ..typing import Floats, Ints, Matrix

#: difference of two distances, as a share of the largest, up to which they are equal but for rounding
MIN_RELATIVE_GAP = 1e-9


@dataclass(frozen=True, slots=True)
class ContentOrder:
    """Observations of a condition in an order that follows from their values."""

    rows: Ints
    #: number of observations and mean cubes of both keys, by which conditions are told apart
    signature: tuple[float, float, float]


def content_order(x: Matrix, extra: Floats | None = None, /) -> ContentOrder:
    """Order observations by their distance from the mean in standard deviations, ties by a weighted sum of features.

    `extra` is a number per observation that counts as a further feature. Observations that are still tied have the
    same values.
    """
    mean, variance = mean_and_variance(x)
    scale = inverse(np.sqrt(variance))
    distance, weighted = _keys(x, mean, scale).T
    if extra is not None:
        own = (extra - extra.mean()) * inverse(extra.std(keepdims=True))
        distance, weighted = distance + own**2, weighted + own
    first = np.argsort(distance, kind="stable")
    is_gap = np.diff(distance[first]) > MIN_RELATIVE_GAP * np.max(distance, initial=1.0)
    run = np.empty(first.size, dtype=int)
    run[first] = np.concatenate([[0], np.cumsum(is_gap)])
    signature = (float(first.size), float(np.mean(distance**3)), float(np.mean(weighted**3)))
    return ContentOrder(np.lexsort((weighted, run)), signature)


def numbered(orders: Sequence[ContentOrder], /) -> list[int]:
    """Tell two conditions apart by what they hold, so that each draws its own folds whichever comes first."""
    first, second = (order.signature for order in orders)
    for x, y in zip(first, second, strict=True):
        if abs(x - y) > MIN_RELATIVE_GAP * max(abs(x), abs(y), 1.0):
            return [0, 1] if x > y else [1, 0]
    return [0, 1]


def random_folds(order: ContentOrder, n_folds: int, draw: int, number: int, /) -> list[Ints]:
    """Split ordered observations into folds of nearly equal size, at random but the same at every call.

    Conditions of different number have different folds: otherwise observations far from the mean would come into the
    same folds of both, and contrasts within them would not be independent.
    """
    shuffled = generator(0, "folds", draw, number).permutation(order.rows.size)
    return [order.rows[positions] for positions in np.array_split(shuffled, n_folds)]


def _keys(x: Matrix, mean: Floats, scale: Floats) -> Floats:
    if isinstance(x, Chunked):
        return map_rows(x, partial(_keys_of_rows, mean, scale), 2)
    if sp.issparse(x):
        return _keys_of_rows(mean, scale, x)
    return np.concatenate([_keys_of_rows(mean, scale, block) for block in row_blocks(x)])


def _keys_of_rows(mean: Floats, scale: Floats, x: Matrix) -> Floats:
    """Squared distance and weighted sum of every row; sparse rows are not made dense."""
    weights = generator(0, "projection").random(mean.size)  # no sum of some is that of others
    if not sp.issparse(x):
        standard = (x - mean) * scale
        return np.stack([np.einsum("ij,ij->i", standard, standard), standard @ weights], axis=1)
    x = float64(x)
    squares = squared(x) @ scale**2 - 2 * (x @ (mean * scale**2)) + np.sum((mean * scale) ** 2)
    return np.stack([squares, (x @ (weights * scale)) - np.sum(mean * weights * scale)], axis=1)
