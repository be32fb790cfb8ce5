"""Passes over row blocks on a dask.distributed cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any


def in_worker() -> bool:
    """Return whether this code runs in a task of a cluster."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


def active_client() -> Any:
    """Return the active distributed client; `None` within a worker, where a pass stays in its task."""
    distributed = sys.modules.get("distributed")
    if distributed is None or in_worker():
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


def accumulate(
    client: Any, step: Callable[..., Any], inputs: Sequence[tuple[Any, ...]], on_done: Callable[[], object], /
) -> Iterator[Any]:
    """Accumulate one total per thread of the cluster over the inputs, and yield the totals.

    `step` takes a total, `None` at first, and an input, in which delayed blocks represent data, and returns a new
    total. Nothing is changed in place, so that the tasks of a lost worker can be repeated. `on_done` is called after
    each input.
    """
    delayed, as_completed = _dask()
    task = delayed(step, pure=False)
    waiting = list(reversed(inputs))
    # a future without a reference to it would be cancelled
    pending: set[Any] = set()

    def start(total: Any) -> Any:
        future = client.compute(task(total, *waiting.pop()))
        pending.add(future)
        return future

    completed = as_completed([start(None) for _ in range(min(len(inputs), _n_threads(client)))])
    for future in completed:
        on_done()
        pending.discard(future)
        if waiting:
            completed.add(start(future))
        else:
            yield future.result()


def map_as_completed(
    client: Any, work: Callable[..., Any], inputs: Sequence[tuple[Any, ...]], /
) -> Iterator[tuple[int, Any]]:
    """Yield the number of each input and the result of `work` for it, in the order of completion.

    Only some are submitted at a time: results that wait to be consumed would fill the memory.
    """
    delayed, as_completed = _dask()
    task = delayed(work, pure=False)
    waiting = list(enumerate(inputs))[::-1]
    numbers: dict[Any, int] = {}

    def start() -> Any:
        number, given = waiting.pop()
        future = client.compute(task(*given))
        numbers[future] = number
        return future

    completed = as_completed([start() for _ in range(min(len(inputs), 2 * _n_threads(client)))])
    for future in completed:
        number, result = numbers.pop(future), future.result()
        if waiting:
            completed.add(start())
        yield number, result


def _dask() -> tuple[Any, Any]:
    from dask.delayed import delayed
    from distributed import as_completed

    return delayed, as_completed


def _n_threads(client: Any) -> int:
    return max(1, int(sum(client.nthreads().values())))
