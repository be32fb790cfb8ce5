"""Part `blocks` of `real.py`: level and power of tests with blocks of frames, on runs that no rule was chosen on.

The rules for blocks were settled on ten other runs. Stretches of one run get random labels, so that nothing differs;
for the power, some parcels share a signal in one condition. An earlier rule was tried on the runs with 360 parcels,
those with 94 regions are new.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import product

import anndata as ad
import numpy as np
from _held_out import new_resting_runs, regional_resting_runs
from _real_replication_power import with_shared_signal
from _real_subjects import KINDS, with_blocks
from _tools import table

import diffnb as dn

LEVEL = 0.05
#: frames of one label; the block length is about 40 frames
STRETCHES = (30, 60, 120)
#: share of the variance of 25 parcels that a signal has which they share in one condition
SHARES = (0.3, 0.5)


def labelled_run(series: np.ndarray, stretch: int, seed: int) -> ad.AnnData:
    """Label stretches of a run at random: nothing differs but time."""
    number = np.arange(len(series)) // stretch
    labels = np.random.default_rng(seed).permutation(np.arange(number.max() + 1) % 2)
    return dn.datasets.from_parcels([series], conditions=[np.where(labels[number] == 1, "B", "A")])


def scored(adata: ad.AnnData, sample_key: str | None) -> tuple[np.ndarray, bool]:
    """Raw and adjusted p-values (kinds × parcels × 2), and whether the call warned that stretches are too few."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dn.tl.scorecard(adata, "condition", sample_key=sample_key)
    found = dn.get.scorecard(adata).loc[adata.var_names]
    values = np.array([[found[f"{kind}_{p}"] for p in ("pval", "pval_adj")] for kind in KINDS])
    return values.transpose(0, 2, 1), any("drifts with time" in str(w.message) for w in caught)


def level_of(runs: Sequence[np.ndarray], unit: str, stretch: int, seeds: int) -> list[list[object]]:
    found, warned, refused = [], 0, 0
    for number, seed in product(range(len(runs)), range(seeds)):
        adata = labelled_run(runs[number], stretch, 1000 * number + seed)
        try:
            adata = with_blocks(adata) if unit == "blocks" else adata
        except ValueError:  # too few blocks
            refused += 1
            continue
        values, is_warned = scored(adata, "block" if unit == "blocks" else None)
        found.append((values <= LEVEL).mean(axis=1))
        warned += is_warned
    if not found:
        return []
    rows = []
    for kind, (raw, called) in zip(KINDS, np.array(found).transpose(1, 2, 0), strict=True):
        counts = [f"{(called > 0).sum()} of {len(called)}", called.mean(), called.max(), warned, refused]
        rows.append([unit, stretch, kind, raw.mean(), *counts])
    return rows


def power_of(runs: Sequence[np.ndarray], share: float) -> list[object]:
    """Share of the parcels that share a signal, and of the others, whose connectivity is called."""
    found = []
    for number, run in enumerate(runs):
        adata = with_blocks(with_shared_signal(labelled_run(run, STRETCHES[1], 5000 + number), "B", share, number))
        called = scored(adata, "block")[0][KINDS.index("connectivity"), :, 1] <= LEVEL
        planted = adata.var["planted"].to_numpy()
        found.append([called[planted].mean(), called[~planted].mean(), called[planted].any()])
    planted, others, some = np.array(found).T
    return [share, len(runs), planted.mean(), others.mean(), f"{int(some.sum())} of {len(runs)}"]


def report(seeds: int, *, quick: bool = False) -> None:
    """Share of parcels with a small p-value, with frames and with blocks as units; planted signals."""
    few = 2 if quick else None
    runs, regional = new_resting_runs()[:few], regional_resting_runs()[:few]
    head = ["unit", "frames of one label", "column", "raw p ≤ .05", "analyses with any call"]
    head += ["parcels called", "at most", "warned", "refused"]
    rows = level_of(runs, "frames", STRETCHES[1], 1)
    rows += [row for stretch in STRETCHES for row in level_of(runs, "blocks", stretch, seeds)]
    table(f"{len(runs)} resting runs, random labels of stretches", head, rows)
    rows = [row for stretch in STRETCHES for row in level_of(regional, "blocks", stretch, 2 * seeds)]
    table(f"{len(regional)} resting runs with 94 regions, random labels of stretches", head, rows)
    head = ["share of variance", "runs", "planted parcels called", "others called", "runs with a planted one"]
    table("25 parcels of 360 share a signal in one condition", head, [power_of(runs, share) for share in SHARES])
