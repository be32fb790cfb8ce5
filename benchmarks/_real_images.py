"""Part `images` of `real.py`: targets that appear in a real scene."""

from __future__ import annotations

from itertools import product

import anndata as ad
import numpy as np
import pandas as pd
from _real_cells import folder
from _tools import table
from scipy.io import loadmat

import diffnb as dn

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
    return dn.datasets.semi_synthetic_pair(cube, target, appears=appears, gain=gain, noise=noise, random_state=seed)


def best_f1(score: np.ndarray, truth: np.ndarray) -> float:
    """F1 of the score at its best cut."""
    hits = np.cumsum(truth[np.argsort(-score, kind="stable")])
    return float((2 * hits / (np.arange(1, len(truth) + 1) + truth.sum())).max())


def group_f1(groups: pd.Series, truth: np.ndarray) -> float:
    """F1 of the named group that fits the truth best; 0 where none is named."""
    named = [(groups == g).to_numpy() for g in groups.cat.categories if g != "background"]
    return max((2 * (g & truth).sum() / (g.sum() + truth.sum()) for g in named), default=0.0)


def report(seeds: int) -> None:
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
