"""One fit per subject and their average: aligned vectors, their mean and spread, and a test over subjects.

The paper averages the vectors of 515 subjects without aligning them (Sec. 4.4). Signs are arbitrary, and vectors with
nearly equal σ are in a different order in different subjects. Here the vectors of each subject are first matched to the
directions that all subjects share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..runtime.seeds import Purpose, draws
from ..spectral.eigen import fix_signs
from ..stats.pvalues import monotone, permutation_pvalues
from ..stats.resampling import map_draws
from ..typing import Floats, Ints, Matrix
from .algorithm import DiscFit, refit
from .feature_groups import FeatureGroups, same_group
from .settings import DiscSettings
from .significance import Significance

#: with few subjects most draws repeat an earlier one
MAX_DRAWS_PER_ORDER = 20


@dataclass(frozen=True, slots=True)
class SubjectAverage:
    """Fits of all subjects, averaged."""

    #: conditions × features × components: mean of the aligned vectors; its norm is below 1 where subjects disagree
    mean: Floats
    #: conditions × features × components: standard deviation over subjects
    spread: Floats
    #: conditions × components: significance level of the shared directions
    sigma: Floats
    #: subjects × conditions × components
    sigma_each: Floats


def fit_subjects(
    matrices: Sequence[Matrix],
    samples: Sequence[Ints],
    subjects: Sequence[int],
    settings: DiscSettings,
    /,
    *,
    wrap: Callable[[Sequence[int]], Sequence[int]] = lambda s: s,
) -> list[DiscFit]:
    """Fit every subject separately, without keeping the walks; `wrap` may show progress."""
    return [
        refit(
            [x[np.flatnonzero(codes == subject)] for x, codes in zip(matrices, samples, strict=True)], settings
        ).without_walks()
        for subject in wrap(subjects)
    ]


def average(fits: Sequence[DiscFit], /) -> SubjectAverage:
    """Align the vectors of all subjects and average them."""
    n_conditions = len(fits[0].sigma)
    shared = [_shared([(fit.vectors[m], fit.sigma[m]) for fit in fits]) for m in range(n_conditions)]
    aligned = np.stack(
        [np.stack([align(fit.vectors[m], directions) for fit in fits]) for m, (_, directions) in enumerate(shared)]
    )
    return SubjectAverage(
        mean=aligned.mean(axis=1),
        spread=aligned.std(axis=1),
        sigma=np.stack([sigma for sigma, _ in shared]),
        sigma_each=np.stack([fit.sigma for fit in fits]),
    )


def _shared(found: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Directions that subjects share: singular pairs of all their vectors, weighted by σ."""
    count = found[0][0].shape[1]
    weighted = np.hstack([vectors * sigma for vectors, sigma in found]) / np.sqrt(len(found))
    directions, levels, _ = np.linalg.svd(weighted, full_matrices=False)
    return levels[:count], fix_signs(directions[:, :count])


def _relative_to_first(sigma: Floats) -> Floats:
    return np.asarray(sigma / sigma[0]) if sigma[0] > 0 else sigma


def align(vectors: Floats, directions: Floats, /) -> Floats:
    """Reorder vectors and flip their signs to match these directions."""
    cosines = directions.T @ vectors
    wanted, matched = linear_sum_assignment(-np.abs(cosines))
    signs = np.where(cosines[wanted, matched] < 0, -1.0, 1.0)
    return vectors[:, matched] * signs


def agreement(fits: Sequence[DiscFit], orders: Sequence[Ints] | None = None, /) -> Floats:
    """Level of the directions that subjects share, conditions × components, if each orders its conditions so."""
    n_conditions = len(fits[0].sigma)
    assigned = list(zip(fits, orders or [np.arange(n_conditions)] * len(fits), strict=True))
    return np.stack(
        [
            _shared([(fit.vectors[o[m]], _relative_to_first(fit.sigma[o[m]])) for fit, o in assigned])[0]
            for m in range(n_conditions)
        ]
    )


def distinct_orders(n_subjects: int, n_conditions: int, seed: int, count: int, /) -> list[list[Ints]]:
    """Draw up to `count` different ways to reorder conditions within subjects; the same order in all is none."""
    found: dict[bytes, list[Ints]] = {np.tile(np.arange(n_conditions), n_subjects).tobytes(): []}
    for source in draws(seed, "chance", MAX_DRAWS_PER_ORDER * count):
        rng = np.random.default_rng(source)
        orders: list[Ints] = [rng.permutation(n_conditions) for _ in range(n_subjects)]
        back = np.argsort(orders[0])
        found.setdefault(np.concatenate([o[back] for o in orders]).tobytes(), orders)
        if len(found) > count:
            break
    return list(found.values())[1:]


def swap_test(
    fits: Sequence[DiscFit],
    /,
    *,
    n_permutations: int,
    seed: int,
    purpose: Purpose = "permutations",
    n_jobs: int | None = None,
    progress: str | None = None,
) -> Significance:
    """Test how well subjects agree by permuting the labels of the conditions within every subject.

    The statistic is the level of the shared directions, with the σ of every subject and condition divided by its
    largest: 1 where all agree. Otherwise the condition with the larger σ would mask the other. The vectors of a
    subject do not depend on how its conditions are labelled, so no fit is repeated, only their combination.
    """
    n_conditions = len(fits[0].sigma)

    def draw(rng: np.random.Generator) -> Floats:
        return agreement(fits, [rng.permutation(n_conditions) for _ in fits])

    observed = agreement(fits)
    null = np.stack(map_draws(draw, draws(seed, purpose, n_permutations), n_jobs=n_jobs, progress=progress))
    return Significance(observed, monotone(permutation_pvalues(observed, null)), null)


def stability_over_subjects(
    fits: Sequence[DiscFit],
    groups: Sequence[FeatureGroups],
    /,
    *,
    n_bootstraps: int,
    seed: int,
    n_jobs: int | None = None,
    progress: str | None = None,
) -> Floats:
    """Share of bootstrap draws of subjects in which a feature is in its own group again (0–1)."""

    def draw(rng: np.random.Generator) -> Floats:
        drawn = average([fits[i] for i in rng.integers(len(fits), size=len(fits))])
        return np.stack([same_group(drawn.mean[m], drawn.sigma[m], group, seed) for m, group in enumerate(groups)])

    found = map_draws(draw, draws(seed, "bootstraps", n_bootstraps), n_jobs=n_jobs, progress=progress)
    return np.asarray(np.mean(found, axis=0))
