"""Optimal transport on a line: the exact coupling of two sorted samples of any sizes.

The optimal coupling of sorted samples u₁ ≤ … ≤ uₙ and v₁ ≤ … ≤ vₘ pairs equal quantiles, whatever the values
are. So it depends on the two sizes only, and one coupling serves any number of projections.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..typing import Bools, Floats, Ints

#: neighbours in a sorted sample that differ by less than this share of its range are tied
MAX_TIE_SHARE_OF_RANGE = 1e-11


@dataclass(frozen=True, slots=True)
class Coupling:
    """Segments of equal quantiles: the pair of sorted observations that each segment joins, and its mass."""

    n_left: int
    n_right: int
    #: per segment, the position in the sorted first and second sample
    left: Ints
    right: Ints
    #: mass of every segment; they sum to 1
    weight: Floats
    #: per observation, its first segment
    left_starts: Ints
    right_starts: Ints

    @classmethod
    def of(cls, n_left: int, n_right: int, /) -> Coupling:
        """Merge the grids {i·m} and {j·n} into at most n + m − 1 segments, in integers."""
        ends = np.union1d(np.arange(1, n_left + 1) * n_right, np.arange(1, n_right + 1) * n_left)
        starts = np.concatenate([[0], ends[:-1]])
        left, right = starts // n_right, starts // n_left
        return cls(
            n_left,
            n_right,
            left,
            right,
            (ends - starts) / (n_left * n_right),
            np.searchsorted(left, np.arange(n_left)),
            np.searchsorted(right, np.arange(n_right)),
        )

    @property
    def one_to_one(self) -> bool:
        """Whether both samples have the same size."""
        return self.n_left == self.n_right

    def differences(self, u: Floats, v: Floats, /) -> Floats:
        """Difference u − v of every segment, for rows of sorted samples."""
        if self.one_to_one:
            return u - v
        return u[:, self.left] - v[:, self.right]

    def segment_sums(self, values: Floats, /) -> tuple[Floats, Floats]:
        """Sum values of segments over those of every observation of the first and of the second sample."""
        if self.one_to_one:
            return values, values
        return (
            np.add.reduceat(values, self.left_starts, axis=1),
            np.add.reduceat(values, self.right_starts, axis=1),
        )


def wasserstein(u: Floats, v: Floats, /, *, power: int = 2) -> float:
    """Return W₂² (or W₁ with `power=1`) of two samples of numbers."""
    coupling = Coupling.of(len(u), len(v))
    differences = coupling.differences(np.sort(u)[None], np.sort(v)[None])
    return float((np.abs(differences) ** power @ coupling.weight)[0])


def average_over_ties(ordered: Floats, slopes: Floats, /) -> Floats:
    """Give tied observations the mean of their slopes, so that the result does not depend on how a sort orders ties.

    Counts have many ties. Both arguments are rows in sorted order.
    """
    if ordered.shape[1] < 2:
        return slopes
    tied: Bools = np.diff(ordered, axis=1) <= MAX_TIE_SHARE_OF_RANGE * (ordered[:, -1:] - ordered[:, :1])
    rows = np.flatnonzero(tied.any(axis=1))
    if not rows.size:
        return slopes
    first = np.ones((rows.size, ordered.shape[1]), dtype=bool)
    first[:, 1:] = ~tied[rows]
    group = np.cumsum(first.ravel()) - 1
    mean = np.bincount(group, slopes[rows].ravel()) / np.bincount(group)
    slopes = slopes.copy()
    slopes[rows] = mean[group].reshape(first.shape)
    return slopes
