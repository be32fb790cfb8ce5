"""Parts `level` and `order` of `scorecard.py`: what the scorecard calls where nothing differs, and what it hangs on."""

from __future__ import annotations

from collections.abc import Callable

import anndata as ad
import numpy as np
import scanpy as sc
from _tools import DATA, table
from scipy import stats
from scipy.io import loadmat

from diffnb.core.scorecard import KINDS, NONE, fit_scorecard

#: observations of both conditions
GROUPS = ((5, 5), (5, 30), (10, 10), (20, 20), (40, 40), (20, 200))
N_FEATURES, N_GENES = 20, 200
LEVEL = 0.05

Draw = Callable[[int, np.random.Generator], np.ndarray]


def correlated(n: int, rng: np.random.Generator) -> np.ndarray:
    """Half of the features share a factor, ρ = .5."""
    x = rng.normal(size=(n, N_FEATURES))
    x[:, : N_FEATURES // 2] = (x[:, : N_FEATURES // 2] + rng.normal(size=(n, 1))) / np.sqrt(2)
    return x


DISTRIBUTIONS: dict[str, Draw] = {
    "normal": lambda n, rng: rng.normal(size=(n, N_FEATURES)),
    "t, 2 df": lambda n, rng: rng.standard_t(2, size=(n, N_FEATURES)),
    "zero-inflated, 70 % zeros": lambda n, rng: (
        rng.normal(2, 1, size=(n, N_FEATURES)) * (rng.random((n, N_FEATURES)) < 0.3)
    ),
    "log-normal": lambda n, rng: rng.lognormal(0, 1, size=(n, N_FEATURES)),
    "sparse counts, mean .2": lambda n, rng: rng.poisson(0.2 * rng.gamma(1, 1, size=(n, N_FEATURES))).astype(float),
    "correlated, ρ = .5": correlated,
}


def blood_cells() -> np.ndarray:
    """Control cells of Kang et al.: genes seen in 2 to 100 % of the cells, in logarithms."""
    adata = ad.read_h5ad(DATA / "kang" / "PBMC_control.h5ad")
    sc.pp.filter_genes(adata, min_cells=adata.n_obs // 50)
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    return np.asarray(adata.X.toarray(), dtype=float)


def brain_cells() -> np.ndarray:
    """Cells of Zeisel et al., in logarithms as shipped."""
    stored = loadmat(DATA / "zeisel" / "zeisel_data.mat")
    x = max((v for v in stored.values() if isinstance(v, np.ndarray)), key=np.size)
    return np.asarray(x if x.shape[0] < x.shape[1] else x.T, dtype=float)


def subsets(x: np.ndarray) -> Draw:
    """Draw cells without replacement; one draw makes both conditions, so that they do not share cells."""

    def draw(n: int, rng: np.random.Generator) -> np.ndarray:
        genes = rng.choice(x.shape[1], N_GENES, replace=False)
        return x[np.ix_(rng.choice(len(x), n, replace=False), genes)]

    return draw


def level(n_replicates: int, n_real: int) -> list[dict[str, object]]:
    """Shares of features with p < .05 and of data sets with a kind named, where both conditions are one population."""
    real = {"Kang control cells": blood_cells, "Zeisel cells": brain_cells} if DATA.is_dir() else {}
    sources = [(name, draw, n_replicates) for name, draw in DISTRIBUTIONS.items()]
    sources += [(name, subsets(load()), n_real) for name, load in real.items()]
    rows = [_level(name, draw, sizes, count) for name, draw, count in sources for sizes in GROUPS]
    for bound_of, count in (("simulated", n_replicates), ("real", n_real)):
        low, high = (v / count for v in stats.binom.interval(0.998, count, LEVEL))
        print(f"\nbounds of one feature in {count} {bound_of} data sets (99.8 %): {low:.3f} to {high:.3f}")
    table(
        "Share of p < .05 where nothing differs (– not available), and of data sets with a kind named",
        ["data", "n", *KINDS, "lowest p", "any kind"],
        [[row[name] for name in ("data", "n", *KINDS, "lowest p", "any kind")] for row in rows],
    )
    return rows


def _level(name: str, draw: Draw, sizes: tuple[int, int], count: int) -> dict[str, object]:
    rejected, named, lowest = [], [], 1.0
    for seed in range(count):
        both = draw(sum(sizes), np.random.default_rng([seed, *sizes]))
        both = both[:, np.ptp(both, axis=0) > 0]
        fit = fit_scorecard(both[: sizes[0]], both[sizes[0] :])
        known = np.isfinite(fit.pval)
        share = np.sum((fit.pval < LEVEL) & known, axis=0) / np.maximum(known.sum(axis=0), 1)
        rejected.append(np.where(known.any(axis=0), share, np.nan))
        named.append(bool((fit.kind != NONE).any()))
        lowest = min(lowest, float(np.nanmin(fit.pval[:, :3])))
    mean = [float(np.nanmean(c)) if np.isfinite(c).any() else float("nan") for c in np.transpose(rejected)]
    shown = {kind: "–" if np.isnan(value) else round(value, 4) for kind, value in zip(KINDS, mean, strict=True)}
    n = f"{sizes[0]} + {sizes[1]}"
    print(name, n, *shown.values(), f"{np.mean(named):.3f}", flush=True)
    return {"data": name, "n": n, **shown, "lowest p": lowest, "any kind": float(np.mean(named))}


def order(n_orders: int) -> list[dict[str, object]]:
    """Range of p-values of connectivity over orders of rows and of conditions, in random halves of real cells."""
    rows = []
    for name, x in (("Kang control cells", blood_cells()), ("Zeisel cells", brain_cells())):
        rng = np.random.default_rng(0)
        genes = rng.choice(x.shape[1], 500, replace=False)
        cells = rng.permutation(len(x))
        halves = [x[np.ix_(own, genes)] for own in np.array_split(cells, 2)]
        varies = np.all([np.ptp(own, axis=0) > 0 for own in halves], axis=0)
        first, second = (own[:, varies] for own in halves)
        found = [fit_scorecard(rng.permutation(first), rng.permutation(second)).pval for _ in range(n_orders)]
        found += [fit_scorecard(second, first).pval]
        ranges = np.ptp(found, axis=0)
        fit = fit_scorecard(first, second)
        rows.append(
            {
                "data": name,
                "largest range of p": float(ranges.max()),
                **{f"p < .05, {kind}": float(np.mean(fit.pval[:, i] < LEVEL)) for i, kind in enumerate(KINDS)},
                "features with a kind": int(np.sum(fit.kind != NONE)),
            }
        )
    table("Orders of rows and of conditions", list(rows[0]), [list(row.values()) for row in rows])
    return rows
