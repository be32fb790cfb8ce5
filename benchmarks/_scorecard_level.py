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
from diffnb.core.scorecard.card import adjusted_and_named
from diffnb.core.scorecard.connectivity import connectivity_test
from diffnb.core.scorecard.marginal import marginal_tests
from diffnb.core.scorecard.small_groups import compare_small_groups, needs_permutations

#: observations of both conditions
GROUPS = ((5, 5), (5, 30), (10, 10), (40, 40), (20, 200))
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


def level(n_replicates: int, n_real: int, n_connected: int) -> list[dict[str, object]]:
    """Shares of features with p < .05 and of data sets with a kind named, where both conditions are one population.

    Connectivity, which takes most of the time, is tested in the first `n_connected` data sets of each.
    """
    real = {"Kang control cells": blood_cells, "Zeisel cells": brain_cells} if DATA.is_dir() else {}
    sources = [(name, draw, n_replicates) for name, draw in DISTRIBUTIONS.items()]
    sources += [(name, subsets(load()), n_real) for name, load in real.items()]
    rows = [_level(name, draw, sizes, count, n_connected) for name, draw, count in sources for sizes in GROUPS]
    for count in (n_replicates, n_real, n_connected):
        low, high = (v / count for v in stats.binom.interval(0.998, count, LEVEL))
        print(f"\nbounds of one feature in {count} data sets (99.8 %): {low:.3f} to {high:.3f}")
    columns = ["data", "n", *KINDS, "before: mean", "any kind"]
    table(
        "Share of p < .05 where nothing differs (– not available), and of data sets with a kind named",
        columns,
        [[row[name] for name in columns] for row in rows],
    )
    return rows


def _level(name: str, draw: Draw, sizes: tuple[int, int], count: int, n_connected: int) -> dict[str, object]:
    data = []
    for seed in range(count):
        both = draw(sum(sizes), np.random.default_rng([seed, *sizes]))
        data.append(both[:, np.ptp(both, axis=0) > 0])
    ends = np.cumsum([x.shape[1] for x in data])[:-1]
    stacked = np.concatenate(data, axis=1)
    halves = stacked[: sizes[0]], stacked[sizes[0] :]
    compare = compare_small_groups if needs_permutations(*sizes) else None
    tests = marginal_tests(*halves, compare=compare)
    marginal = [np.stack([t.stat, t.pval]) for t in (tests.mean, tests.spread, tests.distribution)]
    each = np.split(np.stack(marginal, axis=-1), ends, axis=1)
    connected = [connectivity_test(x[: sizes[0]], x[sizes[0] :]) for x in data[:n_connected]]
    named = []
    for (stat, pval), test in zip(each, connected, strict=False):
        stat, pval = np.column_stack([stat, test.stat]), np.column_stack([pval, test.pval])
        named.append(bool((adjusted_and_named(stat, pval)[1] != NONE).any()))
    shares = [float(np.mean(own[1] < LEVEL)) for own in marginal]
    pvals = np.concatenate([test.pval for test in connected])
    shares.append(float(np.mean(pvals[np.isfinite(pvals)] < LEVEL)) if np.isfinite(pvals).any() else np.nan)
    shown = {kind: "–" if np.isnan(value) else round(value, 3) for kind, value in zip(KINDS, shares, strict=True)}
    formulas = float(np.mean(marginal_tests(*halves).mean.pval < LEVEL))
    row = {"data": name, "n": f"{sizes[0]} + {sizes[1]}", **shown, "before: mean": round(formulas, 3)}
    row["any kind"] = float(np.mean(named))
    print(*row.values(), flush=True)
    return row


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
