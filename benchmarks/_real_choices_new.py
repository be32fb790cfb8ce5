"""Part `choices_new` of `real.py`: the number of features that SPARDA chooses on sets on which no rule was chosen.

Two classes of expression data, other cells of the interferon experiment, and random labels of each as the null.
"""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
from _held_out import labelled_set
from _real_choices import HEAD, row
from _tools import more_data_file, table

SETS = ("colon", "leukemia", "ALLAML")
N_GENES, MIN_CELLS = 2000, 60
#: columns of `row` that are known here: nothing is planted
SHOWN = (0, 2, 5, 6)


def two_classes(name: str) -> ad.AnnData:
    adata, classes = labelled_set(name)
    labels = np.unique(classes, return_inverse=True)[1]
    obs = pd.DataFrame({"condition": np.where(labels == 1, "B", "A")}, index=adata.obs_names)
    return ad.AnnData(adata.X, obs=obs)


def other_cells() -> ad.AnnData:
    """2,000 further cells, control and stimulated, log-normalised, the most variable genes."""
    adata = ad.read_h5ad(more_data_file("harmony", "kang_other_cells.h5ad"))
    sc.pp.filter_genes(adata, min_cells=MIN_CELLS)
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    sc.pp.highly_variable_genes(adata, n_top_genes=N_GENES, subset=True)
    stimulated = (adata.obs["condition"] == "stimulated").to_numpy()
    adata.obs["condition"] = np.where(stimulated, "B", "A")
    return adata


def permuted(adata: ad.AnnData, seed: int) -> ad.AnnData:
    adata = adata.copy()
    adata.obs["condition"] = np.random.default_rng(seed).permutation(adata.obs["condition"].to_numpy())
    return adata


def report(seeds: int, *, quick: bool = False) -> None:
    """Numbers that are chosen and reports that are given, with the labels and with permuted ones."""
    sets = {name: two_classes(name) for name in SETS[: 1 if quick else None]}
    if not quick:
        sets["interferon, other cells"] = other_cells()
    rows = []
    for name, adata in sets.items():
        cases = {name: adata}
        cases |= {f"{name}, labels permuted ({seed + 1})": permuted(adata, seed) for seed in range(seeds)}
        for case, each in cases.items():
            found = row(case, each, 0)
            rows.append([found[i] for i in SHOWN])
            print(*rows[-1], flush=True)
    table("Number of features that SPARDA chooses on further sets", [HEAD[i] for i in SHOWN], rows)
