"""DiSC with defaults only, on all toys and on planted groups: python benchmarks/defaults.py [n_seeds].

Every data set is analysed under both questions, and the worst of the seeds counts. `toys` as second argument runs the
toys of the paper only; `sweep` also runs the grid of settings behind the defaults, which was measured under the
question of the paper, any difference.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from _tools import save, table
from sklearn.metrics import adjusted_rand_score, roc_auc_score

import diffnb as dn

QUESTIONS = ("relations", "any difference")
PAPER = {"question": "any difference"}
TOYS = ("newly_connected", "newly_connected, n=1000", "subsets_of_connected", "split_both_ways", "three_conditions")
PROBLEMS = {
    "newly_connected": dn.datasets.newly_connected,
    "newly_connected, n=1000": lambda random_state: dn.datasets.newly_connected(n_obs=1000, random_state=random_state),
    "subsets_of_connected": dn.datasets.subsets_of_connected,
    "split_both_ways": dn.datasets.split_both_ways,
    "three_conditions": dn.datasets.three_conditions,
    "planted p=5000 n=200": dn.datasets.planted_groups,
    "planted p=5000 n=200, groups of 25": lambda random_state: dn.datasets.planted_groups(
        group_size=25, rho=0.7, random_state=random_state
    ),
    "planted p=5000 n=200, groups of 100": lambda random_state: dn.datasets.planted_groups(
        group_size=100, rho=0.5, random_state=random_state
    ),
    "planted p=250 n=1000": lambda random_state: dn.datasets.planted_groups(
        n_features=250, n_obs=1000, group_size=25, random_state=random_state
    ),
    "planted p=500 n=500, groups of 10": lambda random_state: dn.datasets.planted_groups(
        n_features=500, n_obs=500, group_size=10, random_state=random_state
    ),
    "planted p=2000 n=500, 30 shared groups": lambda random_state: dn.datasets.planted_groups(
        n_features=2000, n_obs=500, group_size=30, n_shared=30, random_state=random_state
    ),
}


def quality(adata, **options):
    """AUROC and ARI per condition that has a truth, and the ratios of σ that the paper reports."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dn.tl.disc(adata, "condition", **options)
    result = {"sigma": {}, "auroc": {}, "ari": {}, "graph": adata.uns["disc"]["graph"]}
    significance = dn.get.disc_significance(adata)
    for group in adata.uns["disc"]["groups"]:
        found = dn.get.disc(adata, group=group)
        truth = adata.var[f"truth_{group}"]
        result["sigma"][group] = significance.loc[significance["group"] == group, "sigma"].to_numpy()
        if (truth != "background").any():
            result["auroc"][group] = roc_auc_score(truth != "background", found["score"])
            result["ari"][group] = adjusted_rand_score(truth, found["feature_group"])
    return result


def summary(results):
    """Worst AUROC, ARI and σ₂/σ₃ over seeds and conditions."""
    ratios = [s[1] / s[2] for r in results for s in r["sigma"].values()]
    return {
        "auroc": min(v for r in results for v in r["auroc"].values()),
        "ari": min(v for r in results for v in r["ari"].values()),
        "sigma2_sigma3": min(ratios),
        "sigmaA_sigmaB": max(r["sigma"]["A"][0] / r["sigma"]["B"][0] for r in results),
        "graph": "/".join(sorted({r["graph"] for r in results})),
    }


def defaults(n_seeds, names=tuple(PROBLEMS)):
    rows = {}
    for name in names:
        datasets = [PROBLEMS[name](random_state=seed) for seed in range(n_seeds)]
        for question in QUESTIONS:
            rows[f"{name} | {question}"] = summary([quality(a, question=question) for a in datasets])
            print(name, question, rows[f"{name} | {question}"], flush=True)
    head = ["data", "question", "AUROC", "ARI", "σ₂/σ₃", "σ_A/σ_B", "graph taken"]
    lines = [[*name.split(" | "), *r.values()] for name, r in rows.items()]
    table(f"Defaults, worst of {n_seeds} seeds", head, lines)
    return rows


def few_observations(n_seeds):
    """Worst and median AUROC and ARI with fewer and fewer observations."""
    rows, planted = {}, {"n_features": 500, "group_size": 25}
    for n_obs in (10, 20, 30, 50, 100, 200):
        datasets = [dn.datasets.planted_groups(n_obs=n_obs, random_state=seed, **planted) for seed in range(n_seeds)]
        for question in QUESTIONS:
            found = [quality(adata, question=question) for adata in datasets]
            values = {name: [v for r in found for v in r[name].values()] for name in ("auroc", "ari")}
            rows[f"{n_obs} | {question}"] = {name: (min(v), float(np.median(v))) for name, v in values.items()}
    lines = [[*name.split(" | "), *(f"{low:.2f} / {mid:.2f}" for low, mid in r.values())] for name, r in rows.items()]
    head = ["n per condition", "question", "AUROC worst / median", "ARI worst / median"]
    table("Few observations, 500 features", head, lines)
    return rows


def nothing_there(n_seeds):
    """Share of conditions in which a group is named although the conditions do not differ."""
    named = {question: [] for question in QUESTIONS}
    for seed in range(n_seeds):
        adata = dn.datasets.planted_groups(n_features=500, n_obs=200, group_size=25, n_groups=0, random_state=seed)
        for question in QUESTIONS:
            dn.tl.disc(adata, "condition", question=question)
            named[question] += [(adata.var[f"disc_{group}"] != "background").any() for group in "AB"]
    lines = [[question, len(found), float(np.mean(found))] for question, found in named.items()]
    table("No difference, two shared groups", ["question", "conditions", "with a group named"], lines)
    return {question: share for question, _, share in lines}


#: planted groups of many conditions; with more shared groups, more has to be projected off
MANY = {
    "10 conditions, p=500, 2 shared groups": {"n_conditions": 10, "n_features": 500, "group_size": 15},
    "10 conditions, p=1500, 12 shared": {"n_conditions": 10, "n_features": 1500, "group_size": 20, "n_shared": 12},
    "7 conditions, p=1000, 20 shared": {"n_conditions": 7, "n_features": 1000, "group_size": 20, "n_shared": 20},
    "5 conditions, p=600, 8 shared": {"n_conditions": 5, "n_features": 600, "group_size": 20, "n_shared": 8},
}


def many_conditions(n_seeds):
    """Worst AUROC / ARI with defaults, and with a fixed number of eigenvectors projected off."""
    rows, choices = {}, ("auto", 3, 5, 10, 20)
    for name, options in MANY.items():
        datasets = [dn.datasets.planted_groups(random_state=seed, **options) for seed in range(n_seeds)]
        for d in choices:
            rows[f"{name} | {d}"] = summary([quality(a, n_eigenvectors=d) for a in datasets])
    lines = [
        [name, *(f"{r['auroc']:.2f} / {r['ari']:.2f}" for d in choices for r in [rows[f"{name} | {d}"]])]
        for name in MANY
    ]
    head = ["data", *(f"d = {d}" for d in choices)]
    table(f"Many conditions, n=200: worst AUROC / ARI of {n_seeds} seeds", head, lines)
    return rows


def sweep(n_seeds):
    """Grid of graph, neighbours and eigenvectors: worst AUROC / worst ARI."""
    grid = [(graph, k, d) for graph in ("knn", "dense") for k in (5, 8, 15, 25, 40) for d in (5, 10, 20, 40)]
    names = [n for n in PROBLEMS if "p=5000" not in n and "p=2000" not in n]
    rows = {}
    for name in names:
        datasets = [PROBLEMS[name](random_state=seed) for seed in range(n_seeds)]
        for graph, k, d in grid:
            found = summary([quality(a, graph=graph, n_neighbors=k, n_eigenvectors=d, **PAPER) for a in datasets])
            rows[f"{name} | {graph} {k} {d}"] = found
    for graph in ("knn", "dense"):
        for d in (5, 10, 20, 40):
            head = ["data", *(f"k={k}" for k in (5, 8, 15, 25, 40))]
            lines = [
                [
                    name,
                    *(
                        f"{r['auroc']:.2f} / {r['ari']:.2f}"
                        for k in (5, 8, 15, 25, 40)
                        for r in [rows[f"{name} | {graph} {k} {d}"]]
                    ),
                ]
                for name in names
            ]
            table(f"{graph} graph, n_eigenvectors={d}: worst AUROC / ARI of {n_seeds} seeds", head, lines)
    return rows


if __name__ == "__main__":
    n_seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    if "toys" in sys.argv[1:]:
        defaults(n_seeds, TOYS)
        raise SystemExit
    results = {"defaults": defaults(n_seeds), "few": few_observations(n_seeds), "nothing": nothing_there(20)}
    results["many conditions"] = many_conditions(3)
    if "sweep" in sys.argv[1:]:
        results["sweep"] = sweep(2)
    save("defaults", results)
