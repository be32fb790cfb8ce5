"""What all readers share: finding an entry, or saying how to make it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anndata import AnnData

from .. import _validate as validate


def entry(adata: AnnData, key: str, made_by: str, needs: Sequence[str]) -> Any:
    """Return `adata.uns[key]`, or say which call makes it."""
    found = adata.uns.get(key)
    if found is None or any(name not in found for name in needs):
        similar = [k for k, v in adata.uns.items() if isinstance(v, dict) and all(n in v for n in needs)]
        there = f" There are results under {validate.quoted(similar)}." if similar else ""
        raise KeyError(f"no results under key={key!r}; run dn.{made_by} first.{there}")
    return found
