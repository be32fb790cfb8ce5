"""Real data with a null beside every finding: python benchmarks/real.py [depth].

The data are taken from the folder in DIFFNB_DATA (by default ../shared/data) and are not part of the project.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
from _tools import DATA, table

import diffnb as dn
from diffnb.core.stats.thinning import thinned

KINDS = ("mean", "spread", "distribution", "connectivity")
MIN_CELLS = 60


def folder() -> Path:
    if not DATA.is_dir():
        sys.exit(f"No data in {DATA}: name their folder in DIFFNB_DATA.")
    return DATA


def control_cells() -> ad.AnnData:
    """Blood cells of the control condition of Kang et al., raw counts of genes seen in enough cells."""
    adata = ad.read_h5ad(folder() / "kang" / "PBMC_control.h5ad")
    adata.var.index = adata.var.index.astype(str)
    adata.var_names_make_unique()
    sc.pp.filter_genes(adata, min_cells=MIN_CELLS)
    return adata


def halves(adata: ad.AnnData, labels: np.ndarray, kept: np.ndarray | None = None, seed: int = 0) -> ad.AnnData:
    """Return the cells with labels of two halves, counts thinned to the shares `kept`."""
    counts = adata.X if kept is None else thinned(adata.X.tocsr(), kept, seed)
    obs = pd.DataFrame({"half": pd.Categorical(np.where(labels, "B", "A"))}, index=adata.obs_names)
    return ad.AnnData(counts, obs=obs, var=adata.var, layers={"counts": counts.copy()})


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


def depth(seeds: int) -> None:
    """Nothing differs but depth: how many genes are called, as they are and after `pp.match_depth`."""
    cells = control_cells()
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


PARTS = {"depth": depth}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    for part in given.parts or PARTS:
        PARTS[part](given.seeds)


if __name__ == "__main__":
    main()
