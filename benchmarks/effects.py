"""Coverage of the 95 % intervals of `get.effects` over kinds of data: python benchmarks/effects.py [--seeds N].

Populations are real data where there are some: cells of both conditions (Kang et al.), of which samples are drawn
with replacement, so that the true effects are those of all cells. Simulated ones have known effects.
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from pathlib import Path

import anndata as ad
import numpy as np
import scanpy as sc
from _tools import DATA, table

from diffnb.core.scorecard import Effects, design, fit_effects

N_FEATURES = 60
SIZES = ((50, 50), (300, 200), (1000, 1000))
EFFECTS = ("mean", "log2_fold_change", "spread", "distribution")


def truth(x: np.ndarray, y: np.ndarray, is_log1p: bool, share: float) -> dict[str, np.ndarray]:
    """Effects of whole populations; `share` is that of the group among the observations that are drawn."""
    linear = [np.expm1(each) if is_log1p else each for each in (x, y)]
    spread = [np.abs(each - np.median(each, axis=0)).mean(axis=0) for each in (x, y)]
    levels = (np.arange(2000) + 0.5) / 2000
    distance = np.abs(np.quantile(x, levels, axis=0) - np.quantile(y, levels, axis=0)).mean(axis=0)
    sd = np.sqrt(share * x.var(axis=0) + (1 - share) * y.var(axis=0))
    with np.errstate(all="ignore"):
        return {
            "mean": x.mean(axis=0) - y.mean(axis=0),
            "log2_fold_change": np.log2(linear[0].mean(axis=0) / linear[1].mean(axis=0)),
            "spread": spread[0] / spread[1],
            "distribution": distance / sd,
        }


def covered(found: Effects, true: dict[str, np.ndarray], counts: dict[str, list[float]]) -> None:
    for name in EFFECTS:
        interval = getattr(found, name)
        known = np.isfinite(interval.low) & np.isfinite(true[name])
        inside = (interval.low <= true[name] + 1e-9) & (true[name] - 1e-9 <= interval.high)
        counts[name] += inside[known].tolist()


def cells() -> tuple[np.ndarray, np.ndarray]:
    """Control and stimulated cells, log counts of frequent genes."""
    parts = [ad.read_h5ad(DATA / "kang" / f"PBMC_{name}.h5ad") for name in ("interferon-stimulated", "control")]
    for part in parts:
        part.var_names = part.var_names.astype(str)
        part.var_names_make_unique()
        sc.pp.normalize_total(part, target_sum=1e4)
        sc.pp.log1p(part)
    shared = parts[0].var_names.intersection(parts[1].var_names)
    dense = [np.asarray(part[:, shared].X.toarray(), dtype=float) for part in parts]
    frequent = np.argsort(-np.min([(x > 0).mean(axis=0) for x in dense], axis=0))[: 10 * N_FEATURES : 10]
    return dense[0][:, frequent], dense[1][:, frequent]


def on_population(name: str, x: np.ndarray, y: np.ndarray, is_log1p: bool, seeds: int) -> list[list[object]]:
    rows: list[list[object]] = []
    for n, m in SIZES:
        counts: dict[str, list[float]] = defaultdict(list)
        true = truth(x, y, is_log1p, n / (n + m))
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            drawn = x[rng.integers(len(x), size=n)], y[rng.integers(len(y), size=m)]
            covered(fit_effects(*drawn, is_log1p=is_log1p), true, counts)
        rows.append([name, f"{n} and {m}", *(float(np.mean(counts[e])) if counts[e] else "-" for e in EFFECTS), "-"])
        print(rows[-1], flush=True)
    return rows


def of_donors(seeds: int) -> list[list[object]]:
    """Donors as units: every donor has a mean of its own."""
    rows: list[list[object]] = []
    for n_donors in (4, 8):
        counts: dict[str, list[float]] = defaultdict(list)
        shift, ratio = 0.8, 1.5
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            of = np.repeat(np.arange(n_donors), 40)
            x, y = (
                rng.normal(size=(n_donors, N_FEATURES))[of] * 0.4 + s * rng.normal(size=(of.size, N_FEATURES))
                for s in (ratio, 1.0)
            )
            found = fit_effects(x + shift, y, samples=design(of, of + n_donors))
            ones = np.ones(N_FEATURES)
            nothing = np.full(N_FEATURES, np.nan)
            true = {"mean": shift * ones, "spread": ratio * ones}
            covered(found, {"log2_fold_change": nothing, "distribution": nothing, **true}, counts)
        rows.append(
            ["donors", f"{n_donors} each", *(float(np.mean(counts[e])) if counts[e] else "-" for e in EFFECTS), "-"]
        )
        print(rows[-1], flush=True)
    return rows


def connectivity(seeds: int) -> list[list[object]]:
    """Measure a module of eight features that is connected in one condition only, of Gaussian and of skewed data."""
    rows: list[list[object]] = []
    for name in ("Gaussian", "skewed"):
        draw = np.random.Generator.normal if name == "Gaussian" else np.random.Generator.standard_exponential
        counts, called = [], []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            x, y = draw(rng, size=(400, N_FEATURES)), draw(rng, size=(300, N_FEATURES))
            x[:, :8] += draw(rng, size=(400, 1))
            found = fit_effects(x, y).connectivity
            own = np.isfinite(found.low[:8])
            counts += ((found.low[:8] <= 0.5) & (found.high[:8] >= 0.5))[own].tolist()
            called += np.isfinite(found.estimate[8:]).tolist()
        rows.append([f"module, {name}", "400 and 300", "-", "-", "-", "-", float(np.mean(counts))])
        print(rows[-1], f"others with an effect: {np.mean(called):.3f}", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=40)
    seeds = parser.parse_args().seeds
    rng = np.random.default_rng(1)
    size = (20_000, N_FEATURES)
    rows = on_population("Gaussian", 1.5 * rng.normal(size=size) + 0.5, rng.normal(size=size), False, seeds)
    rows += on_population(
        "exponential", 1.3 * rng.exponential(size=size) + 0.3, rng.exponential(size=size), False, seeds
    )
    rows += on_population("nothing differs", rng.gamma(2, size=size), rng.gamma(2, size=size), False, seeds)
    if Path(os.fspath(DATA)).is_dir():
        rows += on_population("cells, stimulated and control", *cells(), True, seeds)
    rows += of_donors(seeds) + connectivity(seeds)
    table("Share of 95 % intervals that hold the truth", ["data", "observations", *EFFECTS, "connectivity"], rows)


if __name__ == "__main__":
    main()
