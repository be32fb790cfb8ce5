"""DiSC from matrices to groups: settle what is open, find vectors, group features, test and repeat as planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..runtime.progress import bar
from ..runtime.threads import thread_limits
from ..stats.samples import sample_counts
from ..typing import Floats, Ints, Matrix
from .algorithm import Settings
from .defaults import Request, choose
from .feature_groups import FeatureGroups, feature_groups, leading_count
from .paired import each_subject, stability_over_samples, swap_test, together
from .permutable import Null
from .significance import CHANCE_DRAWS, Significance, chance_sigma, permutation_test, stability

#: observations a sample needs in every condition to stand by itself
MIN_OBS_PER_SUBJECT = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do besides finding the vectors."""

    request: Request
    #: everything that is settled; the open numbers are filled in from the data
    base: Settings
    n_clusters: int | None = None
    n_permutations: int = 0
    null: Null = "labels"
    n_bootstraps: int = 0


@dataclass(frozen=True, slots=True)
class Analysis:
    """All results of DiSC."""

    settings: Settings
    #: conditions × features × components
    vectors: Floats
    #: conditions × components
    sigma: Floats
    groups: list[FeatureGroups]
    significance: Significance | None = None
    #: conditions × features
    stability: Floats | None = None
    #: conditions × features × components, over samples
    spread: Floats | None = None
    #: samples × conditions × components
    sigma_each: Floats | None = None
    #: codes of the samples that were analysed one by one
    subjects: tuple[int, ...] = ()


def complete_samples(samples: Sequence[Ints], /) -> tuple[int, ...]:
    """Return the samples that have enough observations in every condition to be analysed by themselves."""
    return tuple(int(s) for s in np.flatnonzero((sample_counts(samples) >= MIN_OBS_PER_SUBJECT).all(axis=0)))


def analyse(
    matrices: Sequence[Matrix], plan: Plan, /, *, samples: Sequence[Ints] = (), n_jobs: int | None = None
) -> Analysis:
    """Run the plan; samples that hold every condition are analysed one by one."""
    subjects = complete_samples(samples) if samples else ()
    with thread_limits(matrices[0].shape[1], n_jobs):
        if len(subjects) >= 2:
            return _per_sample(matrices, plan, samples, subjects, n_jobs)
        return _pooled(matrices, plan, samples, n_jobs)


def _pooled(matrices: Sequence[Matrix], plan: Plan, samples: Sequence[Ints], n_jobs: int | None) -> Analysis:
    chosen = choose(matrices, plan.request, plan.base)
    result, settings = chosen.result, chosen.settings
    null = chance_sigma(matrices, settings, samples=samples) if plan.n_clusters is None else 0.0
    groups = _groups(result.vectors, result.sigma, plan, [leading_count(s, null=null) for s in result.sigma])
    significance = None
    if plan.n_permutations:
        significance = permutation_test(
            matrices,
            _settings_to_test(matrices, plan, settings),
            n_permutations=plan.n_permutations,
            null=plan.null,
            samples=samples,
            n_jobs=n_jobs,
            progress="permutations",
        )
    stable = None
    if plan.n_bootstraps:
        stable = stability(
            matrices,
            settings,
            groups,
            n_bootstraps=plan.n_bootstraps,
            samples=samples,
            n_jobs=n_jobs,
            progress="bootstraps",
        )
    return Analysis(settings, result.vectors, result.sigma, groups, significance, stable)


def _settings_to_test(matrices: Sequence[Matrix], plan: Plan, settings: Settings) -> Settings:
    """Settle the open numbers again for data standardised within conditions: it has other graphs."""
    if plan.null == "labels" or settings.standardize == "within":
        return settings
    return choose(matrices, plan.request, replace(plan.base, standardize="within")).settings


def _per_sample(
    matrices: Sequence[Matrix],
    plan: Plan,
    samples: Sequence[Ints],
    subjects: Sequence[int],
    n_jobs: int | None,
) -> Analysis:
    base = replace(plan.base, standardize="within") if plan.null == "connectivity" else plan.base
    taking_part = [np.isin(codes, subjects) for codes in samples]
    settings = choose(
        [x[np.flatnonzero(rows)] for x, rows in zip(matrices, taking_part, strict=True)], plan.request, base
    ).settings
    results = each_subject(
        matrices,
        samples,
        subjects,
        settings,
        wrap=lambda s: bar(s, desc="samples", disable=len(s) < 10),
    )
    joint = together(results)
    chance = swap_test(results, n_permutations=CHANCE_DRAWS, seed=settings.seed, purpose="chance")
    leading = [leading_count(s, null=float(chance.null_sigma[..., 0].max())) for s in chance.sigma]
    groups = _groups(joint.mean, joint.sigma, plan, leading)
    significance = None
    if plan.n_permutations:
        significance = swap_test(results, n_permutations=plan.n_permutations, seed=settings.seed, n_jobs=n_jobs)
    stable = None
    if plan.n_bootstraps:
        stable = stability_over_samples(
            results,
            groups,
            n_bootstraps=plan.n_bootstraps,
            seed=settings.seed,
            n_jobs=n_jobs,
            progress="bootstraps",
        )
    return Analysis(
        settings,
        joint.mean,
        joint.sigma,
        groups,
        significance,
        stable,
        spread=joint.spread,
        sigma_each=joint.sigma_each,
        subjects=tuple(subjects),
    )


def _groups(vectors: Floats, sigma: Floats, plan: Plan, leading: Sequence[int]) -> list[FeatureGroups]:
    return [
        feature_groups(v, s, n_clusters=plan.n_clusters, n_leading=r, seed=plan.base.seed)
        for v, s, r in zip(vectors, sigma, leading, strict=True)
    ]
