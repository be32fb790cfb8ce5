"""Part `images` of `real.py`: targets that appear in a real scene, found by change detectors.

The projected chronochrome was designed, and the form of its p-value chosen, after the other detectors had been seen on
all four scenes, on draws with seed 0. Draws here begin with another seed; no scene is new to it.
"""

from __future__ import annotations

from itertools import product

import anndata as ad
import numpy as np
from _held_out import NEW_SCENES, SCENES, scene
from _tools import Missing, table

import diffnb as dn

#: largest gain over bands and over the field, and noise in standard deviations of a band
DIFFICULTIES = {"mild": (0.05, 0.005), "hard": (0.15, 0.02)}
DETECTORS = ("spectral_angle", "difference_rx", "chronochrome", "projected_chronochrome")
FIRST_SEED = 10
LEVEL = 0.05


def semi_synthetic(name: str, difficulty: str, seed: int, *, appears: bool = True) -> ad.AnnData:
    """Two images of a real scene: targets are absent in the first, illumination and noise differ in the second.

    Without `appears` the targets are in both: the null, in which no pixel is another material than before.
    """
    cube, target = scene(name)
    gain, noise = DIFFICULTIES[difficulty]
    return dn.datasets.semi_synthetic_pair(cube, target, appears=appears, gain=gain, noise=noise, random_state=seed)


def best_f1(score: np.ndarray, truth: np.ndarray) -> float:
    """F1 of the score at its best cut."""
    hits = np.cumsum(truth[np.argsort(-score, kind="stable")])
    return float((2 * hits / (np.arange(1, len(truth) + 1) + truth.sum())).max())


def f1_of(chosen: np.ndarray, truth: np.ndarray) -> float:
    return float(2 * (chosen & truth).sum() / max(1, chosen.sum() + truth.sum()))


def change(adata: ad.AnnData, method: str) -> tuple[np.ndarray, np.ndarray | None]:
    """Score of every pixel, and which pixels are called where the method has p-values."""
    dn.tl.feature_change(adata, "condition", method=method)
    found = dn.get.feature_change(adata).loc[adata.var_names]
    called = (found["pval_adj"] <= LEVEL).to_numpy() if "pval_adj" in found else None
    return found["change"].to_numpy(), called


def report(seeds: int, *, quick: bool = False) -> None:
    """F1 at the best cut and of the pixels that are called; the same, and pixels called, where nothing changes."""
    known = [name for name in (*SCENES, *NEW_SCENES) if _is_there(name)]
    ranked, called = [], []
    for name, difficulty in product(known[: 1 if quick else None], DIFFICULTIES):
        pairs = {
            appears: [semi_synthetic(name, difficulty, FIRST_SEED + seed, appears=appears) for seed in range(seeds)]
            for appears in (True, False)
        }
        truth = pairs[True][0].var["target"].to_numpy()
        for appears, draws in pairs.items():
            pair = difficulty if appears else f"{difficulty}, null"
            found = {method: [change(adata, method) for adata in draws] for method in DETECTORS}
            ranked.append([name, pair, *(_shown([best_f1(s, truth) for s, _ in each]) for each in found.values())])
            if appears:
                values = (_shown([f1_of(c, truth) for _, c in each]) for each in found.values())
            else:
                values = (_per_10000([c for _, c in each]) for each in found.values())
            called.append([name, pair, *values])
    title = f"F1 at the best cut: median (lowest) of {seeds} draws"
    table(title, ["scene", "pair", *DETECTORS], ranked)
    title = f"Pixels called at an adjusted p-value of {LEVEL}: F1; where nothing changed, pixels of 10,000: mean (most)"
    table(title, ["scene", "pair", *DETECTORS], called)


def _is_there(name: str) -> bool:
    try:
        scene(name)
    except Missing:
        return False
    return True


def _shown(values: list[float]) -> str:
    return f"{np.median(values):.2f} ({min(values):.2f})"


def _per_10000(called: list[np.ndarray]) -> str:
    shares = [1e4 * c.mean() for c in called]
    return f"{np.mean(shares):.1f} ({max(shares):.1f})"
