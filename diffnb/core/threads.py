"""How many threads the libraries below us may use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any

#: below this many features one thread is quickest: starting and joining more costs more than it saves, and on a
#: busy machine (Binder, a shared server) waiting threads can make a small problem a hundred times slower
SMALL = 600
#: numbers in an array that is worth sharing between threads
WORTH_SHARING = 1_000_000
MOST_WORKERS = 8


@contextmanager
def fitting_threads(n_features: int, n_jobs: int | None = None, /) -> Iterator[None]:
    """Keep BLAS to one thread for small problems, and where jobs already fill the cores."""
    if n_features <= SMALL or n_jobs not in (None, 1):
        with _libraries().limit(limits=1, user_api="blas"):
            yield
    else:
        yield


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread while threads of our own multiply side by side."""
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    # found once: looking through all loaded libraries takes longer than many a small problem
    return ThreadpoolController()


@cache
def _blas_of_scipy() -> list[Any]:
    libraries = _libraries().lib_controllers
    return [lib for lib in libraries if lib.user_api == "blas" and "scipy.libs" in str(lib.filepath)]


def by_rows(work: Callable[[slice], None], shape: tuple[int, int], /) -> None:
    """Call `work` on runs of rows, side by side where the array is large enough to gain from it."""
    rows, columns = shape
    workers = min(MOST_WORKERS, os.cpu_count() or 1)
    if workers == 1 or rows * columns < WORTH_SHARING:
        work(slice(0, rows))
        return
    edges = [rows * i // workers for i in range(workers + 1)]
    with ThreadPoolExecutor(workers) as pool:
        # list: an error in a worker is raised here
        list(pool.map(work, [slice(a, b) for a, b in pairwise(edges)]))


@contextmanager
def small_steps_of_scipy() -> Iterator[None]:
    """Keep SciPy's own BLAS to one thread while its Lanczos solver takes many small steps.

    SciPy's wheels bring a second BLAS whose threads compete with those of NumPy's, which multiplies the large
    matrix in between; where both share one library nothing changes.
    """
    libraries = _blas_of_scipy()
    before = [lib.num_threads for lib in libraries]
    for lib in libraries:
        lib.set_num_threads(1)
    try:
        yield
    finally:
        for lib, count in zip(libraries, before, strict=True):
            lib.set_num_threads(count)
