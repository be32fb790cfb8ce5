"""Permutations and bootstraps: which observations may be exchanged, with an independent seed for each draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import product
from math import factorial, prod
from typing import Any, Generic, TypeVar

import numpy as np

from ..runtime.estimate import TimeEstimate
from ..runtime.progress import bar, quietly
from ..runtime.threads import thread_limits
from ..typing import Ints

Item = TypeVar("Item")
Result = TypeVar("Result")

#: observations of a block, at least: with fewer observations in all, single ones are permuted
MIN_OBS_PER_BLOCK = 200
#: blocks of each of two conditions of equal size, which can be assigned in 12,870 ways; and of a condition, at least
N_BLOCKS_PER_CONDITION, MIN_BLOCKS_PER_CONDITION = 8, 4
#: conditions with more than this have too many blocks
MAX_CONDITIONS_IN_BLOCKS = 2
#: the largest block over the smallest, at most: permuted conditions are to be as large as the observed ones
MAX_HEIGHT_RATIO = 1.15

#: what dask.distributed raises where a worker is lost together with what was just sent to it; what is left is sent
#: again, as often as this
LOST_WORKER, MAX_LOST_WORKERS = ("CommClosedError", "FutureCancelledError"), 3


def map_draws(
    work: Callable[[np.random.Generator], Result],
    seeds: Sequence[np.random.SeedSequence],
    /,
    *,
    n_jobs: int | None = None,
    progress: str | None = None,
    so_far: Callable[[list[Result]], str] | None = None,
) -> list[Result]:
    """Run `work` once per seed, in threads or on the active joblib backend; results are in the order of the seeds.

    Work that takes more than a second shows a bar named `progress`, and beside it what `so_far` says of the results.
    """
    return map_items(partial(_from_seed, work), seeds, n_jobs=n_jobs, progress=progress, so_far=so_far)


def _from_seed(work: Callable[[np.random.Generator], Result], seed: np.random.SeedSequence) -> Result:
    return work(np.random.default_rng(seed))


def map_items(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    /,
    *,
    n_jobs: int | None = None,
    progress: str | None = None,
    so_far: Callable[[list[Result]], str] | None = None,
) -> list[Result]:
    """Run `work` once per item, such as a batch of seeds, as `map_draws` does per seed."""
    import joblib

    task = _Task(work)
    results: list[Result] = []
    estimate = TimeEstimate(len(items), progress)
    with bar(total=len(items), desc=progress, disable=progress is None, delay=1.0) as done:
        if joblib.effective_n_jobs(n_jobs) == 1:
            for item in items:
                results.append(task(item))
                _report(done, results, so_far)
                estimate.after(len(results))
            return results
        for losses_left in reversed(range(MAX_LOST_WORKERS + 1)):
            try:
                # threads: BLAS and ufuncs release the interpreter lock, and the data is not copied
                with _scattered(task):
                    parallel = joblib.Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
                    for result in parallel(joblib.delayed(_call)(task, item) for item in items[len(results) :]):
                        results.append(result)
                        _report(done, results, so_far)
                        estimate.after(len(results))
                break
            except Exception as error:
                if not losses_left or type(error).__name__ not in LOST_WORKER:
                    raise
        return results


def _report(done: Any, results: list[Result], so_far: Callable[[list[Result]], str] | None) -> None:
    """Count one more result, and show what is known so far."""
    if so_far is not None:
        done.set_postfix_str(so_far(results), refresh=False)
    done.update()


class _Task(Generic[Item, Result]):
    """The work on one item; an object, so that a cluster can keep it together with its data."""

    def __init__(self, work: Callable[[Item], Result]) -> None:
        self.work = work

    def __call__(self, item: Item) -> Result:
        with quietly():
            return self.work(item)


def _call(task: _Task[Item, Result], item: Item) -> Result:
    # jobs fill the cores already: none of them starts threads
    with thread_limits(0, 1):
        return task(item)


@contextmanager
def _scattered(task: _Task[Any, Any]) -> Iterator[None]:
    """Where joblib works on a dask cluster, send the data to every worker once, before the draws.

    To all of them, not only to the first that needs it: when a worker is lost, its data must exist elsewhere.
    """
    import joblib

    backend, n_jobs = joblib.parallel.get_active_backend()
    if type(backend).__name__ != "DaskDistributedBackend":
        yield
        return
    with joblib.parallel_config("dask", n_jobs=n_jobs, client=backend.client, scatter=[task]):
        yield


def permuted_rows(sizes: Sequence[int], rng: np.random.Generator, /, *, strata: Sequence[Ints] = ()) -> list[Ints]:
    """Permute observations between conditions, whose sizes stay the same; rows are numbered across conditions.

    `strata` holds, per condition, the stratum of each row; observations are permuted within strata then.
    """
    if not strata:
        order = rng.permutation(int(sum(sizes)))
        return [np.sort(rows) for rows in np.split(order, np.cumsum(sizes)[:-1])]
    condition = np.repeat(np.arange(len(sizes)), sizes)
    permuted = _permuted_within(condition, np.concatenate(strata), rng)
    return [np.flatnonzero(permuted == number) for number in range(len(sizes))]


def random_blocks(sizes: Sequence[int], rng: np.random.Generator, /) -> list[Ints]:
    """Assign the observations of each condition to blocks at random, of nearly the same size in all conditions.

    Blocks are to be permuted as a whole, like samples, so that sums are needed once for every block instead of once
    for every permutation. A union of random blocks is a random set of observations, and the observed assignment is
    one of those of the blocks, so that p-values hold as for single observations. Returns, per condition, the block of
    each row, numbered across conditions; nothing where observations are few, or conditions many or of very different
    sizes.
    """
    if len(sizes) > MAX_CONDITIONS_IN_BLOCKS:
        return []
    total = N_BLOCKS_PER_CONDITION * len(sizes)
    counts = [max(MIN_BLOCKS_PER_CONDITION, round(total * size / sum(sizes))) for size in sizes]
    heights = np.array(sizes) / counts
    if heights.min() < MIN_OBS_PER_BLOCK or heights.max() > MAX_HEIGHT_RATIO * heights.min():
        return []
    first = np.cumsum([0, *counts[:-1]])
    return [
        start + rng.permutation(np.arange(size) % count)
        for start, size, count in zip(first, sizes, counts, strict=True)
    ]


def permuted_samples(
    samples: Sequence[Ints], rng: np.random.Generator, /, *, strata: Sequence[Ints] = ()
) -> list[Ints]:
    """Permute whole samples between conditions; every condition keeps its number of samples.

    `samples` holds, per condition, the sample of each row; rows are numbered across conditions. With `strata`, the
    stratum of each row, samples are permuted within strata.
    """
    sample_of_row = np.concatenate(samples)
    observed = [np.unique(codes) for codes in samples]
    if not strata:
        permuted = rng.permutation(np.concatenate(observed))
        assigned = np.split(permuted, np.cumsum([len(codes) for codes in observed])[:-1])
        return [np.flatnonzero(np.isin(sample_of_row, codes)) for codes in assigned]
    names, first_row = np.unique(sample_of_row, return_index=True)
    condition = np.repeat(np.arange(len(samples)), [len(codes) for codes in samples])[first_row]
    shuffled = _permuted_within(condition, np.concatenate(strata)[first_row], rng)
    return [np.flatnonzero(np.isin(sample_of_row, names[shuffled == number])) for number in range(len(samples))]


def every_assignment(samples: Sequence[Ints], most: int, /, *, strata: Sequence[Ints] = ()) -> list[list[Ints]] | None:
    """List all distinct results of `permuted_samples`; `None` where there are more than `most` of them.

    `None`, too, where a sample is in several conditions.
    """
    condition_of_row = np.repeat(np.arange(len(samples)), [len(codes) for codes in samples])
    names, first_row, sample_of_row = np.unique(np.concatenate(samples), return_index=True, return_inverse=True)
    if len(names) < sum(len(np.unique(codes)) for codes in samples):
        return None
    labels = condition_of_row[first_row]
    within = np.concatenate(strata)[first_row] if strata else np.zeros(len(names), dtype=int)
    places = [np.flatnonzero(within == stratum) for stratum in np.unique(within)]
    if prod(_n_arrangements(labels[own]) for own in places) > most:
        return None
    found: list[list[Ints]] = []
    for arrangements in product(*(_arrangements(tuple(labels[own].tolist())) for own in places)):
        assigned = np.empty_like(labels)
        for own, arrangement in zip(places, arrangements, strict=True):
            assigned[own] = arrangement
        found.append([np.flatnonzero(assigned[sample_of_row] == number) for number in range(len(samples))])
    return found


def _n_arrangements(labels: Ints) -> int:
    return factorial(labels.size) // prod(factorial(int(count)) for count in np.bincount(labels))


def _arrangements(labels: tuple[int, ...]) -> list[tuple[int, ...]]:
    """List the different orders of labels that may be equal."""
    if len(labels) < 2:
        return [labels]
    found = []
    for first in sorted(set(labels)):
        place = labels.index(first)
        found += [(first, *rest) for rest in _arrangements(labels[:place] + labels[place + 1 :])]
    return found


def _permuted_within(labels: Ints, strata: Ints, rng: np.random.Generator) -> Ints:
    permuted = labels.copy()
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        permuted[rows] = rng.permutation(labels[rows])
    return permuted


def bootstrap_rows(size: int, rng: np.random.Generator, /, *, samples: Ints | None = None) -> Ints:
    """Draw rows of one condition with replacement; whole samples where `samples` are given."""
    if samples is None:
        return np.sort(rng.integers(size, size=size))
    codes = np.unique(samples)
    drawn = rng.choice(codes, size=len(codes))
    return np.concatenate([np.flatnonzero(samples == code) for code in drawn])
