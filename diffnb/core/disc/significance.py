"""Significance and stability of a fit: permutation p-values of σ, bootstrap stability of feature groups."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np

from ..runtime.seeds import draws
from ..stats.pvalues import monotone, permutation_pvalues
from ..stats.resampling import bootstrap_rows, every_assignment, map_draws, map_items, permuted_rows, permuted_samples
from ..typing import Floats, Ints, Matrix
from .algorithm import SIGMA_TIE_TOLERANCE, DiscFit, refit
from .feature_groups import FeatureGroups, same_group
from .membership import Correlations, related
from .naming import MAX_PERMUTATIONS, Naming, judge
from .permutable import Null, Permutable, SampleSums, as_permutable

#: of more conditions only the smallest p-value is told while permutations are drawn
MAX_CONDITIONS_SO_FAR = 4
#: with few samples most draws repeat an earlier one
MAX_DRAWS_PER_ASSIGNMENT = 20


@dataclass(frozen=True, slots=True)
class Significance:
    """σ as tested, and σ of permuted labels."""

    #: conditions × components; under the null of connectivity, of data standardised within conditions
    sigma: Floats
    #: conditions × components, non-decreasing with the component
    pvals: Floats
    #: permutations × conditions × components
    null_sigma: Floats
    #: whether every assignment of samples but the original one was evaluated, each once: p-values are exact then
    exact: bool = False


def permutation_test(
    fit: DiscFit,
    matrices: Sequence[Matrix],
    /,
    *,
    n_permutations: int,
    null: Null = "labels",
    samples: Sequence[Ints] = (),
    strata: Sequence[Ints] = (),
    sums: SampleSums | None = None,
    n_jobs: int | None = None,
    progress: str | None = None,
) -> Significance:
    """Compare σ of a fit to these matrices with its values for permuted labels.

    `null="labels"` tests for any difference between conditions. `null="connectivity"` standardises every feature
    within its condition first, and again after each permutation, so that shifts and changes of scale are no
    differences; the fit must be standardised within conditions, too. With `samples`, whole samples are permuted;
    with `strata`, only within strata. Where samples can be assigned in no more ways than permutations are wanted,
    each of these ways is evaluated once. `sums` of the samples may be shared with other tests.
    """
    if null == "connectivity" and fit.settings.graph.standardize != "within":
        raise ValueError("null='connectivity' tests a fit with standardize='within'.")
    observations = as_permutable(matrices, null, samples=samples, sums=sums)
    sizes = [x.shape[0] for x in matrices]
    every = every_assignment(samples, n_permutations + 1, strata=strata) if samples else None
    if every is not None:
        original = _ordered(_original(samples))
        assignments = [rows for rows in every if _ordered(rows) != original]
    elif samples:
        seeds = draws(fit.settings.seed, "permutations", n_permutations)
        assignments = [_permuted(sizes, samples, strata, np.random.default_rng(seed)) for seed in seeds]
    if samples:
        null_sigma = _sigma_of_assignments(fit, observations, assignments, samples, n_jobs, progress)
    else:

        def draw(rng: np.random.Generator) -> Floats:
            return observations.sigma(_permuted(sizes, samples, strata, rng), fit.settings)

        seeds = draws(fit.settings.seed, "permutations", n_permutations)
        null_sigma = np.stack(
            map_draws(draw, seeds, n_jobs=n_jobs, progress=progress, so_far=partial(_so_far, fit.sigma))
        )
    pvals = permutation_pvalues(fit.sigma, null_sigma, tolerance=SIGMA_TIE_TOLERANCE)
    return Significance(fit.sigma, monotone(pvals), null_sigma, exact=every is not None)


def _sigma_of_assignments(
    fit: DiscFit,
    observations: Permutable,
    assignments: Sequence[Sequence[Ints]],
    samples: Sequence[Ints],
    n_jobs: int | None,
    progress: str | None,
) -> Floats:
    """σ of every assignment, computed once for those that are equal; the fit is that of the original.

    Assignments that differ in the order of conditions only are equal, too, where all conditions are fitted alike.
    """
    alike = len(set(fit.settings.n_eigenvectors)) == 1
    original = _ordered(_original(samples))
    keys = [_ordered(rows) for rows in assignments]
    # of the assignments that are equal, the one that is computed
    first: dict[Hashable, tuple[bytes, ...]] = {}
    for key in (original, *keys):
        first.setdefault(frozenset(key) if alike else key, key)
    rows_of = dict(zip(keys, assignments, strict=True))
    new = [key for key in first.values() if key != original]

    def sigma_of(key: tuple[bytes, ...]) -> Floats:
        return observations.sigma(rows_of[key], fit.settings)

    told = partial(_so_far, fit.sigma)
    found = map_items(sigma_of, new, n_jobs=n_jobs, progress=progress, so_far=told)
    sigma: dict[tuple[bytes, ...], Floats] = {original: fit.sigma, **dict(zip(new, found, strict=True))}

    def reordered(key: tuple[bytes, ...]) -> Floats:
        computed = first[frozenset(key) if alike else key]
        return sigma[computed][[computed.index(part) for part in key]]

    return np.stack([reordered(key) for key in keys]) if keys else np.empty((0, *fit.sigma.shape))


def evidence(
    fit: DiscFit,
    matrices: Sequence[Matrix],
    /,
    *,
    samples: Sequence[Ints] = (),
    strata: Sequence[Ints] = (),
    sums: SampleSums | None = None,
    n_jobs: int | None = None,
) -> Naming:
    """Judge by permutations which conditions have a leading vector; of connectivity where the fit is of that alone."""
    null: Null = "connectivity" if fit.settings.graph.standardize == "within" else "labels"
    observations = as_permutable(matrices, null, samples=samples, sums=sums)
    sizes = [x.shape[0] for x in matrices]
    settings = replace(fit.settings, n_components=1)
    # another stream than that of the permutations, so that p-values do not change the groups
    seeds = draws(settings.seed, "chance", MAX_PERMUTATIONS)
    assignments = distinct_assignments(samples, settings.seed, MAX_PERMUTATIONS, strata=strata) if samples else None

    def sigma_of(number: int) -> Floats:
        if assignments is not None:
            rows = assignments[number]
        else:
            rows = permuted_rows(sizes, np.random.default_rng(seeds[number]), strata=strata)
        return observations.sigma(rows, settings)[:, 0]

    found: list[Floats] = []

    def draw(numbers: range) -> list[Floats]:
        def so_far(new: list[Floats]) -> str:
            return _so_far(fit.sigma[:, :1], [own[:, None] for own in (*found, *new)])

        drawn = map_items(sigma_of, numbers, n_jobs=n_jobs, progress="permutations to name groups", so_far=so_far)
        found.extend(drawn)
        return drawn

    n_available = MAX_PERMUTATIONS if assignments is None else len(assignments)
    return judge(fit.sigma[:, 0], draw, n_available=n_available)


def _so_far(sigma: Floats, found: Sequence[Floats]) -> str:
    """Say in how many permutations so far the first σ of each condition was as large, for as many as fit in a line."""
    reached = (np.stack(list(found))[:, :, 0] >= sigma[:, 0] * (1 - SIGMA_TIE_TOLERANCE)).sum(axis=0)
    pvals = [f"{(1 + count) / (1 + len(found)):.2g}" for count in reached]
    if len(pvals) > MAX_CONDITIONS_SO_FAR:
        return f"smallest p so far {min(pvals, key=float)}"
    return f"p so far {', '.join(pvals)}"


def distinct_assignments(
    samples: Sequence[Ints], seed: int, count: int, /, *, strata: Sequence[Ints] = ()
) -> list[list[Ints]]:
    """Draw up to `count` different assignments of whole samples to conditions, as rows numbered across conditions.

    Assignments that differ only in the order of conditions are the same, and the original one is left out.
    """
    original = _original(samples)
    found: dict[frozenset[bytes], list[Ints]] = {_unordered(original): original}
    for source in draws(seed, "chance", MAX_DRAWS_PER_ASSIGNMENT * count):
        rows = permuted_samples(samples, np.random.default_rng(source), strata=strata)
        found.setdefault(_unordered(rows), rows)
        if len(found) > count:
            break
    return list(found.values())[1:]


def _original(samples: Sequence[Ints]) -> list[Ints]:
    edges = np.cumsum([0, *(len(codes) for codes in samples)])
    return [np.arange(a, b) for a, b in pairwise(edges)]


def _ordered(rows: Sequence[Ints]) -> tuple[bytes, ...]:
    return tuple(blake2b(r.tobytes()).digest() for r in rows)


def _unordered(rows: Sequence[Ints]) -> frozenset[bytes]:
    return frozenset(_ordered(rows))


def _permuted(
    sizes: Sequence[int], samples: Sequence[Ints], strata: Sequence[Ints], rng: np.random.Generator
) -> list[Ints]:
    return permuted_samples(samples, rng, strata=strata) if samples else permuted_rows(sizes, rng, strata=strata)


def own_and_others(conditions: Sequence[Correlations], m: int, /) -> dict[str, Any]:
    """Split the correlations of all conditions into those of one and of the others; empty where there are none."""
    return {"own": conditions[m], "others": [*conditions[:m], *conditions[m + 1 :]]} if conditions else {}


def stability(
    fit: DiscFit,
    matrices: Sequence[Matrix],
    groups: Sequence[FeatureGroups],
    /,
    *,
    n_bootstraps: int,
    samples: Sequence[Ints] = (),
    n_jobs: int | None = None,
    progress: str | None = None,
) -> Floats:
    """Share of bootstrap draws in which a feature is in its own group again, per condition (0–1)."""
    settings = fit.settings
    samples_of = list(samples) if samples else [None] * len(matrices)

    def draw(rng: np.random.Generator) -> Floats:
        rows = [bootstrap_rows(x.shape[0], rng, samples=s) for x, s in zip(matrices, samples_of, strict=True)]
        parts = [x[r] for x, r in zip(matrices, rows, strict=True)]
        drawn = refit(parts, settings)
        correlations = related(parts) if groups[0].membership is not None else []
        return np.stack(
            [
                same_group(drawn.vectors[m], drawn.sigma[m], group, settings.seed, **own_and_others(correlations, m))
                for m, group in enumerate(groups)
            ]
        )

    found = map_draws(draw, draws(settings.seed, "bootstraps", n_bootstraps), n_jobs=n_jobs, progress=progress)
    return np.asarray(np.mean(found, axis=0))
