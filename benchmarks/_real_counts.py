"""Part `counts` of `real.py`: correlations corrected for counting noise and depth, beside thinning and as they are."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import anndata as ad
import numpy as np
import scanpy as sc
from _counted_modules import MODULE, OTHERS, SHARED, Simulated
from _real_cells import control_cells, halves
from _tools import ROOT, table

import diffnb as dn
from diffnb.core.arrays.count_correlations import count_correlations
from diffnb.core.arrays.count_moments import Counts

WAYS = ("plain", "match_depth", "counts")
#: correlation of log expression within modules, and depth of B relative to A: strong modules show false calls, weak
#: ones power
MODULES = ((0.5, 1.0), (0.5, 3.0), (0.3, 1.0), (0.3, 3.0))
#: genes of the comparison of estimates
N_COMPARED = 200


def connectivity(adata: ad.AnnData, groupby: str, way: str, seed: int, sample_key: str | None = None):
    """Raw and adjusted p-values of connectivity, NaN where a gene is masked."""
    adata = adata.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if way == "match_depth":
            dn.pp.match_depth(adata, groupby, sample_key=sample_key, random_state=seed)
        sc.pp.normalize_total(adata, target_sum=1e4)
        sc.pp.log1p(adata)
        counts = "counts" if way == "counts" else None
        dn.tl.scorecard(adata, groupby, sample_key=sample_key, counts=counts, random_state=seed)
    found = dn.get.scorecard(adata).reindex(adata.var_names)
    return found["connectivity_pval"].to_numpy(), found["connectivity_pval_adj"].to_numpy()


def report(seeds: int, quick: bool = False) -> None:
    """Print all tables."""
    simulated_modules(seeds)
    if quick:
        return
    real_splits(seeds)
    estimates()


def simulated_modules(seeds: int) -> None:
    """Share of the genes called of a module that both conditions have, and of one that only B has."""
    rows = []
    for units, n_cells, n_donors in (("cells", 800, 1), ("donors", 1200, 6)):
        for rho, ratio in MODULES:
            for way in WAYS:
                shares = []
                for seed in range(seeds):
                    drawn = Simulated(seed, rho=rho, depth_ratio=ratio, n_cells=n_cells, n_donors=n_donors).draw()
                    sample_key = "donor" if n_donors > 1 else None
                    called = connectivity(drawn, "condition", way, seed, sample_key)[1] < 0.05
                    shares.append([called[where].mean() for where in (SHARED, MODULE, OTHERS)])
                rows.append([units, rho, f"{ratio:.0f} : 1", way, *np.mean(shares, axis=0)])
    head = ["units", "log correlation", "depth B : A", "", "shared module", "module of B only", "other genes"]
    table(f"Simulated modules, {seeds} seeds: share of genes called in connectivity", head, rows)


def real_splits(seeds: int) -> None:
    """Control cells in halves that differ in depth only: what connectivity calls."""
    cells = control_cells()
    totals = np.asarray(cells.X.sum(axis=1)).ravel()
    rows = []
    for seed in range(seeds):
        labels = np.random.default_rng(seed).random(cells.n_obs) < 0.5
        for kept in (1.0, 0.8, 0.5):
            split = halves(cells, labels, np.where(labels, kept, 1.0), seed)
            rows += [
                [f"random, B at {kept:.0%}", seed, way, *_summary(split, way, seed)] for way in ("plain", "counts")
            ]
    by_total = halves(cells, totals > np.median(totals))
    rows += [["by total counts", 0, way, *_summary(by_total, way, 0)] for way in WAYS]
    head = ["split of control cells", "seed", "", "p < .05", "adjusted < .05", "masked genes"]
    table("Nothing differs but depth: share of genes in connectivity", head, rows)


def _summary(split: ad.AnnData, way: str, seed: int) -> list[float]:
    pval, adjusted = connectivity(split, "half", way, seed)
    return [np.nanmean(pval < 0.05), np.mean(adjusted < 0.05), int(np.isnan(pval).sum())]


def estimates() -> None:
    """Print the error of estimated correlations at two depths, beside packages that are installed."""
    within = np.zeros((N_COMPARED, N_COMPARED), dtype=bool)
    within[SHARED, SHARED] = True
    off = ~np.eye(N_COMPARED, dtype=bool)
    rows = []
    for depth in (1000.0, 3000.0):
        drawn = Simulated(0, depth=depth, n_cells=3000).draw()
        drawn = drawn[drawn.obs["condition"] == "A"]
        counts = drawn.X.toarray()
        order = np.r_[
            SHARED, np.argsort(-counts[:, SHARED.stop :].mean(axis=0))[: N_COMPARED - SHARED.stop] + SHARED.stop
        ]
        truth = np.corrcoef(drawn.layers["expression"][:, order], rowvar=False)
        ours = corrected(counts, order)
        found = {"Pearson of log-normalised": pearson(counts, order), "diffnb": ours, **peers(counts, order)}
        for name, rho in found.items():
            if isinstance(rho, str):
                rows.append([f"{depth:.0f}", name, rho, "", "", "", ""])
                continue
            known = np.isfinite(rho) & off
            inside, outside = known & within, known & ~within
            difference = np.abs(rho - ours)[known & np.isfinite(ours)]
            rows.append(
                [
                    f"{depth:.0f}",
                    name,
                    float(np.mean((rho - truth)[inside])),
                    float(np.sqrt(np.mean((rho - truth)[inside] ** 2))),
                    float(np.sqrt(np.mean((rho - truth)[outside] ** 2))),
                    float(np.median(difference)),
                    f"{known.sum() / off.sum():.0%}",
                ]
            )
    head = ["depth", "estimate", "bias in module", "error in module", "error elsewhere", "median |Δ| to ours", "pairs"]
    table(f"Correlations of {N_COMPARED} genes in 3,000 cells against those of expression itself", head, rows)


def corrected(counts: np.ndarray, order: np.ndarray) -> np.ndarray:
    totals = counts.sum(axis=1)
    found = count_correlations([Counts(counts[:, order], totals / totals.mean())])
    rho = found.gram(slice(0, len(order)))
    rho[~found.is_positive] = rho[:, ~found.is_positive] = np.nan
    return rho


def pearson(counts: np.ndarray, order: np.ndarray) -> np.ndarray:
    logged = np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True))
    return np.corrcoef(logged[:, order], rowvar=False)


def peers(counts: np.ndarray, order: np.ndarray) -> dict[str, np.ndarray | str]:
    """Correlations of other packages, each in a process of the Python in DIFFNB_PEERS, or why there are none."""
    python = os.environ.get("DIFFNB_PEERS", sys.executable)
    found: dict[str, np.ndarray | str] = {}
    for name in ("memento", "bigsur"):
        with tempfile.TemporaryDirectory() as folder:
            data, out = Path(folder) / "data.npz", Path(folder) / "rho.npy"
            np.savez(data, counts=counts, order=order)
            command = [python, str(ROOT / "_count_peers.py"), name, str(data), str(out)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            failed = done.stderr.strip().splitlines()[-1:] or ["no result"]
            found[name] = np.load(out) if out.exists() else failed[0][:80]
    return found
