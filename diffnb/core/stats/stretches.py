"""Stretches of a recording: rows that follow each other and belong together."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..typing import Ints


def stretches_of_rows(series: Ints, blocks: Ints, /) -> Ints:
    """Stretch of every row, given codes of its series (with the condition) and of its block, in the order of time.

    Rows that follow each other in one series belong to one stretch, and so do all rows of a block.
    """
    runs = np.concatenate([[0], np.cumsum(np.diff(series) != 0)])
    n_runs = int(runs[-1]) + 1
    pairs = (np.ones(len(runs)), (runs, n_runs + blocks))
    size = n_runs + int(blocks.max()) + 1
    joined = connected_components(coo_array(pairs, shape=(size, size)), directed=False)[1]
    return np.asarray(joined[runs], dtype=np.int64)
