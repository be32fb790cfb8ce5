"""Real data with a null beside every finding: python benchmarks/real.py [depth] [images].

The data are taken from the folder in DIFFNB_DATA (by default ../shared/data) and are not part of the project.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
from _tools import DATA, table
from scipy.io import loadmat
from scipy.ndimage import gaussian_filter, gaussian_filter1d

import diffnb as dn
from diffnb.core.stats.thinning import thinned

KINDS = ("mean", "spread", "distribution", "connectivity")
MIN_CELLS = 60


def folder() -> Path:
    if not DATA.is_dir():
        sys.exit(f"No data in {DATA}: name their folder in DIFFNB_DATA.")
    return DATA


def control_cells() -> ad.AnnData:
    """Blood cells of the control condition of Kang et al., raw counts of genes seen in enough cells."""
    adata = ad.read_h5ad(folder() / "kang" / "PBMC_control.h5ad")
    adata.var.index = adata.var.index.astype(str)
    adata.var_names_make_unique()
    sc.pp.filter_genes(adata, min_cells=MIN_CELLS)
    return adata


def halves(adata: ad.AnnData, labels: np.ndarray, kept: np.ndarray | None = None, seed: int = 0) -> ad.AnnData:
    """Return the cells with labels of two halves, counts thinned to the shares `kept`."""
    counts = adata.X if kept is None else thinned(adata.X.tocsr(), kept, seed)
    obs = pd.DataFrame({"half": pd.Categorical(np.where(labels, "B", "A"))}, index=adata.obs_names)
    return ad.AnnData(counts, obs=obs, var=adata.var, layers={"counts": counts.copy()})


def called(adata: ad.AnnData) -> list[str]:
    """Share of genes that every column of the scorecard calls at an adjusted p-value of .05."""
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dn.tl.scorecard(adata, "half")
    found = dn.get.scorecard(adata)
    shares = [f"{(found[f'{kind}_pval_adj'] < 0.05).mean():.3f}" for kind in KINDS]
    return [*shares, "yes" if any("differ in depth" in str(w.message) for w in caught) else "no"]


def depth(seeds: int) -> None:
    """Nothing differs but depth: how many genes are called, as they are and after `pp.match_depth`."""
    cells = control_cells()
    totals = np.asarray(cells.X.sum(axis=1)).ravel()
    rows = []
    for seed in range(seeds):
        labels = np.random.default_rng(seed).random(cells.n_obs) < 0.5
        splits: dict[str, Callable[[], ad.AnnData]] = {
            "random": lambda labels=labels: halves(cells, labels),
            "B thinned to 80 %": lambda labels=labels, seed=seed: halves(cells, labels, np.where(labels, 0.8, 1), seed),
            "B thinned to 50 %": lambda labels=labels, seed=seed: halves(cells, labels, np.where(labels, 0.5, 1), seed),
        }
        if seed == 0:
            splits["by total counts"] = lambda: halves(cells, totals > np.median(totals))
        for name, make in splits.items():
            rows.append([name, str(seed), "no", *called(make())])
            matched = make()
            dn.pp.match_depth(matched, "half", random_state=seed)
            rows.append([name, str(seed), "yes", *called(matched)])
    head = ["split of control cells", "seed", "matched", *KINDS, "warned"]
    table("Nothing differs but depth: share of genes called", head, rows)


SCENES = {"HYDICE": "HYDICE_data", "urban-2": "abu-urban-2"}
#: largest gain over bands and over the field, and noise in standard deviations of a band
DIFFICULTIES = {"mild": (0.05, 0.005), "hard": (0.15, 0.02)}


def semi_synthetic(scene: str, difficulty: str, seed: int, *, appears: bool = True) -> ad.AnnData:
    """Two images of a real scene: targets are absent in the first, illumination and noise differ in the second.

    Without `appears` the targets are in both: the null, in which no pixel is another material than before.
    """
    found = loadmat(folder() / "hyperspectral" / "targets" / f"{SCENES[scene]}.mat")
    cube, target = found["data"].astype(float), found["map"].astype(bool)
    gain, noise = DIFFICULTIES[difficulty]
    rng = np.random.default_rng(seed)
    background = np.argwhere(~target)
    row, column = background[rng.choice(len(background), int(target.sum()), replace=False)].T
    before = cube.copy()
    if appears:
        before[target] = cube[row, column]
    by_band = gaussian_filter1d(rng.normal(size=cube.shape[2]), cube.shape[2] / 10)
    by_place = gaussian_filter(rng.normal(size=cube.shape[:2]), cube.shape[0] / 5)
    light = (1 + gain * by_band / np.abs(by_band).max()) * (1 + gain * by_place / np.abs(by_place).max())[..., None]
    spread = noise * cube.std(axis=(0, 1))
    images = [image + spread * rng.normal(size=cube.shape) for image in (before, cube * light)]
    adata = dn.datasets.from_image_pair(*images)
    adata.var["target"] = target.ravel()
    return adata


def best_f1(score: np.ndarray, truth: np.ndarray) -> float:
    """F1 of the score at its best cut."""
    hits = np.cumsum(truth[np.argsort(-score, kind="stable")])
    return float((2 * hits / (np.arange(1, len(truth) + 1) + truth.sum())).max())


def group_f1(groups: pd.Series, truth: np.ndarray) -> float:
    """F1 of the named group that fits the truth best; 0 where none is named."""
    named = [(groups == g).to_numpy() for g in groups.cat.categories if g != "background"]
    return max((2 * (g & truth).sum() / (g.sum() + truth.sum()) for g in named), default=0.0)


def images(seeds: int) -> None:
    """Targets that appear in a real scene: detectors of `tl.feature_change`, and DiSC with defaults on seed 0."""
    methods = ("spectral_angle", "difference_rx", "chronochrome", "ir_mad", "diffusion")
    rows = []
    for scene in SCENES:
        for difficulty, appears in product(DIFFICULTIES, (True, False)):
            found: dict[str, list[float]] = {method: [] for method in methods}
            disc = ""
            for seed in range(seeds):
                adata = semi_synthetic(scene, difficulty, seed, appears=appears)
                truth = adata.var["target"].to_numpy()
                for method in methods:
                    dn.tl.feature_change(adata, "condition", method=method)
                    found[method].append(best_f1(adata.var["feature_change"].to_numpy(), truth))
                if seed == 0:
                    dn.tl.disc(adata, "condition")
                    score = dn.get.disc(adata, group="after")["score"].to_numpy()
                    disc = f"{group_f1(adata.var['disc_after'], truth):.2f} / {best_f1(score, truth):.2f}"
            pair = difficulty if appears else f"{difficulty}, null"
            rows.append([scene, pair, *(f"{np.median(f):.2f} ({min(f):.2f})" for f in found.values()), disc])
    head = ["scene", "pair", *methods, "DiSC: group / score"]
    table("F1 at the best cut: median (lowest) over seeds; DiSC with defaults on the first seed", head, rows)


PARTS = {"depth": depth, "images": images}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    for part in given.parts or PARTS:
        PARTS[part](given.seeds)


if __name__ == "__main__":
    main()
