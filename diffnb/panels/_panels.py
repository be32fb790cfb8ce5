"""Which panels there are, for the one that opens the others."""

from __future__ import annotations

import importlib
from typing import Any

from anndata import AnnData

#: name in `dn.panels`, and what a button says
METHODS = {
    "disc": "DiSC: groups of features",
    "sparda": "SPARDA: the few that differ most",
    "dufs": "DUFS: structure without labels",
    "informed": "Informed distance",
    "compare": "Compare methods",
}
#: those that compare conditions
BY_CONDITION = ("disc", "sparda", "compare")


def opened(name: str, adata: AnnData, groupby: str | None) -> Any:
    """Open a panel by its name."""
    function = getattr(importlib.import_module("diffnb.panels"), name)
    return function(adata, groupby) if name in BY_CONDITION else function(adata)
