"""SPARDA for every number of features: a path from many to few, and back to many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ..typing import Floats, Ints
from .ascent import feasible, signed, solve_relaxed, starts, tighten
from .divergence import DIVERGENCES, Divergence, evaluate_divergence
from .labelings import Labelings

#: called after every step of a path, to report progress
OnStep: TypeAlias = Callable[[], object]
#: numbers of features grow by these factors along the path, from 1, 30, 100 and 500 on
GROWTH_FACTORS = ((1, 1.1), (30, 1.25), (100, 1.6), (500, 2.0))
#: with more features every labeling has its own path, which considers a working set of features only
MAX_FEATURES_WITHOUT_WORKING_SET = 1000
#: features in a working set, as a multiple of k
WORKING_SET_FACTOR = 4
#: a working set is made dense once it is at most this share of all features, and this share of the one before
MAX_DENSE_SHARE, MAX_SHRINKING_SHARE = 0.2, 0.7
#: directions that a path with working sets keeps
MAX_DIRECTIONS_WITH_WORKING_SET = 3
#: two directions with a larger cosine are the same
MIN_DUPLICATE_COSINE = 0.999
#: a direction below this share of the best objective is dropped: where it ends depends on rounding
MIN_SHARE_OF_BEST = 0.5
#: single features from which the forward pass begins
N_SINGLE_FEATURES = 5


@dataclass(frozen=True, slots=True)
class Path:
    """The best direction found for every number of features, in every labeling."""

    k: Ints
    #: labelings × k
    objective: Floats
    #: labelings × k × features
    weights: Floats

    @classmethod
    def empty(cls, ks: Ints, n_labelings: int, n_features: int, /) -> Path:
        """Return a path of zeros, to be filled."""
        return cls(ks, np.zeros((n_labelings, len(ks))), np.zeros((n_labelings, len(ks), n_features)))

    def better_of(self, other: Path, /) -> Path:
        """Take the better of two directions for every labeling and k."""
        first = self.objective >= other.objective
        return Path(
            self.k,
            np.where(first, self.objective, other.objective),
            np.where(first[..., None], self.weights, other.weights),
        )

    def update(self, i: int, weights: Floats, objective: Floats, /) -> None:
        """Replace the directions with the i-th k, in place, where these are better."""
        better = objective > self.objective[:, i]
        self.weights[better, i], self.objective[better, i] = weights[better], objective[better]

    def carry_forward(self, i: int, /) -> None:
        """Let the i-th k be no worse than the one before it: a direction with fewer features is allowed."""
        self.update(i, self.weights[:, i - 1], self.objective[:, i - 1])


@dataclass(frozen=True, slots=True)
class PathSettings:
    """How to search for the best direction."""

    divergence: Divergence = DIVERGENCES["wasserstein2"]
    #: also start from the relaxed problem, with this λ
    relaxed: bool = False
    penalty: float = 0.0
    #: ascend; otherwise the relaxed direction is cut to k features and left as it is
    tighten: bool = True
    seed: int = 0


def k_grid(p: int, /, *, also: int | None = None, min_growth: float = 1.0) -> Ints:
    """Return numbers of features from 1 to p, each larger by a factor than the one before."""
    grid = {p} if also is None else {p, also}
    k = 1.0
    while k < p:
        grid.add(round(k))
        growth = max(factor for start, factor in GROWTH_FACTORS if k >= start)
        k = max(k * max(growth, min_growth), k + 1)
    return np.array(sorted(grid))


def n_path_steps(ks: Ints, settings: PathSettings, /) -> int:
    """Return the number of steps of a path: every k of the backward pass, all but the first of the forward pass."""
    if not settings.tighten:
        return len(ks)
    once = 2 * len(ks) - 1
    return once if settings.divergence is DIVERGENCES["wasserstein2"] else 2 * once


def max_standardized_log(objectives: Floats, /) -> Floats:
    """Standardise the log objectives of every k over labelings, and return the largest of each labeling."""
    logs = np.log(np.maximum(objectives, np.finfo(float).tiny))
    spread = logs.std(axis=0)
    centered = logs - logs.mean(axis=0)
    return np.asarray(np.divide(centered, spread, out=np.zeros_like(logs), where=spread > 0).max(axis=1))


def _report_nothing() -> None:
    pass


def fit_path(labelings: Labelings, ks: Ints, settings: PathSettings, /, *, on_step: OnStep = _report_nothing) -> Path:
    """Find the best direction with at most k features, for every k (increasing) and every labeling.

    The backward pass goes from the largest k to the smallest, and each k starts from the directions of the k before;
    the forward pass goes back to the largest, and each k starts from the best direction of its smaller neighbour.
    What is best with few features is allowed with more, so the objective never decreases with k.
    """
    if not settings.tighten:
        return _relaxed_path(labelings, ks, settings, on_step)
    begin = starts(labelings, relaxed=settings.relaxed, penalty=settings.penalty, seed=settings.seed)
    divergence = settings.divergence
    if divergence is not DIVERGENCES["wasserstein2"]:
        # W₂² is smooth and has good starts, and leads to directions along which the others are large as well
        guide = fit_path(labelings, ks, replace(settings, divergence=DIVERGENCES["wasserstein2"]), on_step=on_step)
        path = _path_from(labelings, np.concatenate([begin, guide.weights[:, -1:]], axis=1), ks, divergence, on_step)
        path = _refined(labelings, path.better_of(_refined(labelings, guide, divergence)), divergence)
    else:
        path = _path_from(labelings, begin, ks, divergence, on_step)
    return replace(path, weights=signed(path.weights.reshape(-1, labelings.n_features)).reshape(path.weights.shape))


def _relaxed_path(labelings: Labelings, ks: Ints, settings: PathSettings, on_step: OnStep) -> Path:
    """Cut the relaxed direction of every labeling to each k, and do not ascend from there: it ranks features."""
    labeling = np.arange(labelings.n_labelings)
    path = Path.empty(ks, labelings.n_labelings, labelings.n_features)
    solved = solve_relaxed(labelings, penalty=settings.penalty, seed=settings.seed)
    beta = np.stack([relaxed.weights for relaxed in solved])
    for i, k in enumerate(ks):
        path.weights[:, i] = feasible(beta, np.full(len(beta), k))
        projected = labelings.project(path.weights[:, i], labeling)
        path.objective[:, i] = evaluate_divergence(*projected, settings.divergence, labelings.coupling).values
        on_step()
    return path


def _path_from(labelings: Labelings, begin: Floats, ks: Ints, divergence: Divergence, on_step: OnStep) -> Path:
    if labelings.n_features <= MAX_FEATURES_WITHOUT_WORKING_SET:
        return _backward_and_forward(labelings, begin, ks, divergence, on_step)
    paths = [
        _backward_and_forward_in_working_sets(labelings.single(i), begin[i], ks, divergence, on_step)
        for i in range(labelings.n_labelings)
    ]
    return Path(
        ks, np.concatenate([path.objective for path in paths]), np.concatenate([path.weights for path in paths])
    )


def _backward_and_forward(
    labelings: Labelings, begin: Floats, ks: Ints, divergence: Divergence, on_step: OnStep
) -> Path:
    n_labelings, n_starts, p = begin.shape
    each = np.arange(n_labelings)
    beta, labeling = begin.reshape(-1, p), np.repeat(each, n_starts)
    path = Path.empty(ks, n_labelings, p)
    for i in range(len(ks) - 1, -1, -1):
        beta, value = tighten(labelings, beta, np.full(len(beta), ks[i]), labeling, divergence)
        # starts that have reached the same direction continue as one
        kept = _distinct(beta, value, labeling)
        beta, value, labeling = beta[kept], value[kept], labeling[kept]
        best = np.searchsorted(labeling, each)
        path.objective[:, i], path.weights[:, i] = value[best], beta[best]
        on_step()
    beta = path.weights[:, :1]
    if ks[0] == 1:
        beta, value = best_single_features(labelings, divergence)
        path.weights[:, 0], path.objective[:, 0] = beta[:, 0], value[:, 0]
    for i in range(1, len(ks)):
        count = beta.shape[1]
        k, labeling = np.full(n_labelings * count, ks[i]), np.repeat(each, count)
        beta, value = tighten(labelings, beta.reshape(-1, p), k, labeling, divergence)
        best = value.reshape(n_labelings, count).argmax(axis=1) + count * each
        path.update(i, beta[best], value[best])
        path.carry_forward(i)
        beta = path.weights[:, i : i + 1]
        on_step()
    return path


def best_single_features(labelings: Labelings, divergence: Divergence, /) -> tuple[Floats, Floats]:
    """Return the few best single features of every labeling, by evaluating all of them, and their objectives.

    Directions are labelings × features found × features.
    """
    p, n_labelings, coupling = labelings.n_features, labelings.n_labelings, labelings.coupling
    count = min(N_SINGLE_FEATURES, p)
    values = np.zeros((n_labelings, p))
    for where, populations in labelings.column_blocks():
        for i in range(n_labelings):
            # the order of the observations is not needed, only the values
            u, v = (np.sort(population.T, axis=1) for population in populations(i))
            values[i, where] = divergence.values(u, v, coupling)
    best = np.argsort(-values, axis=1, kind="stable")[:, :count]
    weights = np.zeros((n_labelings, count, p))
    weights[np.arange(n_labelings)[:, None], np.arange(count), best] = 1.0
    return weights, np.take_along_axis(values, best, axis=1)


def _backward_and_forward_in_working_sets(
    labelings: Labelings, begin: Floats, ks: Ints, divergence: Divergence, on_step: OnStep
) -> Path:
    """Search in shrinking sets of features, in a single labeling; at the end all features are candidates again."""
    p, only = labelings.n_features, np.zeros(1, dtype=int)
    path = Path.empty(ks, 1, p)
    working_sets: list[tuple[Ints, Labelings]] = []
    features: Ints = np.arange(p)
    local, beta = labelings, begin
    for i in range(len(ks) - 1, -1, -1):
        size = max(WORKING_SET_FACTOR * int(ks[i]), 4 * MAX_DIRECTIONS_WITH_WORKING_SET)
        if size <= MAX_DENSE_SHARE * p and size < MAX_SHRINKING_SHARE * len(features):
            kept = _working_set(local, beta, size, divergence)
            features, local, beta = features[kept], local.restricted(kept), beta[:, kept]
        labeling = np.zeros(len(beta), dtype=int)
        beta, value = tighten(local, beta, np.full(len(beta), ks[i]), labeling, divergence)
        beta = beta[_distinct(beta, value, labeling, MAX_DIRECTIONS_WITH_WORKING_SET)]
        path.objective[0, i] = value.max()
        path.weights[0, i, features] = beta[0]
        working_sets.append((features, local))
        on_step()
    working_sets.reverse()
    if ks[0] == 1 and len(features) <= MAX_FEATURES_WITHOUT_WORKING_SET:
        single, value = best_single_features(local, divergence)
        path.weights[0, 0], path.objective[:, 0] = 0.0, value[0, 0]
        path.weights[0, 0, features] = single[0, 0]
    for i, (features, local) in enumerate(working_sets[1:], start=1):
        weights = np.zeros((1, p))
        weights[:, features], value = tighten(local, path.weights[:, i - 1, features], ks[i : i + 1], only, divergence)
        path.update(i, weights, value)
        on_step()
    return _refined(labelings, path, divergence)


def _working_set(labelings: Labelings, beta: Floats, size: int, divergence: Divergence) -> Ints:
    """Return the features with the largest share in any direction or its gradient, and all of deflated directions."""
    labeling, coupling = np.zeros(len(beta), dtype=int), labelings.coupling
    found = evaluate_divergence(*labelings.project(beta, labeling), divergence, coupling)
    slope = labelings.gradient(*found.slopes(np.arange(len(beta)), divergence, coupling), labeling)
    score = np.zeros(labelings.n_features)
    for vectors in (beta, slope):
        largest = np.abs(vectors).max(axis=1, keepdims=True)
        score = np.maximum(score, (np.abs(vectors) / np.where(largest > 0, largest, 1.0)).max(axis=0))
    if labelings.deflated is not None:
        score[(labelings.deflated != 0).any(axis=0)] = np.inf
        size = max(size, int(np.isinf(score).sum()))
    return np.sort(np.argsort(-score, kind="stable")[:size])


def _distinct(beta: Floats, value: Floats, labeling: Ints, max_kept: int | None = None) -> Ints:
    """Return the rows of every labeling, the best first, but for duplicates and those far below the best."""
    kept: list[int] = []
    for rows in np.split(np.lexsort((-value, labeling)), np.flatnonzero(np.diff(np.sort(labeling))) + 1):
        rows = rows[value[rows] >= MIN_SHARE_OF_BEST * value[rows[0]]]
        same = np.abs(beta[rows] @ beta[rows].T) >= MIN_DUPLICATE_COSINE
        unique: list[int] = []
        for i in range(len(rows)):
            if len(unique) != max_kept and not same[i, unique].any():
                unique.append(i)
        kept.extend(int(row) for row in rows[unique])
    return np.array(kept)


def _refined(labelings: Labelings, path: Path, divergence: Divergence) -> Path:
    """Ascend from every direction of the path with all features as candidates, and never decrease with k."""
    n_labelings, n_k, p = path.weights.shape
    labeling = np.repeat(np.arange(n_labelings), n_k)
    weights, value = tighten(labelings, path.weights.reshape(-1, p), np.tile(path.k, n_labelings), labeling, divergence)
    refined = Path(path.k, value.reshape(n_labelings, n_k), weights.reshape(path.weights.shape))
    for i in range(1, n_k):
        refined.carry_forward(i)
    return refined
