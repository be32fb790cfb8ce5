"""Shells of an AnnData that a run can work on, and taking over what the run did."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
from anndata import AnnData

from .._keys import Slot
from .locks import locks_of
from .slots import Change, change_slots

#: slots that hold arrays or tables by name
_SLOTS = ("layers", "obsm", "varm", "obsp", "varp", "uns")


def light_copy(adata: AnnData) -> AnnData:
    """Copy the shell of an AnnData: it shares all arrays, but has separate tables and slots."""
    held = {slot: dict(getattr(adata, slot)) for slot in _SLOTS}
    # from anndata 0.13 on, X is the layer without a name, and a view makes both again at every look
    x = held["layers"].pop(None) if None in held["layers"] else adata.X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # names that repeat were reported when adata was made
        light = AnnData(
            X=x,
            obs=adata.obs.copy(),
            var=adata.var.copy(),
            **held,
        )
    light._raw = adata._raw
    return light


def adopt(adata: AnnData, before: AnnData, after: AnnData) -> None:
    """Apply to `adata` the difference between two of its light copies: additions, replacements and removals."""
    for side, name in (("obs_names", "observations"), ("var_names", "features")):
        if not getattr(adata, side).equals(getattr(before, side)):
            raise RuntimeError(f"adata has other {name} than when the run began; results were not stored. Run again.")
    with locks_of(adata).slots:
        change_slots(adata, _difference(adata, before, after))


def _difference(adata: AnnData, before: AnnData, after: AnnData) -> Change:
    """List what a run has changed, of which all that the user has removed meanwhile stays removed."""
    removed: list[Slot] = []
    written: dict[Slot, Any] = {}
    for place in ("obs", "var", *_SLOTS):
        old, new = getattr(before, place), getattr(after, place)
        for name in new:
            if name not in old or not _unchanged(old[name], new[name]):
                written[place, name] = new[name].array if isinstance(new[name], pd.Series) else new[name]
        removed += [(place, name) for name in old if name not in new and name in getattr(adata, place)]
    return Change(removed, written)


def _unchanged(old: Any, new: Any) -> bool:
    return bool(new.equals(old)) if isinstance(new, pd.Series) else old is new
