"""Parameters that several panels share."""

from __future__ import annotations

from .._docs import documented

PANEL_PARAMETERS = {
    "adata": "Annotated data, observations × features.",
    "groupby": "Column of `adata.obs` with the conditions; the likeliest by default.",
    "sample_key": (
        "Column of `adata.obs` with the sample (donor, subject) of each observation; the likeliest by default,"
        " `None` for none."
    ),
    "covariates": "Columns of `adata.obs` whose effects are taken out first.",
    "key_added": "Key under which results are stored; results that an earlier call stored there are shown.",
}

#: inserts these descriptions into the docstring of a panel
documented_panel = documented(PANEL_PARAMETERS)
