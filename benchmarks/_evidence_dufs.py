"""Items of the DUFS supplement: gradient, two moons and the ways to train, the power t, the warm start."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import dufs
import numpy as np
from _evidence import Finding, Run, item, judged

import diffnb as dn

#: ways to train, of which the second is the paper's (its optimizer left out)
TRAININGS = {
    "default": {},
    "per sample": {"gates": "per_sample"},
    "per feature": {"gates": "per_feature"},
    "adam": {"optimizer": "adam"},
    "t = 1": {"power": 1},
    "t = 3": {"power": 3},
}


@item(
    "dufs.gradient",
    claim="The loss is differentiable in the gates",
    paper="by automatic differentiation",
    rule="closed-form gradient within 1e-9 of complex steps on the equations, all variants",
    seeds=1,
    fast=1,
)
def gradient(_: Run) -> Finding:
    worst = [row[2] for row in dufs.gradient(SimpleNamespace())["rows"]]
    return Finding({"largest difference": worst}, judged(max(worst) < 1e-9))


@item(
    "dufs.two_moons",
    claim="Sec. S1: the two features of two moons are found among nuisance features",
    paper="figures",
    authors="all draws with 10 nuisance features",
    rule="both first in ≥ 90 % of draws with 10 and ≥ 70 % with 20 nuisance features",
    seeds=15,
    fast=3,
)
def two_moons(run: Run) -> Finding:
    values: dict[str, list[float]] = {}
    for n_nuisance in (10,) if run.fast else (10, 20, 50):
        for seed in run.seeds:
            adata = dn.datasets.two_moons(n_nuisance, random_state=seed)
            leading = dufs.order_of(adata, random_state=seed)[:2]
            values.setdefault(f"both first, {n_nuisance} nuisance", []).append(float(set(leading) == {0, 1}))
    share = {name: [float(np.mean(v))] for name, v in values.items()}
    ten, twenty = (share.get(f"both first, {n} nuisance", [1.0])[0] for n in (10, 20))
    return Finding(share, judged(ten >= 0.9 and twenty >= 0.7, ten >= 0.9), "Shares of draws.")


@item(
    "dufs.reproducible",
    claim="The features selected do not depend on the seed (no claim of the paper)",
    paper="none",
    rule="no verdict: shared part of the top 300 of Prostate-GE between seeds",
    seeds=3,
)
def reproducible(run: Run) -> Finding:
    adata, _ = dufs.real("Prostate-GE")
    values = {}
    for kind, options in {"default": {}, "per sample, drawn": {"gates": "per_sample"}}.items():
        tops = [set(dufs.order_of(adata, random_state=s, **options)[:300]) for s in run.seeds]
        values[kind] = [len(a & b) / 300 for a, b in itertools.combinations(tops, 2)]
    return Finding(values, "ours")


@item(
    "dufs.trainings",
    claim="Two moons are found however gates are trained: drawn per observation as in the paper, per feature, by Adam, "
    "with t = 1 or 3",
    paper="draws per observation, stochastic gradients",
    rule="both first in ≥ 90 % of draws with 10 nuisance features, in every way",
    seeds=10,
    fast=2,
)
def trainings(run: Run) -> Finding:
    values = {}
    for name, options in TRAININGS.items():
        for n_nuisance in (10,) if run.fast else (10, 20):
            found = [both_first(n_nuisance, seed, **options) for seed in run.seeds]
            values[f"{name}, {n_nuisance} nuisance"] = [float(np.mean(found))]
    good = [v[0] >= 0.9 for name, v in values.items() if name.endswith("10 nuisance")]
    return Finding(values, judged(all(good), any(good)), "Shares of draws. Other draws than those they were mended on.")


def both_first(n_nuisance: int, seed: int, **options: Any) -> bool:
    adata = dn.datasets.two_moons(n_nuisance, random_state=seed)
    return set(dufs.order_of(adata, random_state=seed, **options)[:2]) == {0, 1}


@item(
    "dufs.power",
    claim="Sec. S5, Fig. S4: k-means on the selected features is more accurate with t = 2 than with t = 1 and 3, for "
    "more nuisance features",
    paper="figure only, 100 runs",
    rule="mean accuracy over 5 … 50 nuisance features with t = 2 at least that with t = 1 and 3, − 1 point",
    seeds=8,
)
def power(run: Run) -> Finding:
    values: dict[str, list[float]] = {}
    counts = (5, 10, 20, 50)
    for n_nuisance in counts:
        for seed in run.seeds:
            adata = dn.datasets.two_moons(n_nuisance, random_state=seed)
            truth = adata.obs["moon"].astype(str).to_numpy()
            for t in (1, 2, 3):
                dufs.order_of(adata, power=t, random_state=seed)
                x = np.asarray(adata.X)[:, adata.var["dufs"].to_numpy()]
                accuracy = 100 * float(dufs.clustered(x, truth, "k-means++").mean())
                values.setdefault(f"t = {t}, {n_nuisance} nuisance, %", []).append(accuracy)
    values = {name: [float(np.mean(v))] for name, v in values.items()}
    mean = {t: float(np.mean([values[f"t = {t}, {n} nuisance, %"][0] for n in counts])) for t in (1, 2, 3)}
    values |= {f"t = {t}, mean, %": [mean[t]] for t in mean}
    good = mean[2] >= max(mean[1], mean[3]) - 1
    differs = (
        "Means over draws. k-means cuts the two moons at about 85 % if both are found. t = 1 continues from t = 2."
    )
    return Finding(values, judged(good, mean[2] > min(mean[1], mean[3])), differs)


@item(
    "dufs.warm_start",
    claim="Sec. S2, Algorithm 1: of several penalties, the one whose leading features are smoothest is a good one",
    paper="proposed, no figure",
    rule="with it both moons come first among 10 nuisance features in as many draws as with the best single penalty",
    seeds=8,
)
def warm_start(run: Run) -> Finding:
    ways: dict[str, Any] = {"warm": "warm", "λ = .01": 0.01, "λ = .1": 0.1, "λ = 1": 1.0, "λ = 10": 10.0}
    values = {
        f"{name}, both first": [float(np.mean([both_first(10, s, penalty=p, n_features=2) for s in run.seeds]))]
        for name, p in (*ways.items(), ("parameter-free", None))
    }
    best = max(v[0] for name, v in values.items() if name.startswith("λ"))
    warm = values["warm, both first"][0]
    return Finding(
        values, judged(warm >= best, warm >= best - 0.2), "λ in units of |F|/R at the start. Shares of draws."
    )
