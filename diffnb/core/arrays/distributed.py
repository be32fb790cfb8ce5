"""Work on a dask.distributed cluster: who is there, and how a pass over runs of rows is spread over it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any


def in_worker() -> bool:
    """Say whether this is a task of a cluster."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


def active_client() -> Any:
    """Return the active distributed client; none within a worker, where a pass stays in its task."""
    distributed = sys.modules.get("distributed")
    if distributed is None or in_worker():
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


def accumulate(
    client: Any, step: Callable[..., Any], inputs: Sequence[tuple[Any, ...]], tick: Callable[[], object], /
) -> Iterator[Any]:
    """Let every thread of the cluster carry a total of its own from input to input, and yield the totals.

    `step` takes a total, `None` at first, and an input, in which delayed blocks stand for data, and returns a new
    total. Nothing is written to in place, so that a worker that is lost takes nothing with it that could not be
    made again. `tick` is called after each input.
    """
    delayed, as_completed = _dask()
    task = delayed(step, pure=False)
    waiting = list(reversed(inputs))
    # held, since a future that nobody holds is dropped
    held: set[Any] = set()

    def start(total: Any) -> Any:
        future = client.compute(task(total, *waiting.pop()))
        held.add(future)
        return future

    going = as_completed([start(None) for _ in range(min(len(inputs), _n_threads(client)))])
    for future in going:
        tick()
        held.discard(future)
        if waiting:
            going.add(start(future))
        else:
            yield future.result()


def map_as_completed(
    client: Any, work: Callable[..., Any], inputs: Sequence[tuple[Any, ...]], /
) -> Iterator[tuple[int, Any]]:
    """Yield the number of each input and what `work` makes of it, as they come.

    Not all are under way at once: results that wait to be taken would fill the memory.
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

    going = as_completed([start() for _ in range(min(len(inputs), 2 * _n_threads(client)))])
    for future in going:
        number, result = numbers.pop(future), future.result()
        if waiting:
            going.add(start())
        yield number, result


def _dask() -> tuple[Any, Any]:
    from dask.delayed import delayed
    from distributed import as_completed

    return delayed, as_completed


def _n_threads(client: Any) -> int:
    return max(1, int(sum(client.nthreads().values())))
