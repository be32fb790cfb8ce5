"""Parameters that several figures share."""

from __future__ import annotations

from .._docs import documented

FIGURE_PARTS = {
    "adata_disc": """
        adata
            Annotated data after :func:`diffnb.tl.disc`.
        """,
    "adata_sparda": """
        adata
            Annotated data after :func:`diffnb.tl.sparda` or :func:`diffnb.tl.pda`.
        """,
    "adata_informed": """
        adata
            Annotated data after :func:`diffnb.tl.informed_distance`.
        """,
    "adata_compare": """
        adata
            Annotated data, as for :func:`diffnb.get.compare`.
        """,
    "group": """
        group
            A condition; all by default.
        """,
    "group_compared": """
        group
            A condition that was compared; all by default.
        """,
    "group_best": """
        group
            A condition; by default each feature has the best of its ranks over all conditions.
        """,
    "group_of_values": """
        group
            The condition, for columns of :func:`diffnb.get.disc`.
        """,
    "values": """
        values
            A column of :func:`diffnb.get.disc` such as `"vector_1"`, `"score"` or `"feature_group"`, a column of
            `adata.var`, or an array with one value for each feature.
        """,
    "cmap": """
        cmap
            Colour map of numbers; by default one centred at 0 where values have both signs.
        """,
    "projection": """
        projection
            Number of the projection, from 1.
        """,
    "prefix": """
        prefix
            Prefix of the default keys.
        """,
    "key": """
        key
            The `key_added` of the call.
        """,
    "key_disc": """
        key
            The `key_added` of :func:`diffnb.tl.disc`.
        """,
    "ax": """
        ax
            Axes to draw on; those of a new figure by default.
        """,
    "ax_condition": """
        ax
            Axes to draw a single condition on; one panel per condition in a new figure by default.
        """,
    "ax_comparison": """
        ax
            Axes to draw a single comparison on; one panel per comparison in a new figure by default.
        """,
}

#: fills these descriptions into the docstring of a figure
documented_figure = documented(FIGURE_PARTS)
