"""Parameters and returned values that several panels share."""

from __future__ import annotations

from .._docs import documented

PANEL_PARTS = {
    "adata": """
        adata
            Annotated data, observations × features.
        """,
    "groupby": """
        groupby
            Column of `adata.obs` with the conditions; the likeliest by default.
        """,
    "key_added": """
        key_added
            Key under which results are stored; results that an earlier call stored there are shown.
        """,
    "panel": """
        The panel. Show it as the last value of a cell; `panel.code` holds the lines that reproduce it,
        `panel.snapshot()` returns a picture.
        """,
}

#: fills these descriptions into the docstring of a panel
documented_panel = documented(PANEL_PARTS)
