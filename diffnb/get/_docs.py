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
    "condition": "A condition that is compared with another.",
    "edges": "A table of :func:`diffnb.get.edges`, or some of its rows; by default it is computed.",
    "key": "The `key_added` of the call.",
    "layer": "Layer to use instead of that of the call.",
    "n_jobs": "Threads that work concurrently.",
    "max_edges": "At most this many pairs of features, the most significant ones.",
    "max_pval_adj": "Pairs up to this adjusted p-value.",
    "min_difference": "Smallest absolute difference of the correlations.",
    "observations": "Which observations, as a boolean for each or by their names; all by default.",
    "n_top": "Number of leading features of each method that count as found.",
    "reference": "The condition it was compared with; all by default.",
    "prefix": 'What precedes the usual keys: `"compare_"` reads `uns["compare_disc"]`, and so on.',
}


def documented_reader(function: F, /) -> F:
    """Make a reader: insert the shared descriptions, and read the slots of one moment."""
    return cast("F", reading(documented(SHARED)(function)))
