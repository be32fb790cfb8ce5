"""How many threads the libraries below us may use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from threading import Lock
from typing import Any

#: below this many features one thread is quickest: starting and joining more costs more than it saves, and on a
#: busy machine (Binder, a shared server) waiting threads can make a small problem a hundred times slower
SMALL_FEATURES = 600
#: numbers in an array that is worth sharing between threads
MIN_SHARED_NUMBERS = 1_000_000
#: threads of a pool, however many cores there are
MAX_WORKERS = 8

_max_workers: ContextVar[int | None] = ContextVar("diffnb_max_workers", default=None)


@contextmanager
def thread_limits(n_features: int, n_jobs: int | None = None, /) -> Iterator[None]:
    """Limit threads to what a problem gains from and a user asked for.

    With `n_jobs`, BLAS keeps to one thread, since jobs fill the cores, and no pool of threads is larger than that;
    `n_jobs=1` is one thread everywhere. Without it, small problems keep BLAS to one thread.
    """
    token = _max_workers.set(_max_workers.get() if n_jobs is None else _effective(n_jobs))
    try:
        if n_features <= SMALL_FEATURES or n_jobs is not None:
            with one_blas_thread():
                yield
        else:
            yield
    finally:
        _max_workers.reset(token)


def n_workers(at_most: int = MAX_WORKERS, /) -> int:
    """Return the number of threads for a pool: the cores, but no more than `n_jobs` of `thread_limits` allows."""
    allowed = _max_workers.get() or os.cpu_count() or 1
    return max(1, min(MAX_WORKERS, allowed, at_most))


def _effective(n_jobs: int) -> int:
    import joblib

    return int(joblib.effective_n_jobs(n_jobs))


@contextmanager
def openmp_limits() -> Iterator[None]:
    """Limit the OpenMP loops of scikit-learn, which must be loaded, to what `thread_limits` allows a pool."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(n_workers(), user_api="openmp"):
        yield


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread, while threads of our own multiply side by side or small problems are solved."""
    with _one_thread([lib for lib in _libraries().lib_controllers if lib.user_api == "blas"]):
        yield


@dataclass(slots=True)
class _Lowered:
    """How many ask for one thread of a library at the moment, and what it had before the first of them."""

    asking: int
    before: int


_lowered: dict[str, _Lowered] = {}
_lock = Lock()


@contextmanager
def _one_thread(libraries: Sequence[Any]) -> Iterator[None]:
    """Keep libraries to one thread for as long as anyone asks for it.

    The number of threads belongs to the process, and panels work in threads of their own: if everyone restored what
    they found, the last to go would restore the one thread of those who came before, for good.
    """
    asked: list[Any] = []
    try:
        with _lock:
            for lib in libraries:
                lowered = _lowered.setdefault(lib.filepath, _Lowered(0, lib.num_threads))
                lowered.asking += 1
                asked.append(lib)
                if lowered.asking == 1:
                    _set(lib, 1)
        yield
    finally:
        # those that were asked: the Stop of a panel may come between any two lines
        with _lock:
            for lib in asked:
                lowered = _lowered[lib.filepath]
                lowered.asking -= 1
                if not lowered.asking:
                    _set(lib, lowered.before)
                    del _lowered[lib.filepath]


def _set(lib: Any, n_threads: int) -> None:
    """Set the threads of a library, whoever did so last.

    Since its version 3.8 threadpoolctl hears only the first thread that sets OpenBLAS's, until that one gives way;
    a panel that runs after a cell would be left with all threads, and wait for them.
    """
    give_way = getattr(lib, "clear_controlling_thread", None)
    if give_way is not None:
        give_way(force=True)
    lib.set_num_threads(n_threads)
    if give_way is not None:
        give_way(force=True)


@cache
def _libraries() -> Any:
    import scipy.linalg  # noqa: F401, brings a BLAS of its own, which must be there to be found
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
    workers = n_workers()
    if workers == 1 or rows * columns < MIN_SHARED_NUMBERS:
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
    with _one_thread(_blas_of_scipy()):
        yield
