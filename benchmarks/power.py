"""Predicted power against power in new data: python benchmarks/power.py [--seeds N].

A pilot of 300 control cells of Kang et al. predicts; studies of all other cells, with groups planted in the same way,
tell the power that is predicted.
"""

from __future__ import annotations

import argparse
import warnings

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
from _real_cells import control_cells
from _tools import table

import diffnb as dn
from diffnb.core.scorecard import connectivity_test, planted_order
from diffnb.core.stats.pvalues import adjusted

N_PILOT, N_FEATURES = 300, 300
SIZES = (60, 150, 400, 900)


def true_power(x: np.ndarray, n: int, size: int, correlation: float, seeds: int) -> float:
    """Draw two disjoint sets of new cells, connect a group in one of them, and count what is called."""
    shares = []
    for seed in range(seeds):
        rng = np.random.default_rng(1000 + seed)
        rows = rng.permutation(len(x))[: 2 * n]
        group, reference = x[rows[:n]].copy(), x[rows[n:]].copy()
        members = rng.choice(x.shape[1], size, replace=False)
        group[:, members] = planted_order(group[:, members], np.zeros(n, dtype=int), correlation, rng)
        reference[:, members] = planted_order(reference[:, members], np.zeros(n, dtype=int), 0.0, rng)
        pval = connectivity_test(group, reference).pval
        shares.append((np.nan_to_num(adjusted(pval), nan=1.0) < 0.05)[members].mean())
    return float(np.mean(shares))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    seeds = parser.parse_args().seeds
    adata = control_cells()
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    frequent = np.argsort(-np.asarray((adata.X > 0).mean(axis=0)).ravel())[: 3 * N_FEATURES : 3]
    x = adata.X[:, frequent].toarray().astype(float)
    order = np.random.default_rng(0).permutation(len(x))
    rows = []
    for size, correlation in ((15, 0.3), (30, 0.3), (15, 0.6), (30, 0.6)):
        # a second condition has to be there; none of its cells are drawn
        labels = ["pilot"] * N_PILOT + ["other"] * 8
        obs = pd.DataFrame({"condition": labels}, index=[f"cell{i}" for i in range(len(labels))])
        both = ad.AnnData(x[order[: len(labels)]], obs=obs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = {"group_size": size, "correlation": correlation, "n_units": SIZES, "n_simulations": seeds}
            dn.tl.power(both, "condition", reference="pilot", **given)
        predicted = dn.get.power(both)
        for row in predicted.itertuples():
            true = true_power(x[order[N_PILOT:]], row.n_units, size, correlation, seeds)
            rows.append([size, correlation, row.measured, row.n_units, row.power, true, row.power - true, row.others])
            print(rows[-1], flush=True)
    head = ["features", "latent r", "measured r", "cells", "predicted", "in new cells", "difference", "others called"]
    table(f"Power from a pilot of {N_PILOT} cells", head, rows)


if __name__ == "__main__":
    main()
