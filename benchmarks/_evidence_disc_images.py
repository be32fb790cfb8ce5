"""Items of the DiSC paper on digits, hyperspectral scenes, task networks and simulated cells."""

from __future__ import annotations

import itertools

import anndata as ad
import fmri
import hyperspectral
import mnist
import numpy as np
from _evidence import Finding, Run, item, judged
from _tools import data_file
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import diffnb as dn

#: images of each digit that pixels are grouped by, in pairs; a seed draws them
PER_DIGIT = 2000
WAYS = ("DiSC, E.2", "DiSC, defaults", "entire data", "diffusion maps", "EN-logistic", "random")


def digits() -> tuple[ad.AnnData, ad.AnnData]:
    images = dn.datasets.mnist(folder=data_file("mnist"))
    train, test = (images[images.obs["part"] == part] for part in ("train", "test"))
    return train, test


def of_pair(part: ad.AnnData, pair: tuple[str, str], rng: np.random.Generator | None = None) -> ad.AnnData:
    """Return the images of two digits, or a few of them drawn at random, without the other categories."""
    rows = [np.flatnonzero(part.obs["digit"] == digit) for digit in pair]
    if rng is not None:
        rows = [rng.permutation(one)[:PER_DIGIT] for one in rows]
    chosen = part[np.sort(np.concatenate(rows))].copy()
    chosen.obs["digit"] = chosen.obs["digit"].cat.remove_unused_categories()
    return chosen


def net_of_pair(train: ad.AnnData, seed: int) -> np.ndarray:
    """Weights of a logistic elastic net, as rows to cluster."""
    varying = np.ptp(train.X, axis=0) > 0
    rows = np.full((train.n_vars, 1), np.nan)
    net = LogisticRegression(solver="saga", l1_ratio=0.5, C=0.1, max_iter=15, tol=0.01, random_state=seed)
    x = np.asarray(train.X[:, varying][:: len(train) // 1000 or 1])
    rows[varying, 0] = net.fit(x, train.obs["digit"][:: len(train) // 1000 or 1]).coef_[0]
    return rows


def accuracies(train: ad.AnnData, test: ad.AnnData, seed: int) -> dict[str, float]:
    """Percent of test images named rightly by three sums of pixels, for every way to group pixels."""
    rng = np.random.default_rng(seed)
    groups = mnist.thirds(np.hstack(mnist.disc_vectors(train, 20, n_components=3)), seed)
    varying = np.ptp(train.X, axis=0) > 0
    drawn = np.where(
        varying[:, None], np.asarray(train.X, dtype=float).T[:, rng.permutation(len(train))[:1000]], np.nan
    )
    found = {
        "DiSC, E.2": groups,
        "DiSC, defaults": mnist.thirds(np.hstack(mnist.default_vectors(train)), seed),
        "entire data": mnist.thirds(drawn, seed),
        "diffusion maps": mnist.thirds(np.hstack([v[:, :3] for v in mnist.diffusion_vectors(train)]), seed),
        "EN-logistic": mnist.thirds(net_of_pair(train, seed), seed),
        "random": rng.permutation(groups),
    }
    return {name: mnist.accuracy(found[name], train, test) for name in WAYS}


@item(
    "disc.mnist_pairs",
    claim="Fig. 10: with three groups of pixels DiSC separates every digit from the others best, of five methods",
    paper="figure only: mean over pairs for each digit, DiSC above all others",
    rule="DiSC has the largest mean over the 45 pairs, its lead over the next being above two standard errors over "
    "pairs; partly if it is the largest",
    seeds=2,
)
def mnist_pairs(run: Run) -> Finding:
    train, test = digits()
    values: dict[str, list[float]] = {name: [] for name in WAYS}
    for seed in run.seeds:
        rng = np.random.default_rng(seed)
        for pair in itertools.combinations([str(d) for d in range(10)], 2):
            found = accuracies(of_pair(train, pair, rng), of_pair(test, pair), seed)
            for name, value in found.items():
                values[name].append(value)
    mean = {name: float(np.mean(v)) for name, v in values.items()}
    others = [name for name in WAYS if not name.startswith("DiSC")]
    next_best = max(others, key=mean.__getitem__)
    lead = np.subtract(values["DiSC, E.2"], values[next_best])
    clear = lead.mean() > 2 * lead.std() / np.sqrt(len(lead))
    shown = {f"{name}, %": v for name, v in values.items()} | {f"lead over {next_best}": [float(lead.mean())]}
    differs = f"Over {len(lead)} pairs and seeds, {PER_DIGIT:,} images a digit; random groups are not in the paper."
    return Finding(shown, judged(bool(clear), lead.mean() > 0), differs)


@item(
    "disc.mnist_4_9",
    claim="Table 2: 4 against 9 by three groups of pixels, d = 10 … 60",
    paper="95.2 96.5 96.5 96.4 94.7 88.5 %",
    authors="95.2 % at best of 198 variants of their code",
    rule="best median over d ≥ 95; partly from 85 on",
    seeds=3,
)
def mnist_4_9(run: Run) -> Finding:
    train, test = (of_pair(part, ("4", "9")) for part in digits())
    values: dict[str, list[float]] = {}
    for seed in run.seeds:
        for d in (10, 20, 30, 40, 50, 60):
            groups = mnist.thirds(np.hstack(mnist.disc_vectors(train, d, n_components=3)), seed)
            values.setdefault(f"d = {d}", []).append(mnist.accuracy(groups, train, test))
        groups = mnist.thirds(np.hstack(mnist.default_vectors(train)), seed)
        values.setdefault("defaults, three groups", []).append(mnist.accuracy(groups, train, test))
    values["20 meta-features of a default call"] = [meta_feature_accuracy(train, test)]
    best = max(float(np.median(v)) for name, v in values.items() if name.startswith("d ="))
    differs = "Three clusters are easily spent on the rim. To classify, use the meta-features, not three groups."
    return Finding(values, judged(best >= 95, best >= 85), differs)


def meta_feature_accuracy(train: ad.AnnData, test: ad.AnnData) -> float:
    """Accuracy by the sums of pixels weighted with the vectors (X V): ten of either digit by default."""
    mnist.quietly(dn.tl.disc, train, "digit", **mnist.ANY_DIFFERENCE)
    weights = np.nan_to_num(np.hstack(mnist.by_digit(dn.get.disc(train))))
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    model.fit(train.X @ weights, train.obs["digit"])
    return 100 * float(model.score(test.X @ weights, test.obs["digit"]))


@item(
    "disc.mnist_table_1",
    claim="Table 1: ten digits; pixels grouped by DiSC classify best",
    paper="DiSC 89.75, diffusion maps 87.42, EN-logistic 82.42, entire data 76.23, elastic net 69.96 %",
    authors="their code: 89.7–90.2; its row of diffusion maps takes rows of a left singular matrix",
    rule="DiSC is within 1 point of 89.75 and above all others at the same number of groups; partly if only the former",
    seeds=1,
)
def mnist_table_1(run: Run) -> Finding:
    found: dict[str, list[float]] = {}
    for train, test, seed in mnist.own_split(len(run.seeds)):
        for (name, count), value in mnist.table_1(train, test, seed + run.seeds[0])[0].items():
            if count == 100:
                found.setdefault(name, []).append(value)
    disc, rivals = found["DiSC, d = 20"], [v for n, v in found.items() if not n.startswith(("DiSC", "the same"))]
    near = abs(float(np.median(disc)) - 89.75) <= 1
    best = float(np.median(disc)) > max(float(np.median(v)) for v in rivals)
    differs = "100 groups for every row; the paper does not say how many its other rows had. Random groups do as well."
    return Finding(found, judged(near and best, near), differs)


@item(
    "disc.hyperspectral",
    claim="Figs. 4, 8 and 9: three clusters show the added tarp in all months, with noise too; diffusion maps for "
    "changing data do not",
    paper="pictures only",
    rule="median F1 of the tarp ≥ .9 for DiSC and ≤ .5 for the other, clean and noisy",
    seeds=2,
)
def scenes(run: Run) -> Finding:
    values: dict[str, list[float]] = {}
    for noise_name, noise in hyperspectral.NOISE.items():
        for seed in run.seeds:
            for month in hyperspectral.MONTHS:
                for name, value in hyperspectral.one_scene(month, noise, 40, seed).items():
                    values.setdefault(f"{name}, {noise_name}", []).append(value)
    ours = min(float(np.median(v)) for n, v in values.items() if n.startswith("DiSC, three"))
    theirs = max(float(np.median(v)) for n, v in values.items() if n.startswith("changing"))
    differs = "Simulated scenes, 40 × 40: the images of the paper are not public. Over four months."
    return Finding(values, judged(ours >= 0.9 and theirs <= 0.5, ours >= 0.9), differs)


@item(
    "disc.task_networks",
    claim="Fig. 5: the first vector shows the fronto-parietal network in 2-back and visual II in 0-back; diffusion "
    "maps do not",
    paper="figure of 515 subjects",
    rule="right network for both tasks in ≥ 80 % of data sets by DiSC, in ≤ 50 % by diffusion maps",
)
def networks(run: Run) -> Finding:
    rows = [fmri.one_seed(seed, 12) for seed in run.seeds]
    values = {
        f"{method} {task}": [float(str(r[f"{method} {task}"]).startswith(network + " ")) for r in rows]
        for method in ("DiSC", "diffusion")
        for task, network in fmri.TRUE.items()
    }
    share = {name: float(np.mean(v)) for name, v in values.items()}
    ours = min(v for n, v in share.items() if n.startswith("DiSC"))
    theirs = max(v for n, v in share.items() if n.startswith("diffusion"))
    differs = "Simulated subjects: the scans need an agreement. Shares of data sets."
    return Finding({n: [v] for n, v in share.items()}, judged(ours >= 0.8 and theirs <= 0.5, ours >= 0.8), differs)


@item(
    "disc.cells",
    claim="Fig. 11: meta-features of differential vectors separate two types of cells better than diffusion vectors",
    paper="t-SNE pictures",
    rule="best AUROC over meta-features between types higher than of diffusion vectors in the median, and ≥ .9",
    fast=2,
)
def cells(run: Run) -> Finding:
    values: dict[str, list[float]] = {"DiSC": [], "diffusion maps": []}
    for seed in run.seeds:
        adata = two_types_of_cells(seed)
        dn.tl.disc(adata, "condition", question="any difference", n_components=2)
        dn.tl.feature_diffmap(adata, "condition", n_components=2)
        is_b = adata.obs["condition"] == "B"
        for name, found in (("DiSC", dn.get.disc(adata)), ("diffusion maps", dn.get.feature_diffmap(adata))):
            weights = [v.to_numpy() for _, t in found.groupby("group") for _, v in _vectors(t, adata).items()]
            scores = [roc_auc_score(is_b, adata.X @ np.nan_to_num(w)) for w in weights]
            values[name].append(max(max(s, 1 - s) for s in scores))
    mid = {name: float(np.median(v)) for name, v in values.items()}
    better = mid["DiSC"] > mid["diffusion maps"]
    differs = "Our own generator in the manner of splatter: 500 genes, 100 with another level, 500 + 500 cells."
    return Finding(values, judged(better and mid["DiSC"] >= 0.9, better or mid["DiSC"] >= 0.9), differs)


def _vectors(table: object, adata: ad.AnnData) -> object:
    return table.reindex(adata.var_names).filter(regex=r"^vector_")


def two_types_of_cells(seed: int) -> ad.AnnData:
    """Draw counts of 500 genes, 100 of which have another mean in the second type, log-normalised."""
    rng = np.random.default_rng(seed)
    level, factor = rng.gamma(0.6, 1 / 0.3, size=500), np.ones(500)
    factor[:100] = rng.lognormal(0.0, 0.4, size=100) ** rng.choice([-1, 1], 100)
    counts = []
    for rates in (level, level * factor):
        gamma = rng.gamma(4.0, 1 / 4, size=(500, 500))
        counts.append(rng.poisson(rates * gamma * rng.lognormal(0, 0.2, size=(500, 1))))
    x = np.vstack(counts).astype(float)
    total = x.sum(axis=1, keepdims=True)
    adata = ad.AnnData(np.log1p(x / total * np.median(total)))
    adata.obs["condition"] = np.repeat(["A", "B"], 500)
    keep = (x > 0).sum(axis=0) >= 10
    return adata[:, keep].copy()
