"""Part `choices` of `real.py`: the number of features that SPARDA chooses, and what it reports about it.

Rules were settled on sets made in the same way with the seeds 0 to 2; seeds here begin at 10. Planted sets are real
control cells of Kang et al., split at random, in which a module of genes was changed in one half: counts of its genes
thinned to a half (`shifted`) or by a different share each (`unequally shifted`), or values rearranged between cells so
that the genes co-vary (`connected`), which leaves every single gene as it was.
"""

from __future__ import annotations

import warnings
from functools import cache

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
import scipy.sparse as sp
from _real_cells import control_cells, folder
from _tools import table
from sparda import RELEVANT, madelon_data

import diffnb as dn

FIRST_SEED = 10
N_CELLS, N_GENES, MIN_CELLS_PER_GENE = 1000, 1200, 20
#: kind of change and number of genes
PLANTED = (
    *(("shifted", size) for size in (10, 40, 100)),
    *(("connected", size) for size in (10, 40, 100)),
    ("unequally shifted", 800),
)
#: genes of a module are seen in at least this share of the cells
MIN_SHARE_OF_CELLS = 0.1
#: correlation of a gene with the factor of its module
LOADING = 0.7
#: draws of 600 cells for the gap statistic
N_DRAWS_OF_CELLS = 4
HEAD = ["data", "seed", "chosen", "planted found", "others", "held-out p", "report"]


@cache
def cells() -> ad.AnnData:
    return control_cells()


def planted(kind: str, size: int, seed: int) -> ad.AnnData:
    """Random halves of control cells; in half B a module of genes is changed."""
    rng = np.random.default_rng([seed, size, sum(kind.encode())])
    counts = cells().X.tocsr()[rng.choice(cells().n_obs, N_CELLS, replace=False)].toarray()
    counts = counts[:, (counts > 0).sum(axis=0) >= MIN_CELLS_PER_GENE]
    # depths are those of all genes, and stay as they were
    depth = counts.sum(axis=1, keepdims=True)
    in_b = rng.permutation(N_CELLS) < N_CELLS // 2
    seen = np.flatnonzero((counts > 0).mean(axis=0) > MIN_SHARE_OF_CELLS)
    module = rng.permutation(counts.shape[1] if kind == "unequally shifted" else seen)[:size]
    others = rng.permutation(np.setdiff1d(np.arange(counts.shape[1]), module))[: N_GENES - size]
    if "shifted" in kind:
        kept = 0.5 if kind == "shifted" else rng.uniform(0.3, 1, size=size)
        counts[np.ix_(in_b, module)] = rng.binomial(counts[np.ix_(in_b, module)].astype(int), kept)
    values = np.log1p(1e4 * counts / depth)
    if kind == "connected":
        factor = rng.normal(size=(in_b.sum(), 1))
        drawn = LOADING * factor + np.sqrt(1 - LOADING**2) * rng.normal(size=(in_b.sum(), size))
        ranks = drawn.argsort(axis=0).argsort(axis=0)
        values[np.ix_(in_b, module)] = np.take_along_axis(np.sort(values[in_b][:, module], axis=0), ranks, axis=0)
    chosen = np.sort(np.concatenate([module, others]))
    obs = pd.DataFrame({"condition": np.where(in_b, "B", "A")}, index=[str(i) for i in range(N_CELLS)])
    var = pd.DataFrame({"truth": np.isin(chosen, module)}, index=[f"gene_{i}" for i in chosen])
    return ad.AnnData(sp.csr_matrix(values[:, chosen]), obs=obs, var=var)


def interferon(n_genes: int = 2000) -> ad.AnnData:
    """Control against stimulated cells, log-normalised, the most variable genes."""
    files = {"A": "PBMC_control", "B": "PBMC_interferon-stimulated"}
    read = {name: ad.read_h5ad(folder() / "kang" / f"{file}.h5ad") for name, file in files.items()}
    for each in read.values():
        each.var.index = each.var.index.astype(str)
        each.var_names_make_unique()
    adata = ad.concat(read, label="condition", index_unique="-")
    sc.pp.filter_genes(adata, min_cells=60)
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    sc.pp.highly_variable_genes(adata, n_top_genes=n_genes, subset=True)
    return adata


def row(name: str, adata: ad.AnnData, seed: int) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dn.tl.sparda(adata, "condition", group="B", reference="A", random_state=seed)
    found = dn.get.sparda_summary(adata).iloc[0]
    chosen = dn.get.sparda(adata)["selected"].reindex(adata.var_names).to_numpy(dtype=bool)
    hits, others = "", ""
    if "truth" in adata.var:
        truth = adata.var["truth"].to_numpy(dtype=bool)
        hits, others = f"{(chosen & truth).sum()} of {truth.sum()}", str((chosen & ~truth).sum())
    report = found["note"].split(":")[0] if found["note"] else ""
    number = f"{found['n_features']} of {adata.n_vars}"
    return [name, str(seed), number, hits, others, f"{found['held_out_pval']:.3f}", report]


def madelon() -> ad.AnnData:
    adata = madelon_data()
    adata.var["truth"] = np.isin(np.arange(adata.n_vars), RELEVANT)
    return adata


def report(seeds: int, quick: bool = False) -> None:
    """Planted modules, nothing at all, MADELON, a nuisance factor, interferon."""
    rows = []
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        sets = {f"{size} genes {kind}": planted(kind, size, seed) for kind, size in (PLANTED[:1] if quick else PLANTED)}
        sets["random halves"] = planted("shifted", 0, seed)
        sets["nuisance factor"] = dn.datasets.nuisance_factor(random_state=seed)
        if not quick:
            sets["MADELON"] = madelon()
        if seed == FIRST_SEED and not quick:
            sets["interferon"] = interferon()
        rows += [row(name, adata, seed) for name, adata in sets.items()]
    order = list(dict.fromkeys(r[0] for r in rows))
    table("Number of features that SPARDA chooses", HEAD, sorted(rows, key=lambda r: order.index(r[0])))
    if not quick:
        clusters()


def clusters() -> None:
    """Choose clusters of genes by the gap statistic, on real cells and on simulated ones with 18 clusters."""
    rows, stimulated = [], interferon()
    sets = {"interferon, all cells": stimulated, "two types": dn.datasets.two_types()}
    for seed in range(FIRST_SEED, FIRST_SEED + N_DRAWS_OF_CELLS):
        drawn = np.random.default_rng(seed).choice(stimulated.n_obs, 600, replace=False)
        sets[f"interferon, 600 cells, seed {seed}"] = stimulated[drawn]
    for name, adata in sets.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dn.tl.informed_distance(adata := adata.copy())
        rows += [[name, p, r["value"], r["at_edge"], r["note"]] for p, r in dn.get.informed_summary(adata).iterrows()]
    table("Numbers that the informed distance chooses", ["data", "parameter", "value", "edge", "report"], rows)
