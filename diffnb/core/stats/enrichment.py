"""Over-representation of sets among listed features: the one-sided test of Fisher."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import hypergeom

from ..typing import Bools, Floats, Ints
from .pvalues import floored

#: added to every count of the table, so that the odds ratio is finite (Haldane 1956, Anscombe 1956)
HALDANE = 0.5


@dataclass(frozen=True, slots=True)
class Overlaps:
    """Lists × sets; all counts are of features in the background."""

    n_overlap: Ints
    n_list: Ints
    n_set: Ints
    n_background: int
    log_odds: Floats
    pval: Floats


def over_representation(lists: Bools, sets: Bools, /) -> Overlaps:
    """Test every set (sets × features of the background) for more features of every list than by chance."""
    n_background = lists.shape[1]
    overlap = lists.astype(int) @ sets.T.astype(int)
    n_list, n_set = lists.sum(axis=1)[:, None], sets.sum(axis=1)[None]
    # P(X ≥ overlap), the upper tail with the observed number
    pval = floored(hypergeom.sf(overlap - 1, n_background, n_set, n_list))
    listed_only, set_only = n_list - overlap, n_set - overlap
    neither = n_background - n_list - set_only
    odds = (overlap + HALDANE) * (neither + HALDANE) / ((listed_only + HALDANE) * (set_only + HALDANE))
    return Overlaps(overlap, n_list[:, 0], n_set[0], n_background, np.log(odds), pval)
