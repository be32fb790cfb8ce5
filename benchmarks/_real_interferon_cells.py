"""Part `interferon_cells` of `real.py`: the interferon group in fewer and in other cells, and with other genes."""

from __future__ import annotations

import anndata as ad
import numpy as np
import scanpy as sc
from _real_interferon import (
    CONDITIONS,
    HEAD,
    KNOWN,
    MIN_CELLS,
    b_cells,
    cells,
    groups,
    monocytes,
    of_genes,
    t_cells,
    unused_cells,
)
from _tools import Missing, table

#: other choices of genes that a user could make
OTHER_MIN_CELLS, N_VARIABLE = (3, 10, 20), 2000
#: random genes for comparison, among this many that are seen a little less or more often
N_RANDOM, N_NEAR = 200, 15
#: a group with fewer of the known genes, relative to their share of all genes, is not the interferon group
MIN_ENRICHMENT = 5


def variable(adata: ad.AnnData, n_genes: int = N_VARIABLE) -> ad.AnnData:
    adata = adata.copy()
    sc.pp.highly_variable_genes(adata, n_top_genes=n_genes, subset=True)
    return adata


def interferon_group(name: str, adata: ad.AnnData, column: str = "condition") -> list[str]:
    """Return the row of the group with most known genes, and whether it is an interferon group at all."""
    rows = groups(name, adata, column)
    best = max(rows, key=lambda row: float(row[6] or 0))
    used = int(best[2])
    base = len(KNOWN & set(adata.var_names)) / used
    is_one = best[3] != "none" and float(best[5]) > MIN_ENRICHMENT * base
    others = [row[4] for row in rows if row is not best]
    kept = [*best[3:10]] if is_one else ["not named", *[""] * 6]
    return [*best[:3], *kept, ", ".join(map(str, others if is_one else [row[4] for row in rows if row[4]])) or "none"]


def look_up(adata: ad.AnnData, group: str, unused: ad.AnnData) -> None:
    """Print how its genes correlate in cells never used, beside random genes that are seen as often."""
    column = next((c for c in adata.uns["disc"]["group_columns"] if (adata.var[c] == group).any()), None)
    if column is None:
        return
    members = unused.var_names.isin(adata.var_names[adata.var[column] == group])
    seen = np.asarray((unused.X > 0).mean(axis=0)).ravel()
    order, rank = np.argsort(seen), np.argsort(np.argsort(seen))
    rows = []
    parts = {name: np.corrcoef(unused[unused.obs["condition"] == name].X.toarray().T) for name in CONDITIONS.values()}
    rng = np.random.default_rng(0)
    for name, r in parts.items():
        # neighbours in the order of how often genes are seen
        drawn = [
            order[np.clip(rank[members] + rng.integers(-N_NEAR, N_NEAR + 1, members.sum()), 0, len(order) - 1)]
            for _ in range(N_RANDOM)
        ]
        by_chance = [mean_correlation(r, np.unique(genes)) for genes in drawn]
        rows.append([name, members.sum(), mean_correlation(r, np.flatnonzero(members)), np.quantile(by_chance, 0.95)])
    head = ["cells never used", "genes of the group", "mean r", "95 % quantile of random genes seen as often"]
    table("The group of one set of cells, looked up in cells never used", head, rows)


def mean_correlation(r: np.ndarray, genes: np.ndarray) -> float:
    part = r[np.ix_(genes, genes)]
    return float(np.nanmean(part[np.triu_indices(len(genes), 1)]))


def report(seeds: int, quick: bool = False) -> None:
    """Print whether there is an interferon group, and its precision and recall."""
    every, unused = cells(), None
    settled = monocytes(every)
    rows = []
    for seed in range(1 if quick else seeds):
        half = np.random.default_rng(seed).permutation(settled.n_obs) < settled.n_obs // 2
        rows.append(interferon_group(f"random half of monocytes, seed {seed}", of_genes(settled[half], MIN_CELLS)))
    if not quick:
        rows.append(interferon_group("B cells", b_cells(every)))
        try:
            unused = unused_cells()
            rows.append(interferon_group("T cells never used", t_cells(unused)))
        except Missing as missing:
            print(f"cells never used: {missing}")
        rows.append(interferon_group(f"monocytes, {N_VARIABLE} variable genes", variable(monocytes(every, 3))))
        mixed = variable(of_genes(every, MIN_CELLS))
        rows.append(interferon_group(f"all cells, {N_VARIABLE} variable genes", mixed))
        rows.append(interferon_group("T cells", t_cells(every)))
        sets = {n: monocytes(every, n) for n in OTHER_MIN_CELLS}
        rows += [interferon_group(f"monocytes, genes in {n} cells", adata) for n, adata in sets.items()]
        if unused is not None:
            look_up(sets[OTHER_MIN_CELLS[-1]], rows[-1][3], monocytes(unused))
            both = ad.concat([every, unused], join="inner", index_unique="/")
            rows.append(interferon_group("monocytes, all that are at hand", monocytes(both)))
    table("The interferon group in other cells and with other genes", [*HEAD[:10], "other groups, genes"], rows)
