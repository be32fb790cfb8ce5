"""Permutations, bootstraps and p-values: who may be exchanged with whom, with a seed of its own for each draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from ._typing import Floats, Ints
from .progress import bar

T = TypeVar("T")


def child_seeds(seed: int, count: int, /) -> list[np.random.SeedSequence]:
    """Return one independent seed per draw, so that the order of work and n_jobs change nothing."""
    return np.random.SeedSequence(seed).spawn(count)


def map_seeds(
    work: Callable[[np.random.Generator], T],
    seed: int,
    count: int,
    /,
    *,
    n_jobs: int | None = None,
    progress: str | None = None,
) -> list[T]:
    """Run `work` once per child seed, in threads, in the order of the seeds, with a bar named `progress`."""
    import joblib

    def one(child: np.random.SeedSequence) -> T:
        return work(np.random.default_rng(child))

    seeds = child_seeds(seed, count)
    jobs = joblib.effective_n_jobs(n_jobs) if n_jobs is not None else 1
    with bar(total=count, desc=progress, disable=progress is None) as done_so_far:
        if jobs == 1:
            results = []
            for child in seeds:
                results.append(one(child))
                done_so_far.update()
            return results
        # threads: the work is BLAS and ufuncs, which let go of the interpreter, and the data is not copied
        done = joblib.Parallel(n_jobs=jobs, prefer="threads", return_as="generator")(
            joblib.delayed(one)(child) for child in seeds
        )
        results = []
        for result in done:
            results.append(result)
            done_so_far.update()
        return results


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


def p_values(observed: Floats, null: Floats, /) -> Floats:
    """Share of draws at least as large as what was observed, the observed one counted: never below 1/(N+1).

    `null` has the draws first. Differences of rounding count as equal.
    """
    reached = null >= observed - 1e-12 * np.abs(observed)
    return np.asarray((1 + reached.sum(axis=0)) / (1 + len(null)))
