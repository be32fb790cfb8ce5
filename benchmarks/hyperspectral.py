"""Whether the tarp is found, over several scenes: python benchmarks/hyperspectral.py [scenes] [size].

The table of `notebooks/03_hyperspectral.ipynb` as a command: F1 of the cluster that fits the tarp best, four months,
with and without noise. DiSC by its own groups and by three clusters of its vectors, beside three clusters of the
distance that diffusion maps for changing data give. Median and range over scenes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from _tools import save, table
from sklearn.cluster import KMeans
from sklearn.metrics import f1_score

import diffnb as dn

MONTHS = ("aug", "sep", "oct", "nov")
NOISE = {"clean": 0.0, "noisy": 0.01}
METHODS = ("DiSC, its own groups", "DiSC, three clusters", "changing data, three clusters")


def best_f1(labels: Sequence[Any], truth: np.ndarray) -> float:
    return max(float(f1_score(truth, np.asarray(labels) == name)) for name in set(labels))


def three_clusters(values: Any) -> np.ndarray:
    return KMeans(3, n_init=10, random_state=0).fit_predict(np.asarray(values).reshape(len(values), -1))


def one_scene(month: str, noise: float, size: int, seed: int) -> dict[str, float]:
    scene = dn.datasets.hyperspectral_tarp(month=month, size=size, noise=noise, random_state=seed)
    tarp = (scene.var["material"] == "tarp").to_numpy()
    dn.tl.disc(scene, "condition", question="any difference", graph="knn", n_components=4)
    dn.tl.feature_change(scene, "condition")
    vectors = dn.get.disc(scene, group="oct-change").filter(regex=r"^vector_")
    found = (
        scene.var["disc_oct-change"].astype(str),
        three_clusters(vectors),
        three_clusters(scene.var["feature_change"]),
    )
    return {name: best_f1(labels, tarp) for name, labels in zip(METHODS, found, strict=True)}


def main() -> None:
    scenes, size = (int(a) for a in (*sys.argv[1:], *("5", "60")[len(sys.argv) - 1 :]))
    warnings.simplefilter("ignore")
    rows = []
    for condition, noise in NOISE.items():
        for month in MONTHS:
            case = {"noise": condition, "month": month}
            rows += [case | {"seed": seed} | one_scene(month, noise, size, seed) for seed in range(scenes)]
            print(f"  {condition}, {month}", file=sys.stderr, flush=True)
    cells = []
    for condition in NOISE:
        for month in MONTHS:
            here = [r for r in rows if (r["noise"], r["month"]) == (condition, month)]
            values = [[r[name] for r in here] for name in METHODS]
            cells.append([condition, month, *(f"{np.median(v):.2f} ({min(v):.2f}–{max(v):.2f})" for v in values)])
    table(f"F1 of the tarp, {size} × {size} pixels, {scenes} scenes", ["noise", "month", *METHODS], cells)
    save("hyperspectral", {"size": size, "rows": rows})


if __name__ == "__main__":
    main()
