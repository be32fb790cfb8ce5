"""Trends with a dose: level where the dose means nothing, and power where it does.

    python benchmarks/trend.py [null] [samples] [power] [--seeds N]

The real data are taken from the folder in DIFFNB_DATA (by default ../shared/data) and are not part of the project.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator

import anndata as ad
import numpy as np
import pandas as pd
from _real_interferon import CONDITIONS, monocytes
from _real_interferon import cells as interferon_cells
from _real_nulls import one_type, subjects
from _tools import table
from scipy import stats

import diffnb as dn
from diffnb.core.scorecard import planted_order
from diffnb.core.stats.pvalues import adjusted

KINDS = ("mean", "spread", "distribution", "connectivity")
N_FEATURES = 400


def even(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw five doses, each for a fifth of the observations."""
    return rng.permutation(np.resize([0.0, 1.0, 2.0, 4.0, 8.0], n))


def uneven(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw four doses, most observations at the lowest."""
    return rng.choice([0.0, 1.0, 3.0, 10.0], n, p=[0.6, 0.2, 0.12, 0.08])


def skewed(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a different dose for every observation, few of them large."""
    return rng.lognormal(size=n)


DOSES = {"five doses": even, "unequal doses": uneven, "continuous, skewed": skewed}


def scored(x: np.ndarray, obs: dict[str, object], **options: object) -> pd.DataFrame:
    names = [f"c{i}" for i in range(len(x))]
    adata = ad.AnnData(np.asarray(x, dtype=float), obs=pd.DataFrame(obs, index=names))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dn.tl.scorecard(adata, "dose", trend=True, **options)
    return dn.get.scorecard(adata)


def cells(seed: int) -> np.ndarray:
    """Control monocytes, the most variable genes, logarithm of counts per 10,000."""
    x = one_type(seed).X.toarray()
    return x[:, np.sort(np.argsort(-x.var(axis=0), kind="stable")[:N_FEATURES])]


def simulated(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    factors = rng.normal(size=(n, 8)) @ rng.normal(size=(8, 300)) * 0.3
    if kind == "normal":
        return rng.normal(size=(n, 300)) + factors
    if kind == "skewed":
        return np.exp(0.7 * (rng.normal(size=(n, 300)) + factors))
    return np.log1p(rng.poisson(np.exp(rng.normal(-0.7, 0.8, size=300) + 0.5 * factors))).astype(float)


def row(name: list[object], tables: list[pd.DataFrame]) -> list[object]:
    """Shares of p-values, and of the data sets in which a kind is named."""
    found = pd.concat(tables)
    low = [f"{(found[f'{kind}_pval'].dropna() <= 0.05).mean():.3f}" for kind in KINDS]
    lower = [f"{(found[f'{kind}_pval'].dropna() <= 0.001).mean():.4f}" for kind in KINDS]
    named = sum(bool((t["kind"] != "none").any()) for t in tables)
    print([*name, *low, *lower, named], flush=True)
    return [*name, *low, *lower, f"{named} of {len(tables)}"]


HEAD = [*KINDS, *(f"{kind}, .001" for kind in KINDS), "a kind named"]


def null(seeds: int) -> None:
    rows = []
    for n in (60, 300, 1000):
        for kind in ("normal", "skewed", "counts"):
            for design, draw in DOSES.items():
                tables = []
                for seed in range(seeds):
                    rng = np.random.default_rng(seed)
                    tables.append(scored(simulated(kind, n, rng), {"dose": draw(n, rng)}))
                rows.append(row([kind, n, design], tables))
    for design, draw in DOSES.items():
        tables = []
        for seed in range(seeds):
            x = cells(seed)
            tables.append(scored(x, {"dose": draw(len(x), np.random.default_rng(seed))}))
        rows.append(row(["control monocytes", len(x), design], tables))
        plain, adjusted_for = [], []
        for seed in range(seeds):
            x, rng = cells(seed), np.random.default_rng(seed)
            depth = x.sum(axis=1)
            # the dose follows the depth, and nothing else
            order = np.argsort(stats.zscore(depth) + rng.normal(size=len(x)))
            dose = np.empty(len(x))
            dose[order] = np.sort(draw(len(x), rng))
            plain.append(scored(x, {"dose": dose}))
            adjusted_for.append(scored(x, {"dose": dose, "depth": depth}, covariates=["depth"]))
        rows.append(row(["the same, dose follows the sum", len(x), design], plain))
        rows.append(row(["the same, with this covariate", len(x), design], adjusted_for))
    table("Shares of p ≤ .05 and p ≤ .001 where the dose means nothing", ["data", "n", "dose", *HEAD], rows)


def designs(rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Doses of the observations of ten runs, and the subject of each."""
    subject = np.repeat(np.arange(10), 120)
    yield "one dose each", rng.permutation(10.0 * np.arange(10))[subject], subject
    within = np.tile(np.repeat([0.0, 1.0, 2.0], 40), 10)
    shuffled = np.concatenate([rng.permutation([0.0, 1.0, 2.0])[own.astype(int)] for own in np.split(within, 10)])
    yield "three doses each", shuffled, subject
    mixed = np.where(subject < 5, shuffled, rng.permutation([0.0, 0.0, 1.0, 1.0, 2.0])[subject % 5])
    yield "five of either kind", mixed, subject


def samples(seeds: int) -> None:
    rows: dict[str, list[pd.DataFrame]] = {}
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        adata = subjects(seed)
        runs = [np.flatnonzero(adata.obs["subject"] == own) for own in adata.obs["subject"].unique()]
        recorded = np.concatenate(
            [np.asarray(adata.X)[own[np.linspace(0, own.size - 1, 120).astype(int)]] for own in runs]
        )
        shift = np.repeat(rng.normal(size=(10, 200)), 120, axis=0)
        made = np.log1p(rng.poisson(np.exp(rng.normal(-0.5, 0.7, size=200) + 0.4 * shift)))
        for name, dose, subject in designs(rng):
            obs = {"dose": dose, "subject": subject.astype(str)}
            for data, x in (("resting runs", recorded), ("counts that differ between samples", made)):
                rows.setdefault(f"{data}: {name}", []).append(scored(x, obs, sample_key="subject"))
    table("Samples as units, ten of them", ["data", *HEAD], [row([name], tables) for name, tables in rows.items()])


def stimulated_cells() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Control and stimulated monocytes of Kang et al. on the same genes, and which genes differ among all of them."""
    adata = monocytes(interferon_cells())
    x = adata.X.toarray()
    chosen = np.sort(np.argsort(-x.var(axis=0), kind="stable")[:N_FEATURES])
    is_control = (adata.obs["condition"] == CONDITIONS["control"]).to_numpy()
    control, stimulated = x[np.ix_(is_control, chosen)], x[np.ix_(~is_control, chosen)]
    return control, stimulated, np.asarray(adjusted(stats.mannwhitneyu(control, stimulated).pvalue) < 1e-6)


def called(pval: np.ndarray) -> np.ndarray:
    return np.nan_to_num(adjusted(pval), nan=1.0) < 0.05


def mixture(rng: np.random.Generator, control: np.ndarray, stimulated: np.ndarray, n: int) -> tuple[np.ndarray, ...]:
    """Cells of five doses; at a dose, so large a share of them is stimulated."""
    dose = np.repeat([0.0, 0.1, 0.2, 0.3, 0.4], n)
    is_stimulated = np.concatenate([np.arange(n) < round(share * n) for share in (0.0, 0.1, 0.2, 0.3, 0.4)])
    first, second = rng.permutation(len(control))[: (~is_stimulated).sum()], rng.permutation(len(stimulated))
    x = np.empty((5 * n, control.shape[1]))
    x[~is_stimulated], x[is_stimulated] = control[first], stimulated[second[: is_stimulated.sum()]]
    return x, dose


def means(seeds: int, control: np.ndarray, stimulated: np.ndarray, differ: np.ndarray) -> list[list[object]]:
    rows = []
    for n in (40, 80):
        shares = []
        for seed in range(seeds):
            x, dose = mixture(np.random.default_rng(seed), control, stimulated, n)
            found = {"trend, any of mean, spread, distribution": np.zeros(x.shape[1], dtype=bool)}
            trend = scored(x, {"dose": dose})
            for kind in KINDS[:3]:
                found["trend, any of mean, spread, distribution"] |= called(trend[f"{kind}_pval"].to_numpy())
            found["trend, mean"] = called(trend["mean_pval"].to_numpy())
            ends = np.isin(dose, [0.0, 0.4])
            found["lowest against highest, t test"] = called(
                stats.ttest_ind(x[ends & (dose > 0)], x[ends & (dose == 0)], equal_var=False).pvalue
            )
            found["Spearman"] = called(stats.spearmanr(dose, x)[1][0, 1:])
            found["ANOVA"] = called(stats.f_oneway(*(x[dose == d] for d in np.unique(dose))).pvalue)
            shuffled = scored(x, {"dose": np.random.default_rng(seed).permutation(dose)})
            found["trend, mean, doses shuffled"] = called(shuffled["mean_pval"].to_numpy())
            shares.append({name: (own[differ].mean(), own[~differ].mean()) for name, own in found.items()})
        for name in shares[0]:
            power, others = np.mean([own[name] for own in shares], axis=0)
            rows.append([5 * n, name, f"{power:.2f}", f"{others:.3f}"])
            print(rows[-1], flush=True)
    return rows


def relations(seeds: int, control: np.ndarray) -> list[list[object]]:
    """Let the correlation of 20 genes grow with the dose, and keep all values."""
    rows = []
    for n, strength in ((80, 0.4), (80, 0.6), (160, 0.4), (160, 0.6)):
        shares: dict[str, list[tuple[float, float]]] = {}
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            x = control[rng.choice(len(control), 5 * n, replace=5 * n > len(control))].copy()
            dose = np.repeat(np.arange(5.0), n)
            members = rng.choice(x.shape[1], 20, replace=False)
            for level in range(5):
                own = np.ix_(dose == level, members)
                x[own] = planted_order(x[own], np.zeros(n, dtype=int), strength * level / 4, rng)
            trend = scored(x, {"dose": dose})["connectivity_pval"].to_numpy()
            ends = dose % 4 == 0
            labels = pd.Categorical(np.where(dose[ends] == 0, "low", "high"), categories=["low", "high"])
            adata = ad.AnnData(x[ends], obs=pd.DataFrame({"end": labels}, index=[f"c{i}" for i in range(ends.sum())]))
            dn.tl.scorecard(adata, "end")
            two = dn.get.scorecard(adata)["connectivity_pval"].to_numpy()
            null = scored(x, {"dose": rng.permutation(dose)})["connectivity_pval"].to_numpy()
            is_member = np.isin(np.arange(x.shape[1]), members)
            for name, pval in (("trend", trend), ("lowest against highest", two), ("trend, doses shuffled", null)):
                found = called(pval)
                shares.setdefault(name, []).append((found[is_member].mean(), found[~is_member].mean()))
        for name, own in shares.items():
            power, others = np.mean(own, axis=0)
            rows.append([5 * n, strength, name, f"{power:.2f}", f"{others:.3f}"])
            print(rows[-1], flush=True)
    return rows


def power(seeds: int) -> None:
    control, stimulated, differ = stimulated_cells()
    print(control.shape, stimulated.shape, differ.sum(), flush=True)
    head = ["method", "called of those that differ", "of all others"]
    table("Shares of stimulated monocytes as a dose", ["cells", *head], means(seeds, control, stimulated, differ))
    head = ["cells", "r at the highest dose", "method", "called of the group", "of all others"]
    table("A group whose correlation grows with the dose", head, relations(seeds, control))


PARTS: dict[str, Callable[[int], None]] = {"null": null, "samples": samples, "power": power}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    for part in given.parts or PARTS:
        PARTS[part](given.seeds)


if __name__ == "__main__":
    main()
