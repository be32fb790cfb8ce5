"""Part `replication_power` of `real.py`: whether a group that was planted in real recordings is said to replicate.

Resting runs of 20 subjects that no rule was chosen on. A signal that 25 parcels share is added to the second half of
each run, or to all runs of one random group of subjects; without it, the two groups are a null.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import product

import anndata as ad
import numpy as np
from _held_out import new_resting_runs
from _tools import table

import diffnb as dn

QUESTIONS = ("relations", "any difference")
#: share of the variance of a parcel that the planted signal has
SHARES = (0.05, 0.1, 0.2)
N_PLANTED = 25
#: frames over which the planted signal is averaged
SLOW = 4
#: subjects where every split of two groups of them is fitted again
N_BETWEEN = 12


def halves_of_runs(runs: Sequence[np.ndarray]) -> ad.AnnData:
    """Every subject in both conditions: the first half of the run and the second."""
    labels = [np.where(np.arange(len(run)) < len(run) // 2, "first", "second") for run in runs]
    return dn.datasets.from_parcels(list(runs), conditions=labels, subjects=_names(len(runs)))


def two_groups(runs: Sequence[np.ndarray], seed: int) -> ad.AnnData:
    """Every subject in one of two random conditions."""
    in_b = np.random.default_rng(seed).permutation(len(runs)) < len(runs) // 2
    labels = ["B" if b else "A" for b in in_b]
    return dn.datasets.from_parcels(list(runs), conditions=labels, subjects=_names(len(runs)))


def _names(count: int) -> list[str]:
    return [f"s{i + 1:02d}" for i in range(count)]


def with_shared_signal(adata: ad.AnnData, condition: str, share: float, seed: int) -> ad.AnnData:
    """Give some parcels a common, slow signal in one condition; their variances stay as they were."""
    rng = np.random.default_rng([seed, N_PLANTED])
    adata = adata.copy()
    chosen = rng.choice(adata.n_vars, N_PLANTED, replace=False)
    rows = np.flatnonzero((adata.obs["condition"] == condition).to_numpy())
    slow = np.convolve(rng.normal(size=len(rows) + SLOW - 1), np.full(SLOW, SLOW**-0.5), mode="valid")
    adata.X[np.ix_(rows, chosen)] *= np.sqrt(1 - share)
    adata.X[np.ix_(rows, chosen)] += np.sqrt(share) * slow[:, None]
    adata.var["planted"] = np.isin(np.arange(adata.n_vars), chosen)
    return adata


def planted_group(adata: ad.AnnData, **options: object) -> tuple[float, bool | None]:
    """F1 of the named group that fits the planted parcels best, and whether it replicates (None: no group)."""
    dn.tl.disc(adata, "condition", sample_key="subject", **options)
    found = dn.get.disc_replication(adata)
    found = found[found["kind"] == "feature_group"]
    planted = set(np.flatnonzero(adata.var["planted"]))
    best: tuple[float, bool | None] = (0.0, None)
    for condition, name, replicates in zip(found["group"], found["feature_group"], found["replicates"], strict=True):
        members = set(np.flatnonzero(adata.var[f"disc_{condition}"] == name))
        best = max(best, (2 * len(planted & members) / (len(planted) + len(members)), bool(replicates)))
    return best


def any_group(adata: ad.AnnData, **options: object) -> tuple[int, int]:
    """Count the groups that DiSC names, and those that replicate."""
    dn.tl.disc(adata, "condition", sample_key="subject", **options)
    found = dn.get.disc_replication(adata)
    found = found[found["kind"] == "feature_group"]
    return len(found), int(found["replicates"].sum())


def report_power(runs: Sequence[np.ndarray], seeds: int) -> None:
    rows = []
    designs = [("halves", *both) for both in product(QUESTIONS, SHARES)]
    # every split of two groups of subjects is fitted again, which takes minutes
    designs += [("groups of subjects", question, SHARES[-1]) for question in QUESTIONS]
    for design, question, share in designs:
        found = []
        for seed in range(seeds):
            adata = halves_of_runs(runs) if design == "halves" else two_groups(runs, seed)
            condition = str(np.unique(adata.obs["condition"])[1])
            adata = with_shared_signal(adata, condition, share, seed)
            found.append(planted_group(adata, question=question, random_state=seed))
        named = [f for f in found if f[1] is not None]
        f1 = np.median([f for f, _ in found])
        replicate = sum(bool(r) for _, r in named)
        rows.append([design, question, share, seeds, len(named), f"{f1:.2f}", replicate])
    head = ["design", "question", "share of variance", "runs", "named", "median F1", "replicate"]
    table(f"{N_PLANTED} parcels share a signal in one condition, {len(runs)} subjects", head, rows)


def report_level_between(runs: Sequence[np.ndarray], seeds: int) -> None:
    rows = []
    for question in QUESTIONS:
        each = [any_group(two_groups(runs, s), question=question, random_state=s, n_clusters=3) for s in range(seeds)]
        rows.append([question, seeds, *(sum(n) for n in zip(*each, strict=True))])
    head = ["question", "runs", "groups named without a test", "replicate"]
    table(f"{len(runs)} subjects in two random groups, n_clusters=3", head, rows)


def report(seeds: int, *, quick: bool = False) -> None:
    """Planted groups, and two random groups of subjects."""
    warnings.simplefilter("ignore")
    runs = new_resting_runs()[: 8 if quick else None]
    report_power(runs, seeds)
    report_level_between(runs[:N_BETWEEN], seeds)
