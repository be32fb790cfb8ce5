"""Shells of an AnnData that a run can work on, and taking over what the run did."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
from anndata import AnnData

#: slots that hold arrays or tables by name
_SLOTS = ("layers", "obsm", "varm", "obsp", "varp", "uns")


def light_copy(adata: AnnData) -> AnnData:
    """Copy the shell of an AnnData: it shares all arrays, but has separate tables and slots."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # names that repeat were reported when adata was made
        light = AnnData(
            X=adata.X,
            obs=adata.obs.copy(),
            var=adata.var.copy(),
            **{slot: dict(getattr(adata, slot)) for slot in _SLOTS},
        )
    light._raw = adata._raw
    return light


def adopt(adata: AnnData, before: AnnData, after: AnnData) -> None:
    """Apply to `adata` the difference between two of its light copies: additions, replacements and removals."""
    for side, name in (("obs_names", "observations"), ("var_names", "features")):
        if not getattr(adata, side).equals(getattr(before, side)):
            raise RuntimeError(f"adata has other {name} than when the run began; results were not stored. Run again.")
    if adata.is_view:
        adata._init_as_actual(adata.copy())
    for slot in ("obs", "var", *_SLOTS):
        old, new, target = getattr(before, slot), getattr(after, slot), getattr(adata, slot)
        for name in new:
            if name not in old or not _unchanged(old[name], new[name]):
                target[name] = new[name].array if isinstance(new[name], pd.Series) else new[name]
        for name in set(old) - set(new):
            if name in target:
                del target[name]


def _unchanged(old: Any, new: Any) -> bool:
    return bool(new.equals(old)) if isinstance(new, pd.Series) else old is new
