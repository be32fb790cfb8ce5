"""The divergence between held-out observations, or held-out samples, for every number of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..runtime.progress import bar
from ..runtime.seeds import generator
from ..runtime.threads import n_workers, thread_pool
from ..typing import Floats, Ints
from .ascent import MAX_STARTS
from .coupling import Coupling
from .divergence import Divergence, evaluate_divergence
from .labelings import Labelings
from .path import MAX_FEATURES_WITHOUT_WORKING_SET, PathSettings, fit_path
from .streamed_operator import n_sharing_passes, run_sharing_passes

#: folds, their largest number, and what each of more than five must hold out of the smaller population
DEFAULT_FOLDS, MAX_FOLDS, MIN_HELD_OUT_PER_FOLD = 5, 10, 10
#: random splits into folds: the held-out curve is flat near its top, and a single split would decide by chance
N_REPEATS = 3
#: folds that share their products: enough for one product to serve many, few enough to occupy all cores
MAX_FOLDS_PER_BATCH = 5
#: permutations of the labels of held-out observations: one that reaches the data leaves a p-value of .05
N_HELD_OUT_PERMUTATIONS = 39


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows of each population that directions are fitted to, and those they are evaluated on."""

    train: tuple[Ints, Ints]
    held_out: tuple[Ints, Ints]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of rows; folds of the same sizes share couplings, and so products."""
        return tuple(len(rows) for rows in (*self.train, *self.held_out))


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """Objectives on held-out observations, and what chance alone makes of them."""

    #: folds of all repeats × k
    objective: Floats
    #: the same with permuted labels of the held-out observations, permutations × folds × k
    null: Floats
    n_repeats: int

    @property
    def n_folds(self) -> int:
        """Number of folds of one repeat."""
        return len(self.objective) // self.n_repeats

    @property
    def chance(self) -> Floats:
        """Mean objective of permuted labels, folds × k.

        Two samples of one distribution differ, too, and the more the longer its tails: a gene that few cells express
        has a large objective whatever the labels.
        """
        return np.asarray(self.null.mean(axis=0))

    def standard_error(self, differences: Floats, /) -> Floats:
        """Return the standard error of the mean over folds, of differences within folds.

        Repeats use the same observations, so they reduce the noise of the splits but not the standard error.
        """
        return np.asarray(differences.std(axis=0) / np.sqrt(self.n_folds))


def n_folds(n: int, m: int, /) -> int:
    """Return five folds, up to ten where each still holds out enough, and never more than observations.

    The more folds, the closer a fit is to that of all observations: with a fifth of them missing, too few features
    are chosen.
    """
    smaller = min(n, m)
    return min(smaller, MAX_FOLDS, max(DEFAULT_FOLDS, smaller // MIN_HELD_OUT_PER_FOLD))


def cross_validate(
    labelings: Labelings,
    ks: Ints,
    settings: PathSettings,
    /,
    *,
    samples: Sequence[Ints] = (),
    progress: str | None = None,
) -> CrossValidation:
    """Evaluate directions on held-out observations, fitted to the others, for every fold and k.

    `samples` holds the sample of every row of each population: whole samples are held out then. A bar named
    `progress` is shown where this takes more than a second.
    """
    rng = generator(settings.seed, "folds", labelings.n_features)
    n, m = labelings.x_rows.shape[1], labelings.y_rows.shape[1]
    # with working sets every fold has its own path, and is the slower work
    in_working_sets = labelings.n_features > MAX_FEATURES_WITHOUT_WORKING_SET
    n_repeats, batch_size = (1, 1) if in_working_sets else (N_REPEATS, MAX_FOLDS_PER_BATCH)
    batches: list[list[Fold]] = []
    for _ in range(n_repeats):
        folds = _folds_of_samples(samples, rng) if samples else _folds_of_rows(n, m, rng)
        batches += _batches(folds, batch_size)

    def work(numbered: tuple[int, list[Fold]]) -> tuple[Floats, Floats]:
        number, batch = numbered
        rng = generator(settings.seed, "chance", labelings.n_features, number)
        return _held_out_objectives(labelings, batch, ks, settings, rng)

    with bar(total=len(batches), desc=progress, disable=progress is None, delay=1.0) as shown:
        if labelings.streamed is not None:
            numbers_each = MAX_STARTS * max(map(len, batches)) * (labelings.n_obs + labelings.n_features)
            n_sharing = n_sharing_passes(numbers_each)
            found = run_sharing_passes(
                labelings.streamed, work, list(enumerate(batches)), n_sharing=n_sharing, on_done=shown.update
            )
        else:
            found = []
            with thread_pool(n_workers(len(batches))) as pool:
                for of_batch in pool.map(work, enumerate(batches)):
                    found.append(of_batch)
                    shown.update()
    objectives, null = zip(*found, strict=True)
    return CrossValidation(np.concatenate(objectives), np.concatenate(null, axis=1), n_repeats)


def _batches(folds: Sequence[Fold], max_size: int) -> list[list[Fold]]:
    """Group folds of the same sizes, at most `max_size` in a group."""
    sizes = sorted({fold.sizes for fold in folds})
    alike = [[fold for fold in folds if fold.sizes == size] for size in sizes]
    return [group[start : start + max_size] for group in alike for start in range(0, len(group), max_size)]


def _held_out_objectives(
    labelings: Labelings, folds: Sequence[Fold], ks: Ints, settings: PathSettings, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the objective of held-out observations, folds × k, and of permuted ones, permutations × folds × k."""
    train = _labelings_of_folds(labelings, [fold.train for fold in folds])
    held_out = _labelings_of_folds(labelings, [fold.held_out for fold in folds])
    weights = fit_path(train, ks, settings).weights.reshape(-1, labelings.n_features)
    fold_of_row = np.repeat(np.arange(len(folds)), len(ks))
    u, v = held_out.project(weights, fold_of_row)
    shape = len(folds), len(ks)
    observed = evaluate_divergence(u, v, settings.divergence, held_out.coupling).values.reshape(shape)
    null = _permuted_divergences(u, v, fold_of_row, settings.divergence, held_out.coupling, rng)
    return observed, null.reshape(-1, *shape)


def _permuted_divergences(
    u: Floats, v: Floats, fold_of_row: Ints, divergence: Divergence, coupling: Coupling, rng: np.random.Generator
) -> Floats:
    """Return the divergence of every row with permuted labels, permutations × rows.

    All rows of a fold have the same permutation. Rows are sorted once: a subset of a sorted row is sorted.
    """
    n, m = u.shape[1], v.shape[1]
    pooled = np.concatenate([u, v], axis=1)
    order = np.argsort(pooled, axis=1)
    ordered = np.take_along_axis(pooled, order, axis=1)
    labels = np.tile(np.arange(n + m) < n, (int(fold_of_row[-1]) + 1, 1))
    null = np.empty((N_HELD_OUT_PERMUTATIONS, len(u)))
    for values in null:
        is_first = np.take_along_axis(rng.permuted(labels, axis=1)[fold_of_row], order, axis=1)
        first, second = ordered[is_first].reshape(-1, n), ordered[~is_first].reshape(-1, m)
        values[:] = divergence.values(first, second, coupling)
    return null


def _labelings_of_folds(labelings: Labelings, rows: Sequence[tuple[Ints, Ints]]) -> Labelings:
    x_rows, y_rows = (np.stack(of_population) for of_population in zip(*rows, strict=True))
    return replace(labelings, x_rows=labelings.x_rows[0, x_rows], y_rows=labelings.y_rows[0, y_rows])


def _folds_of_rows(n: int, m: int, rng: np.random.Generator) -> list[Fold]:
    """Hold out the same number of each population in every fold; a remainder is never held out."""
    count = n_folds(n, m)
    x_rows, y_rows = (rng.permutation(size)[: size // count * count].reshape(count, -1) for size in (n, m))
    return [_fold((n, m), rows) for rows in zip(x_rows, y_rows, strict=True)]


def _folds_of_samples(samples: Sequence[Ints], rng: np.random.Generator) -> list[Fold]:
    """Hold out whole samples: some of each population or, where samples contain both, some with all their rows."""
    x_names, y_names = (np.unique(codes) for codes in samples)
    count = min(MAX_FOLDS, len(x_names), len(y_names))
    if np.intersect1d(x_names, y_names).size:
        shared = np.array_split(rng.permutation(np.union1d(x_names, y_names)), count)
        held_out = list(zip(shared, shared, strict=True))
    else:
        split = (np.array_split(rng.permutation(names), count) for names in (x_names, y_names))
        held_out = list(zip(*split, strict=True))
    sizes = len(samples[0]), len(samples[1])
    return [_fold(sizes, (_rows_of(samples[0], x_out), _rows_of(samples[1], y_out))) for x_out, y_out in held_out]


def _rows_of(codes: Ints, names: Ints) -> Ints:
    return np.flatnonzero(np.isin(codes, names))


def _fold(sizes: tuple[int, int], held_out: tuple[Ints, Ints]) -> Fold:
    x_train, y_train = (np.setdiff1d(np.arange(size), rows) for size, rows in zip(sizes, held_out, strict=True))
    return Fold((x_train, y_train), (np.sort(held_out[0]), np.sort(held_out[1])))
