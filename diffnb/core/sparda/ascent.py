"""The ascent of PDA and SPARDA: β ← normalise(top_k(β + t g)), for all starts and all deals at once."""

from __future__ import annotations

import numpy as np

from ..runtime.seeds import generator
from ..spectral.eigen import start_vector
from ..typing import Floats, Ints
from .divergence import Divergence, evaluate_divergence
from .labelings import Labelings
from .relaxation import relax, subsampled_rows

#: an accepted step must raise the objective by this share of it
RISE = 1e-7
#: steps of Lanczos for the starts: they need a direction, not digits
LANCZOS_STEPS = 30
N_RANDOM = 2
N_EXTREME = 2
#: a mean difference below this share of any other product with the data is rounding
NO_SHIFT = 1e-11
#: directions that an ascent begins with, at most
N_STARTS = 10


def top_k(beta: Floats, k: Ints, /) -> Floats:
    """Keep the k largest entries of every row in absolute value; k differs by row."""
    p = beta.shape[1]
    kept = beta.copy()
    for size in np.unique(k):
        if size < p:
            rows = np.flatnonzero(k == size)
            small = np.argpartition(np.abs(beta[rows]), p - size - 1, axis=1)[:, : p - size]
            kept[rows[:, None], small] = 0.0
    return kept


def normalised(beta: Floats, /) -> Floats:
    """Give every row length 1; a row of zeros stays."""
    length = np.linalg.norm(beta, axis=1, keepdims=True)
    return np.asarray(np.divide(beta, length, out=np.zeros_like(beta), where=length > 0))


def signed(beta: Floats, /) -> Floats:
    """Turn every row so that its largest entry in absolute value is positive."""
    largest = np.take_along_axis(beta, np.abs(beta).argmax(axis=1)[:, None], axis=1)
    return beta * np.where(largest < 0, -1.0, 1.0)


def tighten(
    deals: Labelings,
    beta: Floats,
    k: Ints,
    deal: Ints,
    divergence: Divergence,
    /,
    *,
    n_steps: int = 60,
    tolerance: float = 1e-4,
) -> tuple[Floats, Floats]:
    """Climb from every row of `beta` under its own k and deal; return directions and objectives.

    A step is taken only if the objective rises, and is doubled then; else it is quartered. A row stops after
    three refusals in a row, or two rises in a row below `tolerance`.
    """
    coupling = deals.coupling
    beta = normalised(top_k(beta, k))
    found = evaluate_divergence(*deals.project(beta, deal), divergence, coupling)
    value = found.values.copy()
    everyone = np.arange(len(beta))
    slope = deals.gradient(*found.slopes(everyone, divergence, coupling), deal)
    step = _first_step(value, slope, divergence.degree)
    refused, slow = np.zeros(len(beta), dtype=int), np.zeros(len(beta), dtype=int)
    active = everyone[np.isfinite(step)]
    for _ in range(n_steps):
        if not active.size:
            break
        trial = normalised(top_k(beta[active] + step[active, None] * slope[active], k[active]))
        found = evaluate_divergence(*deals.project(trial, deal[active]), divergence, coupling)
        rose = found.values > value[active] * (1 + RISE)
        up, down = active[rose], active[~rose]
        slow[up] = np.where(found.values[rose] < value[up] * (1 + tolerance), slow[up] + 1, 0)
        refused[up], refused[down] = 0, refused[down] + 1
        step[up], step[down] = 2 * step[up], step[down] / 4
        value[up], beta[up] = found.values[rose], trial[rose]
        going = up[slow[up] < 2]
        if going.size:
            rows = np.flatnonzero(rose)[slow[up] < 2]
            slope[going] = deals.gradient(*found.slopes(rows, divergence, coupling), deal[going])
        active = np.sort(np.concatenate([going, down[refused[down] < 3]]))
    return beta, value


def _first_step(value: Floats, slope: Floats, degree: int) -> Floats:
    """1/(2J) for W₂²: by homogeneity the step then is as long as β itself, along β."""
    size = degree * value if degree else np.linalg.norm(slope, axis=1)
    return np.divide(1.0, size, out=np.full_like(size, np.inf), where=size > 0)


def starts(deals: Labelings, /, *, relaxed: bool = False, seed: int = 0) -> Floats:
    """Mean difference, extreme eigenvectors of S_x − S_y, random directions: deals × starts × features.

    Where the means are equal but for rounding, one more random direction takes the place of their difference.
    With `relaxed`, the leading eigenvectors of the relaxed problem as well.
    """
    p, everyone = deals.n_features, np.arange(deals.n_labelings)
    n, m = deals.left.shape[1], deals.right.shape[1]
    rng = generator(seed, "starts", p)
    # a feature that is constant has no part in any product: it must not come in by chance
    a, b = (np.tile(rng.standard_normal(size), (deals.n_labelings, 1)) for size in (n, m))
    a, b = np.concatenate([np.full_like(a, 1 / n), a]), np.concatenate([np.full_like(b, -1 / m), b])
    shifted, any_product = np.split(deals.gradient(a, b, np.tile(everyone, 2)), 2)
    varies = any_product != 0
    random = np.where(varies[:, None], rng.standard_normal((N_RANDOM + 1, p)), 0.0)
    random /= np.maximum(np.linalg.norm(random, axis=2, keepdims=True), np.finfo(float).tiny)
    # what is standardised within each side has no mean difference: its rounding must not lead anywhere
    moved = np.abs(shifted).max(axis=1) > NO_SHIFT * np.abs(any_product).max(axis=1)
    found = [
        np.where(moved[:, None], normalised(shifted), random[:, -1])[:, None],
        _extreme_directions(deals, np.where(varies, start_vector(p, seed) - 1.0, 0.0)),
        random[:, :-1],
    ]
    if relaxed:
        some = subsampled_rows(n, seed), subsampled_rows(m, seed)
        relaxations = (relax(*deals.sides(d, drawn=some), seed=seed) for d in range(deals.n_labelings))
        found.append(np.stack([relaxation.directions.T for relaxation in relaxations]))
    return np.concatenate(found, axis=1)


def _extreme_directions(deals: Labelings, vector: Floats) -> Floats:
    """Directions in which the variances differ most, by Lanczos on S_x − S_y, all deals side by side."""
    p, everyone = deals.n_features, np.arange(deals.n_labelings)
    steps = min(p, LANCZOS_STEPS)
    basis = np.zeros((deals.n_labelings, steps, p))
    triangle = np.zeros((deals.n_labelings, steps, steps))
    vector = normalised(vector)
    for i in range(steps):
        basis[:, i] = vector
        image = _variance_difference(deals, vector, everyone)
        triangle[:, i, i] = np.einsum("dp,dp->d", vector, image)
        # twice is enough to stay orthogonal
        for _ in range(2):
            image -= np.einsum("dsp,ds->dp", basis[:, : i + 1], np.einsum("dsp,dp->ds", basis[:, : i + 1], image))
        length = np.linalg.norm(image, axis=1)
        if i + 1 < steps:
            alive = length > 1e-10 * np.abs(triangle).max(axis=(1, 2))
            triangle[:, i, i + 1] = triangle[:, i + 1, i] = np.where(alive, length, 0.0)
            vector = np.divide(image, length[:, None], out=np.zeros_like(image), where=alive[:, None])
    _, vectors = np.linalg.eigh(triangle)
    ends = np.unique(np.r_[0 : min(N_EXTREME, steps), max(0, steps - N_EXTREME) : steps])
    return np.asarray(np.einsum("dsp,dse->dep", basis, vectors[:, :, ends]))


def _variance_difference(deals: Labelings, beta: Floats, deal: Ints) -> Floats:
    u, v = deals.project(beta, deal)
    a = (u - u.mean(axis=1, keepdims=True)) / u.shape[1]
    b = (v - v.mean(axis=1, keepdims=True)) / v.shape[1]
    return deals.gradient(a, -b, deal)
