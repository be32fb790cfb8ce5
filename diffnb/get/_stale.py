"""Results that are older than the data: readers say which of it has changed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

from anndata import AnnData

from .. import _logging as log
from .._anndata import changes, locks_of
from .._keys import Keys
from .._warnings import StaleResultsWarning

P = ParamSpec("P")
R = TypeVar("R")

#: where results are stored of which the data is described, in an entry of `uns`
DATA = "data"

#: messages of the outermost reader that is at work; `None` outside of readers
_said: ContextVar[list[str] | None] = ContextVar("diffnb_said", default=None)
#: where messages go instead of warnings
_collected: ContextVar[list[str] | None] = ContextVar("diffnb_collected", default=None)


def reading(function: Callable[P, R], /) -> Callable[P, R]:
    """Let a reader or a figure see the slots of one moment, and warn once of what is stale."""

    @functools.wraps(function)
    def read(*args: P.args, **kwargs: P.kwargs) -> R:
        adata = args[0] if args else kwargs.get("adata")
        if not isinstance(adata, AnnData):  # the function says what is wrong
            return function(*args, **kwargs)
        token = None if _said.get() is not None else _said.set([])
        try:
            with locks_of(adata).slots:
                return function(*args, **kwargs)
        finally:
            if token is not None:
                _said.reset(token)

    return read


def warn_if_stale(adata: AnnData, keys: Keys, found: Mapping[str, Any], /) -> None:
    """Warn where the data is not that from which the results were computed; those of earlier versions do not say."""
    if DATA not in found:
        return
    changed = changes(adata, found[DATA])
    if changed:
        _say(_message(keys, changed))


def _message(keys: Keys, changed: list[str]) -> str:
    first, *more = changed
    listed = first if not more else f"{', '.join([first, *more[:-1]])} and {more[-1]}"
    return (
        f"results under key={keys.key!r} are older than the data: {listed} since. Values, ranks and p-values are those"
        f" of the data of then; run dn.{keys.made_by} again, or filter diffnb.StaleResultsWarning if this is intended."
    )


def _say(message: str) -> None:
    said, collected = _said.get(), _collected.get()
    if said is not None:
        if message in said:
            return
        said.append(message)
    if collected is None:
        log.warn(message, StaleResultsWarning)
    elif message not in collected:
        collected.append(message)


@contextmanager
def collected_staleness() -> Iterator[list[str]]:
    """Collect what readers would warn of, for a panel to show."""
    messages: list[str] = []
    token = _collected.set(messages)
    try:
        yield messages
    finally:
        _collected.reset(token)
