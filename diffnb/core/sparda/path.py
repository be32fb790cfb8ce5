"""SPARDA for every number of features: from many to few, and back up."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ..runtime.threads import n_workers
from ..typing import Floats, Ints
from .ascent import signed, starts, tighten
from .divergence import DIVERGENCES, Divergence, evaluate_divergence
from .labelings import Labelings

#: called after every step of a walk, for who shows how far it is
Tick: TypeAlias = Callable[[], object]
#: numbers of features grow by these factors along the path, from 1, 30, 100 and 500 on
GROWTH = ((1, 1.1), (30, 1.25), (100, 1.6), (500, 2.0))
#: with more features every deal goes its own way, and looks only at those that could come in
WIDE = 1000
#: features looked at, as a multiple of k; the data of so many is made dense once it is a fifth of all
WORKING, DENSE_SHARE = 4, 0.2
#: directions followed on a wide path, and the cosine from which two are the same on any
FOLLOWED, SAME = 3, 0.999
#: a start below this share of the best is given up: what low ground leads to hangs on rounding
HOPELESS = 0.5
#: single features from which the way up begins
SINGLES = 5


@dataclass(frozen=True, slots=True)
class Path:
    """The best direction found for every number of features, in every deal."""

    k: Ints
    #: deals × k
    objective: Floats
    #: deals × k × features
    weights: Floats

    def better_of(self, other: Path, /) -> Path:
        """Take the better of two directions for every deal and k."""
        first = self.objective >= other.objective
        return Path(
            self.k,
            np.where(first, self.objective, other.objective),
            np.where(first[..., None], self.weights, other.weights),
        )


@dataclass(frozen=True, slots=True)
class Search:
    """How to look for the best direction."""

    divergence: Divergence = DIVERGENCES["wasserstein2"]
    #: start from the relaxed problem too
    relaxed: bool = False
    seed: int = 0


def k_grid(p: int, /, *, also: int | None = None, least_growth: float = 1.0) -> Ints:
    """Numbers of features from 1 to p, each by a factor larger than the one before."""
    grid = {p} if also is None else {p, also}
    k = 1.0
    while k < p:
        grid.add(round(k))
        growth = max(factor for start, factor in GROWTH if k >= start)
        k = max(k * max(growth, least_growth), k + 1)
    return np.array(sorted(grid))


def n_steps(ks: Ints, search: Search, /) -> int:
    """Return how many steps a path has in one deal: each k on the way down, all but the first on the way up."""
    once = 2 * len(ks) - 1
    return once if search.divergence is DIVERGENCES["wasserstein2"] else 2 * once


def _unseen() -> None:
    """Show nothing."""


def follow(deals: Labelings, ks: Ints, search: Search, /, *, tick: Tick = _unseen) -> Path:
    """Find the best direction with at most k features, for every k (rising) and every deal.

    From the largest k down, each k starts from what the one above it gave, for all starts; then from the
    smallest up, each k starts from its smaller neighbour. What is best with few features is allowed with more,
    so the objective never falls along k.
    """
    begin = starts(deals, relaxed=search.relaxed, seed=search.seed)
    divergence = search.divergence
    if divergence is not DIVERGENCES["wasserstein2"]:
        # smooth and with good starts, W₂² leads to where the others are large as well
        guide = follow(deals, ks, replace(search, divergence=DIVERGENCES["wasserstein2"]), tick=tick)
        path = _walk(deals, np.concatenate([begin, guide.weights[:, -1:]], axis=1), ks, divergence, tick)
        path = _polished(deals, path.better_of(_polished(deals, guide, divergence)), divergence)
    else:
        path = _walk(deals, begin, ks, divergence, tick)
    return replace(path, weights=signed(path.weights.reshape(-1, deals.n_features)).reshape(path.weights.shape))


def _walk(deals: Labelings, begin: Floats, ks: Ints, divergence: Divergence, tick: Tick) -> Path:
    if deals.n_features <= WIDE:
        return _down_and_up(deals, begin, ks, divergence, tick)

    def alone(d: int) -> Path:
        return _narrowing(deals.one(d), begin[d], ks, divergence, tick)

    with ThreadPoolExecutor(n_workers(deals.n_labelings)) as pool:
        each = list(pool.map(alone, range(deals.n_labelings)))
    return Path(ks, np.concatenate([p.objective for p in each]), np.concatenate([p.weights for p in each]))


def _down_and_up(deals: Labelings, begin: Floats, ks: Ints, divergence: Divergence, tick: Tick) -> Path:
    n_labelings, n_starts, p = begin.shape
    everyone = np.arange(n_labelings)
    beta, deal = begin.reshape(-1, p), np.repeat(everyone, n_starts)
    path = Path(ks, np.zeros((n_labelings, len(ks))), np.zeros((n_labelings, len(ks), p)))
    for i in range(len(ks) - 1, -1, -1):
        beta, value = tighten(deals, beta, np.full(len(beta), ks[i]), deal, divergence)
        # starts that have met go on as one
        kept = _unlike(beta, value, deal)
        beta, value, deal = beta[kept], value[kept], deal[kept]
        best = np.searchsorted(deal, everyone)
        path.objective[:, i], path.weights[:, i] = value[best], beta[best]
        tick()
    climbing = path.weights[:, :1]
    if ks[0] == 1:
        climbing, heights = _best_singles(deals, divergence)
        path.weights[:, 0], path.objective[:, 0] = climbing[:, 0], heights[:, 0]
    for i in range(1, len(ks)):
        count = climbing.shape[1]
        above, value = tighten(
            deals, climbing.reshape(-1, p), np.full(n_labelings * count, ks[i]), np.repeat(everyone, count), divergence
        )
        best = value.reshape(n_labelings, count).argmax(axis=1) + count * everyone
        _take_better(path, i, above[best], value[best])
        _take_better(path, i, path.weights[:, i - 1], path.objective[:, i - 1])
        climbing = path.weights[:, i : i + 1]
        tick()
    return path


def _take_better(path: Path, i: int, weights: Floats, objective: Floats) -> None:
    better = objective > path.objective[:, i]
    path.weights[better, i], path.objective[better, i] = weights[better], objective[better]


def _best_singles(deals: Labelings, divergence: Divergence) -> tuple[Floats, Floats]:
    """Return the best few single features of every deal, by looking at all of them: deals × features found."""
    p, coupling = deals.n_features, deals.coupling
    count = min(SINGLES, p)
    values = np.zeros((deals.n_labelings, p))
    for where, sides in deals.slabs():
        for d in range(deals.n_labelings):
            # only the heights are asked for, so the order need not be known
            u, v = (np.sort(side.T, axis=1) for side in sides(d))
            values[d, where] = divergence.values(u, v, coupling)
    best = np.argsort(-values, axis=1, kind="stable")[:, :count]
    weights = np.zeros((deals.n_labelings, count, p))
    weights[np.arange(deals.n_labelings)[:, None], np.arange(count), best] = 1.0
    return weights, np.take_along_axis(values, best, axis=1)


def _narrowing(deals: Labelings, begin: Floats, ks: Ints, divergence: Divergence, tick: Tick) -> Path:
    """Walk with ever fewer features in sight, in one deal; at the end all features may still come in."""
    p, only = deals.n_features, np.zeros(1, dtype=int)
    path = Path(ks, np.zeros((1, len(ks))), np.zeros((1, len(ks), p)))
    scopes: list[tuple[Ints, Labelings]] = []
    scope: Ints = np.arange(p)
    local, beta = deals, begin
    for i in range(len(ks) - 1, -1, -1):
        near = max(WORKING * int(ks[i]), 4 * FOLLOWED)
        if near <= DENSE_SHARE * p and near < 0.7 * len(scope):
            inside = _in_sight(local, beta, near, divergence)
            scope, local, beta = scope[inside], local.restricted(inside), beta[:, inside]
        deal = np.zeros(len(beta), dtype=int)
        beta, value = tighten(local, beta, np.full(len(beta), ks[i]), deal, divergence)
        beta = beta[_unlike(beta, value, deal, FOLLOWED)]
        path.objective[0, i] = value.max()
        path.weights[0, i, scope] = beta[0]
        scopes.append((scope, local))
        tick()
    scopes.reverse()
    if ks[0] == 1 and len(scope) <= WIDE:
        weights, heights = _best_singles(local, divergence)
        path.weights[0, 0], path.objective[:, 0] = 0.0, heights[0, 0]
        path.weights[0, 0, scope] = weights[0, 0]
    for i, (scope, local) in enumerate(scopes[1:], start=1):
        above, value = tighten(local, path.weights[:, i - 1, scope], ks[i : i + 1], only, divergence)
        spread = np.zeros((1, p))
        spread[:, scope] = above
        _take_better(path, i, spread, value)
        tick()
    return _polished(deals, path, divergence)


def _in_sight(deals: Labelings, beta: Floats, count: int, divergence: Divergence) -> Ints:
    """Return the features with the largest share in any direction or its gradient, deflated ones always."""
    deal, coupling = np.zeros(len(beta), dtype=int), deals.coupling
    found = evaluate_divergence(*deals.project(beta, deal), divergence, coupling)
    slope = deals.gradient(*found.slopes(np.arange(len(beta)), divergence, coupling), deal)
    score = np.zeros(deals.n_features)
    for part in (beta, slope):
        largest = np.abs(part).max(axis=1, keepdims=True)
        score = np.maximum(score, (np.abs(part) / np.where(largest > 0, largest, 1.0)).max(axis=0))
    if deals.taken is not None:
        score[(deals.taken != 0).any(axis=0)] = np.inf
        count = max(count, int(np.isinf(score).sum()))
    return np.sort(np.argsort(-score, kind="stable")[:count])


def _unlike(beta: Floats, value: Floats, deal: Ints, most: int | None = None) -> Ints:
    """Return the rows of every deal that are neither alike nor hopeless, the best first, at most so many."""
    kept: list[int] = []
    for rows in np.split(np.lexsort((-value, deal)), np.flatnonzero(np.diff(np.sort(deal))) + 1):
        rows = rows[value[rows] >= HOPELESS * value[rows[0]]]
        alike = np.abs(beta[rows] @ beta[rows].T) >= SAME
        mine: list[int] = []
        for i in range(len(rows)):
            if len(mine) != most and not alike[i, mine].any():
                mine.append(i)
        kept.extend(int(row) for row in rows[mine])
    return np.array(kept)


def _polished(deals: Labelings, path: Path, divergence: Divergence) -> Path:
    """Climb on from every direction of the path, with all features in sight; never fall along k."""
    n_labelings, n_k, p = path.weights.shape
    deal = np.repeat(np.arange(n_labelings), n_k)
    weights, value = tighten(deals, path.weights.reshape(-1, p), np.tile(path.k, n_labelings), deal, divergence)
    climbed = Path(path.k, value.reshape(n_labelings, n_k), weights.reshape(path.weights.shape))
    for i in range(1, n_k):
        _take_better(climbed, i, climbed.weights[:, i - 1], climbed.objective[:, i - 1])
    return climbed
