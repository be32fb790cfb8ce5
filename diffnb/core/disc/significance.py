"""Significance and stability of a fit: permutation p-values of σ, bootstrap stability of feature groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..runtime.seeds import draws
from ..stats.pvalues import monotone, permutation_pvalues
from ..stats.resampling import bootstrap_rows, map_draws, permuted_rows, permuted_samples
from ..typing import Floats, Ints, Matrix
from .algorithm import SIGMA_TIE_TOLERANCE, DiscFit, refit
from .feature_groups import FeatureGroups, same_group
from .permutable import Null, as_permutable

#: permutations of the labels that decide the number of feature groups
CHANCE_DRAWS = 3
#: with more features each of them takes long, and one has to do
MAX_FEATURES_CHANCE_DRAWS = 1000


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


def chance_sigma(
    fit: DiscFit, matrices: Sequence[Matrix], /, *, samples: Sequence[Ints] = (), strata: Sequence[Ints] = ()
) -> float:
    """Return the largest σ of a few permutations of the labels: what chance and shared structure give."""
    observations = as_permutable(matrices, "labels", samples=samples)
    sizes = [x.shape[0] for x in matrices]
    settings = replace(fit.settings, n_components=1)

    def draw(rng: np.random.Generator) -> float:
        return float(observations.sigma(_permuted(sizes, samples, strata, rng), settings).max())

    n_draws = CHANCE_DRAWS if matrices[0].shape[1] <= MAX_FEATURES_CHANCE_DRAWS else 1
    # another stream than that of the permutations, so that p-values do not change the groups
    return max(map_draws(draw, draws(settings.seed, "chance", n_draws)))


def _permuted(
    sizes: Sequence[int], samples: Sequence[Ints], strata: Sequence[Ints], rng: np.random.Generator
) -> list[Ints]:
    return permuted_samples(samples, rng, strata=strata) if samples else permuted_rows(sizes, rng, strata=strata)


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
        drawn = refit([x[r] for x, r in zip(matrices, rows, strict=True)], settings)
        return np.stack(
            [same_group(drawn.vectors[m], drawn.sigma[m], group, settings.seed) for m, group in enumerate(groups)]
        )

    found = map_draws(draw, draws(settings.seed, "bootstraps", n_bootstraps), n_jobs=n_jobs, progress=progress)
    return np.asarray(np.mean(found, axis=0))
