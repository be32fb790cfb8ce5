"""Part `dufs` of `real.py`: features selected without labels, judged by how well k-means on them finds the classes.

The rule of `tl.diverse_features` was settled on the sets of the first table, and is reported on those of the second.
"""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Callable, Iterator

import anndata as ad
import numpy as np
from _real_cells import folder
from _tools import table
from dufs import COUNTS, SETS, clustered, order_of, quiet, real
from scipy.io import loadmat

import diffnb as dn

#: data, and the class of every observation
Labelled = tuple[ad.AnnData, np.ndarray]
#: features that are compared between subsamples, and the share of observations in a subsample
N_LEADING, SUBSAMPLE = 100, 0.8
HEAD = ["data", "all features", "random features", "Laplacian score", "DUFS", "diverse features"]


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


SELECTORS = {"Laplacian score": by_laplacian_score, "DUFS": order_of, "diverse features": by_diversity}


def best_accuracy(x: np.ndarray, truth: np.ndarray, order: np.ndarray) -> float:
    """Best mean accuracy over the numbers of features, in %, k-means with random starts."""
    return 100 * max(clustered(x[:, order[:k]], truth, "random").mean() for k in COUNTS if k <= len(order))


def accuracies(data: Labelled, seeds: int) -> list[float]:
    adata, truth = data
    x = np.asarray(adata.X, dtype=np.float32)
    random = [best_accuracy(x, truth, np.random.default_rng(s).permutation(x.shape[1])) for s in range(seeds)]
    found = [best_accuracy(x, truth, select(adata)) for select in SELECTORS.values()]
    return [100 * clustered(x, truth, "random").mean(), float(np.mean(random)), *found]


def compared(title: str, sets: Iterator[tuple[str, Labelled]], seeds: int) -> None:
    names, rows = [], []
    for name, data in sets:
        names.append(name)
        rows.append(accuracies(data, seeds))
    values = np.array(rows)
    # the smallest difference to the better of random features and the Laplacian score: how much one may lose
    losses = (values - values[:, 1:3].max(axis=1, keepdims=True)).min(axis=0)
    named = [*zip(names, values, strict=True), ("mean", values.mean(axis=0)), ("smallest difference", losses)]
    table(title, HEAD, [[name, *(f"{v:.1f}" for v in row)] for name, row in named])


def subsample_overlap(adata: ad.AnnData, select: Callable[[ad.AnnData], np.ndarray], seeds: int) -> float:
    """Mean share of leading features that two subsamples of the observations have in common."""
    tops = []
    for seed in range(max(2, seeds)):
        n = adata.n_obs
        rows = np.random.default_rng(seed).choice(n, int(SUBSAMPLE * n), replace=False)
        some = ad.AnnData(np.asarray(adata.X)[np.sort(rows)])
        tops.append(set(quiet(lambda some=some: select(some))[:N_LEADING].tolist()))
    return float(np.mean([len(a & b) / N_LEADING for a, b in itertools.combinations(tops, 2)]))


def report(seeds: int) -> None:
    """Accuracy with features of every selector, random features beside them; and what subsamples agree on."""
    settled = ((name, make(np.random.default_rng(0))) for name, make in SETTLED_ON.items())
    compared("Accuracy in %, sets on which the rule was settled", settled, seeds)
    compared("Accuracy in %, sets on which it is reported", ((name, real(name)) for name in SETS), seeds)
    rows = []
    for name in SETS:
        adata, _ = real(name)
        shares = [subsample_overlap(adata, select, seeds) for select in SELECTORS.values()]
        rows.append([name, N_LEADING / adata.n_vars, *shares])
    table(f"Overlap of the top {N_LEADING} between subsamples", ["data", *HEAD[2:]], rows)
