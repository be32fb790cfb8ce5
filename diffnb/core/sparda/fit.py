"""PDA and SPARDA: the directions along which two populations differ most, and how sure one can be of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from ..arrays.ops import matmul
from ..runtime.progress import bar
from ..runtime.seeds import draws
from ..runtime.threads import thread_limits
from ..spectral.eigen import start_vector
from ..stats.pvalues import permutation_pvalues
from ..stats.resampling import map_draws, permuted_rows, permuted_samples
from ..typing import Floats, Ints, Matrix, Standardize
from .ascent import N_STARTS
from .cross_validation import cross_validate
from .divergence import DIVERGENCES, DivergenceName, evaluate_divergence
from .labelings import Labelings, labelings_of, pooled_moments
from .path import WIDE, Search, follow, k_grid, n_steps
from .streamed_operator import room_for, run_concurrently

Solver: TypeAlias = Literal["tighten", "relax"]
#: the relaxation works on features × features matrices
MOST_RELAXED = 500
#: growth along the path where only its height is asked for, in permutations, and where only its end is, in PDA
COARSE, COARSEST = 1.6, 4.0
#: PDA looks at no fewer than this fraction of all features, 1 over it
FEW = 32
#: numbers in the projections and gradients of one batch of permutations
BATCH = 3_000_000
#: an objective below this share of the mean square of the projections is rounding
NOTHING = 1e-24


@dataclass(frozen=True, slots=True)
class Settings:
    """What to look for, and what to do besides."""

    #: a number, `"auto"` for the fewest with the largest held-out objective but for chance, `None` for all (PDA)
    n_features: int | Literal["auto"] | None = "auto"
    n_projections: int = 1
    standardize: Standardize | None = "global"
    divergence: DivergenceName = "wasserstein2"
    solver: Solver = "tighten"
    n_permutations: int = 0
    certificate: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Projection:
    """One direction, with all that was asked about it."""

    #: of unit length, zero for features that were not selected
    weights: Floats
    #: the same in the data before deflation: what observations are multiplied with
    direction: Floats
    #: both populations along it
    scores: tuple[Floats, Floats]
    objective: float
    #: non-zero weights, at most the k that was asked for or chosen
    n_features: int
    k_chosen: int
    #: numbers of features, and for each the objective and its held-out mean and standard deviation over folds
    k: Ints
    path: Floats
    held_out: Floats
    held_out_sd: Floats
    pval: float = np.nan
    #: upper bound of the objective over the objective
    certificate: float = np.nan


def sparda(
    x: Matrix,
    y: Matrix,
    settings: Settings,
    /,
    *,
    samples: Sequence[Ints] = (),
    n_jobs: int | None = None,
    progress: str | None = None,
) -> list[Projection]:
    """Maximise the divergence of βᵀx and βᵀy over directions with at most k features (Eq. 1), by deflation.

    `samples` holds the sample of each row of `x` and of `y`; whole samples are held out and permuted then.
    """
    with thread_limits(1):  # thin products: threads of BLAS would mostly wait for each other
        deals = labelings_of(x, y, standardize=settings.standardize)
        found: list[Projection] = []
        for i in range(settings.n_projections):
            this = _named(progress, f"projection {i + 1}")
            chosen = _best(deals, settings, samples, this)
            if settings.n_permutations:
                named = _named(this, "permutations")
                pval = permutation_test(deals, settings, samples=samples, n_jobs=n_jobs, progress=named)
                # what is left cannot be surer than what was taken before it
                chosen = replace(chosen, pval=max(pval, *(p.pval for p in found)) if found else pval)
            found.append(chosen)
            deals = deals.without(chosen.weights)
    return found


def along(others: Matrix, x: Matrix, y: Matrix, directions: Floats, standardize: Standardize | None, /) -> Floats:
    """Project observations of neither population on directions (rows), standardised as those were.

    Within-condition moments are not theirs: the answer is missing then.
    """
    if standardize == "within":
        return np.full((others.shape[0], len(directions)), np.nan)
    if standardize is None:
        return matmul(others, directions.T)
    shift, scale = pooled_moments(x, y)
    scaled = directions * scale
    return matmul(others, scaled.T) - scaled @ shift


def _named(work: str | None, part: str) -> str | None:
    """Name a part of the work that a bar shows, where one is wanted."""
    return None if work is None else f"{work}, {part}"


def _search(settings: Settings) -> Search:
    return Search(DIVERGENCES[settings.divergence], settings.solver == "relax", settings.seed)


def _best(deals: Labelings, settings: Settings, samples: Sequence[Ints], progress: str | None) -> Projection:
    p, search = deals.n_features, _search(settings)
    wanted = p if settings.n_features is None else settings.n_features
    ks = k_grid(
        p,
        also=None if isinstance(wanted, str) else wanted,
        least_growth=COARSEST if settings.n_features is None else 1.0,
    )
    if settings.n_features is None:
        # few features are not asked for; a detour over some of them still leads to better ground
        ks = ks[ks * FEW >= p]
    with bar(total=n_steps(ks, search), desc=_named(progress, "path"), disable=progress is None, delay=1.0) as shown:
        path = follow(deals, ks, search, tick=shown.update)
    held_out = np.full((1, len(ks)), np.nan)
    if isinstance(wanted, str):
        tried = cross_validate(deals, ks, search, samples=samples, progress=_named(progress, "folds"))
        held_out, i = tried.objective, tried.fewest()
    else:
        i = int(np.searchsorted(ks, wanted))
    weights, objective = path.weights[0, i], float(path.objective[0, i])
    (u,), (v,) = deals.project(weights[None], np.zeros(1, dtype=int))
    if objective <= NOTHING * float((u**2).mean() + (v**2).mean()):
        # equal but for rounding: no direction is better than another
        weights, objective, u, v = np.zeros(p), 0.0, 0 * u, 0 * v
    return Projection(
        weights,
        deals.effective(weights[None])[0],
        (u, v),
        objective,
        int((weights != 0).sum()),
        int(ks[i]),
        ks,
        path.objective[0],
        held_out.mean(axis=0),
        held_out.std(axis=0),
        certificate=certificate(deals, weights, seed=settings.seed) if settings.certificate else np.nan,
    )


def permutation_test(
    deals: Labelings,
    settings: Settings,
    /,
    *,
    samples: Sequence[Ints] = (),
    n_jobs: int | None = None,
    progress: str | None = None,
) -> float:
    """Compare the whole path with its values after dealing observations (or whole samples) anew.

    With a given number of features the objective is the statistic. Otherwise every deal, the observed one
    among them, chooses the k at which its objective stands out most from that of all deals: log J(k) less its
    mean, over its standard deviation. All deals are treated alike, so the test is exact, and no k has to be
    known. (J at the k that cross-validation chooses is no such measure: it grows with k, and chance takes many.)
    """
    p, count, search = deals.n_features, settings.n_permutations, _search(settings)
    wanted = p if settings.n_features is None else settings.n_features
    ks = k_grid(p, also=None if isinstance(wanted, str) else wanted, least_growth=COARSE)
    sizes = [deals.left.shape[1], deals.right.shape[1]]
    most = 1 if p > WIDE else max(1, BATCH // (N_STARTS * (sum(sizes) + p)))
    n_batches = -(-count // most)
    each = -(-count // n_batches)

    def draw(rng: np.random.Generator) -> Floats:
        dealt = [_dealt(sizes, samples, rng) for _ in range(each)]
        return _objectives(deals, dealt, ks, settings)

    seeds = draws(settings.seed, "permutations", n_batches)
    if deals.streamed is None:
        drawn = map_draws(draw, seeds, n_jobs=n_jobs, progress=progress)
    else:
        together = room_for(each * N_STARTS * (deals.n_obs + p))
        with bar(total=n_batches, desc=progress, disable=progress is None, delay=1.0) as shown:
            rngs = [np.random.default_rng(child) for child in seeds]
            drawn = run_concurrently(deals.streamed, draw, rngs, together, tick=shown.update)
    null = np.concatenate(drawn)[:count]
    observed = follow(deals, ks, search).objective
    if isinstance(wanted, str):
        heights = _standing_out(np.concatenate([observed, null]))
    else:
        heights = np.concatenate([observed, null])[:, int(np.searchsorted(ks, wanted))]
    return float(permutation_pvalues(heights[:1], heights[1:, None])[0])


def _dealt(sizes: Sequence[int], samples: Sequence[Ints], rng: np.random.Generator) -> tuple[Ints, Ints]:
    if not samples:
        left, right = permuted_rows(sizes, rng)
    elif np.intersect1d(samples[0], samples[1]).size:
        left, right = _swapped(samples, rng)
    else:
        left, right = permuted_samples(samples, rng)
    return left, right


def _swapped(samples: Sequence[Ints], rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Exchange the two conditions of a sample, or not, by the toss of a coin."""
    everyone = np.concatenate(samples)
    first = np.arange(len(everyone)) < len(samples[0])
    turned = np.flatnonzero(rng.random(int(everyone.max()) + 1) < 0.5)
    first = first ^ np.isin(everyone, turned)
    return np.flatnonzero(first), np.flatnonzero(~first)


def _objectives(deals: Labelings, dealt: Sequence[tuple[Ints, Ints]], ks: Ints, settings: Settings) -> Floats:
    """Objective of every deal along the path; deals of the same sizes are worked on together."""
    values = np.zeros((len(dealt), len(ks)))
    sizes = np.array([len(left) for left, _ in dealt])
    for size in np.unique(sizes):
        which = np.flatnonzero(sizes == size)
        left, right = (np.stack([dealt[int(i)][side] for i in which]) for side in (0, 1))
        anew = deals.relabeled(left, right, standardize=settings.standardize)
        values[which] = follow(anew, ks, _search(settings)).objective
    return values


def _standing_out(objectives: Floats) -> Floats:
    """How far each deal's objective stands out among all deals, at the k where it does most."""
    logs = np.log(np.maximum(objectives, np.finfo(float).tiny))
    spread = logs.std(axis=0)
    centred = logs - logs.mean(axis=0)
    return np.asarray(np.divide(centred, spread, out=np.zeros_like(logs), where=spread > 0).max(axis=1))


def certificate(deals: Labelings, weights: Floats, /, *, seed: int = 0) -> float:
    """Return λ_max(W_M)/J for the coupling M at β: no direction exceeds the objective by more than this factor.

    For any β′, J(β′) ≤ β′ᵀW_Mβ′ ≤ λ_max(W_M), since M is one of the couplings that J takes the least over.
    """
    only, coupling, w2 = np.zeros(1, dtype=int), deals.coupling, DIVERGENCES["wasserstein2"]
    found = evaluate_divergence(*deals.project(weights[None], only), w2, coupling)
    if found.values[0] <= 0:
        return np.nan

    def product(v: Floats) -> Floats:
        u, w = deals.project(v.reshape(1, -1), only)
        # the order is that of β, not of v: the coupling is fixed
        differences = coupling.differences(u[:, found.u_order[0]], w[:, found.v_order[0]])
        left, right = coupling.segment_sums(coupling.weight * differences)
        a, b = np.empty_like(left), np.empty_like(right)
        a[:, found.u_order[0]], b[:, found.v_order[0]] = left, right
        return np.asarray(deals.gradient(a, -b, only)[0])

    p = deals.n_features
    if p <= 20:
        whole = np.stack([product(row) for row in np.eye(p)])
        bound = float(np.linalg.eigvalsh((whole + whole.T) / 2)[-1])
    else:
        operator = LinearOperator((p, p), matvec=product, dtype=np.float64)
        bound = float(eigsh(operator, k=1, which="LA", v0=start_vector(p, seed), return_eigenvectors=False)[0])
    return max(1.0, bound / float(found.values[0]))
