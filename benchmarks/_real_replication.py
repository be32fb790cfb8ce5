"""Part `replication` of `real.py`: level of the rule that says what replicates in halves of the subjects.

The rule was settled on the working-memory data and on simulated subjects. Here it meets resting runs of 20 subjects
that no rule was chosen on. The halves of a run change their labels in every subject at random, and groups are named
without a test: does anything replicate?
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from _held_out import new_resting_runs
from _tools import table

from diffnb.core.disc.algorithm import DiscFit, resolve
from diffnb.core.disc.feature_groups import feature_groups, leading_count
from diffnb.core.disc.paired import average, fit_subjects
from diffnb.core.disc.replication import Agreement, replication_over_subjects
from diffnb.core.disc.settings import DiscOptions, FeatureGraphOptions
from diffnb.core.runtime.threads import thread_limits

#: label assignments of the null per seed, in each row
N_NULL_PER_SEED = 8
N_SUBJECTS = (8, 20)
QUESTIONS = {"relations": "within", "any difference": None}


def subject_fits(runs: Sequence[np.ndarray], standardize: str | None) -> list[DiscFit]:
    """One fit per subject; which half is called the first makes no difference to it."""
    halves = [np.array_split(run, 2) for run in runs]
    matrices = [np.concatenate([h[side] for h in halves]) for side in (0, 1)]
    samples = [np.repeat(np.arange(len(runs)), [len(h[side]) for h in halves]) for side in (0, 1)]
    options = DiscOptions(graph=FeatureGraphOptions(standardize=standardize))
    with thread_limits(matrices[0].shape[1], 1):
        return fit_subjects(matrices, samples, range(len(runs)), resolve(matrices, options))


def shares_that_replicate(fits: Sequence[DiscFit], seeds: Sequence[int]) -> list[float]:
    """Share of first vectors, and of groups named without a test, that replicate although labels are random."""
    vectors, groups = [], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        labelled = [_relabelled(fit, rng.permutation(len(fit.sigma))) for fit in fits]
        joint = average(labelled)
        named = [
            feature_groups(v, s, n_clusters=3, n_leading=leading_count(s, null=0.0), seed=0)
            for v, s in zip(joint.mean, joint.sigma, strict=True)
        ]
        found = replication_over_subjects(labelled, named, seed=seed)
        vectors += found.vectors.replicates[:, 0].tolist()
        groups += _of_named(found.groups)
    return [float(np.mean(vectors)), len(groups), float(np.mean(groups))]


def _of_named(found: Agreement) -> list[bool]:
    return found.replicates[np.isfinite(found.observed)].tolist()


def _relabelled(fit: DiscFit, order: np.ndarray) -> DiscFit:
    return replace(fit, vectors=fit.vectors[order], sigma=fit.sigma[order])


def report_level_within(runs: Sequence[np.ndarray], n_null: int) -> None:
    rows = []
    for question, standardize in QUESTIONS.items():
        fits = subject_fits(runs, standardize)
        for count in (n for n in N_SUBJECTS if n <= len(runs)):
            rng = np.random.default_rng(count)
            drawn = [sorted(rng.choice(len(runs), count, replace=False)) for _ in range(4)]
            each = [
                shares_that_replicate([fits[i] for i in chosen], range(part, n_null, 4))
                for part, chosen in enumerate(drawn)
            ]
            vectors, numbers, groups = np.array(each).T
            rows.append([question, count, 2 * n_null, np.mean(vectors), int(sum(numbers)), np.mean(groups)])
    head = ["question", "subjects", "first vectors", "replicate", "groups named without a test", "replicate"]
    table("Labels of halves swapped at random: share that is said to replicate", head, rows)


def report(seeds: int, *, quick: bool = False) -> None:
    """Level where labels are random."""
    warnings.simplefilter("ignore")
    runs = new_resting_runs()[: N_SUBJECTS[0] if quick else None]
    report_level_within(runs, N_NULL_PER_SEED * seeds)
