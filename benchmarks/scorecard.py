"""Whether the scorecard finds what was planted and rejects at its level, and how long it takes.

Run `python benchmarks/scorecard.py`; it prints tables and writes `benchmarks/results/scorecard.json`.
`--quick` takes fewer seeds. `--only level` tests small and unequal groups, simulated and of real cells, where nothing
differs; `--only order` permutes rows and conditions.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median

import anndata as ad
import numpy as np
import pandas as pd
import scipy.sparse as sp
from _scorecard_level import level, order
from _tools import save
from scipy import stats

from diffnb.core.scorecard import KINDS, fit_scorecard
from diffnb.tl._scorecard import scorecard as tl_scorecard

RESULTS = Path(__file__).parent / "results" / "scorecard.json"
SHIFTED, WIDER, NEW, SHARED, NULL = (
    slice(80, 110),
    slice(110, 130),
    slice(0, 40),
    slice(40, 80),
    slice(130, None),
)
SIZES = ((30, 30, 50), (30, 30, 500), (200, 60, 500), (1000, 1000, 50), (1000, 1000, 500), (1000, 1000, 2000))


def planted(seed: int, n: int = 1000, p: int = 500) -> tuple[np.ndarray, np.ndarray]:
    """Draw A and B: 40 features correlated in B only (ρ = .4), 40 in both, 30 shifted by .3, 20 × 1.5."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n, p))
    connect(b, NEW, rng)
    connect(a, SHARED, rng)
    connect(b, SHARED, rng)
    b[:, SHIFTED] += 0.3
    b[:, WIDER] *= 1.5
    return a, b


def connect(x: np.ndarray, where: slice, rng: np.random.Generator, rho: float = 0.4) -> None:
    x[:, where] = np.sqrt(rho) * rng.normal(size=(len(x), 1)) + np.sqrt(1 - rho) * x[:, where]


def independent(n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(n, p))


def modules(n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    """Five modules shared by both conditions, ρ = .4."""
    x = rng.normal(size=(n, p))
    size = min(40, p // 5)
    for start in range(0, 5 * size, size):
        connect(x, slice(start, start + size), rng)
    return x


def heavy_tails(n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    """Student's t with four degrees of freedom, and a module that is elliptical with five."""
    x = rng.standard_t(4, size=(n, p))
    size = min(40, p // 5)
    module = rng.normal(size=(n, size))
    connect(module, slice(None), rng)
    x[:, :size] = module / np.sqrt(rng.chisquare(5, size=(n, 1)) / 5)
    return x


def log_counts(n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    """Negative binomial counts, about two thirds zeros, library sizes divided out, logarithms taken."""
    means = np.random.default_rng(p).gamma(0.6, 1.0, size=p) + 0.02  # the same in both conditions
    library = rng.lognormal(0, 0.3, size=(n, 1))
    counts = rng.poisson(means * library * rng.gamma(2, 0.5, size=(n, p)))
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return np.log1p(counts / total * np.median(total))


GENERATORS: dict[str, Callable[[int, int, np.random.Generator], np.ndarray]] = {
    "independent Gaussian": independent,
    "correlated modules": modules,
    "heavy tails": heavy_tails,
    "log counts, many zeros": log_counts,
}


def auroc(scores: np.ndarray, others: np.ndarray) -> float:
    return float(np.mean(scores[:, None] > others) + 0.5 * np.mean(scores[:, None] == others))


def recovery(n_seeds: int) -> list[dict[str, float]]:
    rows = []
    for seed in range(n_seeds):
        a, b = planted(seed)
        card = fit_scorecard(b, a)
        size = np.abs(card.stat)
        mean, spread, _, related = size.T
        rows.append(
            {
                "mean": auroc(mean[SHIFTED], mean[NULL]),
                "spread": auroc(spread[WIDER], spread[NULL]),
                "distribution": auroc(size[SHIFTED, 2], size[NULL, 2]),
                "connectivity": auroc(related[NEW], related[NULL]),
                "shared module": auroc(card.stat[SHARED, 3], card.stat[NULL, 3]),
                "shifted in connectivity": auroc(card.stat[SHIFTED, 3], card.stat[NULL, 3]),
                "wider in connectivity": auroc(card.stat[WIDER, 3], card.stat[NULL, 3]),
                **{f"null {k}": float(np.mean(card.pval[NULL, i] < 0.05)) for i, k in enumerate(KINDS)},
            }
        )
    return rows


def calibration(n_seeds: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for name, draw in GENERATORS.items():
        for n, m, p in SIZES:
            rejected, far = [], []
            for seed in range(n_seeds if p < 2000 else max(3, n_seeds // 4)):
                rng = np.random.default_rng([seed, n, m, p])
                b, a = draw(n, p, rng), draw(m, p, rng)
                varies = np.ptp(np.concatenate([a, b]), axis=0) > 0
                pval = fit_scorecard(b[:, varies], a[:, varies]).pval
                rejected.append([np.nanmean(column[~np.isnan(column)] < 0.05) for column in pval.T])
                far.append([np.nanmean(column[~np.isnan(column)] < 0.001) for column in pval.T])
            rows.append(
                {
                    "data": name,
                    "n": f"{n}+{m}",
                    "p": p,
                    "at 0.05": dict(zip(KINDS, np.mean(rejected, axis=0).round(4).tolist(), strict=True)),
                    "at 0.001": dict(zip(KINDS, np.mean(far, axis=0).round(5).tolist(), strict=True)),
                }
            )
            print(
                f"  {name:24s} {n}+{m}, p = {p:<5d}",
                *(f"{v:7.3f}" for v in np.mean(rejected, axis=0)),
                flush=True,
            )
    return rows


def speed(repeats: int, p: int = 2000) -> list[dict[str, object]]:
    """CPU time beside scanpy's Wilcoxon on the same AnnData, turn by turn."""
    import scanpy as sc

    rng = np.random.default_rng(0)
    rows: list[dict[str, object]] = []
    for name in ("independent Gaussian", "log counts, many zeros", "log counts, sparse"):
        draw = GENERATORS.get(name, log_counts)
        x = np.concatenate([draw(1000, p, rng), draw(1000, p, rng)])
        condition = pd.Categorical(np.repeat(["A", "B"], 1000))
        obs = pd.DataFrame({"condition": condition}, index=[str(i) for i in range(2000)])
        adata = ad.AnnData(sp.csr_matrix(x) if "sparse" in name else x, obs=obs)
        ours, theirs = [], []
        for _ in range(repeats + 1):  # the first one compiles and warms up
            start = time.process_time()
            sc.tl.rank_genes_groups(adata, "condition", method="wilcoxon", groups=["B"], reference="A")
            middle = time.process_time()
            tl_scorecard(adata, "condition")
            theirs.append(middle - start)
            ours.append(time.process_time() - middle)
        times = median(ours[1:]), median(theirs[1:])
        ratio = median(o / t for o, t in zip(ours[1:], theirs[1:], strict=True))
        rows.append({"data": name, "p": p, "scorecard": times[0], "wilcoxon": times[1], "ratio": ratio})
        print(f"  {name:24s} {times[0]:.2f} s, Wilcoxon {times[1]:.2f} s: {ratio:.1f} ×")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer seeds")
    parser.add_argument("--only", choices=("level", "order"), help="one part, in a file of its own")
    args = parser.parse_args()
    quick = args.quick
    warnings.simplefilter("ignore")
    if args.only:
        found = (
            level(*((100, 20, 100) if quick else (500, 50, 500))) if args.only == "level" else order(3 if quick else 10)
        )
        save(f"scorecard_{args.only}", found)
        return
    n_seeds = 5 if quick else 20
    low, high = (float(v) / 370 for v in stats.binom.interval(0.998, 370, 0.05))
    found = recovery(n_seeds)
    table = pd.DataFrame(found)
    print(f"Planted differences, n = 1000 + 1000, p = 500, {n_seeds} seeds (AUROC against null features)")
    print(table.agg(["min", "mean", "max"]).T.round(3).to_string())
    print(f"  binomial bounds of a share of 370 null features: {low:.3f} to {high:.3f}")
    print("Share of null features with p < 0.05: mean, spread, distribution, connectivity")
    calibrated = calibration(4 if quick else 20)
    print("CPU time at p = 2000, n = 1000 + 1000")
    timed = speed(3 if quick else 7)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(
        json.dumps({"planted": found, "calibration": calibrated, "speed": timed}, indent=1), encoding="utf-8"
    )
    print(f"written to {RESULTS.relative_to(Path(__file__).parent.parent)}")


if __name__ == "__main__":
    main()
