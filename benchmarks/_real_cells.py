"""Real data of the benchmarks: blood cells as counts, split in ways in which nothing differs."""

from __future__ import annotations

from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
from _tools import data_file

from diffnb.core.stats.thinning import thinned

MIN_CELLS = 60


def folder() -> Path:
    """Folder of the real data; `data_file` tells which one is missing."""
    return data_file()


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
