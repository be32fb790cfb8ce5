"""Part `image_groups` of `real.py`: targets that appear in a real scene, by methods that take minutes on a scene.

IR-MAD, diffusion maps for changing data, and the groups that DiSC names in two settings: the default, and small
neighbourhoods
with more eigenvectors and the correlation of spectra, which were settled on HYDICE.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from _held_out import NEW_SCENES, SCENES
from _real_images import FIRST_SEED, best_f1, change, f1_of, semi_synthetic
from _tools import table

import diffnb as dn

SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "small scale": {"n_neighbors": 8, "n_eigenvectors": 100, "metric": "correlation"},
}
SLOW_METHODS = ("ir_mad", "diffusion")


def group_f1(groups: pd.Series, truth: np.ndarray) -> float:
    """F1 of the named group that fits the truth best; 0 where none is named."""
    named = [(groups == g).to_numpy() for g in groups.cat.categories if g != "background"]
    return max((f1_of(group, truth) for group in named), default=0.0)


def report(seeds: int, *, quick: bool = False) -> None:
    """F1 of the named group and of the score at its best cut, mild pairs and their nulls, one draw."""
    rows = []
    scenes = (*SCENES, *NEW_SCENES)
    for name, setting, appears in product(scenes[: 1 if quick else None], SETTINGS, (True, False)):
        adata = semi_synthetic(name, "mild", FIRST_SEED, appears=appears)
        dn.tl.disc(adata, "condition", **SETTINGS[setting])
        truth, groups = adata.var["target"].to_numpy(), adata.var["disc_after"]
        score = dn.get.disc(adata, group="after")["score"].to_numpy()
        named = int((groups != "background").sum())
        pair = "mild" if appears else "mild, null"
        rows.append([name, setting, pair, named, f"{group_f1(groups, truth):.2f}", f"{best_f1(score, truth):.2f}"])
        print(*rows[-1], flush=True)
    head = ["scene", "setting", "pair", "pixels in groups", "F1 of the group", "F1 of the score, best cut"]
    table("DiSC: targets that appear, one draw", head, rows)
    slow = []
    for name, appears in product(scenes[: 1 if quick else None], (True, False)):
        adata = semi_synthetic(name, "mild", FIRST_SEED, appears=appears)
        truth, pair = adata.var["target"].to_numpy(), "mild" if appears else "mild, null"
        slow.append([name, pair, *(f"{best_f1(change(adata, m)[0], truth):.2f}" for m in SLOW_METHODS)])
    table("F1 at the best cut, one draw", ["scene", "pair", *SLOW_METHODS], slow)
