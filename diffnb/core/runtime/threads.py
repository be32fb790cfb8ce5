"""Limits on the threads of BLAS and of our own pools."""

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

#: up to this many features one thread is fastest: starting and joining more costs more than it saves, and on a
#: busy machine (Binder, a shared server) waiting threads can make a small problem a hundred times slower
MAX_FEATURES_SINGLE_THREAD = 600
#: size of the smallest array that is worth splitting between threads
MIN_SHARED_NUMBERS = 1_000_000
#: threads of a pool on a machine with many cores
MAX_WORKERS = 8

_max_workers: ContextVar[int | None] = ContextVar("diffnb_max_workers", default=None)


@contextmanager
def thread_limits(n_features: int, n_jobs: int | None = None, /) -> Iterator[None]:
    """Limit threads to as many as a problem benefits from and the user allows.

    With `n_jobs`, BLAS uses one thread, since jobs fill the cores, and no pool has more than `n_jobs` threads;
    `n_jobs=1` means one thread everywhere. Without it, BLAS uses one thread for small problems.
    """
    token = _max_workers.set(_max_workers.get() if n_jobs is None else _effective(n_jobs))
    try:
        if n_features <= MAX_FEATURES_SINGLE_THREAD or n_jobs is not None:
            with one_blas_thread():
                yield
        else:
            yield
    finally:
        _max_workers.reset(token)


def n_workers(at_most: int = MAX_WORKERS, /) -> int:
    """Return the number of threads for a pool: the number of cores, limited by `n_jobs` of `thread_limits`."""
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
    """Limit BLAS to one thread while our own threads multiply concurrently, or small problems are solved."""
    with _one_thread([lib for lib in _libraries().lib_controllers if lib.user_api == "blas"]):
        yield


@dataclass(slots=True)
class _Limit:
    """How many contexts limit a library to one thread at the moment, and its threads before the first of them."""

    n_contexts: int
    threads_before: int


_limits: dict[str, _Limit] = {}
_lock = Lock()


@contextmanager
def _one_thread(libraries: Sequence[Any]) -> Iterator[None]:
    """Limit libraries to one thread until the last of all nested or concurrent contexts has ended.

    The number of threads is a property of the process, and every panel computes in a separate thread. If each
    context restored the number that it found, the last one to end could restore the one thread of another.
    """
    limited: list[Any] = []
    try:
        with _lock:
            for lib in libraries:
                limit = _limits.setdefault(lib.filepath, _Limit(0, lib.num_threads))
                limit.n_contexts += 1
                limited.append(lib)
                if limit.n_contexts == 1:
                    _set_threads(lib, 1)
        yield
    finally:
        # only those that were limited: the Stop button of a panel may interrupt between any two lines
        with _lock:
            for lib in limited:
                limit = _limits[lib.filepath]
                limit.n_contexts -= 1
                if not limit.n_contexts:
                    _set_threads(lib, limit.threads_before)
                    del _limits[lib.filepath]


def _set_threads(lib: Any, n_threads: int) -> None:
    """Set the number of threads of a library, whichever thread set it last.

    Since version 3.8 threadpoolctl accepts changes to OpenBLAS only from the first thread that made one, until it
    is released; a panel that computes after a cell would otherwise keep all threads, and wait for them.
    """
    release = getattr(lib, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)
    lib.set_num_threads(n_threads)
    if release is not None:
        release(force=True)


@cache
def _libraries() -> Any:
    import scipy.linalg  # noqa: F401, loads a second BLAS, which must be loaded to be found
    from threadpoolctl import ThreadpoolController

    # cached: inspecting all loaded libraries takes longer than solving a small problem
    return ThreadpoolController()


@cache
def _blas_of_scipy() -> list[Any]:
    libraries = _libraries().lib_controllers
    return [lib for lib in libraries if lib.user_api == "blas" and "scipy.libs" in str(lib.filepath)]


def for_row_blocks(work: Callable[[slice], None], shape: tuple[int, int], /) -> None:
    """Call `work` on blocks of rows, concurrently where the array is large enough to benefit."""
    rows, columns = shape
    workers = n_workers()
    if workers == 1 or rows * columns < MIN_SHARED_NUMBERS:
        work(slice(0, rows))
        return
    edges = [rows * i // workers for i in range(workers + 1)]
    with ThreadPoolExecutor(workers) as pool:
        # list: raises an exception of a worker here
        list(pool.map(work, [slice(a, b) for a, b in pairwise(edges)]))


@contextmanager
def one_scipy_blas_thread() -> Iterator[None]:
    """Limit the BLAS of SciPy's wheels to one thread while its Lanczos solver takes many small steps.

    Its threads would compete with those of NumPy's BLAS, which multiplies the large matrix in between. Where both
    packages share one library, nothing changes.
    """
    with _one_thread(_blas_of_scipy()):
        yield
