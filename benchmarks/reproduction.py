"""The paper's toys with the authors' settings, and their rule k ≈ log p: python benchmarks/reproduction.py [n_seeds].

Ranges over seeds and conditions; docs/validation/reproduction.md compares them with the numbers of the paper.
"""

from __future__ import annotations

import sys

import numpy as np
from _tools import save, table
from defaults import PAPER, quality
from sklearn.metrics import roc_auc_score

import diffnb as dn

TOYS = {
    "newly_connected": (dn.datasets.newly_connected, {}, 30, 20),
    "subsets_of_connected, split 20": (dn.datasets.subsets_of_connected, {"split": 20}, 80, 50),
    "split_both_ways": (dn.datasets.split_both_ways, {}, 30, 20),
    "three_conditions": (dn.datasets.three_conditions, {}, 30, 20),
}


def spread(values):
    values = list(values)
    return f"{min(values):.2f}–{max(values):.2f}" if values else ""


def authors_way(adata, k, d):
    """Run DiSC as the authors' code does; the score comes with the AUROC of the two leading vectors."""
    found = quality(adata, graph="dense", n_neighbors=k, n_eigenvectors=d, project_trivial=False, **PAPER)
    found["leading"] = {}
    for group in found["auroc"]:
        vectors = dn.get.disc(adata, group=group)[["vector_1", "vector_2"]].abs().max(axis=1)
        found["leading"][group] = roc_auc_score(adata.var[f"truth_{group}"] != "background", vectors)
    return found


def toys(n_seeds):
    rows = []
    for name, (make, options, k, d) in TOYS.items():
        found = [authors_way(make(random_state=seed, **options), k, d) for seed in range(n_seeds)]
        for group in found[0]["sigma"]:
            sigma = np.array([f["sigma"][group][:3] for f in found])
            measured = [spread(f[m][group] for f in found if group in f[m]) for m in ("auroc", "ari")]
            rows.append([name, group, *(spread(column) for column in sigma.T), *measured])
    table("Toys, authors' settings", ["toy", "condition", "σ₁", "σ₂", "σ₃", "AUROC", "ARI"], rows)
    return rows


def rule_of_thumb(n_seeds):
    datasets = [dn.datasets.newly_connected(random_state=seed) for seed in range(n_seeds)]
    rows = []
    for k in (5, 8, 15, 30):
        theirs = [authors_way(adata, k, 20) for adata in datasets]
        ours = [quality(adata, graph="dense", n_neighbors=k, n_eigenvectors=20, **PAPER) for adata in datasets]
        gaps = [s[1] / s[2] for f in theirs for s in f["sigma"].values()]
        rows.append(
            [
                k,
                spread(v for f in theirs for v in f["leading"].values()),
                spread(v for f in theirs for v in f["auroc"].values()),
                spread(v for f in ours for v in f["auroc"].values()),
                spread(v for f in theirs for v in f["ari"].values()),
                spread(gaps),
            ]
        )
    head = ["k", "AUROC, two vectors", "AUROC, score", "the same, trivial projected", "ARI", "σ₂/σ₃"]
    table("newly_connected, dense, d = 20, trivial vector left out", head, rows)
    return rows


if __name__ == "__main__":
    n_seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    save("reproduction", {"toys": toys(n_seeds), "k": rule_of_thumb(n_seeds)})
