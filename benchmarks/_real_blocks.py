"""Part `blocks` of `real.py`: the level of tests with blocks of frames, on resting runs that no rule was chosen on.

The length of a block was settled on ten other runs. Segments of one run get random labels, so that nothing differs.
"""

from __future__ import annotations

import anndata as ad
import numpy as np
from _held_out import new_resting_runs
from _real_subjects import KINDS, random_segments, with_blocks
from _tools import table

import diffnb as dn

LEVEL = 0.05


def one_run(series: np.ndarray, seed: int) -> ad.AnnData:
    half = np.where(np.arange(len(series)) < len(series) // 2, "A", "B")
    return random_segments(dn.datasets.from_parcels([series], conditions=[half]), seed)


def rates(adata: ad.AnnData, sample_key: str | None) -> list[tuple[float, float]]:
    """For every column, the share of parcels with a raw and with an adjusted p-value of .05 at most."""
    dn.tl.scorecard(adata, "condition", sample_key=sample_key)
    found = dn.get.scorecard(adata)
    return [tuple(float((found[f"{kind}_{p}"] <= LEVEL).mean()) for p in ("pval", "pval_adj")) for kind in KINDS]


def report(seeds: int, *, quick: bool = False) -> None:
    """Share of parcels with a small p-value, with frames and with blocks as units."""
    runs = new_resting_runs()[: 2 if quick else None]
    found: dict[str, list[list[tuple[float, float]]]] = {"frames": [], "blocks": []}
    for number, series in enumerate(runs):
        for seed in range(seeds):
            adata = one_run(series, 1000 * number + seed)
            found["frames"].append(rates(adata, None))
            found["blocks"].append(rates(with_blocks(adata), "block"))
    rows = []
    for unit, each in found.items():
        values = np.array(each)  # analyses × columns × (raw, adjusted)
        for column, kind in enumerate(KINDS):
            raw, called = values[:, column].T
            rows.append([unit, kind, len(each), raw.mean(), (called > 0).mean(), called.mean(), called.max()])
    head = ["unit", "column", "analyses", "raw p ≤ .05", "analyses with any call", "parcels called", "at most"]
    table(f"{len(runs)} resting runs, random labels of segments", head, rows)
