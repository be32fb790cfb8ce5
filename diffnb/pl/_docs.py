"""Parameters that several figures share."""

from __future__ import annotations

from .._docs import documented

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

#: inserts these descriptions into the docstring of a figure
documented_figure = documented(FIGURE_PARAMETERS)
