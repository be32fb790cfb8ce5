"""The ascent of PDA and SPARDA: β ← normalise(top_k(β + t g)), for all starts and all labelings at once."""

from __future__ import annotations

import numpy as np

from ..runtime.seeds import generator
from ..spectral.eigen import start_vector
from ..typing import Floats, Ints
from .divergence import Divergence, evaluate_divergence
from .labelings import Labelings
from .relaxation import Relaxed, relax, subsampled_rows

#: directions are rounded to multiples of this. An ascent amplifies differences, so that the rounding of products of
#: other shapes (more starts, sparse data, row blocks) would decide where it ends; rounding each step removes it
DIRECTION_RESOLUTION = 2.0**-26
#: an accepted step must raise the objective by this share of it
MIN_RELATIVE_RISE = 1e-7
#: refused steps in a row, and accepted ones that rise by less than the tolerance, after which a row stops
MAX_REFUSED_STEPS, MAX_SLOW_STEPS = 3, 2
#: steps of Lanczos for the starts: a rough direction is enough
N_LANCZOS_STEPS = 30
#: Lanczos has converged where the residual is below this share of the largest entry of the tridiagonal matrix
MIN_LANCZOS_RESIDUAL_SHARE = 1e-10
N_RANDOM_STARTS = 2
#: eigenvectors from each end of the spectrum of S_x − S_y
N_EIGENVECTORS_PER_END = 2
#: a mean difference below this share of a product with random weights is rounding
MIN_SHIFT_SHARE = 1e-11
#: starts of one labeling, those of the relaxation included
MAX_STARTS = 10


def top_k(beta: Floats, k: Ints, /) -> Floats:
    """Keep the `k[r]` largest entries of row r in absolute value, for every row."""
    p = beta.shape[1]
    kept = beta.copy()
    for size in np.unique(k):
        if size < p:
            rows = np.flatnonzero(k == size)
            small = np.argpartition(np.abs(beta[rows]), p - size - 1, axis=1)[:, : p - size]
            kept[rows[:, None], small] = 0.0
    return kept


def normalised(beta: Floats, /) -> Floats:
    """Scale every row to length 1; a row of zeros stays."""
    length = np.linalg.norm(beta, axis=1, keepdims=True)
    return np.asarray(np.divide(beta, length, out=np.zeros_like(beta), where=length > 0))


def feasible(beta: Floats, k: Ints, /) -> Floats:
    """Project every row onto the directions of unit length with at most `k[r]` features, and round it."""
    direction = normalised(top_k(beta, k))
    return normalised(np.rint(direction / DIRECTION_RESOLUTION) * DIRECTION_RESOLUTION)


def signed(beta: Floats, /) -> Floats:
    """Flip every row so that its largest entry in absolute value is positive."""
    largest = np.take_along_axis(beta, np.abs(beta).argmax(axis=1)[:, None], axis=1)
    return beta * np.where(largest < 0, -1.0, 1.0)


def tighten(
    labelings: Labelings,
    beta: Floats,
    k: Ints,
    labeling: Ints,
    divergence: Divergence,
    /,
    *,
    n_steps: int = 60,
    tolerance: float = 1e-4,
) -> tuple[Floats, Floats]:
    """Ascend from every row of `beta` with its own k and labeling; return directions and objectives.

    A step is accepted only if the objective rises, and the step size is doubled then; otherwise it is quartered. A
    row stops after three refused steps in a row, or after two accepted ones that rise by less than `tolerance`.
    """
    coupling = labelings.coupling
    beta = feasible(beta, k)
    found = evaluate_divergence(*labelings.project(beta, labeling), divergence, coupling)
    value = found.values.copy()
    all_rows = np.arange(len(beta))
    slope = labelings.gradient(*found.slopes(all_rows, divergence, coupling), labeling)
    step = _first_step(value, slope, divergence.degree)
    refused, slow = np.zeros(len(beta), dtype=int), np.zeros(len(beta), dtype=int)
    active = all_rows[np.isfinite(step)]
    for _ in range(n_steps):
        if not active.size:
            break
        trial = feasible(beta[active] + step[active, None] * slope[active], k[active])
        found = evaluate_divergence(*labelings.project(trial, labeling[active]), divergence, coupling)
        rose = found.values > value[active] * (1 + MIN_RELATIVE_RISE)
        up, down = active[rose], active[~rose]
        slow[up] = np.where(found.values[rose] < value[up] * (1 + tolerance), slow[up] + 1, 0)
        refused[up], refused[down] = 0, refused[down] + 1
        step[up], step[down] = 2 * step[up], step[down] / 4
        value[up], beta[up] = found.values[rose], trial[rose]
        going = up[slow[up] < MAX_SLOW_STEPS]
        if going.size:
            rows = np.flatnonzero(rose)[slow[up] < MAX_SLOW_STEPS]
            slope[going] = labelings.gradient(*found.slopes(rows, divergence, coupling), labeling[going])
        active = np.sort(np.concatenate([going, down[refused[down] < MAX_REFUSED_STEPS]]))
    return beta, value


def _first_step(value: Floats, slope: Floats, degree: int) -> Floats:
    """Return 1/(2J) for W₂²: by homogeneity the component of the step along β then is as long as β itself."""
    size = degree * value if degree else np.linalg.norm(slope, axis=1)
    return np.divide(1.0, size, out=np.full_like(size, np.inf), where=size > 0)


def starts(labelings: Labelings, /, *, relaxed: bool = False, penalty: float = 0.0, seed: int = 0) -> Floats:
    """Mean difference, extreme eigenvectors of S_x − S_y, random directions: labelings × starts × features.

    Where the means are equal up to rounding, another random direction replaces their difference.
    With `relaxed`, the leading eigenvectors of the relaxed problem as well.
    """
    p = labelings.n_features
    rng = generator(seed, "starts", p)
    shift, product = _shift_and_random_product(labelings, rng)
    # a constant feature is zero in every product: random directions must not contain it
    varies = product != 0
    random = np.where(varies[:, None], rng.standard_normal((N_RANDOM_STARTS + 1, p)), 0.0)
    random /= np.maximum(np.linalg.norm(random, axis=2, keepdims=True), np.finfo(float).tiny)
    # populations that are standardised separately have no mean difference, but rounding leaves one
    differs = np.abs(shift).max(axis=1) > MIN_SHIFT_SHARE * np.abs(product).max(axis=1)
    found = [
        np.where(differs[:, None], normalised(shift), random[:, -1])[:, None],
        _extreme_directions(labelings, np.where(varies, start_vector(p, seed) - 1.0, 0.0)),
        random[:, :-1],
    ]
    if relaxed:
        solved = solve_relaxed(labelings, penalty=penalty, seed=seed)
        found.append(np.stack([relaxed.directions.T for relaxed in solved]))
    return np.concatenate(found, axis=1)


def solve_relaxed(labelings: Labelings, /, *, penalty: float = 0.0, seed: int = 0) -> list[Relaxed]:
    """Solve the relaxed problem of every labeling."""
    subsample = subsampled_rows(labelings.x_rows.shape[1], seed), subsampled_rows(labelings.y_rows.shape[1], seed)
    populations = (labelings.populations(i, subsample=subsample) for i in range(labelings.n_labelings))
    return [relax(x, y, penalty=penalty, seed=seed) for x, y in populations]


def _shift_and_random_product(labelings: Labelings, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the mean difference, and the data times random weights, in one product: labelings × features each."""
    n_labelings, n, m = labelings.n_labelings, labelings.x_rows.shape[1], labelings.y_rows.shape[1]
    a, b = (np.tile(rng.standard_normal(size), (n_labelings, 1)) for size in (n, m))
    a, b = np.concatenate([np.full_like(a, 1 / n), a]), np.concatenate([np.full_like(b, -1 / m), b])
    shift, product = np.split(labelings.gradient(a, b, np.tile(np.arange(n_labelings), 2)), 2)
    return shift, product


def _extreme_directions(labelings: Labelings, vector: Floats) -> Floats:
    """Directions in which the variances differ most, by Lanczos on S_x − S_y, for all labelings at once."""
    p, n_labelings = labelings.n_features, labelings.n_labelings
    n_steps = min(p, N_LANCZOS_STEPS)
    basis = np.zeros((n_labelings, n_steps, p))
    tridiagonal = np.zeros((n_labelings, n_steps, n_steps))
    # a deflated direction is an eigenvector as well: nothing but rounding would lead away from it
    vector = normalised(labelings.deflate(vector))
    for i in range(n_steps):
        basis[:, i] = vector
        image = _variance_difference(labelings, vector)
        tridiagonal[:, i, i] = np.einsum("lp,lp->l", vector, image)
        # twice is enough to stay orthogonal
        for _ in range(2):
            image -= np.einsum("lsp,ls->lp", basis[:, : i + 1], np.einsum("lsp,lp->ls", basis[:, : i + 1], image))
        length = np.linalg.norm(image, axis=1)
        if i + 1 < n_steps:
            goes_on = length > MIN_LANCZOS_RESIDUAL_SHARE * np.abs(tridiagonal).max(axis=(1, 2))
            tridiagonal[:, i, i + 1] = tridiagonal[:, i + 1, i] = np.where(goes_on, length, 0.0)
            vector = np.divide(image, length[:, None], out=np.zeros_like(image), where=goes_on[:, None])
    _, vectors = np.linalg.eigh(tridiagonal)
    n_ends = N_EIGENVECTORS_PER_END
    ends = np.unique(np.r_[0 : min(n_ends, n_steps), max(0, n_steps - n_ends) : n_steps])
    return np.asarray(np.einsum("lsp,lse->lep", basis, vectors[:, :, ends]))


def _variance_difference(labelings: Labelings, beta: Floats) -> Floats:
    """Return (S_x − S_y)β, for one direction per labeling."""
    labeling = np.arange(labelings.n_labelings)
    u, v = labelings.project(beta, labeling)
    a = (u - u.mean(axis=1, keepdims=True)) / u.shape[1]
    b = (v - v.mean(axis=1, keepdims=True)) / v.shape[1]
    return labelings.gradient(a, -b, labeling)
