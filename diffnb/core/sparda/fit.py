"""PDA and SPARDA: the directions along which two populations differ most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from ..arrays.ops import matmul
from ..runtime.progress import bar
from ..runtime.threads import thread_limits
from ..typing import Floats, Ints, Matrix, Standardize
from .certificate import certificate
from .cross_validation import cross_validate
from .divergence import DIVERGENCES, DivergenceName
from .labelings import Labelings, labelings_of, pooled_mean_and_scale
from .n_features import FeatureCount, choose_n_features
from .path import PathSettings, fit_path, k_grid, n_path_steps

Solver: TypeAlias = Literal["tighten", "relax"]
#: the relaxation works on features × features matrices
MAX_RELAXED_FEATURES = 500
#: growth of k along the path of PDA, of which only the end is wanted, and the share of all features it begins with
PDA_GRID_GROWTH, PDA_MIN_SHARE_OF_FEATURES = 4.0, 1 / 32
#: an objective below this share of the mean square of the projections is rounding
MIN_OBJECTIVE_SHARE = 1e-24


@dataclass(frozen=True, slots=True)
class SpardaOptions:
    """What to search for."""

    #: a number, `"auto"` to choose it by cross-validation, `None` for all (PDA)
    n_features: int | Literal["auto"] | None = "auto"
    n_projections: int = 1
    standardize: Standardize | None = "global"
    divergence: DivergenceName = "wasserstein2"
    solver: Solver = "tighten"
    #: λ of the relaxation, and whether its direction is tightened
    penalty: float = 0.0
    tighten: bool = True
    certificate: bool = False
    seed: int = 0

    @property
    def path_settings(self) -> PathSettings:
        """How to search along the path of k."""
        relaxed = self.solver == "relax"
        return PathSettings(DIVERGENCES[self.divergence], relaxed, self.penalty, self.tighten, self.seed)


@dataclass(frozen=True, slots=True)
class Projection:
    """One direction and the path of k on which it was found."""

    #: of unit length, zero for features that were not selected
    weights: Floats
    #: the same before deflation: what observations are multiplied with
    direction: Floats
    #: projections of both populations
    scores: tuple[Floats, Floats]
    objective: float
    #: non-zero weights, at most `k_chosen`
    n_features: int
    k_chosen: int
    #: numbers of features, and for each the objective and its held-out mean and standard deviation over folds
    k: Ints
    path: Floats
    held_out: Floats
    held_out_sd: Floats
    #: held-out mean with permuted labels
    chance: Floats
    #: how the number of features was chosen; `None` where it was given
    count: FeatureCount | None = None
    #: upper bound of the objective over the objective; NaN unless asked for
    certificate: float = np.nan
    #: NaN until `divergence_test` computes it
    pval: float = np.nan


@dataclass(frozen=True, slots=True)
class SpardaFit:
    """The projections found, and what a test of them needs."""

    options: SpardaOptions
    projections: list[Projection]
    #: the data as standardised, with the observed labels, nothing deflated
    labelings: Labelings
    #: the sample of each row of either population; empty where observations are independent
    samples: Sequence[Ints] = ()
    #: the stratum of each row of either population; empty where labels may be permuted between all
    strata: Sequence[Ints] = ()


def fit_sparda(
    x: Matrix,
    y: Matrix,
    options: SpardaOptions,
    /,
    *,
    samples: Sequence[Ints] = (),
    strata: Sequence[Ints] = (),
    n_jobs: int | None = None,
    progress: str | None = None,
) -> SpardaFit:
    """Maximise the divergence of βᵀx and βᵀy over directions with at most k features (Eq. 1), by deflation.

    `samples` holds the sample of each row of `x` and of `y`; whole samples are held out and permuted then.
    `strata` holds the stratum of each row: labels are permuted within strata only.
    """
    # one thread of BLAS: it would gain nothing from more in products with a few directions
    with thread_limits(1, n_jobs):
        observed = labelings_of(x, y, standardize=options.standardize)
        rest, projections = observed, []
        for i in range(options.n_projections):
            projection = _fit_projection(rest, options, samples, named(progress, f"projection {i + 1}"))
            projections.append(projection)
            rest = rest.deflated_by(projection.weights)
    return SpardaFit(options, projections, observed, samples, strata)


def _fit_projection(
    labelings: Labelings, options: SpardaOptions, samples: Sequence[Ints], progress: str | None
) -> Projection:
    settings, ks = options.path_settings, _grid(labelings.n_features, options.n_features)
    total = n_path_steps(ks, settings)
    with bar(total=total, desc=named(progress, "path"), disable=progress is None, delay=1.0) as shown:
        path = fit_path(labelings, ks, settings, on_step=shown.update)
    held_out = chance = np.full((1, len(ks)), np.nan)
    count = None
    if options.n_features == "auto":
        validated = cross_validate(labelings, ks, settings, samples=samples, progress=named(progress, "folds"))
        count = choose_n_features(ks, validated, tested=not samples)
        held_out, chance, chosen = validated.objective, validated.chance, count.index
    else:
        chosen = int(np.searchsorted(ks, options.n_features or labelings.n_features))
    weights, objective, scores = _without_rounding(labelings, path.weights[0, chosen], float(path.objective[0, chosen]))
    return Projection(
        weights=weights,
        direction=labelings.deflate(weights[None])[0],
        scores=scores,
        objective=objective,
        n_features=int(np.count_nonzero(weights)),
        k_chosen=int(ks[chosen]),
        k=ks,
        path=path.objective[0],
        held_out=held_out.mean(axis=0),
        held_out_sd=held_out.std(axis=0),
        chance=chance.mean(axis=0),
        count=count,
        certificate=certificate(labelings, weights, seed=options.seed) if options.certificate else np.nan,
    )


def _grid(p: int, n_features: int | Literal["auto"] | None) -> Ints:
    if n_features is not None:
        return k_grid(p, also=None if isinstance(n_features, str) else n_features)
    # PDA wants all features; a path from fewer of them still leads to better directions
    ks = k_grid(p, min_growth=PDA_GRID_GROWTH)
    return ks[ks >= PDA_MIN_SHARE_OF_FEATURES * p]


def _without_rounding(
    labelings: Labelings, weights: Floats, objective: float
) -> tuple[Floats, float, tuple[Floats, Floats]]:
    """Return weights, objective and scores; all zero where the populations are equal up to rounding.

    No direction is better than another then.
    """
    (u,), (v,) = labelings.project(weights[None], np.zeros(1, dtype=int))
    if objective <= MIN_OBJECTIVE_SHARE * float((u**2).mean() + (v**2).mean()):
        return np.zeros_like(weights), 0.0, (0 * u, 0 * v)
    return weights, objective, (u, v)


def named(work: str | None, part: str, /) -> str | None:
    """Name a part of the work for a progress bar; `None` where no bar is shown."""
    return None if work is None else f"{work}, {part}"


def project_others(
    others: Matrix, x: Matrix, y: Matrix, directions: Floats, standardize: Standardize | None, /
) -> Floats:
    """Project observations of neither population on directions (rows), standardised like `x` and `y`.

    Populations that are standardised separately have no moments for others: their projections are NaN.
    """
    if standardize == "within":
        return np.full((others.shape[0], len(directions)), np.nan)
    weights, offset = projection_map(x, y, directions, standardize)
    return matmul(others, weights.T) - offset


def projection_map(
    x: Matrix, y: Matrix, directions: Floats, standardize: Literal["global"] | None, /
) -> tuple[Floats, Floats]:
    """Return weights (rows) and offset with which observations, as they are, are projected: xᵀw − offset."""
    if standardize is None:
        return directions, np.zeros(len(directions))
    shift, scale = pooled_mean_and_scale(x, y)
    scaled = directions * scale
    return scaled, scaled @ shift
