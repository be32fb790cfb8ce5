"""Part `dufs` of `real.py`: features selected without labels, judged by how well k-means on them finds the classes.

The rule of `tl.diverse_features` was settled on the sets of the first three tables, and is reported on those of the
last, which were named before any was looked at. Sets of the same people or patients are on the same side.
"""

from __future__ import annotations

import gzip
import itertools
import sys
from collections.abc import Callable, Iterator

import anndata as ad
import numpy as np
from _held_out import labelled_set, microarray_set
from _kmeans import labels_of_starts
from _real_cells import folder
from _tools import table
from dufs import COUNTS, N_KMEANS, accuracy, order_of, quiet
from scipy.io import loadmat

import diffnb as dn

#: data, and the class of every observation
Labelled = tuple[ad.AnnData, np.ndarray]
Selectors = dict[str, Callable[[ad.AnnData], np.ndarray]]
#: features that are compared between subsamples, and the share of observations in a subsample
N_LEADING, SUBSAMPLE = 100, 0.8
HEAD = ["all features", "random features", "Laplacian score", "diverse features"]
INITS = {"random": "random starts", "k-means++": "k-means++ starts"}
#: half of the public sets, on which the rule was settled, too; and the other half
FURTHER_SETTLED = ("ALLAML", "leukemia", "ORL", "orlraws10P", "GLIOMA", "arcene")
REPORTED = ("colon", "lymphoma", "nci9", "TOX-171", "Isolet", "Yale", "warpAR10P")
#: further sets that no rule was chosen on, all of a second collection but those of patients in the first
MICROARRAY = (
    *("borovecki", "chowdary", "christensen", "gordon", "gravier", "khan"),
    *("nakayama", "pomeroy", "shipp", "su", "subramanian", "west"),
)
#: draws of random features that show how much the accuracy of a set varies by chance
N_CHANCE = 8
TOLERATED = 3.0


# --- data on which the rule was settled ---------------------------------------------------------------------------


def labelled(x: np.ndarray, truth: np.ndarray) -> Labelled:
    return ad.AnnData(x[:, x.std(axis=0) > 0].astype(np.float32)), truth


def zeisel(level: int) -> tuple[np.ndarray, np.ndarray]:
    """Cells of mouse cortex with one of two levels of labels."""
    x, labels = (
        next(v for k, v in loadmat(folder() / "zeisel" / f"zeisel_{name}.mat").items() if not k.startswith("_"))
        for name in ("data", f"labels{level}")
    )
    return (x if len(x) == labels.size else x.T), np.array([str(np.ravel(v)[0]) for v in labels.ravel()])


def cells(rng: np.random.Generator) -> Labelled:
    x, labels = zeisel(1)
    rows = rng.choice(len(x), 200, replace=False)
    return labelled(x[rows], labels[rows])


def cell_subtypes(rng: np.random.Generator) -> Labelled:
    """Eight subtypes, 25 cells each."""
    x, labels = zeisel(2)
    names, counts = np.unique(labels, return_counts=True)
    chosen = rng.choice(names[counts >= 25], 8, replace=False)
    rows = np.concatenate([rng.choice(np.flatnonzero(labels == name), 25, replace=False) for name in chosen])
    return labelled(x[rows], labels[rows])


def mnist(rng: np.random.Generator) -> Labelled:
    path = folder() / "mnist"
    images = gzip.decompress((path / "train-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((path / "train-labels-idx1-ubyte.gz").read_bytes())
    rows = rng.choice(60_000, 250, replace=False)
    x = np.frombuffer(images, np.uint8, offset=16).reshape(60_000, -1)[rows].astype(float)
    return labelled(x, np.frombuffer(labels, np.uint8, offset=8)[rows])


def task_betas(rng: np.random.Generator) -> Labelled:
    """Ten conditions of tasks, 20 subjects each."""
    betas = np.load(folder() / "fmri" / "hcp" / "task_betas.npz", allow_pickle=True)["betas"]
    chosen = rng.choice(betas.shape[1], 10, replace=False)
    x = betas[:, chosen].transpose(1, 2, 0).reshape(-1, betas.shape[0])
    return labelled(x, np.repeat(np.arange(10), betas.shape[2]))


def fingerprints(rng: np.random.Generator) -> Labelled:
    """Correlations of parcels in ten windows of a resting run; the class is the subject."""
    upper = np.triu_indices(360, 1)
    edges = rng.choice(len(upper[0]), 6000, replace=False)
    files = sorted((folder() / "fmri" / "hcp").glob("rest_subject*.npz"))
    windows = [w for f in files for w in np.array_split(np.load(f)["series"], 10)]
    z = [np.arctanh(np.clip(np.corrcoef(w.T)[upper][edges], -0.999, 0.999)) for w in windows]
    return labelled(np.array(z), np.repeat(np.arange(len(files)), 10))


SETTLED_ON: dict[str, Callable[[np.random.Generator], Labelled]] = {
    "cells": cells,
    "cell subtypes": cell_subtypes,
    "MNIST": mnist,
    "task betas": task_betas,
    "fingerprints": fingerprints,
}


# --- selectors ----------------------------------------------------------------------------------------------------


def by_laplacian_score(adata: ad.AnnData) -> np.ndarray:
    dn.tl.laplacian_score(adata)
    return adata.var_names.get_indexer(dn.get.laplacian_score(adata).index)


def by_diversity(adata: ad.AnnData) -> np.ndarray:
    dn.tl.diverse_features(adata)
    return adata.var_names.get_indexer(dn.get.diverse_features(adata).index)


SELECTORS = {"Laplacian score": by_laplacian_score, "diverse features": by_diversity}
#: minutes on a set, so that it is compared on a few only
WITH_DUFS = {**SELECTORS, "DUFS": order_of}


def clustered(x: np.ndarray, truth: np.ndarray, init: str) -> np.ndarray:
    """Accuracy of k-means from every start."""
    labels = labels_of_starts(x, len(np.unique(truth)), init, N_KMEANS, seed=0)
    return np.array([accuracy(truth, found) for found in labels])


def best_accuracy(x: np.ndarray, truth: np.ndarray, order: np.ndarray, init: str) -> float:
    """Best mean accuracy over the numbers of features, in %."""
    return 100 * max(clustered(x[:, order[:k]], truth, init).mean() for k in COUNTS if k <= len(order))


def accuracies(data: Labelled, selectors: Selectors, seeds: int) -> dict[str, list[float]]:
    """For both starts of k-means: all features, random ones (mean over draws), and those of every selector."""
    adata, truth = data
    x = np.asarray(adata.X, dtype=np.float32)
    random = [np.random.default_rng(s).permutation(x.shape[1]) for s in range(seeds)]
    orders = [select(adata) for select in selectors.values()]
    return {
        init: [
            100 * clustered(x, truth, init).mean(),
            float(np.mean([best_accuracy(x, truth, order, init) for order in random])),
            *(best_accuracy(x, truth, order, init) for order in orders),
        ]
        for init in INITS
    }


def compared(title: str, sets: Iterator[tuple[str, Labelled]], seeds: int, selectors: Selectors = SELECTORS) -> None:
    names, found = [], []
    for name, data in sets:
        names.append(name)
        found.append(accuracies(data, selectors, seeds))
        print(name, found[-1], file=sys.stderr, flush=True)
    values = np.array([[each[init] for init in INITS] for each in found])
    # the smallest difference to the better of random features and the Laplacian score: how much one may lose
    losses = (values - values[:, :, 1:3].max(axis=2, keepdims=True)).min(axis=0)
    named = [*zip(names, values, strict=True), ("mean", values.mean(axis=0)), ("smallest difference", losses)]
    rows = [[name, *(f"{r:.1f} / {p:.1f}" for r, p in zip(*each, strict=True))] for name, each in named]
    starts = " / ".join(INITS.values())
    table(f"{title}: accuracy in %, {starts}", ["data", *HEAD[:3], *list(selectors)[1:]], rows)


def subsample_overlap(adata: ad.AnnData, select: Callable[[ad.AnnData], np.ndarray], seeds: int) -> float:
    """Mean share of leading features that two subsamples of the observations have in common."""
    tops = []
    for seed in range(max(2, seeds)):
        n = adata.n_obs
        rows = np.random.default_rng(seed).choice(n, int(SUBSAMPLE * n), replace=False)
        some = ad.AnnData(np.asarray(adata.X)[np.sort(rows)])
        tops.append(set(quiet(lambda some=some: select(some))[:N_LEADING].tolist()))
    return float(np.mean([len(a & b) / N_LEADING for a, b in itertools.combinations(tops, 2)]))


def chance(data: Labelled, draws: int) -> list[float]:
    """How much accuracy varies between draws of random features, for both starts of k-means.

    Standard deviation over draws, and share of draws more than `TOLERATED` points below the better of the Laplacian
    score and the mean of the other draws: how often random features fail a rule that is asked of a selector.
    """
    adata, truth = data
    x = np.asarray(adata.X, dtype=np.float32)
    orders = [np.random.default_rng([17, s]).permutation(x.shape[1]) for s in range(draws)]
    smooth = by_laplacian_score(adata)
    found = []
    for init in INITS:
        each = np.array([best_accuracy(x, truth, order, init) for order in orders])
        others = (each.sum() - each) / (draws - 1)
        below = each < np.maximum(others, best_accuracy(x, truth, smooth, init)) - TOLERATED
        found += [float(each.std(ddof=1)), float(below.mean())]
    return found


def report_chance(sets: dict[str, Labelled]) -> None:
    rows = []
    for name, data in sets.items():
        rows.append([name, data[0].n_obs, *(f"{value:.2f}" for value in chance(data, N_CHANCE))])
        print(*rows[-1], file=sys.stderr, flush=True)
    values = np.array([[float(value) for value in row[2:]] for row in rows])
    rows.append(["mean", "", *(f"{value:.2f}" for value in values.mean(axis=0))])
    failing = (values[:, 1::2] > 0).sum(axis=0)
    rows.append(
        ["sets with such a draw", "", "", f"{failing[0]} of {len(values)}", "", f"{failing[1]} of {len(values)}"]
    )
    each = [f"{what}, {start}" for start in INITS.values() for what in ("sd of random features", "3 points below")]
    table(f"Chance: {N_CHANCE} draws of random features", ["data", "observations", *each], rows)


def report(seeds: int, *, quick: bool = False) -> None:
    """Compare selections on sets on which no rule was chosen, and show what chance does to such a comparison."""
    few = 1 if quick else None
    compared("Sets on which it is reported", ((name, labelled_set(name)) for name in REPORTED[:few]), seeds)
    further = {name: microarray_set(name) for name in MICROARRAY[:few]}
    compared("Further sets on which no rule was chosen", iter(further.items()), seeds)
    report_chance({name: labelled_set(name) for name in REPORTED[:few]} | further)
