"""Part `nulls` of `real.py`: real data in which nothing differs; how often DiSC names a group.

The form of the rule was chosen knowing what control cells of Kang et al. had shown; the cells never used, those of
mouse cortex, recordings and scenes had no part in it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
from _real_cells import control_cells, folder, halves
from _real_interferon import CONDITIONS, monocytes, unused_cells
from _tools import Missing, data_file, table
from scipy.io import loadmat
from scipy.stats import binomtest

import diffnb as dn

QUESTIONS = ("relations", "any difference")
N_GENES = 2000
#: cells in which a gene of the first set is seen
MIN_CELLS = 200
#: smaller sets, of which more seeds are run: cells, and the share of them in which a gene is seen
N_CELLS, MIN_SHARE = 1000, 0.1
#: cells of the smaller and of the larger condition where sizes differ
UNEQUAL = (300, 2000)
#: donors of each condition
N_DONORS = 5
#: seeds of a small set for each of a larger one
SEEDS_OF_SMALL = 2
#: counts that are left in the half that is thinned
COUNTS_LEFT = 0.5


def random_labels(n_obs: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(n_obs) < n_obs // 2


def normalised(adata: ad.AnnData) -> ad.AnnData:
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    return adata


def cells(seed: int) -> ad.AnnData:
    """Control cells of Kang et al., split at random."""
    adata = control_cells()
    split = halves(adata, random_labels(adata.n_obs, seed))
    sc.pp.filter_genes(split, min_cells=MIN_CELLS)
    return normalised(split)


def variable_cells(seed: int) -> ad.AnnData:
    """Control cells with highly variable genes only, rare ones among them."""
    adata = control_cells()
    adata = normalised(halves(adata, random_labels(adata.n_obs, seed)))
    sc.pp.highly_variable_genes(adata, n_top_genes=N_GENES)
    return adata[:, adata.var["highly_variable"]].copy()


def one_type(seed: int) -> ad.AnnData:
    """Control monocytes, split at random."""
    adata = cells(seed)
    marker = np.asarray(adata[:, ["LYZ", "S100A8", "FCER1G", "TYROBP"]].X.mean(axis=1)).ravel()
    return adata[marker > 1.5].copy()


def blood(seed: int) -> ad.AnnData:
    """PBMC that scanpy ships, split at random."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    adata.obs = pd.DataFrame({"half": _letters(random_labels(adata.n_obs, seed))}, index=adata.obs_names)
    return adata


def frames(seed: int) -> ad.AnnData:
    """Frames of one resting run, split at random."""
    series = _run(seed % 10)
    obs = pd.DataFrame({"half": _letters(random_labels(len(series), seed))})
    return ad.AnnData(series, obs=obs.set_index(obs.index.astype(str)))


def subjects(seed: int) -> ad.AnnData:
    """Resting runs of ten subjects in two halves, which of them is called first drawn for each subject."""
    rng = np.random.default_rng(seed)
    runs, labels, names = [], [], []
    for number in range(10):
        series = _run(number)
        first = np.arange(len(series)) < len(series) // 2
        runs.append(series)
        labels.append(first ^ bool(rng.integers(2)))
        names += [str(number)] * len(series)
    obs = pd.DataFrame({"half": _letters(np.concatenate(labels)), "subject": names})
    return ad.AnnData(np.concatenate(runs), obs=obs.set_index(obs.index.astype(str)))


def pixels(seed: int) -> ad.AnnData:
    """One real scene twice, with noise of 2 % of the standard deviation of each band; every third pixel."""
    cube = loadmat(folder() / "hyperspectral" / "targets" / "abu-urban-2.mat")["data"].astype(float)[::3, ::3]
    rng = np.random.default_rng(seed)
    spread = 0.02 * cube.std(axis=(0, 1))
    adata = dn.datasets.from_image_pair(*(cube + spread * rng.normal(size=cube.shape) for _ in range(2)))
    adata.obs["half"] = adata.obs["condition"]
    return adata


def some_cells(seed: int, second: np.ndarray, kept: np.ndarray | None = None) -> ad.AnnData:
    """Draw control cells, as many as there are labels, with counts of genes that are seen often."""
    adata = control_cells()
    chosen = np.random.default_rng([seed, 1]).permutation(adata.n_obs)[: len(second)]
    split = halves(adata[chosen], second, kept, seed)
    sc.pp.filter_genes(split, min_cells=int(MIN_SHARE * len(second)))
    return split


def unequal(seed: int) -> ad.AnnData:
    """Draw a small condition and a large one."""
    return normalised(some_cells(seed, np.arange(sum(UNEQUAL)) < UNEQUAL[0]))


def matched_depth(seed: int) -> ad.AnnData:
    """Random halves, one of which has half of its counts; the warning of different depth is followed."""
    second = random_labels(N_CELLS, seed)
    split = some_cells(seed, second, np.where(second, COUNTS_LEFT, 1.0))
    dn.pp.match_depth(split, "half", layer="counts", random_state=seed)
    sc.pp.filter_genes(split, min_cells=int(MIN_SHARE * N_CELLS / 2))
    return normalised(split)


def donors(seed: int) -> ad.AnnData:
    """Cells assigned to donors at random, and whole donors to conditions."""
    donor = np.random.default_rng(seed).integers(2 * N_DONORS, size=N_CELLS)
    adata = normalised(some_cells(seed, donor < N_DONORS))
    adata.obs["subject"] = donor.astype(str)
    return adata


def unused(seed: int) -> ad.AnnData:
    """Control cells that no rule was settled on."""
    return _halved_control(unused_cells(), seed)


def unused_monocytes(seed: int) -> ad.AnnData:
    """Monocytes among them."""
    return _halved_control(monocytes(unused_cells()), seed)


def _halved_control(adata: ad.AnnData, seed: int) -> ad.AnnData:
    adata = adata[adata.obs["condition"] == CONDITIONS["control"]].copy()
    sc.pp.filter_genes(adata, min_cells=int(MIN_SHARE * adata.n_obs))
    adata.obs["half"] = _letters(random_labels(adata.n_obs, seed))
    return adata


def cortex(seed: int) -> ad.AnnData:
    """Cells of mouse cortex of all types, and the most variable genes."""
    found = loadmat(data_file("zeisel", "zeisel_data.mat"))
    x = next(value for key, value in found.items() if not key.startswith("_"))
    x = x if len(x) < x.shape[1] else x.T
    rows = np.random.default_rng([seed, 1]).permutation(len(x))[:N_CELLS]
    x = x[rows][:, np.argsort(-x.var(axis=0), kind="stable")[: N_GENES // 2]].astype(np.float32)
    obs = pd.DataFrame({"half": _letters(random_labels(N_CELLS, seed))})
    return ad.AnnData(x, obs=obs.set_index(obs.index.astype(str)))


def _run(number: int) -> np.ndarray:
    return np.load(folder() / "fmri" / "hcp" / f"rest_subject{number + 1:02d}.npz")["series"].astype(np.float32)


def _letters(second: np.ndarray) -> pd.Categorical:
    return pd.Categorical(np.where(second, "B", "A"))


#: what takes less than half a minute for each run, and what takes longer
NULLS: dict[str, Callable[[int], ad.AnnData]] = {
    "PBMC of scanpy": blood,
    "control cells never used": unused,
    "control monocytes never used": unused_monocytes,
    "mouse cortex": cortex,
    "300 against 2,000 control cells": unequal,
    "one half thinned, depth matched": matched_depth,
    "whole donors at random": donors,
    "frames of a resting run": frames,
    "one scene twice": pixels,
}
LARGE_NULLS: dict[str, Callable[[int], ad.AnnData]] = {
    "control cells, frequent genes": cells,
    "control cells, variable genes": variable_cells,
    "control monocytes": one_type,
    "halves of resting runs, subjects as units": subjects,
}


def named(adata: ad.AnnData, question: str) -> list[int]:
    """Sizes of the groups that are named."""
    sample_key = "subject" if "subject" in adata.obs else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dn.tl.disc(adata, "half", question=question, sample_key=sample_key)
    columns = [adata.var[c] for c in adata.uns["disc"]["group_columns"]]
    return [int(n) for c in columns for g, n in c.value_counts().items() if g != "background" and n]


def interval(runs: int, seeds: int) -> str:
    """Exact binomial interval of 95 % of a share."""
    found = binomtest(runs, seeds).proportion_ci()
    return f"{found.low:.3f}–{found.high:.3f}"


def of_kinds(title: str, kinds: dict[str, Callable[[int], ad.AnnData]], question: str, seeds: int) -> None:
    """Count the runs that name a group, of every kind and in all."""
    rows, total, n = [], 0, 0
    for name, make in kinds.items():
        found = []
        try:
            for seed in range(seeds):
                adata = make(seed)
                found.append(named(adata, question))
        except Missing as missing:
            print(f"{name}: {missing}")
            continue
        sizes = "; ".join(f"seed {s}: {', '.join(map(str, f))}" for s, f in enumerate(found) if f)
        runs = sum(bool(f) for f in found)
        rows.append([name, f"{adata.n_obs} × {adata.n_vars}", f"{runs} of {seeds}", sizes or "none"])
        total, n = total + runs, n + seeds
        print(rows[-1], flush=True)
    rows.append(["all", "", f"{total} of {n}", f"share {total / n:.3f}, 95 % interval {interval(total, n)}"])
    head = ["data", "observations × features", "runs", "features in groups"]
    table(f"Nothing differs, runs that name a group: {title}, {question}", head, rows)


def report(seeds: int, quick: bool = False) -> None:
    """Share of runs that name a group, small sets first."""
    if quick:
        of_kinds("some sets", {"PBMC of scanpy": blood, "cells never used": unused}, QUESTIONS[0], 1)
        return
    for question in QUESTIONS:
        of_kinds("small sets", NULLS, question, SEEDS_OF_SMALL * seeds)
    for question in QUESTIONS:
        of_kinds("larger sets", LARGE_NULLS, question, seeds)
