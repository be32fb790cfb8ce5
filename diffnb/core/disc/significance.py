"""Significance and stability of a fit: permutation p-values of σ, bootstrap stability of feature groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..runtime.seeds import draws
from ..stats.pvalues import monotone, permutation_pvalues
from ..stats.resampling import bootstrap_rows, map_draws, map_items, permuted_rows, permuted_samples
from ..typing import Floats, Ints, Matrix
from .algorithm import SIGMA_TIE_TOLERANCE, DiscFit, refit
from .feature_groups import FeatureGroups, same_group
from .membership import Correlations
from .naming import MAX_PERMUTATIONS, Naming, judge
from .permutable import Null, as_permutable

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


def permutation_test(
    fit: DiscFit,
    matrices: Sequence[Matrix],
    /,
    *,
    n_permutations: int,
    null: Null = "labels",
    samples: Sequence[Ints] = (),
    strata: Sequence[Ints] = (),
    n_jobs: int | None = None,
    progress: str | None = None,
) -> Significance:
    """Compare σ of a fit to these matrices with its values for permuted labels.

    `null="labels"` tests for any difference between conditions. `null="connectivity"` standardises every feature
    within its condition first, and again after each permutation, so that shifts and changes of scale are no
    differences; the fit must be standardised within conditions, too. With `samples`, whole samples are permuted;
    with `strata`, only within strata.
    """
    if null == "connectivity" and fit.settings.graph.standardize != "within":
        raise ValueError("null='connectivity' tests a fit with standardize='within'.")
    observations = as_permutable(matrices, null, samples=samples)
    sizes = [x.shape[0] for x in matrices]

    def draw(rng: np.random.Generator) -> Floats:
        return observations.sigma(_permuted(sizes, samples, strata, rng), fit.settings)

    seeds = draws(fit.settings.seed, "permutations", n_permutations)
    null_sigma = np.stack(map_draws(draw, seeds, n_jobs=n_jobs, progress=progress))
    pvals = permutation_pvalues(fit.sigma, null_sigma, tolerance=SIGMA_TIE_TOLERANCE)
    return Significance(fit.sigma, monotone(pvals), null_sigma)


def evidence(
    fit: DiscFit,
    matrices: Sequence[Matrix],
    /,
    *,
    samples: Sequence[Ints] = (),
    strata: Sequence[Ints] = (),
    n_jobs: int | None = None,
) -> Naming:
    """Judge by permutations which conditions have a leading vector; of connectivity where the fit is of that alone."""
    null: Null = "connectivity" if fit.settings.graph.standardize == "within" else "labels"
    observations = as_permutable(matrices, null, samples=samples)
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

    def draw(numbers: range) -> list[Floats]:
        return map_items(sigma_of, numbers, n_jobs=n_jobs, progress="permutations to name groups")

    n_available = MAX_PERMUTATIONS if assignments is None else len(assignments)
    return judge(fit.sigma[:, 0], draw, n_available=n_available)


def distinct_assignments(
    samples: Sequence[Ints], seed: int, count: int, /, *, strata: Sequence[Ints] = ()
) -> list[list[Ints]]:
    """Draw up to `count` different assignments of whole samples to conditions, as rows numbered across conditions.

    Assignments that differ only in the order of conditions are the same, and the original one is left out.
    """
    edges = np.cumsum([0, *(len(codes) for codes in samples)])
    original = [np.arange(a, b) for a, b in pairwise(edges)]
    found: dict[frozenset[bytes], list[Ints]] = {_unordered(original): original}
    for source in draws(seed, "chance", MAX_DRAWS_PER_ASSIGNMENT * count):
        rows = permuted_samples(samples, np.random.default_rng(source), strata=strata)
        found.setdefault(_unordered(rows), rows)
        if len(found) > count:
            break
    return list(found.values())[1:]


def _unordered(rows: Sequence[Ints]) -> frozenset[bytes]:
    return frozenset(r.tobytes() for r in rows)


def _permuted(
    sizes: Sequence[int], samples: Sequence[Ints], strata: Sequence[Ints], rng: np.random.Generator
) -> list[Ints]:
    return permuted_samples(samples, rng, strata=strata) if samples else permuted_rows(sizes, rng, strata=strata)


def own_and_others(related: Sequence[Correlations], m: int, /) -> dict[str, Any]:
    """Split the correlations of all conditions into those of one and of the others; empty where there are none."""
    return {"own": related[m], "others": [*related[:m], *related[m + 1 :]]} if related else {}


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
        related = [Correlations.of(x) for x in parts] if groups[0].membership is not None else []
        return np.stack(
            [
                same_group(drawn.vectors[m], drawn.sigma[m], group, settings.seed, **own_and_others(related, m))
                for m, group in enumerate(groups)
            ]
        )

    found = map_draws(draw, draws(settings.seed, "bootstraps", n_bootstraps), n_jobs=n_jobs, progress=progress)
    return np.asarray(np.mean(found, axis=0))
