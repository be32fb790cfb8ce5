"""How sure DiSC can be: permutation p-values for σ, bootstrap stability of feature groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..runtime.seeds import draws
from ..stats.pvalues import monotone, permutation_pvalues
from ..stats.resampling import bootstrap_rows, map_draws, permuted_rows, permuted_samples
from ..typing import Floats, Ints, Matrix
from .algorithm import Settings, disc
from .feature_groups import FeatureGroups, same_group
from .permutable import Null, pooled

#: deals of the labels behind the number of feature groups; fewer where each is long
CHANCE_DRAWS = 3


@dataclass(frozen=True, slots=True)
class Significance:
    """σ as tested, against σ of permuted labels."""

    #: conditions × components; under the connectivity null, of data standardised within conditions
    sigma: Floats
    #: conditions × components, rising with the component
    pvals: Floats
    #: permutations × conditions × components
    null_sigma: Floats


def permutation_test(
    matrices: Sequence[Matrix],
    settings: Settings,
    /,
    *,
    n_permutations: int,
    null: Null = "labels",
    samples: Sequence[Ints] = (),
    n_jobs: int | None = None,
    progress: str | None = None,
) -> Significance:
    """Compare σ with its values after dealing the labels anew.

    `null="labels"` asks for any difference between conditions. `null="connectivity"` standardises every
    feature within its condition first, and again after each deal, so that a shift or a change of scale alone
    is no difference. With `samples`, whole samples are dealt.
    """
    if null == "connectivity":
        settings = replace(settings, standardize="within")
    observations = pooled(matrices, null, samples=samples)
    sizes = [x.shape[0] for x in matrices]
    observed = disc(matrices, settings).sigma

    def draw(rng: np.random.Generator) -> Floats:
        rows = permuted_samples(samples, rng) if samples else permuted_rows(sizes, rng)
        return observations.sigma(rows, settings)

    null_sigma = np.stack(
        map_draws(draw, draws(settings.seed, "permutations", n_permutations), n_jobs=n_jobs, progress=progress)
    )
    pvals = monotone(permutation_pvalues(observed, null_sigma))
    return Significance(observed, pvals, null_sigma)


def chance_sigma(matrices: Sequence[Matrix], settings: Settings, /, *, samples: Sequence[Ints] = ()) -> float:
    """Return the largest σ of a few deals of the labels: what chance and shared structure leave behind."""
    observations = pooled(matrices, "labels", samples=samples)
    sizes = [x.shape[0] for x in matrices]
    small = replace(settings, n_components=1)

    def draw(rng: np.random.Generator) -> float:
        rows = permuted_samples(samples, rng) if samples else permuted_rows(sizes, rng)
        return float(observations.sigma(rows, small).max())

    n_draws = CHANCE_DRAWS if matrices[0].shape[1] <= 1000 else 1
    # another stream than the permutations', so that asking for p-values changes no groups
    return max(map_draws(draw, draws(settings.seed, "chance", n_draws)))


def stability(
    matrices: Sequence[Matrix],
    settings: Settings,
    groups: Sequence[FeatureGroups],
    /,
    *,
    n_bootstraps: int,
    samples: Sequence[Ints] = (),
    n_jobs: int | None = None,
    progress: str | None = None,
) -> Floats:
    """Share of bootstrap draws in which a feature falls into its own group again, per condition (0–1)."""
    rows_of = list(samples) if samples else [None] * len(matrices)

    def draw(rng: np.random.Generator) -> Floats:
        chosen = [bootstrap_rows(x.shape[0], rng, samples=s) for x, s in zip(matrices, rows_of, strict=True)]
        result = disc([x[r] for x, r in zip(matrices, chosen, strict=True)], settings)
        return np.stack(
            [same_group(result.vectors[m], result.sigma[m], group, settings.seed) for m, group in enumerate(groups)]
        )

    found = map_draws(draw, draws(settings.seed, "bootstraps", n_bootstraps), n_jobs=n_jobs, progress=progress)
    return np.asarray(np.mean(found, axis=0))
