"""The panels that `explore` can open."""

from __future__ import annotations

import importlib
from typing import Any

from anndata import AnnData

#: name in `dn.panels`, and label of its button
PANEL_TITLES = {
    "disc": "DiSC: groups of features",
    "sparda": "SPARDA: the few features that differ most",
    "dufs": "DUFS: structure without labels",
    "informed": "Informed distance",
    "compare": "Compare methods",
}
#: panels that compare conditions
CONDITION_PANELS = ("disc", "sparda", "compare")


def open_by_name(name: str, adata: AnnData, groupby: str | None) -> Any:
    """Open a panel by its name."""
    function = getattr(importlib.import_module("diffnb.panels"), name)
    return function(adata, groupby) if name in CONDITION_PANELS else function(adata)
