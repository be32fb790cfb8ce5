"""One DiSC per subject, brought together: aligned vectors, their mean and spread, and a test over subjects.

The paper averages the vectors of 515 subjects as they come (Sec. 4.4). Signs are arbitrary, and vectors of
nearly equal σ change places between subjects, so here each subject's vectors are first matched to the
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
from .algorithm import Disc, Settings, disc
from .feature_groups import FeatureGroups, same_group
from .significance import Significance


@dataclass(frozen=True, slots=True)
class Subjects:
    """DiSC over subjects."""

    #: conditions × features × components: aligned vectors averaged over subjects; a length below 1 means they disagree
    mean: Floats
    #: conditions × features × components: standard deviation over subjects
    spread: Floats
    #: conditions × components: significance level of the shared directions
    sigma: Floats
    #: subjects × conditions × components
    sigma_each: Floats


def each_subject(
    matrices: Sequence[Matrix],
    samples: Sequence[Ints],
    subjects: Sequence[int],
    settings: Settings,
    /,
    *,
    wrap: Callable[[Sequence[int]], Sequence[int]] = lambda s: s,
) -> list[Disc]:
    """DiSC of every subject by itself; `wrap` may show progress."""
    return [
        disc(
            [x[np.flatnonzero(codes == subject)] for x, codes in zip(matrices, samples, strict=True)],
            settings,
        )
        for subject in wrap(subjects)
    ]


def together(results: Sequence[Disc], /) -> Subjects:
    """Align the vectors of all subjects and average them."""
    n_conditions = len(results[0].sigma)
    shared = [_shared([(r.vectors[m], r.sigma[m]) for r in results]) for m in range(n_conditions)]
    aligned = np.stack(
        [np.stack([_aligned(r.vectors[m], directions) for r in results]) for m, (_, directions) in enumerate(shared)]
    )
    return Subjects(
        mean=aligned.mean(axis=1),
        spread=aligned.std(axis=1),
        sigma=np.stack([sigma for sigma, _ in shared]),
        sigma_each=np.stack([r.sigma for r in results]),
    )


def _shared(found: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Directions that subjects share: singular pairs of all σ-weighted vectors side by side."""
    count = found[0][0].shape[1]
    weighted = np.hstack([vectors * sigma for vectors, sigma in found]) / np.sqrt(len(found))
    directions, levels, _ = np.linalg.svd(weighted, full_matrices=False)
    return levels[:count], fix_signs(directions[:, :count])


def _from_one(sigma: Floats) -> Floats:
    return np.asarray(sigma / sigma[0]) if sigma[0] > 0 else sigma


def _aligned(vectors: Floats, directions: Floats) -> Floats:
    """Order and turn a subject's vectors to fit the shared directions."""
    cosines = directions.T @ vectors
    wanted, taken = linear_sum_assignment(-np.abs(cosines))
    signs = np.where(cosines[wanted, taken] < 0, -1.0, 1.0)
    return vectors[:, taken] * signs


def swap_test(
    results: Sequence[Disc],
    /,
    *,
    n_permutations: int,
    seed: int,
    purpose: Purpose = "permutations",
    n_jobs: int | None = None,
    progress: str | None = None,
) -> Significance:
    """Test how well subjects agree by exchanging, in whole subjects, which condition is which.

    The statistic is the level of the shared directions with the σ of every subject and condition scaled to
    begin at 1: 1 where all agree. Without that scaling the condition with the larger σ would hide the other.
    A subject's vectors for one condition do not depend on what the others are called, so nothing is computed
    anew: only the bringing together is repeated.
    """
    n_conditions = len(results[0].sigma)

    def shared_sigma(order: Sequence[Ints]) -> Floats:
        return np.stack(
            [
                _shared([(r.vectors[o[m]], _from_one(r.sigma[o[m]])) for r, o in zip(results, order, strict=True)])[0]
                for m in range(n_conditions)
            ]
        )

    def draw(rng: np.random.Generator) -> Floats:
        return shared_sigma([rng.permutation(n_conditions) for _ in results])

    observed = shared_sigma([np.arange(n_conditions)] * len(results))
    null = np.stack(map_draws(draw, draws(seed, purpose, n_permutations), n_jobs=n_jobs, progress=progress))
    return Significance(observed, monotone(permutation_pvalues(observed, null)), null)


def stability_over_samples(
    results: Sequence[Disc],
    groups: Sequence[FeatureGroups],
    /,
    *,
    n_bootstraps: int,
    seed: int,
    n_jobs: int | None = None,
    progress: str | None = None,
) -> Floats:
    """Share of bootstrap draws of subjects in which a feature falls into its own group again (0–1)."""

    def draw(rng: np.random.Generator) -> Floats:
        joint = together([results[i] for i in rng.integers(len(results), size=len(results))])
        return np.stack([same_group(joint.mean[m], joint.sigma[m], group, seed) for m, group in enumerate(groups)])

    found = map_draws(draw, draws(seed, "bootstraps", n_bootstraps), n_jobs=n_jobs, progress=progress)
    return np.asarray(np.mean(found, axis=0))
