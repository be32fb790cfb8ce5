"""What the parameters that several readers share mean, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from .._docs import documented
from ._stale import reading

F = TypeVar("F", bound=Callable[..., Any])

SHARED = {
    "adata": "Annotated data.",
    "group": "A condition; all by default.",
    "key": "The `key_added` of the call.",
    "n_top": "Number of leading features of each method that count as found.",
    "prefix": 'What precedes the usual keys: `"compare_"` reads `uns["compare_disc"]`, and so on.',
}


def documented_reader(function: F, /) -> F:
    """Make a reader: insert the shared descriptions, and read the slots of one moment."""
    return cast("F", reading(documented(SHARED)(function)))
