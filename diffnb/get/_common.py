"""What all readers share: finding results, or explaining how to make them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .._anndata import in_memory
from .._keys import Keys, is_recorded
from ._stale import warn_if_stale


class Entry(Mapping[str, Any]):
    """What describes the results under a key, in memory; errors about what is missing name the call that makes it."""

    def __init__(self, values: Mapping[str, Any], keys: Keys, path: str) -> None:
        self._values, self._keys, self._path = values, keys, path

    def __getitem__(self, name: str) -> Any:
        """Return a value, or a nested entry."""
        if name not in self._values:
            raise missing(self._keys, f"{self._path}[{name!r}]")
        value = self._values[name]
        return Entry(value, self._keys, f"{self._path}[{name!r}]") if isinstance(value, Mapping) else value

    def __iter__(self) -> Iterator[str]:
        """Iterate over names."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        """Return whether there is a value of this name."""
        return name in self._values


def missing(keys: Keys, what: str, /) -> KeyError:
    """Make the error for results that are no longer complete."""
    return KeyError(
        f"the results under key={keys.key!r} are incomplete: {what} is missing (removed by hand, by anndata.concat, or"
        f" not written by an earlier version). Run dn.{keys.made_by} again."
    )


def entry(adata: AnnData, keys: Keys) -> Entry:
    """Return what describes the results under a key, or raise an error that names the call that makes them.

    A warning says what of the data has changed since.
    """
    found = adata.uns.get(keys.uns)
    if not holds(found, keys):
        if isinstance(found, Mapping) and is_recorded(found, keys.key) and _tool(found) in keys.tools:
            lacking = [name for name in keys.entries if name not in found]
            raise missing(keys, f"adata.uns[{keys.uns!r}][{lacking[0]!r}]")
        similar = [key for key, other in adata.uns.items() if holds(other, keys)]
        there = f" There are results under {validate.quoted(similar)}." if similar else ""
        raise KeyError(f"no results under key={keys.key!r}; run dn.{keys.made_by} first.{there}")
    loaded = Entry(in_memory(found), keys, f"adata.uns[{keys.uns!r}]")
    warn_if_stale(adata, keys, loaded)
    return loaded


def _tool(found: Mapping[str, Any]) -> str:
    return str(found["call"]["tool"])


def slot(adata: AnnData, keys: Keys, place: str, name: str) -> Any:
    """Return the value of a slot, in memory, or raise an error that names the call that writes it."""
    stored = getattr(adata, place)
    stored = validate.in_memory(stored) if place in ("obs", "var") else stored
    if name not in stored:
        raise missing(keys, f"adata.{place}[{name!r}]")
    return in_memory(stored[name])


def wrote(found: Entry, place: str, name: str, adata: AnnData) -> bool:
    """Return whether a call has written a slot that not every call writes; earlier versions did not record it."""
    if "call" not in found:
        return name in getattr(adata, place)
    return f"{place}/{name}" in list(map(str, np.atleast_1d(found["call"]["slots"])))


def table(adata: AnnData, keys: Keys, place: str, columns: Iterable[str]) -> pd.DataFrame:
    """Return columns of the table that a tool has stored with several values per feature or observation."""
    found, wanted = whole_table(adata, keys, place), list(columns)
    for column in wanted:
        if column not in found.columns:
            raise missing(keys, f"adata.{place}[{getattr(keys, place)!r}][{column!r}]")
    return found[wanted]


def whole_table(adata: AnnData, keys: Keys, place: str) -> pd.DataFrame:
    """Return all columns of such a table."""
    name = getattr(keys, place)
    found = slot(adata, keys, place, name)
    if not isinstance(found, pd.DataFrame):
        raise missing(keys, f"the table adata.{place}[{name!r}]")
    return found


def holds(found: Any, keys: Keys) -> bool:
    """Return whether an entry of `uns` describes results of this kind."""
    return isinstance(found, Mapping) and all(name in found for name in keys.entries)


def stored(adata: AnnData, key: str, kind: type[Keys] | None = None) -> Entry | None:
    """Return what a call has stored under a key, if it is of this kind; a later call stores another object."""
    found = adata.uns.get(key)
    if found is None or (kind is not None and not holds(found, kind(key))):
        return None
    return found  # type: ignore[no-any-return]


def known_group(name: str, group: object, groups: Sequence[str], *, was: str = "was not compared") -> None:
    """Refuse a condition that was not compared; `None` stands for all."""
    if group is not None and str(group) not in groups:
        there = list(dict.fromkeys(groups))
        raise ValueError(f"{name}={group!r} {was}; there are {validate.quoted(there)}.{validate.nearest(group, there)}")


def named(adata: AnnData, keys: Keys, columns: Mapping[str, str]) -> pd.DataFrame:
    """Read columns of `varm`, by name, as a table of features; `columns` maps names to stored names."""
    found = table(adata, keys, "varm", columns.values())
    return found.set_axis(list(columns), axis=1).set_axis(adata.var_names, axis=0)


def ranked(adata: AnnData, columns: Mapping[str, Any], by: Any) -> pd.DataFrame:
    """Put features in order of `by`, the smallest first, and number them; missing values come last."""
    by = np.asarray(by, dtype=float)
    order = np.argsort(by, kind="stable")
    rows = pd.DataFrame(dict(columns), index=adata.var_names).iloc[order].copy()
    rank = pd.array(np.arange(1, len(order) + 1), dtype="Int64")
    rank[np.isnan(by[order])] = pd.NA
    rows["rank"] = rank
    return rows


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
