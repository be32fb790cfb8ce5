"""Bars of long work, and who else may follow them.

A bar is tqdm's own unless somebody listens in this thread: then it draws nothing and tells the listener, which
may raise to stop the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

T = TypeVar("T")

#: called with the name of the work, what is done and what there is to do in all (0 where nobody knows)
Listener = Callable[[str, int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("diffnb_progress", default=None)
_quiet: ContextVar[bool] = ContextVar("diffnb_quiet", default=False)


@contextmanager
def progress_callback(listener: Listener) -> Iterator[None]:
    """Send all progress of this thread to `listener`."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def quietly() -> Iterator[None]:
    """Draw no bars: this is one step of something that has a bar of its own."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


def bar(
    iterable: Iterable[T] | None = None,
    /,
    *,
    total: int | None = None,
    desc: str | None = None,
    disable: bool = False,
    delay: float = 0.0,
) -> Any:
    """Return a progress bar with tqdm's manners: to iterate over, or to `update` within a `with`."""
    listener = _listener.get()
    if listener is None or _quiet.get():
        from tqdm.auto import tqdm

        # said only where it is so: otherwise TQDM_DISABLE, which a user may have set, would not be heard
        off = {"disable": True} if disable or _quiet.get() else {}
        return tqdm(iterable, total=total, desc=desc, delay=delay, leave=False, **off)
    if total is None:
        total = len(iterable) if isinstance(iterable, Sized) else 0
    return ReportingBar(listener, () if iterable is None else iterable, total=total, name=desc or "")


class ReportingBar(Generic[T]):
    """A bar that draws nothing and tells its listener; also the short ones that tqdm would not draw."""

    def __init__(self, listener: Listener, iterable: Iterable[T], *, total: int, name: str) -> None:
        self._listener, self._iterable = listener, iterable
        self.total, self.name, self.n = total, name, 0
        self._tell()

    def _tell(self) -> None:
        self._listener(self.name, self.n, self.total)

    def update(self, n: int = 1) -> None:
        """Count `n` more as done."""
        self.n += n
        self._tell()

    def __iter__(self) -> Iterator[T]:
        for item in self._iterable:
            yield item
            self.update()

    def __enter__(self) -> ReportingBar[T]:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def close(self) -> None:
        """End the bar, as tqdm's can be."""

    def set_description(self, desc: str) -> None:
        """Rename the work."""
        self.name = desc
        self._tell()

    def set_postfix(self, **_: object) -> None:
        """Take what tqdm would write behind the bar; listeners have no use for it."""
