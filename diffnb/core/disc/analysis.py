"""DiSC from matrices to groups of features: fit, group, test and bootstrap, pooled or per subject."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ..arrays.gram_stats import GramStats
from ..runtime.progress import announce, bar
from ..runtime.threads import thread_limits
from ..stats.resampling import map_items
from ..stats.samples import sample_counts
from ..typing import Auto, Floats, Ints, Matrix
from .algorithm import DiscFit, fit_disc, resolve
from .feature_groups import FeatureGroups, feature_groups, leading_count, refined
from .membership import Correlations, related
from .naming import RANK_ROUNDS, Naming, judge_by_rank
from .paired import agreement, average, distinct_orders, fit_subjects, stability_over_subjects, swap_test
from .permutable import Null, SampleSums
from .replication import Replication, replication_over_samples, replication_over_subjects
from .settings import DiscOptions, DiscSettings
from .significance import Significance, evidence, own_and_others, permutation_test, stability

#: observations that a subject needs in every condition to be analysed separately
MIN_OBS_PER_SUBJECT = 3
MIN_SUBJECTS = 2
#: with fewer subjects no progress bar is shown
MIN_SUBJECTS_FOR_BAR = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisOptions:
    """What to compute besides the fit."""

    disc: DiscOptions = field(default_factory=DiscOptions)
    n_clusters: int | Auto = "auto"
    n_permutations: int = 0
    null: Null = "labels"
    n_bootstraps: int = 0


@dataclass(frozen=True, slots=True)
class Analysis:
    """All results of DiSC; the walks of the fits are not among them."""

    settings: DiscSettings
    #: conditions × features × components
    vectors: Floats
    #: conditions × components
    sigma: Floats
    groups: list[FeatureGroups]
    significance: Significance | None = None
    #: conditions × features
    stability: Floats | None = None
    #: conditions × features × components, over subjects
    spread: Floats | None = None
    #: subjects × conditions × components
    sigma_each: Floats | None = None
    #: codes of the subjects that were analysed separately
    subjects: tuple[int, ...] = ()
    #: evidence for naming groups; None where their number was given
    naming: Naming | None = None
    #: agreement between halves of the samples
    replication: Replication | None = None


def complete_samples(samples: Sequence[Ints], /) -> tuple[int, ...]:
    """Return the samples that have enough observations in every condition to be analysed separately."""
    return tuple(int(s) for s in np.flatnonzero((sample_counts(samples) >= MIN_OBS_PER_SUBJECT).all(axis=0)))


def analyse(
    matrices: Sequence[Matrix],
    options: AnalysisOptions,
    /,
    *,
    samples: Sequence[Ints] = (),
    strata: Sequence[Ints] = (),
    n_jobs: int | None = None,
) -> Analysis:
    """Run the analysis; if at least two samples are complete, each of them is fitted separately.

    `strata` holds, per condition, the stratum of each row: labels are permuted within strata.
    """
    subjects = complete_samples(samples) if samples else ()
    with thread_limits(matrices[0].shape[1], n_jobs):
        if len(subjects) >= MIN_SUBJECTS:
            return _per_subject(matrices, options, samples, subjects, n_jobs)
        return _pooled(matrices, options, samples, strata, n_jobs)


def _pooled(
    matrices: Sequence[Matrix],
    options: AnalysisOptions,
    samples: Sequence[Ints],
    strata: Sequence[Ints],
    n_jobs: int | None,
) -> Analysis:
    # shared by the fit and all tests that permute
    announce("graphs of features")
    sums = SampleSums.of_units(matrices, samples, strata, options.disc.graph.seed)
    permutes = options.n_clusters == "auto" or options.n_permutations > 0
    stats = sums.by_condition() if permutes else None
    fit = fit_disc(matrices, options.disc, stats=stats).without_walks()
    naming = None
    if options.n_clusters == "auto":
        test = partial(evidence, samples=sums.samples, strata=strata, sums=sums, n_jobs=n_jobs)
        naming = _evidence(fit, matrices, options, test, stats)
    announce("groups of features")
    groups = _groups(fit.vectors, fit.sigma, _leading(fit.sigma, naming), options)
    if _refines(options, groups):
        groups = _refined(groups, fit.vectors, fit.sigma, related(matrices, stats=stats))
    significance = stable = None
    if options.n_permutations:
        significance = permutation_test(
            _fit_to_test(fit, matrices, options, stats),
            matrices,
            n_permutations=options.n_permutations,
            null=options.null,
            samples=sums.samples,
            strata=strata,
            sums=sums,
            n_jobs=n_jobs,
            progress="permutations",
        )
    if options.n_bootstraps:
        stable = stability(
            fit,
            matrices,
            groups,
            n_bootstraps=options.n_bootstraps,
            samples=samples,
            n_jobs=n_jobs,
            progress="bootstraps",
        )
    return Analysis(
        fit.settings,
        fit.vectors,
        fit.sigma,
        groups,
        significance,
        stable,
        naming=naming,
        replication=replication_over_samples(fit, matrices, samples, groups, sums=sums, n_jobs=n_jobs),
    )


def _evidence(
    fit: DiscFit,
    matrices: Sequence[Matrix],
    options: AnalysisOptions,
    test: Callable[[DiscFit, Sequence[Matrix]], Naming],
    stats: Sequence[GramStats] | None,
) -> Naming:
    """Judge which conditions may name groups; where labels leave doubt, by connectivity alone.

    A difference in connectivity is a difference, and with permuted labels features of different level and spread make
    a σ that varies a lot from one permutation to the next.
    """
    naming = test(fit, matrices)
    if fit.settings.graph.standardize == "within" or not naming.doubtful.any():
        return naming
    within = fit_disc(matrices, _within(options.disc), stats=stats).without_walks()
    return naming.supported_by(test(within, matrices))


def _leading(sigma: Floats, naming: Naming | None) -> list[int]:
    """Count the leading vectors of every condition; none without evidence, where it was asked for."""
    chance = [0.0] * len(sigma) if naming is None else naming.chance.tolist()
    return [leading_count(s, null=null) for s, null in zip(sigma, chance, strict=True)]


def _refines(options: AnalysisOptions, groups: Sequence[FeatureGroups]) -> bool:
    """Return whether clusters are seeds only: correlations say nothing of differences in level or spread."""
    relations_only = options.disc.graph.standardize == "within" or options.null == "connectivity"
    return options.n_clusters == "auto" and relations_only and any(g.n_leading for g in groups)


def _refined(
    groups: Sequence[FeatureGroups], vectors: Floats, sigma: Floats, correlations: Sequence[Correlations]
) -> list[FeatureGroups]:
    return [refined(group, vectors[m], sigma[m], **own_and_others(correlations, m)) for m, group in enumerate(groups)]


def _fit_to_test(
    fit: DiscFit, matrices: Sequence[Matrix], options: AnalysisOptions, stats: Sequence[GramStats] | None
) -> DiscFit:
    """Return the fit, or another one to data standardised within conditions, whose graphs and settings differ."""
    if options.null == "labels" or fit.settings.graph.standardize == "within":
        return fit
    return fit_disc(matrices, _within(options.disc), stats=stats).without_walks()


def _within(options: DiscOptions) -> DiscOptions:
    return replace(options, graph=replace(options.graph, standardize="within"))


def _per_subject(
    matrices: Sequence[Matrix],
    options: AnalysisOptions,
    samples: Sequence[Ints],
    subjects: Sequence[int],
    n_jobs: int | None,
) -> Analysis:
    disc = _within(options.disc) if options.null == "connectivity" else options.disc
    settings = resolve(_rows_of_subjects(matrices, samples, subjects), disc)
    fits = fit_subjects(
        matrices,
        samples,
        subjects,
        settings,
        wrap=lambda s: bar(s, desc="samples", disable=len(s) < MIN_SUBJECTS_FOR_BAR),
    )
    joint = average(fits)
    naming = _agreement_beyond_chance(fits, settings.seed, n_jobs) if options.n_clusters == "auto" else None
    groups = _groups(joint.mean, joint.sigma, _leading(agreement(fits), naming), options)
    if _refines(options, groups):
        rows = [np.isin(codes, subjects) for codes in samples]
        correlations = related(
            [x[np.flatnonzero(r)] for x, r in zip(matrices, rows, strict=True)],
            [codes[r] for codes, r in zip(samples, rows, strict=True)],
        )
        groups = _refined(groups, joint.mean, joint.sigma, correlations)
    significance = stable = None
    if options.n_permutations:
        significance = swap_test(fits, n_permutations=options.n_permutations, seed=settings.seed, n_jobs=n_jobs)
    if options.n_bootstraps:
        stable = stability_over_subjects(
            fits, groups, n_bootstraps=options.n_bootstraps, seed=settings.seed, n_jobs=n_jobs, progress="bootstraps"
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
        naming=naming,
        replication=replication_over_subjects(fits, groups, seed=settings.seed, n_jobs=n_jobs),
    )


def _agreement_beyond_chance(fits: Sequence[DiscFit], seed: int, n_jobs: int | None) -> Naming:
    """Judge by conditions swapped within subjects in which of them the subjects agree."""
    observed = agreement(fits)
    orders = distinct_orders(len(fits), len(observed), seed, RANK_ROUNDS[-1])

    def draw(numbers: range) -> list[Floats]:
        return map_items(lambda number: agreement(fits, orders[number])[:, 0], numbers, n_jobs=n_jobs)

    return judge_by_rank(observed[:, 0], draw, n_available=len(orders))


def _rows_of_subjects(matrices: Sequence[Matrix], samples: Sequence[Ints], subjects: Sequence[int]) -> list[Matrix]:
    return [x[np.flatnonzero(np.isin(codes, subjects))] for x, codes in zip(matrices, samples, strict=True)]


def _groups(vectors: Floats, sigma: Floats, leading: Sequence[int], options: AnalysisOptions) -> list[FeatureGroups]:
    return [
        feature_groups(v, s, n_clusters=options.n_clusters, n_leading=r, seed=options.disc.graph.seed)
        for v, s, r in zip(vectors, sigma, leading, strict=True)
    ]
