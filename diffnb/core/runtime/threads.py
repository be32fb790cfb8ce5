"""Limits on the threads of BLAS and of our own pools, and what stands in for pools where no thread can be started."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from threading import RLock, Thread, get_ident
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

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
    if not can_start_threads():
        return 1
    allowed = _max_workers.get() or os.cpu_count() or 1
    return max(1, min(MAX_WORKERS, allowed, at_most))


@cache
def can_start_threads() -> bool:
    """Return whether this Python can start threads; in a browser (Pyodide) it cannot."""
    probe = Thread(target=str, daemon=True)
    try:
        probe.start()
    except RuntimeError:
        return False
    probe.join()
    return True


def thread_pool(workers: int, /) -> Executor:
    """Return a pool of so many threads, or, where none can be started, one that does all work in the calling thread."""
    return ThreadPoolExecutor(workers) if can_start_threads() else _CallingThread()


class _CallingThread(Executor):
    """Does work when it is submitted, or when the next result of `map` is asked for."""

    def submit(self, work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        future: Future[R] = Future()
        try:
            future.set_result(work(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future

    def map(
        self, fn: Callable[..., R], *iterables: Iterable[Any], timeout: float | None = None, chunksize: int = 1
    ) -> Iterator[R]:
        return map(fn, *iterables)


def _effective(n_jobs: int) -> int:
    import joblib

    return int(joblib.effective_n_jobs(n_jobs))


@contextmanager
def openmp_limits() -> Iterator[None]:
    """Limit the OpenMP loops of scikit-learn, which must be loaded, to what `thread_limits` allows a pool."""
    with openmp_threads(n_workers()):
        yield


@contextmanager
def openmp_threads(n_threads: int, /) -> Iterator[None]:
    """Limit OpenMP loops of this thread."""
    from threadpoolctl import ThreadpoolController

    # not from the cache: it may be older than the library
    loaded = ThreadpoolController().lib_controllers
    with _limited([lib for lib in loaded if lib.user_api == "openmp"], n_threads):
        yield


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while our own threads multiply concurrently, or small problems are solved."""
    with _limited([lib for lib in _libraries().lib_controllers if lib.user_api == "blas"], 1):
        yield


@contextmanager
def threads_restored() -> Iterator[None]:
    """Give all libraries the threads that they had before, also where an interrupt has prevented others from it."""
    with _limited(_libraries().lib_controllers, None):
        yield


class _Context:
    """One context in which libraries are limited, as a holder of these limits."""


@dataclass(slots=True)
class _Limit:
    """The contexts that limit a library at the moment, and its threads before the first of them."""

    library: Any
    threads_before: int
    #: the number of threads that each context asks for; `None`: no limit, only to be restored in the end
    holders: dict[_Context, int | None] = field(default_factory=dict)

    def apply(self) -> None:
        """Set the number of threads that the contexts allow."""
        wanted = min([self.threads_before, *(n for n in self.holders.values() if n is not None)])
        if self.library.num_threads != wanted:
            _set_threads(self.library, wanted)


_limits: dict[tuple[str, int], _Limit] = {}
_lock = RLock()


@contextmanager
def _limited(libraries: Sequence[Any], n_threads: int | None) -> Iterator[None]:
    """Limit libraries until the last of all nested or concurrent contexts has ended.

    The number of threads is a property of the process, and every panel computes in a separate thread. If each
    context restored the number that it found, the last one to end could restore the one thread of another.
    """
    context = _Context()
    try:
        try:
            _hold(context, libraries, n_threads)
            yield
        finally:
            _release(context)
    finally:
        # an interrupt may come between any two instructions, also while limits are lifted: the second call completes it
        _release(context)


def _hold(context: _Context, libraries: Sequence[Any], n_threads: int | None) -> None:
    with _lock:
        for lib in libraries:
            limit = _limits.setdefault(_place(lib), _Limit(lib, lib.num_threads))
            limit.holders[context] = n_threads
            limit.apply()


def _release(context: _Context) -> None:
    """Lift the limits of a context; a second call does nothing, or what the first one was interrupted in."""
    with _lock:
        for place, limit in list(_limits.items()):
            if place[1] in (0, get_ident()):
                limit.holders.pop(context, None)
                limit.apply()
                if not limit.holders:
                    del _limits[place]


def _place(lib: Any) -> tuple[str, int]:
    """Identify a number of threads: BLAS has one for the process, OpenMP one for each thread."""
    return lib.filepath, get_ident() if lib.user_api == "openmp" else 0


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
    with thread_pool(workers) as pool:
        # list: raises an exception of a worker here
        list(pool.map(work, [slice(a, b) for a, b in pairwise(edges)]))


@contextmanager
def one_scipy_blas_thread() -> Iterator[None]:
    """Limit the BLAS of SciPy's wheels to one thread while its Lanczos solver takes many small steps.

    Its threads would compete with those of NumPy's BLAS, which multiplies the large matrix in between. Where both
    packages share one library, nothing changes.
    """
    with _limited(_blas_of_scipy(), 1):
        yield
