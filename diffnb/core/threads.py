"""How many threads the libraries below us may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

#: below this many features one thread is quickest: starting and joining more costs more than it saves, and on a
#: busy machine (Binder, a shared server) waiting threads can make a small problem a hundred times slower
SMALL = 600


@contextmanager
def fitting_threads(n_features: int, n_jobs: int | None = None, /) -> Iterator[None]:
    """Keep BLAS and OpenMP to one thread for small problems, and where jobs already fill the cores."""
    from threadpoolctl import threadpool_limits

    if n_features <= SMALL or n_jobs not in (None, 1):
        with threadpool_limits(limits=1):
            yield
    else:
        yield
