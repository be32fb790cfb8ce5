"""Optimal transport on a line: the exact coupling of two sorted samples of any sizes.

The optimal coupling of sorted samples u₁ ≤ … ≤ uₙ and v₁ ≤ … ≤ vₘ pairs equal quantiles, whatever the values
are. So it is laid out once per pair of sizes, and serves any number of projections.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..typing import Bools, Floats, Ints

#: neighbours in a sorted sample that are nearer than this share of its range are equal but for rounding
SAME = 1e-11


@dataclass(frozen=True, slots=True)
class Coupling:
    """Runs of equal quantiles: which of the sorted first sample meets which of the second, with what mass."""

    n_left: int
    n_right: int
    #: per segment, the position in the sorted first and second sample
    left: Ints
    right: Ints
    #: mass of every segment; all together 1
    weight: Floats
    #: per observation, its first segment
    left_starts: Ints
    right_starts: Ints

    @classmethod
    def of(cls, n_left: int, n_right: int, /) -> Coupling:
        """Merge the grids {i·m} and {j·n} into at most n + m − 1 segments, in whole numbers."""
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
        """Both samples have the same size."""
        return self.n_left == self.n_right

    def differences(self, u: Floats, v: Floats, /) -> Floats:
        """Difference u − v of every segment, for rows of sorted samples."""
        if self.one_to_one:
            return u - v
        return u[:, self.left] - v[:, self.right]

    def gathered(self, moved: Floats, /) -> tuple[Floats, Floats]:
        """Return sums over the segments of every observation of the first and of the second sample."""
        if self.one_to_one:
            return moved, moved
        return (
            np.add.reduceat(moved, self.left_starts, axis=1),
            np.add.reduceat(moved, self.right_starts, axis=1),
        )


def wasserstein(u: Floats, v: Floats, /, *, power: int = 2) -> float:
    """Return W₂² (or W₁ with `power=1`) of two samples of numbers."""
    coupling = Coupling.of(len(u), len(v))
    moved = coupling.differences(np.sort(u)[None], np.sort(v)[None])
    return float((np.abs(moved) ** power @ coupling.weight)[0])


def even_over_ties(ordered: Floats, slopes: Floats, /) -> Floats:
    """Give equal observations the same slope, their mean, so that the order of a sort decides nothing.

    Counts are full of ties. Both arguments are rows in sorted order.
    """
    if ordered.shape[1] < 2:
        return slopes
    tied: Bools = np.diff(ordered, axis=1) <= SAME * (ordered[:, -1:] - ordered[:, :1])
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
