"""What every function that stores results does at its beginning and its end.

Before work begins: keys that no file can hold, data that cannot take results and slots of others are refused. In the
end, whatever happened: limits on threads are lifted.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from contextvars import copy_context
from typing import Any, ParamSpec, TypeVar

from anndata import AnnData

from .. import _validate as validate
from .._key_checks import check_key
from .._keys import Keys
from ..core.runtime.threads import threads_restored
from .locks import locks_of
from .ownership import refuse_foreign

P = ParamSpec("P")
R = TypeVar("R")

#: arguments that name a key
KEYS = ("key_added", "key")


def guarded(keys: type[Keys] | None = None, /, *, data: str = "adata") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Guard a function that stores in its argument `data`; `keys` names the slots that it writes under `key_added`."""

    def guard(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                given = signature.bind(*args, **kwargs)
            except TypeError:  # Python's own message says what is wrong
                return function(*args, **kwargs)
            given.apply_defaults()
            adata = _checked(given.arguments, keys, data)

            def work() -> R:
                with threads_restored():
                    return function(*args, **kwargs)

            with locks_of(adata).calls:
                # in a context of its own: what an interrupt leaves behind in it ends with it
                return copy_context().run(work)

        return call

    return guard


def _checked(given: Mapping[str, Any], keys: type[Keys] | None, name: str) -> AnnData:
    """Refuse what would fail after the computation, or only when a file is written."""
    adata = check_anndata(name, given[name])
    validate.flags(**{flag: given[flag] for flag in ("overwrite", "copy") if flag in given})
    for argument in KEYS:
        if argument in given:
            check_key(argument, given[argument])
    _refuse_backed(adata, copy=bool(given.get("copy")))
    if keys is not None:
        slots = keys(given["key_added"]).always
        with locks_of(adata).slots:  # another thread may be replacing what is looked at
            refuse_foreign(adata, keys(given["key_added"]), slots, overwrite=bool(given.get("overwrite")))
    return adata


def check_anndata(name: str, adata: object, /) -> AnnData:
    """Refuse what is no AnnData, or has no observations."""
    if not isinstance(adata, AnnData):
        raise TypeError(f"{name} must be an AnnData, got {type(adata).__name__}.")
    if adata.n_obs == 0:
        raise ValueError(f"{name} has no observations ({name}.n_obs is 0).")
    return adata


def _refuse_backed(adata: AnnData, *, copy: bool) -> None:
    """Refuse data on disk in which results cannot be stored: a view of it, and a copy of it."""
    if not adata.isbacked or not (adata.is_view or copy):
        return
    which = "is a view of a backed AnnData" if adata.is_view else "is backed, of which copy=True cannot make a copy"
    raise ValueError(
        f"adata {which}, so that results could not be stored: read it into memory first, adata = adata.to_memory()."
    )
