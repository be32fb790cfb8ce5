"""Part `interferon` of `real.py`: blood cells with and without interferon; which group of genes is rewired.

Rules were settled on the cells in DIFFNB_DATA; cells of the same study in DIFFNB_MORE_DATA were never used for them.
The second list of genes was written before the rule of now, and after groups of earlier ones had been seen.
"""

from __future__ import annotations

import re
import warnings

import anndata as ad
import numpy as np
import scanpy as sc
from _real_cells import folder
from _tools import Missing, more_data_file, table

import diffnb as dn

# fmt: off
#: genes that interferon induces by common knowledge, whatever these data say
KNOWN = frozenset((
    "APOBEC3A", "BST2", "CCL2", "CCL8", "CMPK2", "CXCL10", "CXCL11", "CXCL9", "DDX58", "DDX60", "DTX3L", "EIF2AK2",
    "EPSTI1", "GBP1", "GBP2", "GBP4", "GBP5", "HERC5", "HERC6", "IDO1", "IFI16", "IFI27", "IFI35", "IFI44",
    "IFI44L", "IFI6", "IFIH1", "IFIT1", "IFIT2", "IFIT3", "IFIT5", "IFITM1", "IFITM2", "IFITM3", "IRF1", "IRF7",
    "IRF9", "ISG15", "ISG20", "LAP3", "LY6E", "MX1", "MX2", "NMI", "OAS1", "OAS2", "OAS3", "OASL", "PARP14",
    "PARP9", "PLSCR1", "PSMB9", "PSME2", "RSAD2", "RTP4", "SAMD9", "SAMD9L", "SERPING1", "SOCS1", "SP100", "SP110",
    "STAT1", "STAT2", "TNFSF10", "TNFSF13B", "TRIM22", "TYMP", "UBE2L6", "USP18", "XAF1",
))
#: a shorter list, of antiviral genes that a textbook would name, without chemokines and antigen presentation
TEXTBOOK = frozenset((
    "BST2", "CMPK2", "CXCL10", "CXCL11", "DDX58", "DDX60", "EIF2AK2", "EPSTI1", "GBP1", "HERC5", "HERC6", "IFI27",
    "IFI35", "IFI44", "IFI44L", "IFI6", "IFIH1", "IFIT1", "IFIT2", "IFIT3", "IFIT5", "IFITM1", "IFITM2", "IFITM3",
    "IRF7", "IRF9", "ISG15", "ISG20", "LAP3", "LY6E", "MX1", "MX2", "OAS1", "OAS2", "OAS3", "OASL", "PARP14",
    "PARP9", "PLSCR1", "RSAD2", "SAMD9", "SAMD9L", "STAT1", "STAT2", "TNFSF10", "TRIM22", "UBE2L6", "USP18", "XAF1",
))
MONOCYTES = ("LYZ", "CD14", "S100A8", "S100A9", "FCN1", "CST3", "TYROBP", "FCER1G")
# fmt: on
LYMPHOCYTES = ("CD3D", "CD3E", "MS4A1", "CD79A", "NKG7", "GNLY", "CD8A", "CD19")
T_CELLS = ("CD3D", "CD3E", "CD2", "IL7R", "LTB")
B_CELLS = ("CD79A", "CD79B", "MS4A1")
#: t of the shift between conditions from which on a gene counts as induced in these cells
MIN_INDUCED_T = 8
#: cells in which a gene is seen
MIN_CELLS, QUICK_MIN_CELLS = 40, 300
CONDITIONS = {"control": "control", "stimulated": "interferon-stimulated"}
HEAD = [
    "cells", "per condition", "genes", "group", "in group", "precision", "recall", "precision, textbook",
    "recall, textbook", "induced", "mean r here / elsewhere", "first genes",
]  # fmt: skip


def normalised(adata: ad.AnnData) -> ad.AnnData:
    adata.layers["counts"] = adata.X.copy()
    adata.obs["total_counts"] = np.asarray(adata.X.sum(axis=1)).ravel()
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    return adata


def cells() -> ad.AnnData:
    """Blood cells of both conditions of Kang et al., log-normalised, with their counts."""
    parts = []
    for name in CONDITIONS.values():
        part = ad.read_h5ad(folder() / "kang" / f"PBMC_{name}.h5ad")
        part.var.index = part.var.index.astype(str)
        part.var_names_make_unique()
        part.obs["condition"] = name
        parts.append(part)
    return normalised(ad.concat(parts, index_unique="-"))


def barcodes(adata: ad.AnnData) -> np.ndarray:
    return np.array([re.search("[ACGT]{14}", name)[0] for name in adata.obs_names])


def unused_cells() -> ad.AnnData:
    """Further cells of the same study, those left out whose barcode occurs among the others in any condition."""
    adata = ad.read_h5ad(more_data_file("harmony", "kang_other_cells.h5ad"))
    used = barcodes(cells())
    adata = adata[~np.isin(barcodes(adata), used)].copy()
    adata.obs["condition"] = adata.obs["condition"].astype(str).replace(CONDITIONS)
    return normalised(adata)


def marked(adata: ad.AnnData, genes: tuple[str, ...]) -> np.ndarray:
    return np.asarray(adata[:, [g for g in genes if g in adata.var_names]].X.mean(axis=1)).ravel()


def monocytes(adata: ad.AnnData, min_cells: int = MIN_CELLS) -> ad.AnnData:
    return of_genes(adata[(marked(adata, MONOCYTES) > 1.5) & (marked(adata, LYMPHOCYTES) < 0.5)], min_cells)


def t_cells(adata: ad.AnnData) -> ad.AnnData:
    chosen = (marked(adata, T_CELLS) > 0.8) & (marked(adata, B_CELLS) < 0.7) & (marked(adata, MONOCYTES) < 0.8)
    return of_genes(adata[chosen], MIN_CELLS)


def b_cells(adata: ad.AnnData) -> ad.AnnData:
    return of_genes(adata[(marked(adata, B_CELLS) > 1.2) & (marked(adata, MONOCYTES) < 1)], MIN_CELLS)


def of_genes(adata: ad.AnnData, min_cells: int) -> ad.AnnData:
    adata = adata.copy()
    sc.pp.filter_genes(adata, min_cells=min_cells)
    return adata


def induced(adata: ad.AnnData) -> np.ndarray:
    """Genes whose mean rises clearly: a yardstick from the same cells that no relation between genes enters."""
    first = (adata.obs["condition"] == CONDITIONS["control"]).to_numpy()
    a, b = adata.X[first].toarray(), adata.X[~first].toarray()
    error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
    return (b.mean(axis=0) - a.mean(axis=0)) / np.maximum(error, 1e-12) > MIN_INDUCED_T


def groups(name: str, adata: ad.AnnData, column: str = "condition", **options) -> list[list[str]]:
    """One row per named group; where none is named, one row that says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dn.tl.disc(adata, column, **options)
    found = dn.get.disc_groups(adata)
    used = dn.get.disc(adata, group=adata.uns["disc"]["groups"][0])["score"].notna().to_numpy()
    lists = [np.isin(adata.var_names, list(genes)) & used for genes in (KNOWN, TEXTBOOK)]
    up = induced(adata)
    start = [name, " + ".join(map(str, adata.obs[column].value_counts(sort=False))), str(used.sum())]
    rows = []
    for group, row in found.iterrows():
        members = (adata.var[f"disc_{row['group']}"] == group).to_numpy()
        shares = [
            f"{share:.2f}" for known in lists for share in (known[members].mean(), known[members].sum() / known.sum())
        ]
        cohesion = f"{row['cohesion']:.2f} / {row['cohesion_elsewhere']:.2f}"
        rows.append([*start, group, row["n_features"], *shares, f"{up[members].mean():.2f}", cohesion, row["features"]])
    return rows or [[*start, "none", *[""] * 8]]


def report(seeds: int, quick: bool = False) -> None:
    """Print the groups in monocytes, and how often one is named where nothing differs."""
    settled = monocytes(cells(), QUICK_MIN_CELLS if quick else MIN_CELLS)
    rows = groups("cells on which rules were settled", settled)
    unused = None
    try:
        unused = monocytes(unused_cells())
        rows += groups("cells never used", unused)
    except Missing as missing:
        print(f"cells never used: {missing}")
    table("Monocytes, every group that is named", HEAD, rows)
    if not quick:
        report_nulls(settled, unused, seeds)


def report_nulls(settled: ad.AnnData, unused: ad.AnnData | None, seeds: int) -> None:
    """Count runs that name a group among control cells in random halves."""
    rows = []
    for name, adata in (("settled", settled), ("never used", unused)):
        if adata is None:
            continue
        control = adata[adata.obs["condition"] == CONDITIONS["control"]].copy()
        named = []
        for seed in range(seeds):
            half = np.random.default_rng(seed).permutation(control.n_obs) < control.n_obs // 2
            control.obs["half"] = np.where(half, "A", "B")
            found = groups(name, control, "half")
            named.append([row[4] for row in found if row[3] != "none"])
        runs = sum(bool(sizes) for sizes in named)
        rows.append([name, control.n_obs, f"{runs} of {seeds}", "; ".join(map(str, filter(None, named))) or "none"])
    table("Control monocytes in random halves: runs that name a group", ["cells", "number", "runs", "genes"], rows)
