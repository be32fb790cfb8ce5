"""How many features: by the divergence between held-out observations, or held-out samples."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from ..runtime.progress import bar
from ..runtime.seeds import generator
from ..runtime.threads import n_workers
from ..typing import Floats, Ints
from .ascent import MAX_STARTS
from .divergence import evaluate_divergence
from .labelings import Labelings
from .path import MAX_FEATURES_WITHOUT_WORKING_SET, PathSettings, fit_path
from .streamed_operator import n_sharing_passes, run_sharing_passes

#: folds, their largest number, and what each of more than five must hold out of the smaller population
DEFAULT_FOLDS, MAX_FOLDS, MIN_HELD_OUT_PER_FOLD = 5, 10, 10
#: random splits into folds: the held-out curve is flat near its top, and a single split would decide by chance
N_REPEATS = 3
#: folds that share their products: enough for one product to serve many, few enough to occupy all cores
MAX_FOLDS_PER_BATCH = 5
#: standard errors that fewer features may fall short of the largest held-out objective
MAX_SHORTFALL_IN_STANDARD_ERRORS = 0.25


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
    """Objectives on held-out observations."""

    #: folds of all repeats × k
    objective: Floats
    n_repeats: int

    def smallest_sufficient(self) -> int:
        """Return the index of the smallest k that falls short of the best k by chance only.

        Folds are paired: the error is that of the shortfall within folds, not of the differences between them.
        Repeats use the same observations, so they reduce the noise of the splits but not the standard error.
        """
        best = int(self.objective.mean(axis=0).argmax())
        shortfall = self.objective[:, [best]] - self.objective
        error = shortfall.std(axis=0) / np.sqrt(len(shortfall) / self.n_repeats)
        return int(np.flatnonzero(shortfall.mean(axis=0) <= MAX_SHORTFALL_IN_STANDARD_ERRORS * error)[0])


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

    def work(batch: list[Fold]) -> Floats:
        return _held_out_objectives(labelings, batch, ks, settings)

    with bar(total=len(batches), desc=progress, disable=progress is None, delay=1.0) as shown:
        if labelings.streamed is not None:
            numbers_each = MAX_STARTS * max(map(len, batches)) * (labelings.n_obs + labelings.n_features)
            n_sharing = n_sharing_passes(numbers_each)
            objectives = run_sharing_passes(
                labelings.streamed, work, batches, n_sharing=n_sharing, on_done=shown.update
            )
        else:
            objectives = []
            with ThreadPoolExecutor(n_workers(len(batches))) as pool:
                for objective in pool.map(work, batches):
                    objectives.append(objective)
                    shown.update()
    return CrossValidation(np.concatenate(objectives), n_repeats)


def _batches(folds: Sequence[Fold], max_size: int) -> list[list[Fold]]:
    """Group folds of the same sizes, at most `max_size` in a group."""
    sizes = sorted({fold.sizes for fold in folds})
    alike = [[fold for fold in folds if fold.sizes == size] for size in sizes]
    return [group[start : start + max_size] for group in alike for start in range(0, len(group), max_size)]


def _held_out_objectives(labelings: Labelings, folds: Sequence[Fold], ks: Ints, settings: PathSettings) -> Floats:
    """Return the objective of held-out observations, folds × k."""
    train = _labelings_of_folds(labelings, [fold.train for fold in folds])
    held_out = _labelings_of_folds(labelings, [fold.held_out for fold in folds])
    weights = fit_path(train, ks, settings).weights.reshape(-1, labelings.n_features)
    projected = held_out.project(weights, np.repeat(np.arange(len(folds)), len(ks)))
    evaluated = evaluate_divergence(*projected, settings.divergence, held_out.coupling)
    return evaluated.values.reshape(len(folds), len(ks))


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
