"""Parameters that several figures share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from .._docs import documented
from ..get._stale import reading

F = TypeVar("F", bound=Callable[..., Any])

FIGURE_PARAMETERS = {
    "group": "A condition; all by default.",
    "values": (
        'A column of :func:`diffnb.get.disc` such as `"vector_1"`, `"score"` or `"feature_group"`, a column of'
        " `adata.var`, or an array with one value for each feature."
    ),
    "cmap": "Colour map of numbers; by default one centred at 0 where values have both signs.",
    "projection": "Number of the projection, from 1.",
    "prefix": "Prefix of the default keys.",
    "key": "The `key_added` of the call.",
    "ax": "Axes to draw on; those of a new figure by default.",
}


def documented_figure(function: F, /) -> F:
    """Make a figure: insert the shared descriptions, and draw the slots of one moment."""
    return cast("F", reading(documented(FIGURE_PARAMETERS)(function)))
