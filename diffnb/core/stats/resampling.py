"""Permutations and bootstraps: which observations may be exchanged, with an independent seed for each draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from ..runtime.progress import bar, quietly
from ..typing import Ints

S = TypeVar("S")
T = TypeVar("T")


def map_draws(
    work: Callable[[np.random.Generator], T],
    seeds: Sequence[np.random.SeedSequence],
    /,
    *,
    n_jobs: int | None = None,
    progress: str | None = None,
) -> list[T]:
    """Run `work` once per seed, in the order of the seeds: in threads, or where joblib is told to.

    Work that takes more than a second shows a bar named `progress`.
    """
    return map_items(partial(_from_seed, work), seeds, n_jobs=n_jobs, progress=progress)


def _from_seed(work: Callable[[np.random.Generator], T], seed: np.random.SeedSequence) -> T:
    return work(np.random.default_rng(seed))


def map_items(
    work: Callable[[S], T], items: Sequence[S], /, *, n_jobs: int | None = None, progress: str | None = None
) -> list[T]:
    """Run `work` once per item, such as a batch of seeds, as `map_draws` does per seed."""
    import joblib

    jobs = joblib.effective_n_jobs(n_jobs)
    task = _Task(work)
    with bar(total=len(items), desc=progress, disable=progress is None, delay=1.0) as done_so_far:
        results = []
        if jobs == 1:
            for item in items:
                results.append(task(item))
                done_so_far.update()
            return results
        # threads: the work is BLAS and ufuncs, which let go of the interpreter, and the data is not copied
        with _sent_once(task):
            parallel = joblib.Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
            for result in parallel(joblib.delayed(_call)(task, item) for item in items):
                results.append(result)
                done_so_far.update()
        return results


class _Task(Generic[S, T]):
    """The work on one item; an object, so that a cluster can keep it with the data that it holds."""

    def __init__(self, work: Callable[[S], T]) -> None:
        self.work = work

    def __call__(self, item: S) -> T:
        with quietly():
            return self.work(item)


def _call(task: _Task[S, T], item: S) -> T:
    return task(item)


@contextmanager
def _sent_once(task: _Task[Any, Any]) -> Iterator[None]:
    """Where joblib works on a dask cluster, give every worker the data once, before the draws.

    All of them, not only the first to ask: what a lost worker had must be somewhere else, too.
    """
    import joblib

    backend, n_jobs = joblib.parallel.get_active_backend()
    if type(backend).__name__ != "DaskDistributedBackend":
        yield
        return
    with joblib.parallel_config("dask", n_jobs=n_jobs, client=backend.client, scatter=[task]):
        yield


def permuted_rows(sizes: Sequence[int], rng: np.random.Generator, /) -> list[Ints]:
    """Deal all observations anew to conditions of the same sizes; rows are numbered across conditions."""
    order = rng.permutation(int(sum(sizes)))
    return [np.sort(part) for part in np.split(order, np.cumsum(sizes)[:-1])]


def permuted_samples(samples: Sequence[Ints], rng: np.random.Generator, /) -> list[Ints]:
    """Deal whole samples anew to conditions; every condition keeps its number of samples.

    `samples` holds, per condition, the sample of each row; rows are numbered across conditions.
    """
    everyone = np.concatenate(samples)
    owners = [np.unique(codes) for codes in samples]
    names = np.concatenate(owners)
    dealt = np.split(rng.permutation(names), np.cumsum([len(o) for o in owners])[:-1])
    return [np.flatnonzero(np.isin(everyone, part)) for part in dealt]


def bootstrap_rows(size: int, rng: np.random.Generator, /, *, samples: Ints | None = None) -> Ints:
    """Draw rows of one condition with replacement; whole samples where `samples` are given."""
    if samples is None:
        return np.sort(rng.integers(size, size=size))
    names = np.unique(samples)
    drawn = rng.choice(names, size=len(names))
    return np.concatenate([np.flatnonzero(samples == name) for name in drawn])
