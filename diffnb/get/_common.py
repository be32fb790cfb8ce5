"""What all readers share: finding results, or explaining how to make them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .._keys import Keys


def entry(adata: AnnData, keys: Keys) -> Any:
    """Return what describes the results under a key, or say which call makes them."""
    found = adata.uns.get(keys.uns)
    if found is None or not _is_one(found, keys):
        similar = [key for key, other in adata.uns.items() if _is_one(other, keys)]
        there = f" There are results under {validate.quoted(similar)}." if similar else ""
        raise KeyError(f"no results under key={keys.key!r}; run dn.{keys.made_by} first.{there}")
    return found


def _is_one(found: Any, keys: Keys) -> bool:
    return isinstance(found, Mapping) and all(name in found for name in keys.entries)


def known_group(name: str, group: object, groups: Sequence[str], *, was: str = "was not compared") -> None:
    """Refuse a condition that was not compared; `None` stands for all."""
    if group is not None and str(group) not in groups:
        there = list(dict.fromkeys(groups))
        raise ValueError(f"{name}={group!r} {was}; there are {validate.quoted(there)}.{validate.nearest(group, there)}")


def named(adata: AnnData, slot: str, columns: Mapping[str, str]) -> pd.DataFrame:
    """Read columns of `varm[slot]`, by name, as a table of features; `columns` maps names to stored names."""
    table = adata.varm[slot][list(columns.values())]
    return table.set_axis(list(columns), axis=1).set_axis(adata.var_names, axis=0)


def ranked(adata: AnnData, columns: Mapping[str, Any], by: Any) -> pd.DataFrame:
    """Put features in order of `by`, the smallest first, and number them; missing values come last."""
    by = np.asarray(by, dtype=float)
    order = np.argsort(by, kind="stable")
    table = pd.DataFrame(dict(columns), index=adata.var_names).iloc[order].copy()
    rank = pd.array(np.arange(1, len(order) + 1), dtype="Int64")
    rank[np.isnan(by[order])] = pd.NA
    table["rank"] = rank
    return table


def stacked(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Stack tables of conditions or comparisons."""
    return pd.concat(tables) if len(tables) > 1 else tables[0]


def labelled(table: pd.DataFrame, **labels: object) -> pd.DataFrame:
    """Put constant columns, such as the condition, before the others."""
    for place, (name, value) in enumerate(labels.items()):
        table.insert(place, name, value)
    return table


def table_of(stored: Mapping[str, Any], names: Iterable[str]) -> pd.DataFrame:
    """Make a table of stored arrays of equal length."""
    return pd.DataFrame({name: np.asarray(stored[name]) for name in names})


def numbered(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Give the rows of a table numbers, from 1."""
    return table.set_axis(pd.RangeIndex(1, len(table) + 1, name=name), axis=0)
