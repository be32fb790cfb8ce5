"""Part `dufs_settled` of `real.py`: what else was seen on sets on which `tl.diverse_features` was settled."""

from __future__ import annotations

import numpy as np
from _held_out import labelled_set
from _real_dufs import (
    FURTHER_SETTLED,
    HEAD,
    N_LEADING,
    SELECTORS,
    SETTLED_ON,
    WITH_DUFS,
    compared,
    subsample_overlap,
)
from _tools import table
from dufs import SETS, real


def report(seeds: int, *, quick: bool = False) -> None:
    """Further sets, agreement of subsamples on the leading features, and DUFS on the sets of its paper."""
    few = 1 if quick else None
    names = list(SETS)[:few]
    settled = ((name, make(np.random.default_rng(0))) for name, make in list(SETTLED_ON.items())[:few])
    compared("Other sets on which the rule was settled", settled, seeds)
    further = ((name, labelled_set(name)) for name in FURTHER_SETTLED[:few])
    compared("Public sets on which the rule was settled", further, seeds)
    rows = []
    for name in names:
        adata, _ = real(name)
        shares = [subsample_overlap(adata, select, seeds) for select in SELECTORS.values()]
        rows.append([name, N_LEADING / adata.n_vars, *shares])
    table(f"Overlap of the top {N_LEADING} between subsamples", ["data", *HEAD[1:]], rows)
    if not quick:
        compared("With DUFS", ((name, real(name)) for name in names), seeds, WITH_DUFS)
