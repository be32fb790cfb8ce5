"""Which blocks of a series may exchange their labels.

A stretch is a part of a recording in which the condition stays the same. Its blocks are neighbours in time, so that
they resemble each other; labels are therefore exchanged between whole stretches, as an experiment would assign them.
Stretches of a subject, or of a run, exchange labels among themselves if each has both conditions.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, prod

import numpy as np

from ..runtime.seeds import generator
from ..typing import Ints

#: permutations of the labels that are drawn
N_PERMUTATIONS = 99
#: different assignments of labels to stretches below which single blocks exchange labels instead: with fewer, no
#: adjusted p-value can be small. Four stretches of each condition are enough, or three of one and four of the other
MIN_ASSIGNMENTS = 35


@dataclass(frozen=True, slots=True)
class BlockLayout:
    """One value per block, those of the group first."""

    #: 1 in the group, 0 in the reference
    labels: Ints
    #: labels are exchanged within strata
    strata: Ints
    #: blocks that keep a common label
    stretches: Ints
    #: whether stretches are too few to exchange labels, so that blocks do: a drift is then not told from a difference
    confounded: bool

    @classmethod
    def of(cls, labels: Ints, series: Ints, stretches: Ints, /) -> BlockLayout:
        """Lay out blocks by the codes of their series and of their stretches."""
        shared = all(len(np.unique(labels[series == code])) == 2 for code in np.unique(series))
        strata = np.unique(series, return_inverse=True)[1] if shared else np.zeros_like(labels)
        whole = np.unique(stretches, return_inverse=True)[1]
        if _n_assignments(labels, strata, whole) >= MIN_ASSIGNMENTS:
            return cls(labels, strata, whole, confounded=False)
        return cls(labels, strata, np.arange(len(labels)), confounded=True)

    def assignments(self, seed: int, /) -> Ints:
        """Labels in the first row, and permuted ones in each further row."""
        rng = generator(seed, "permutations")
        rows = np.tile(self.labels, (1 + N_PERMUTATIONS, 1))
        for stratum in np.unique(self.strata):
            own = np.flatnonzero(self.strata == stratum)
            first, place = np.unique(self.stretches[own], return_index=True, return_inverse=True)[1:]
            of_stretches = np.tile(self.labels[own][first], (N_PERMUTATIONS, 1))
            rows[1:, own] = rng.permuted(of_stretches, axis=1)[:, place]
        return rows


def _n_assignments(labels: Ints, strata: Ints, stretches: Ints) -> int:
    """Count assignments that differ; exchanging both labels everywhere makes no difference."""
    counts, mirrored = [], True
    for stratum in np.unique(strata):
        own = strata == stratum
        first = np.unique(stretches[own], return_index=True)[1]
        n_group = int(labels[own][first].sum())
        counts.append(comb(len(first), n_group))
        mirrored &= 2 * n_group == len(first)
    return prod(counts) // (2 if mirrored else 1)
