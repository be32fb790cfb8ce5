"""Part `depth` of `real.py`: nothing differs but the depth of sequencing."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import anndata as ad
import numpy as np
import scanpy as sc
from _real_cells import control_cells, halves
from _tools import table

import diffnb as dn

#: genes of a quick run
N_QUICK_GENES = 500
KINDS = ("mean", "spread", "distribution", "connectivity")


def called(adata: ad.AnnData) -> list[str]:
    """Share of genes that every column of the scorecard calls at an adjusted p-value of .05."""
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dn.tl.scorecard(adata, "half")
    found = dn.get.scorecard(adata)
    shares = [f"{(found[f'{kind}_pval_adj'] < 0.05).mean():.3f}" for kind in KINDS]
    return [*shares, "yes" if any("differ in depth" in str(w.message) for w in caught) else "no"]


def report(seeds: int, quick: bool = False) -> None:
    """Nothing differs but depth: how many genes are called, as they are and after `pp.match_depth`."""
    cells = control_cells()
    if quick:
        cells = cells[:, :N_QUICK_GENES].copy()
    totals = np.asarray(cells.X.sum(axis=1)).ravel()
    rows = []
    for seed in range(seeds):
        labels = np.random.default_rng(seed).random(cells.n_obs) < 0.5
        splits: dict[str, Callable[[], ad.AnnData]] = {
            "random": lambda labels=labels: halves(cells, labels),
            "B thinned to 80 %": lambda labels=labels, seed=seed: halves(cells, labels, np.where(labels, 0.8, 1), seed),
            "B thinned to 50 %": lambda labels=labels, seed=seed: halves(cells, labels, np.where(labels, 0.5, 1), seed),
        }
        if seed == 0:
            splits["by total counts"] = lambda: halves(cells, totals > np.median(totals))
        for name, make in splits.items():
            rows.append([name, str(seed), "no", *called(make())])
            matched = make()
            dn.pp.match_depth(matched, "half", random_state=seed)
            rows.append([name, str(seed), "yes", *called(matched)])
    head = ["split of control cells", "seed", "matched", *KINDS, "warned"]
    table("Nothing differs but depth: share of genes called", head, rows)
