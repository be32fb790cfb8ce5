"""Parameters that several figures share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .._docs import documented
from ..get._stale import reading
from ._page import page
from ._titles import retitle

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
    "title": (
        'A title in place of the one that the figure chooses; `""` leaves none. Panels keep their names below a title.'
    ),
    "width": (
        "Width of a new figure in inches, such as 3.5 for a column of a journal; panels that do not fit next to each"
        " other move below."
    ),
    "ax": "Axes to draw on; those of a new figure by default.",
}


def documented_figure(function: F, /) -> F:
    """Make a figure: insert the shared descriptions, follow title and width, and draw the slots of one moment."""

    @functools.wraps(function)
    def drawn(*args: Any, **kwargs: Any) -> Any:
        title, width = kwargs.get("title"), kwargs.get("width")
        if title is not None and not isinstance(title, str):
            raise TypeError(f"title={title!r} must be a text, or None for the title that the figure chooses.")
        if width is not None and kwargs.get("ax") is not None:
            raise ValueError("width= is that of a new figure; axes that are given as ax= have theirs.")
        with page(width):
            result = function(*args, **kwargs)
        retitle(result, title)
        return result

    return cast("F", reading(documented(FIGURE_PARAMETERS)(cast("F", drawn))))
