"""Part `subjects` of `real.py`: agreement between subjects, and frames of a series as units, on real recordings."""

from __future__ import annotations

import warnings
from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
from _real_cells import folder
from _tools import table
from scipy.io import loadmat

import diffnb as dn

N_SUBJECTS = 10
#: frames of one label where labels are random: long, so that a block is rarely of two labels
SEGMENT = 60
KINDS = ("mean", "spread", "distribution", "connectivity")


def resting_runs() -> ad.AnnData:
    """One resting run of each of ten subjects, the first half against the second."""
    runs = [np.load(folder() / "fmri" / "hcp" / f"rest_subject{i + 1:02d}.npz")["series"] for i in range(N_SUBJECTS)]
    halves = [np.where(np.arange(len(run)) < len(run) // 2, "first", "second") for run in runs]
    subjects = [f"s{i + 1:02d}" for i in range(N_SUBJECTS)]
    return dn.datasets.from_parcels([r - r.mean(axis=0) for r in runs], conditions=halves, subjects=subjects)


def working_memory() -> ad.AnnData:
    """0-back and 2-back: betas of four kinds of pictures for each of twenty subjects."""
    found = np.load(folder() / "fmri" / "hcp" / "task_betas.npz")
    betas, tasks = found["betas"].astype(float), [str(t) for t in found["tasks"]]
    chosen = [j for j, task in enumerate(tasks) if task.startswith("WM")]
    rows = [(s, j) for s in range(betas.shape[2]) for j in chosen]
    obs = pd.DataFrame(
        {"condition": [f"{tasks[j][2]}-back" for _, j in rows], "subject": [f"s{s + 1:02d}" for s, _ in rows]},
        index=[f"s{s + 1:02d} {tasks[j]}" for s, j in rows],
    )
    var = pd.DataFrame({"network": found["network"]}, index=[f"parcel_{i:03d}" for i in range(len(betas))])
    return ad.AnnData(np.array([betas[:, j, s] for s, j in rows]), obs=obs, var=var)


def drug_sessions() -> ad.AnnData:
    """Two resting runs after the drug and two after placebo, of one subject."""
    files = sorted((folder() / "fmri" / "lsd-shen268").glob("*.mat"))
    runs = [loadmat(f)["V_roi"].astype(float) for f in files]
    measured = np.isfinite(np.concatenate(runs)).all(axis=0)
    centered = [run[:, measured] - run[:, measured].mean(axis=0) for run in runs]
    return dn.datasets.from_parcels(centered, conditions=[_drug(f) for f in files])


def _drug(file: Path) -> str:
    return "drug" if "ses-LSD" in file.name else "placebo"


def swapped(adata: ad.AnnData, seed: int) -> ad.AnnData:
    """Exchange the labels of the conditions in half of the subjects: subjects agree on no difference."""
    adata = adata.copy()
    subjects = np.unique(adata.obs["subject"])
    chosen = np.random.default_rng(seed).permutation(subjects)[: len(subjects) // 2]
    labels = adata.obs["condition"].astype(str).to_numpy()
    first, second = np.unique(labels)
    other = np.where(labels == first, second, first)
    adata.obs["condition"] = np.where(adata.obs["subject"].isin(chosen), other, labels)
    return adata


def random_segments(adata: ad.AnnData, seed: int) -> ad.AnnData:
    """Label segments of a run at random: nothing differs but time."""
    adata = adata.copy()
    segment = np.arange(adata.n_obs) // SEGMENT
    labels = np.random.default_rng(seed).permutation(np.arange(segment.max() + 1) % 2)
    adata.obs["condition"] = np.where(labels[segment] == 1, "B", "A")
    return adata


def per_subject(adata: ad.AnnData, **options: object) -> pd.DataFrame:
    """Run DiSC per subject and return, for each condition, p-value, groups and replication."""
    dn.tl.disc(adata, "condition", sample_key="subject", n_permutations=99, **options)
    p = dn.get.disc_significance(adata).query("component == 1").set_index("group")["pval"]
    found = dn.get.disc_replication(adata)
    rows = []
    for condition in p.index:
        own = found[found["group"] == condition]
        groups = own[own["kind"] == "feature_group"]
        rows.append(
            {
                "condition": condition,
                "p": float(p[condition]),
                "first vector": shown(own[own["component"] == 1]),
                "all groups (ARI)": shown(own[own["kind"] == "partition"]),
                "groups": len(groups),
                "replicate": int(groups["replicates"].sum()),
                "each group": ", ".join(shown(groups.iloc[[i]]) for i in range(len(groups))),
            }
        )
    return pd.DataFrame(rows)


def shown(rows: pd.DataFrame) -> str:
    """Write a replication beside its median and 95 % quantile by chance."""
    if rows.empty:
        return "–"
    one = rows.iloc[0]
    return f"{one['replication']:.2f} ({one['chance']:.2f}, {one['chance_95']:.2f})"


def called(adata: ad.AnnData, sample_key: str | None = None) -> list[str]:
    """Share of parcels that every column of the scorecard calls, and whether the call warned of a series."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dn.tl.scorecard(adata, "condition", sample_key=sample_key)
    found = dn.get.scorecard(adata)
    shares = [f"{(found[f'{kind}_pval_adj'] < 0.05).mean():.3f}" for kind in KINDS]
    return [*shares, "yes" if any("neighbouring rows" in str(w.message) for w in caught) else "no"]


def first_p(adata: ad.AnnData, sample_key: str | None = None) -> float:
    """Smallest p-value of the first vectors of DiSC."""
    options = {"standardize": "within", "null": "connectivity", "n_permutations": 39, "n_clusters": 2}
    dn.tl.disc(adata, "condition", sample_key=sample_key, **options)
    return float(dn.get.disc_significance(adata).query("component == 1")["pval"].min())


def with_blocks(adata: ad.AnnData) -> ad.AnnData:
    dn.pp.time_blocks(adata, "condition", sample_key="subject" if "subject" in adata.obs else "run")
    return adata


def report_replication(seeds: int) -> None:
    """DiSC per subject: p-values and groups beside their replication; then labels swapped in half of the subjects."""
    data = {"working memory, 20 subjects": working_memory(), "rest, 10 subjects": resting_runs()}
    rows, nulls = [], []
    for name, adata in data.items():
        for standardize in (None, "within"):
            found = per_subject(adata, standardize=standardize)
            rows += [[name, standardize, *row] for row in found.itertuples(index=False)]
            null = [
                per_subject(swapped(adata, seed), standardize=standardize, random_state=seed) for seed in range(seeds)
            ]
            named = sum(n["groups"].sum() > 0 for n in null)
            replicated = sum(n["replicate"].sum() > 0 for n in null)
            low = sum((n["p"] <= 0.05).any() for n in null)
            nulls.append([name, standardize, f"{named} of {seeds}", f"{replicated} of {seeds}", f"{low} of {seeds}"])
    title = "DiSC per subject: agreement of halves of the subjects (median and 95 % quantile by chance)"
    table(title, ["data", "standardize", *found.columns], rows)
    head = ["data", "standardize", "runs that name a group", "runs with a group that replicates", "runs with p ≤ .05"]
    table("Labels swapped in half of the subjects: nothing to find", head, nulls)


def report_frames(seeds: int) -> None:
    """Share of parcels that the scorecard calls with frames, blocks and subjects as units."""
    rows = []
    rest = resting_runs()
    for name, adata in {
        "rest, first half against second": rest,
        "labels swapped in half of them": swapped(rest, 0),
    }.items():
        rows.append([name, "frames", *called(adata)])
        rows.append([name, "blocks", *called(with_blocks(adata), "block")])
        rows.append([name, "subjects", *called(adata, "subject")])
    for seed in range(seeds):
        subject = f"s{seed % N_SUBJECTS + 1:02d}"
        adata = random_segments(rest[(rest.obs["subject"] == subject).to_numpy()], seed)
        name = f"one subject, random labels, seed {seed}"
        rows.append([name, "frames", *called(adata)])
        rows.append([name, "blocks", *called(with_blocks(adata), "block")])
    drug = drug_sessions()
    placebo = drug[(drug.obs["condition"] == "placebo").to_numpy()].copy()
    placebo.obs["condition"] = placebo.obs["run"].astype(str).to_numpy()
    for name, adata in {
        "one subject, drug against placebo": drug,
        "placebo, one run against the other": placebo,
    }.items():
        rows.append([name, "frames", *called(adata)])
        rows.append([name, "blocks", *called(with_blocks(adata), "block")])
    table("Share of parcels that the scorecard calls, by unit", ["recording", "unit", *KINDS, "warned"], rows)


def report_blocks_in_disc(seeds: int) -> None:
    """P-values of DiSC in one subject with frames and blocks as units, where labels of segments are random."""
    rest = resting_runs()
    rows = []
    for seed in range(seeds):
        subject = f"s{seed % N_SUBJECTS + 1:02d}"
        adata = random_segments(rest[(rest.obs["subject"] == subject).to_numpy()], seed)
        rows.append([subject, seed, first_p(adata), first_p(with_blocks(adata), "block")])
    title = "DiSC, random labels of segments: smaller p-value of the two conditions (1 of 40 at best)"
    table(title, ["subject", "seed", "frames permuted", "blocks permuted"], rows)


def report_power(seeds: int) -> None:
    """Count how often known groups of simulated subjects replicate."""
    rows = []
    for n_subjects in (4, 8, 12, 16, 24):
        found = [
            per_subject(dn.datasets.nback_fmri(n_subjects=n_subjects, random_state=seed), standardize="within")
            for seed in range(seeds)
        ]
        both = pd.concat(found)
        rows.append([n_subjects, 2 * seeds, *(int(n) for n in (both["groups"].sum(), both["replicate"].sum()))])
        rows[-1] += [f"{np.mean(both['p'] <= 0.05):.2f}"]
    head = ["subjects", "groups planted", "named", "replicate", "share of p ≤ .05"]
    table("Simulated subjects with one group per task", head, rows)


def report(seeds: int) -> None:
    """All tables, each with its null."""
    warnings.simplefilter("ignore")
    # the quick ones first: what is finished is kept
    report_frames(seeds)
    report_blocks_in_disc(seeds)
    report_replication(seeds)
    report_power(seeds)
