"""How often groups are called preserved, present or not: python benchmarks/preservation.py [--seeds N].

Planted groups: half of them are in the query. Real groups: modules of control monocytes (Kang et al.), looked for in
the other half of the cells and in a second set of cells of the same study, whose barcodes overlap by some hundred; the
groups that are not there are the same sets of cells with every gene permuted over cells, and random sets of genes.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
import scipy.sparse as sp
from _real_cells import folder
from _tools import table

import diffnb as dn

OTHER_CELLS = os.environ.get("DIFFNB_SECOND_DATA", "")
SIZES = (10, 20, 40)
N_GENES = 1500


def planted(rng: np.random.Generator, n_obs: int, present: list[np.ndarray]) -> ad.AnnData:
    """Sparse log counts of 800 features with connected sets among them."""
    rates = np.random.default_rng(0).gamma(0.6, 1.0, size=800) + 0.1
    factor = np.ones((n_obs, 800))
    for members in present:
        factor[:, members] *= np.exp(0.6 * rng.normal(size=(n_obs, 1)) - 0.18)
    return _adata(np.log1p(rng.poisson(rates * factor)))


def _adata(x: np.ndarray) -> ad.AnnData:
    obs = pd.DataFrame(index=[f"o{i}" for i in range(len(x))])
    return ad.AnnData(np.asarray(x, np.float32), obs=obs, var=pd.DataFrame(index=[f"f{j}" for j in range(x.shape[1])]))


def called(reference: ad.AnnData, query: ad.AnnData, groups: dict[str, list[str]], **options: object) -> pd.DataFrame:
    labels = pd.Series("background", index=reference.var_names)
    for name, members in groups.items():
        labels[members] = name
    reference.var["module"] = labels.to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dn.tl.preservation(reference, query, key="module", n_permutations=199, **options)
    return dn.get.preservation(query).loc[list(groups)]


def on_planted(seeds: int) -> None:
    rows = []
    for n_obs in (100, 300):
        there, absent = [], []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            drawn = np.split(rng.permutation(800)[: 2 * sum(SIZES)], np.cumsum([*SIZES, *SIZES])[:-1])
            reference, query = planted(rng, n_obs, drawn), planted(rng, n_obs, drawn[:3])
            groups = {f"g{i}": list(reference.var_names[own]) for i, own in enumerate(drawn)}
            found = called(reference, query, groups)["preserved"].to_numpy()
            there.append(found[:3])
            absent.append(found[3:])
        rows.append([n_obs, *np.mean(there, axis=0), float(np.mean(there)), float(np.mean(absent))])
        print(rows[-1], flush=True)
    head = ["observations", *(f"present, {n} features" for n in SIZES), "all present", "absent"]
    table("Planted groups: share called preserved", head, rows)


def monocytes(path: Path) -> ad.AnnData:
    """Control monocytes with their raw counts normalised."""
    adata = ad.read_h5ad(path)
    adata.var_names = adata.var_names.astype(str)
    adata.var_names_make_unique()
    if "condition" in adata.obs:
        adata = adata[adata.obs["condition"].astype(str).str.contains("c(?:on)?tro?l", case=False)].copy()
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    markers = [g for g in ("LYZ", "S100A8", "FCER1G", "TYROBP") if g in adata.var_names]
    chosen = np.asarray(adata[:, markers].X.mean(axis=1)).ravel() > 1.5
    return adata[chosen].copy()


def modules(adata: ad.AnnData) -> dict[str, list[str]]:
    """Modules by hierarchical clustering of correlations of the most variable genes: found without diffnb."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    x = adata.X.toarray() if sp.issparse(adata.X) else np.asarray(adata.X)
    top = np.argsort(-x.var(axis=0))[:N_GENES]
    r = np.corrcoef(x[:, top].T)
    labels = fcluster(linkage(squareform(1 - r, checks=False), "average"), 0.82, "distance")
    sizes = pd.Series(labels).value_counts()
    kept = sizes[(sizes >= 8) & (sizes <= 150)].index
    return {f"m{c}": [str(g) for g in adata.var_names[top[labels == c]]] for c in kept}


def permuted(adata: ad.AnnData, rng: np.random.Generator) -> ad.AnnData:
    """Permute every gene over cells: no gene is connected with another."""
    x = adata.X.toarray() if sp.issparse(adata.X) else np.asarray(adata.X)
    return ad.AnnData(rng.permuted(x, axis=0), obs=adata.obs, var=adata.var)


def on_cells(seeds: int) -> None:
    first = monocytes(folder() / "kang" / "PBMC_control.h5ad")
    second = monocytes(Path(OTHER_CELLS)) if OTHER_CELLS else None
    if second is not None:
        second = second[~second.obs_names.str[:14].isin(first.obs_names.str[-16:].str[:14])].copy()
    rows, seconds = [], []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        order = rng.permutation(first.n_obs)
        halves = [first[np.sort(own)].copy() for own in np.array_split(order, 2)]
        groups = modules(halves[0])
        others = [g for g in halves[0].var_names if g not in {m for own in groups.values() for m in own}]
        x = halves[0][:, others].X
        others = [others[j] for j in np.argsort(-np.asarray(x.mean(axis=0)).ravel())[:1200]]
        random = {f"r{i}": list(rng.choice(others, len(own), replace=False)) for i, own in enumerate(groups.values())}
        start = time.perf_counter()
        found = called(halves[0].copy(), halves[1].copy(), groups)
        seconds.append(time.perf_counter() - start)
        row = [seed, len(groups), found["preserved"].mean()]
        row.append(called(halves[0].copy(), second.copy(), groups)["preserved"].mean() if second is not None else "-")
        row.append(called(halves[0].copy(), permuted(halves[1], rng), groups)["preserved"].mean())
        row.append(called(halves[0].copy(), halves[1].copy(), random)["preserved"].mean())
        rows.append(row)
        print(row, flush=True)
    head = ["seed", "modules", "other half", "second set of cells", "genes permuted", "random sets of genes"]
    table(f"Control monocytes: share called preserved ({np.median(seconds):.1f} s for the halves)", head, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    on_planted(given.seeds)
    on_cells(given.seeds)
