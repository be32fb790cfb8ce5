"""Part `interferon` of `real.py`: monocytes with and without interferon; which group of genes is rewired."""

from __future__ import annotations

import warnings

import anndata as ad
import numpy as np
import scanpy as sc
from _real_cells import folder
from _tools import table

import diffnb as dn

#: genes that interferon induces by common knowledge, whatever these data say
# fmt: off
KNOWN = frozenset((
    "APOBEC3A", "BST2", "CCL2", "CCL8", "CMPK2", "CXCL10", "CXCL11", "CXCL9", "DDX58", "DDX60", "DTX3L", "EIF2AK2",
    "EPSTI1", "GBP1", "GBP2", "GBP4", "GBP5", "HERC5", "HERC6", "IDO1", "IFI16", "IFI27", "IFI35", "IFI44",
    "IFI44L", "IFI6", "IFIH1", "IFIT1", "IFIT2", "IFIT3", "IFIT5", "IFITM1", "IFITM2", "IFITM3", "IRF1", "IRF7",
    "IRF9", "ISG15", "ISG20", "LAP3", "LY6E", "MX1", "MX2", "NMI", "OAS1", "OAS2", "OAS3", "OASL", "PARP14",
    "PARP9", "PLSCR1", "PSMB9", "PSME2", "RSAD2", "RTP4", "SAMD9", "SAMD9L", "SERPING1", "SOCS1", "SP100", "SP110",
    "STAT1", "STAT2", "TNFSF10", "TNFSF13B", "TRIM22", "TYMP", "UBE2L6", "USP18", "XAF1",
))
# fmt: on
MONOCYTES = ("LYZ", "CD14", "S100A8", "S100A9", "FCN1", "CST3", "TYROBP", "FCER1G")
LYMPHOCYTES = ("CD3D", "CD3E", "MS4A1", "CD79A", "NKG7", "GNLY", "CD8A", "CD19")
#: t of the shift between conditions from which on a gene counts as induced in these cells
MIN_INDUCED_T = 8


def cells() -> ad.AnnData:
    """Blood cells of both conditions of Kang et al., log-normalised, with their counts."""
    parts = []
    for name in ("control", "interferon-stimulated"):
        part = ad.read_h5ad(folder() / "kang" / f"PBMC_{name}.h5ad")
        part.var.index = part.var.index.astype(str)
        part.var_names_make_unique()
        part.obs["condition"] = name
        parts.append(part)
    adata = ad.concat(parts, index_unique="-")
    adata.layers["counts"] = adata.X.copy()
    adata.obs["total_counts"] = np.asarray(adata.X.sum(axis=1)).ravel()
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    return adata


def monocytes(adata: ad.AnnData) -> ad.AnnData:
    score, other = (np.asarray(adata[:, list(m)].X.mean(axis=1)).ravel() for m in (MONOCYTES, LYMPHOCYTES))
    kept = adata[(score > 1.5) & (other < 0.5)].copy()
    sc.pp.filter_genes(kept, min_cells=40)
    return kept


def induced(adata: ad.AnnData) -> np.ndarray:
    """Genes whose mean rises clearly: a yardstick from the same cells that no relation between genes enters."""
    first = (adata.obs["condition"] == "control").to_numpy()
    a, b = adata.X[first].toarray(), adata.X[~first].toarray()
    error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
    return (b.mean(axis=0) - a.mean(axis=0)) / np.maximum(error, 1e-12) > MIN_INDUCED_T


def groups(adata: ad.AnnData, column: str, **options) -> list[list[str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dn.tl.disc(adata, column, **options)
    found = dn.get.disc_groups(adata)
    used = dn.get.disc(adata, group=adata.uns["disc"]["groups"][0])["score"].notna().to_numpy()
    known = np.isin(adata.var_names, list(KNOWN)) & used
    up = induced(adata)
    rows = []
    for name, row in found.iterrows():
        members = (adata.var[f"disc_{row['group']}"] == name).to_numpy()
        rows.append(
            [
                str(name),
                str(row["n_features"]),
                f"{known[members].mean():.2f}",
                f"{known[members].sum() / known.sum():.2f}",
                f"{up[members].mean():.2f}",
                f"{row['cohesion']:.2f} / {row['cohesion_elsewhere']:.2f}",
                row["features"],
            ]
        )
    base = f"{known.sum() / used.sum():.3f}"
    return rows or [["none", "", base, "", f"{up[used].mean():.2f}", "", ""]]


def report(seeds: int) -> None:
    every = cells()
    chosen = monocytes(every)
    rows = [["conditions", *row] for row in groups(chosen, "condition")]
    # smaller samples of the cells on which the refinement of members was chosen: not independent of it
    order = np.random.default_rng(0).permutation(chosen.n_obs)
    for number, half in enumerate(np.array_split(order, 2), start=1):
        rows += [[f"conditions, half {number} of the cells", *row] for row in groups(chosen[half].copy(), "condition")]
    for seed in range(min(seeds, 3)):
        control = chosen[chosen.obs["condition"] == "control"].copy()
        half = np.random.default_rng(seed).permutation(control.n_obs) < control.n_obs // 2
        control.obs["half"] = np.where(half, "A", "B")
        rows += [[f"control at random, seed {seed}", *row] for row in groups(control, "half")]
    head = ["monocytes", "group", "genes", "precision", "recall", "induced", "mean r here / elsewhere", "first genes"]
    table(f"Interferon: {chosen.n_obs} monocytes, {len(KNOWN)} known genes", head, rows)
