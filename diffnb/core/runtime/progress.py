"""Progress bars of long computations, and a callback that can receive their progress instead.

A bar is one of tqdm's, unless a callback is set in this thread: then nothing is drawn and the callback is called. It
may raise an exception to interrupt the computation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, TypeAlias, TypeVar

from .threads import can_start_threads

T = TypeVar("T")

#: called with the name of the task, the number of steps done and their total (0 where it is unknown)
ProgressCallback: TypeAlias = Callable[[str, int, int], None]

#: called with what a task has found so far, such as p-values of the permutations that were drawn
NotesCallback: TypeAlias = Callable[[str], None]

_callback: ContextVar[ProgressCallback | None] = ContextVar("diffnb_progress", default=None)
_notes: ContextVar[NotesCallback | None] = ContextVar("diffnb_progress_notes", default=None)
_quiet: ContextVar[bool] = ContextVar("diffnb_quiet", default=False)


@contextmanager
def progress_callback(callback: ProgressCallback, notes: NotesCallback | None = None) -> Iterator[None]:
    """Send the progress of all computations in this thread to `callback`, and partial results to `notes`."""
    token, token_of_notes = _callback.set(callback), _notes.set(notes)
    try:
        yield
    finally:
        _callback.reset(token)
        _notes.reset(token_of_notes)


@contextmanager
def quietly() -> Iterator[None]:
    """Draw no bars within a task that has a bar already."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


def announce(step: str) -> None:
    """Name a step that has no bar of its own, such as one product of large matrices; only a callback learns of it."""
    callback = _callback.get()
    if callback is not None and not _quiet.get():
        callback(step, 0, 0)


def bar(
    iterable: Iterable[T] | None = None,
    /,
    *,
    total: int | None = None,
    desc: str | None = None,
    disable: bool = False,
    delay: float = 0.0,
) -> Any:
    """Return a progress bar with the interface of tqdm: to iterate over, or to `update` within a `with` block."""
    callback = _callback.get()
    if callback is None or _quiet.get():
        from tqdm.auto import tqdm

        if not can_start_threads():
            tqdm.monitor_interval = 0  # its monitor, which is a thread, would only warn that it cannot be one
        # passed only if True: `disable=False` would override the environment variable TQDM_DISABLE
        off = {"disable": True} if disable or _quiet.get() else {}
        return tqdm(iterable, total=total, desc=desc, delay=delay, leave=False, **off)
    if total is None:
        total = len(iterable) if isinstance(iterable, Sized) else 0
    return CallbackBar(callback, () if iterable is None else iterable, total=total, name=desc or "", notes=_notes.get())


class CallbackBar(Generic[T]):
    """A bar that calls a callback instead of drawing, also for tasks too short for tqdm to draw."""

    def __init__(
        self,
        callback: ProgressCallback,
        iterable: Iterable[T],
        *,
        total: int,
        name: str,
        notes: NotesCallback | None = None,
    ) -> None:
        self._callback, self._iterable, self._notes = callback, iterable, notes
        self.total, self.name, self.n = total, name, 0
        self._report()

    def _report(self) -> None:
        self._callback(self.name, self.n, self.total)

    def update(self, n: int = 1) -> None:
        """Count `n` more steps as done."""
        self.n += n
        self._report()

    def __iter__(self) -> Iterator[T]:
        for item in self._iterable:
            yield item
            self.update()

    def __enter__(self) -> CallbackBar[T]:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def close(self) -> None:
        """Do nothing; tqdm's bars have this method."""

    def set_description(self, desc: str) -> None:
        """Rename the task."""
        self.name = desc
        self._report()

    def set_postfix_str(self, s: str, refresh: bool = True) -> None:
        """Report what was found so far."""
        if self._notes is not None:
            self._notes(s)

    def set_postfix(self, **_: object) -> None:
        """Ignore what tqdm would write after the bar."""
