"""How many features: by the divergence between observations, or whole samples, that the fit has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from ..runtime.progress import bar
from ..runtime.seeds import generator
from ..runtime.threads import n_workers
from ..typing import Floats, Ints
from .ascent import N_STARTS
from .divergence import evaluate_divergence
from .labelings import Labelings
from .path import WIDE, Search, follow
from .streamed_operator import room_for, run_concurrently

#: folds where there are few observations, and where each of more folds still holds out at least `ENOUGH`
FOLDS, MOST_FOLDS, ENOUGH = 5, 10, 10
#: times the folds are dealt: near its top the held-out curve is flat, and one deal would decide by chance
REPEATS = 3
#: folds that share their products: enough for one pass over the data to serve many, few enough to fill the cores
TOGETHER = 5
#: standard errors that fewer features may fall short of the largest held-out objective
TOLERATED = 0.25


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows of each side that a direction is fitted to, and those it is tried on."""

    kept: tuple[Ints, Ints]
    held_out: tuple[Ints, Ints]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of rows; folds with the same ones share couplings, and so products."""
        return tuple(len(rows) for rows in (*self.kept, *self.held_out))


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Objectives on held-out observations, folds of all repeats × k."""

    objective: Floats
    n_repeats: int

    def fewest(self) -> int:
        """Return the position of the least k that is as good as the best but for chance.

        Every fold is compared with itself: what counts is the shortfall from the best k, not how much folds
        differ. Repeats see the same observations, so they make the mean steadier, not its error smaller.
        """
        best = int(self.objective.mean(axis=0).argmax())
        short = self.objective[:, [best]] - self.objective
        error = short.std(axis=0) / np.sqrt(len(short) / self.n_repeats)
        return int(np.flatnonzero(short.mean(axis=0) <= TOLERATED * error)[0])


def n_folds(n: int, m: int, /) -> int:
    """Five folds, ten where each still holds out enough; no more than the smaller population has observations.

    The more folds, the nearer the fit is to that of all observations: with a fifth of them missing, fewer
    features seem worth having.
    """
    least = min(n, m)
    return min(least, min(MOST_FOLDS, max(FOLDS, least // ENOUGH)))


def cross_validate(
    deals: Labelings, ks: Ints, search: Search, /, *, samples: Sequence[Ints] = (), progress: str | None = None
) -> HeldOut:
    """Try directions on held-out observations that were found on the others, for every fold and k.

    `samples` holds the sample of every row of each side: whole samples are held out then. Work that takes more
    than a second shows a bar named `progress`.
    """
    rng = generator(search.seed, "folds", deals.n_features)
    n, m = deals.left.shape[1], deals.right.shape[1]
    wide = deals.n_features > WIDE
    repeats = 1 if wide else REPEATS
    batches: list[list[Fold]] = []
    for _ in range(repeats):
        folds = _folds_of_samples(samples, rng) if samples else _folds_of_rows(n, m, rng)
        # on a wide path every fold goes its own way
        batches += _batches(folds, 1 if wide else TOGETHER)

    def work(batch: list[Fold]) -> Floats:
        return _tried(deals, batch, ks, search)

    shown = bar(total=len(batches), desc=progress, disable=progress is None, delay=1.0)
    if deals.streamed is not None:
        with shown:
            each = N_STARTS * max(len(batch) for batch in batches) * (deals.n_obs + deals.n_features)
            tried = run_concurrently(deals.streamed, work, batches, room_for(each), tick=shown.update)
        return HeldOut(np.concatenate(tried), repeats)
    with shown, ThreadPoolExecutor(n_workers(len(batches))) as pool:
        tried = []
        for found in pool.map(work, batches):
            tried.append(found)
            shown.update()
    return HeldOut(np.concatenate(tried), repeats)


def _batches(folds: Sequence[Fold], most: int) -> list[list[Fold]]:
    """Bring folds of the same sizes together, at most so many."""
    sizes = sorted({fold.sizes for fold in folds})
    alike = [[fold for fold in folds if fold.sizes == size] for size in sizes]
    return [some[start : start + most] for some in alike for start in range(0, len(some), most)]


def _tried(deals: Labelings, folds: Sequence[Fold], ks: Ints, search: Search) -> Floats:
    def dealt(name: str) -> Labelings:
        left, right = (np.stack([getattr(fold, name)[side] for fold in folds]) for side in (0, 1))
        return replace(deals, left=deals.left[0, left], right=deals.right[0, right])

    weights = follow(dealt("kept"), ks, search).weights
    unseen = dealt("held_out")
    projected = unseen.project(weights.reshape(-1, deals.n_features), np.repeat(np.arange(len(folds)), len(ks)))
    return evaluate_divergence(*projected, search.divergence, unseen.coupling).values.reshape(len(folds), len(ks))


def _folds_of_rows(n: int, m: int, rng: np.random.Generator) -> list[Fold]:
    """Hold out equally many of each population in every fold; a remainder is never held out."""
    count = n_folds(n, m)
    left, right = (rng.permutation(size)[: size // count * count].reshape(count, -1) for size in (n, m))
    return [_fold((n, m), (a, b)) for a, b in zip(left, right, strict=True)]


def _folds_of_samples(samples: Sequence[Ints], rng: np.random.Generator) -> list[Fold]:
    """Hold out whole samples: of each side some, or some with both their sides."""
    owners = [np.unique(codes) for codes in samples]
    count = min(MOST_FOLDS, *(len(names) for names in owners))
    if np.intersect1d(owners[0], owners[1]).size:
        out = np.array_split(rng.permutation(np.union1d(owners[0], owners[1])), count)
        dealt = list(zip(out, out, strict=True))
    else:
        left, right = (np.array_split(rng.permutation(names), count) for names in owners)
        dealt = list(zip(left, right, strict=True))
    sizes = (len(samples[0]), len(samples[1]))
    rows = [
        tuple(np.flatnonzero(np.isin(codes, out)) for codes, out in zip(samples, pair, strict=True)) for pair in dealt
    ]
    return [_fold(sizes, (a, b)) for a, b in rows]


def _fold(sizes: tuple[int, int], held_out: tuple[Ints, Ints]) -> Fold:
    kept = [np.setdiff1d(np.arange(size), rows) for size, rows in zip(sizes, held_out, strict=True)]
    return Fold((kept[0], kept[1]), (np.sort(held_out[0]), np.sort(held_out[1])))
