"""Which method finds which kind of difference in single cells: python benchmarks/scrna.py [part …] [--seeds N].

Parts: `planted`, simulated donors with genes that differ in mean, spread, distribution or connectivity, and a module
that both conditions share; `kang`, real monocytes with and without interferon. All by default. Prints tables and
writes `benchmarks/results/scrna.json`, where parts that were not run keep what they had. `kang` needs the folder of
real data (`DIFFNB_DATA`, with `kang/PBMC_*.h5ad`: counts, the stimulated cells in the file whose name has "stim");
where it is not there, that is said.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from statistics import median
from typing import Any

import anndata as ad
import numpy as np
import pandas as pd
from _tools import DATA, ROOT, save, table
from sklearn.metrics import roc_auc_score

import diffnb as dn

SIZES = {"n_cells": 600, "n_genes": 1000, "n_donors": 8}
PLANTED = {"n_mean": 60, "n_spread": 60, "n_distribution": 60, "module_size": 30}
KINDS = ("mean", "spread", "distribution", "connectivity")
#: what stands for each kind in the simulation; the last is the same in both conditions
ROLES = {**dict(zip(KINDS, KINDS, strict=True)), "connectivity": "module_stimulated", "shared module": "module_shared"}
#: genes whose name says that interferon induces them
INTERFERON = r"^(?:IFI|ISG|OAS|MX[12]$)"
MARKERS = {
    "monocyte": ["LYZ", "CST3", "TYROBP", "FCER1G"],
    "T": ["CD3D", "CD3E", "LTB", "IL7R"],
    "B": ["CD79A", "CD79B", "MS4A1"],
    "NK": ["GNLY", "NKG7", "GZMB", "PRF1"],
}


def evidence(adata: ad.AnnData, *, sample_key: str | None) -> pd.DataFrame:
    """Rank of every gene by every method, the higher the more it differs; a column each."""
    import scanpy as sc

    found: dict[str, pd.Series] = {}
    dn.tl.scorecard(adata, "condition", sample_key=sample_key)
    card = dn.get.scorecard(adata)
    found |= {f"scorecard, {kind}": -places(card, kind) for kind in KINDS}
    for name, options in {"as they are": {"question": "any difference"}, "within": {"question": "relations"}}.items():
        dn.tl.disc(adata, "condition", **options)
        found[f"DiSC, {name}"] = dn.get.disc(adata, group="stimulated")["score"]
    for name in ("global", "within"):
        dn.tl.sparda(adata, "condition", standardize=name, sample_key=sample_key)
        found[f"SPARDA, {name}"] = dn.get.sparda(adata)["weight"].abs()
    for method in ("t-test", "wilcoxon"):
        sc.tl.rank_genes_groups(adata, "condition", groups=["stimulated"], reference="control", method=method)
        scores = sc.get.rank_genes_groups_df(adata, "stimulated").set_index("names")["scores"]
        found[f"scanpy, {method}"] = scores.abs()
    table = pd.DataFrame({name: values.reindex(adata.var_names) for name, values in found.items()})
    # a gene without a value, constant in one condition, is the last
    return table.fillna(table.min() - 1)


def places(card: pd.DataFrame, kind: str) -> pd.Series:
    """Order genes by p-value, and by the statistic where p-values are too small for a number."""
    keys = pd.DataFrame({"pval": card[f"{kind}_pval"], "stat": -card[f"{kind}_stat"].abs()})
    ordered = keys.sort_values(["pval", "stat"]).index
    return pd.Series(np.arange(len(ordered)), index=ordered)


def aurocs(scores: pd.DataFrame, genes: np.ndarray, others: np.ndarray) -> dict[str, float]:
    """How well each method ranks some genes before others."""
    kept = genes | others
    return {name: float(roc_auc_score(genes[kept], scores.loc[kept, name])) for name in scores}


def one_seed(seed: int) -> dict[str, dict[str, float]]:
    import scanpy as sc

    adata = dn.datasets.scrna(**SIZES, **PLANTED, random_state=seed)
    sc.pp.filter_genes(adata, min_cells=20)
    scores = evidence(adata, sample_key="donor")
    truth = adata.var["truth"].to_numpy()
    return {kind: aurocs(scores, truth == role, truth == "null") for kind, role in ROLES.items()}


def planted(n_seeds: int) -> dict[str, Any]:
    seeds = [one_seed(seed) for seed in range(n_seeds)]
    rows = []
    for method in seeds[0]["mean"]:
        values = [[seed[kind][method] for seed in seeds] for kind in ROLES]
        rows.append([method, *(f"{median(v):.2f} ({min(v):.2f}–{max(v):.2f})" for v in values)])
    title = f"AUROC against genes without a role, {n_seeds} seeds: median (range); a shared module should give 0.5"
    table(title, ["ranked by", *ROLES], rows)
    return {"sizes": SIZES | PLANTED, "seeds": seeds}


def read_kang(folder: Path) -> ad.AnnData:
    """Put the two files of counts together, and take logarithms of counts scaled to 10,000 a cell."""
    import scanpy as sc

    parts = {}
    for path in sorted(folder.glob("PBMC_*.h5ad")):
        part = ad.read_h5ad(path)
        part.var_names = part.var_names.astype(str)
        part.var_names_make_unique()
        parts["stimulated" if "stim" in path.name else "control"] = part
    adata = ad.concat(parts, label="condition")
    adata.X = adata.X.tocsr().astype(np.float32)
    sc.pp.filter_cells(adata, min_genes=200)
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    return adata


def monocytes(adata: ad.AnnData, n_genes: int = 1000) -> ad.AnnData:
    """Cells whose markers of monocytes are the highest, with the genes seen in most of them."""
    level = pd.DataFrame({name: adata[:, genes].to_df().mean(axis=1) for name, genes in MARKERS.items()})
    chosen = adata[(level.idxmax(axis=1) == "monocyte").to_numpy()]
    seen = np.asarray((chosen.X > 0).sum(axis=0)).ravel()
    return chosen[:, np.sort(np.argsort(-seen, kind="stable")[:n_genes])].copy()


def kang(_: int) -> dict[str, Any] | None:
    folder = DATA / "kang"
    if len(list(folder.glob("PBMC_*.h5ad"))) != 2:
        print("\nkang: its two files are not in the folder of real data; point DIFFNB_DATA to it. Skipped.")
        return None
    adata = monocytes(read_kang(folder))
    named = adata.var_names.str.contains(INTERFERON)
    scores = evidence(adata, sample_key=None)
    found = aurocs(scores, named, ~named)
    top = {name: int(named[np.argsort(-scores[name].to_numpy(), kind="stable")[:20]].sum()) for name in scores}
    title = f"Kang: {adata.n_obs} monocytes, {adata.n_vars} genes, {named.sum()} named after interferon"
    table(title, ["ranked by", "AUROC", "in the first 20"], [[name, found[name], top[name]] for name in found])
    dn.tl.disc(adata, "condition", question="any difference", n_permutations=99)
    groups = groups_of(adata, named)
    table("Kang: groups of DiSC on values as they are", list(groups[0]), [list(g.values()) for g in groups])
    dn.tl.disc(adata, "condition", n_permutations=99)
    within = groups_of(adata, named)
    table("Kang: groups of DiSC, standardised within conditions", list(within[0]), [list(g.values()) for g in within])
    return {"cells": adata.n_obs, "genes": adata.n_vars, "named": int(named.sum()), "auroc": found} | {
        "in the first 20": top,
        "groups": groups,
        "groups, within": within,
    }


def groups_of(adata: ad.AnnData, named: np.ndarray) -> list[dict[str, Any]]:
    """Size of each group, how many genes are named after interferon, the first genes, and p of the condition."""
    first = dn.get.disc_significance(adata).query("component == 1").set_index("group")
    rows = []
    for group in first.index:
        for name, genes in dn.get.gene_sets(adata, group=group).items():
            count = int(named[adata.var_names.get_indexer(genes)].sum())
            row = {"group": name, "genes": len(genes), "named after interferon": count}
            rows.append(row | {"first": " ".join(genes[:8]), "p of the condition": float(first.loc[group, "pval"])})
    return rows or [{"group": "none", "genes": 0}]


PARTS = {"planted": planted, "kang": kang}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    if unknown := set(asked.parts) - set(PARTS):
        parser.error(f"unknown part {sorted(unknown)[0]!r}; there are {', '.join(PARTS)}")
    warnings.simplefilter("ignore")
    stored = ROOT / "results" / "scrna.json"
    results = json.loads(stored.read_text()) if stored.exists() else {}
    for name in asked.parts or PARTS:
        found = PARTS[name](asked.seeds)
        results |= {name: found} if found else {}
    save("scrna", results)


if __name__ == "__main__":
    main()
