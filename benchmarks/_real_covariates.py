"""Part `covariates` of `real.py`: a batch that is mixed 70:30 in two conditions, with and without other differences."""

from __future__ import annotations

import warnings
from typing import Any

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
import scipy.sparse as sp
from _real_cells import control_cells
from _tools import table
from scipy.stats import binomtest

import diffnb as dn
from diffnb.core.stats.thinning import thinned

KINDS = ("mean", "spread", "distribution", "connectivity")
SHARES = (0.7, 0.3)
#: simulated observations of each condition, features, and features that truly differ in each of three ways
N_OBS, N_FEATURES, N_PLANTED = 300, 300, 30
PLANTED_SHIFT, PLANTED_SCALE, PLANTED_LOADING = 0.35, 1.35, 0.6
#: permutation tests: data sets, observations, features, permutations
N_SETS_PER_SEED, N_OBS_TESTED, N_FEATURES_TESTED, N_PERMUTATIONS = 8, 60, 30, 19
#: DiSC alone: data sets, features of a group, and their loading
N_DISC_SETS_PER_SEED, N_CONNECTED, CONNECTED_LOADING = 40, 8, 0.7
#: observations of each condition, difference of a number between conditions, and its effect on log expression
NUMBERS = ((300, 0.5, 1.0), (600, 0.5, 1.0), (300, 1.0, 0.6))
#: genes that a batch affects, and the share of their counts that is left in it
SHARE_OF_GENES, COUNTS_LEFT = 0.3, 0.6
N_CELLS = 3000


def mixed(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Conditions of n observations each, and their batch in shares of 70:30."""
    in_b = np.repeat([False, True], n)
    return in_b, rng.random(2 * n) < np.where(in_b, SHARES[0], SHARES[1])


def annotated(x: np.ndarray, in_b: np.ndarray, late: np.ndarray) -> ad.AnnData:
    obs = {"condition": np.where(in_b, "B", "A"), "batch": np.where(late, "late", "early")}
    return ad.AnnData(x, obs=pd.DataFrame(obs, index=[f"o{i}" for i in range(x.shape[0])]).astype("category"))


def simulated(seed: int, *, planted: bool) -> tuple[ad.AnnData, ad.AnnData]:
    """Gaussian features in blocks, with the effect of a batch and without it."""
    rng = np.random.default_rng(seed)
    in_b, late = mixed(N_OBS, rng)
    x = rng.normal(size=(2 * N_OBS, N_FEATURES))
    x[:, -60:] += rng.normal(size=(2 * N_OBS, 1))  # shared by both conditions
    if planted:
        x[in_b, :N_PLANTED] += PLANTED_SHIFT
        x[in_b, N_PLANTED : 2 * N_PLANTED] *= PLANTED_SCALE
        own = slice(2 * N_PLANTED, 3 * N_PLANTED)
        x[in_b, own] += PLANTED_LOADING * rng.normal(size=(N_OBS, 1))
        x[in_b, own] /= np.sqrt(1 + PLANTED_LOADING**2)
    effect = rng.normal(size=N_FEATURES)
    return annotated(x + late[:, None] * effect, in_b, late), annotated(x, in_b, late)


def pvalues(adata: ad.AnnData, **options: Any) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dn.tl.scorecard(adata, "condition", **options)
    return dn.get.scorecard(adata)


def level_of_scorecard(seeds: int) -> None:
    rows = []
    for seed in range(seeds):
        confounded, oracle = simulated(seed, planted=False)
        for name, adata, options in (
            ("as it is", confounded, {}),
            ("covariates='batch'", confounded, {"covariates": "batch"}),
            ("no batch effect (oracle)", oracle, {}),
        ):
            found = pvalues(adata, **options)
            rows.append([name, *[float((found[f"{kind}_pval"] < 0.05).mean()) for kind in KINDS]])
    _averaged("Simulated, nothing differs but the batch: share of features with p < .05", rows)


def power_of_scorecard(seeds: int) -> None:
    differing = {
        "mean": slice(0, N_PLANTED),
        "spread": slice(N_PLANTED, 2 * N_PLANTED),
        "distribution": slice(0, 2 * N_PLANTED),
        "connectivity": slice(2 * N_PLANTED, 3 * N_PLANTED),
    }
    rows = []
    for seed in range(seeds):
        confounded, oracle = simulated(1000 + seed, planted=True)
        for name, adata, options in (
            ("covariates='batch'", confounded, {"covariates": "batch"}),
            ("no batch effect (oracle)", oracle, {}),
            ("no batch effect, covariates='batch'", oracle, {"covariates": "batch"}),
        ):
            found = pvalues(adata, **options)
            rows.append([name, *[float((found[f"{k}_pval"].iloc[w] < 0.05).mean()) for k, w in differing.items()]])
    _averaged("Simulated, planted differences: share of them with p < .05", rows)


def level_of_permutations(seeds: int) -> None:
    """PDA and DiSC, where nothing differs but the batch."""
    ways: dict[str, dict[str, Any]] = {
        "as it is": {},
        "covariates": {"covariates": "batch"},
        "permute_within": {"permute_within": "batch"},
        "both": {"covariates": "batch", "permute_within": "batch"},
    }
    rows = []
    for name, options in ways.items():
        found = [_permutation_pvalues(seed, options) for seed in range(N_SETS_PER_SEED * seeds)]
        shares = (np.array(found) <= 0.05).mean(axis=0)
        rows.append([name, len(found), *map(float, shares)])
    table(
        "Simulated, nothing differs but the batch: data sets with p ≤ .05",
        ["", "sets", "PDA", "DiSC A", "DiSC B"],
        rows,
    )


def _permutation_pvalues(seed: int, options: dict[str, Any]) -> list[float]:
    """P-values of PDA and of the first vectors of DiSC."""
    rng = np.random.default_rng(seed)
    in_b, late = mixed(N_OBS_TESTED, rng)
    x = rng.normal(size=(2 * N_OBS_TESTED, N_FEATURES_TESTED))
    adata = annotated(x + late[:, None] * rng.normal(size=N_FEATURES_TESTED), in_b, late)
    dn.tl.pda(adata, "condition", n_permutations=N_PERMUTATIONS, **options)
    dn.tl.disc(adata, "condition", standardize="global", n_permutations=N_PERMUTATIONS, **options)
    first = dn.get.disc_significance(adata).query("component == 1")["pval"]
    return [dn.get.sparda_summary(adata, key="pda")["pval"].iloc[0], *first]


def disc_at_scale(seeds: int) -> None:
    """DiSC alone in many more data sets, with a group of features that are connected in B only, and without."""
    ways: dict[str, tuple[bool, dict[str, Any]]] = {
        "as it is": (True, {}),
        "covariates": (True, {"covariates": "batch"}),
        "covariates, permute_within": (True, {"covariates": "batch", "permute_within": "batch"}),
        "no batch effect (oracle)": (False, {}),
    }
    rows = []
    n_sets = N_DISC_SETS_PER_SEED * seeds
    for name, (has_effect, options) in ways.items():
        shares = []
        for planted in (False, True):
            found = [_disc_pvalues(5000 + seed, planted, has_effect, options) for seed in range(n_sets)]
            rejected = (np.array(found) <= 0.05).sum(axis=0)
            shares += [_share(int(rejected[1]), n_sets)] if planted else [_share(int(rejected.sum()), 2 * n_sets)]
        rows.append([name, n_sets, *shares])
    head = ["", "sets", "nothing differs: share of p ≤ .05", "a group is connected in B: share of p ≤ .05 in B"]
    table("DiSC under relations, with a batch mixed 70:30: level and power", head, rows)


def _disc_pvalues(seed: int, planted: bool, has_effect: bool, options: dict[str, Any]) -> np.ndarray:
    rng = np.random.default_rng(seed)
    in_b, late = mixed(N_OBS_TESTED, rng)
    x = rng.normal(size=(2 * N_OBS_TESTED, N_FEATURES_TESTED))
    if planted:
        x[in_b, :N_CONNECTED] += CONNECTED_LOADING * rng.normal(size=(N_OBS_TESTED, 1))
    effect = late[:, None] * rng.normal(size=N_FEATURES_TESTED)
    adata = annotated(x + effect if has_effect else x, in_b, late)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dn.tl.disc(adata, "condition", n_permutations=N_PERMUTATIONS, n_clusters=2, **options)
    return dn.get.disc_significance(adata).query("component == 1")["pval"].to_numpy()


def _share(rejected: int, n: int) -> str:
    interval = binomtest(rejected, n).proportion_ci()
    return f"{rejected / n:.3f} ({interval.low:.3f}–{interval.high:.3f})"


def counts_and_a_number(seeds: int) -> None:
    """Print the level of the scorecard for counts that depend on a number in which the conditions differ."""
    rows = []
    for seed in range(seeds):
        for n, shift, slope in NUMBERS:
            rng = np.random.default_rng(seed)
            in_b = np.repeat([False, True], n)
            number = rng.normal(np.where(in_b, shift / 2, -shift / 2))
            level, effect = rng.normal(size=(2, N_FEATURES))
            x = np.log1p(rng.poisson(np.exp(level + slope * np.outer(number, effect))))
            adata = annotated(x.astype(float), in_b, in_b)
            adata.obs["number"] = number
            for name, options in (("as it is", {}), ("covariates='number'", {"covariates": "number"})):
                found = pvalues(adata, **options)
                shares = [float((found[f"{kind}_pval"] < 0.05).mean()) for kind in KINDS]
                rows.append([f"{n} + {n}, shift {shift}, slope {slope}: {name}", *shares])
    _averaged("Counts and a number that differs between conditions: share of features with p < .05", rows)


def real_cells(seeds: int) -> None:
    """Control cells, of which a batch has fewer counts of some genes; conditions differ in the batch only."""
    everything = control_cells()
    rows = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        cells = everything[rng.permutation(everything.n_obs)[:N_CELLS]]
        late = rng.random(cells.n_obs) < 0.5
        in_b = rng.random(cells.n_obs) < np.where(late, SHARES[0], SHARES[1])
        affected = rng.random(cells.n_vars) < SHARE_OF_GENES
        counts = sp.csr_array(cells.X)
        lost = counts - sp.csr_array(thinned(counts, np.full(cells.n_obs, COUNTS_LEFT), seed))
        batch_effect = sp.diags_array(late.astype(float)) @ lost @ sp.diags_array(affected.astype(float))
        for name, with_batch, options in (
            ("no batch effect", False, {}),
            ("as it is", True, {}),
            ("covariates='batch'", True, {"covariates": "batch"}),
        ):
            adata = annotated(sp.csr_matrix(counts - batch_effect if with_batch else counts), in_b, late)
            sc.pp.normalize_total(adata, target_sum=1e4)
            sc.pp.log1p(adata)
            found = pvalues(adata, **options)
            called = [float((found[f"{kind}_pval_adj"] < 0.05).mean()) for kind in KINDS]
            raw = [float((found[f"{kind}_pval"] < 0.05).mean()) for kind in KINDS]
            rows.append([name, *called, *raw])
    head = ["", *(f"{kind}: called" for kind in KINDS), *(f"{kind}: p < .05" for kind in KINDS)]
    _averaged("Kang control cells, conditions differ in the mix of batches only: share of genes", rows, head)


def _averaged(title: str, rows: list[list[Any]], head: list[str] | None = None) -> None:
    names = list(dict.fromkeys(row[0] for row in rows))
    means = [[name, *np.mean([row[1:] for row in rows if row[0] == name], axis=0)] for name in names]
    table(title, head or ["", *KINDS], [[row[0], *map(float, row[1:])] for row in means])


def report(seeds: int, quick: bool = False) -> None:
    """Print what a confounded batch does with and without `covariates`."""
    level_of_scorecard(4 * seeds)
    power_of_scorecard(4 * seeds)
    if quick:
        return
    counts_and_a_number(seeds)
    disc_at_scale(seeds)
    level_of_permutations(seeds)
    real_cells(seeds)
