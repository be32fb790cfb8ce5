"""Change several slots of an AnnData at once: an interrupt finds all of them as they were, or all of them new.

Python delivers an interrupt (`KeyboardInterrupt`, the Stop of a panel) between two of its instructions. So everything
that runs Python code, allocates or can fail is done first, on new tables and dictionaries; then one call of a function
written in C puts all of them in place. No interrupt can be delivered within that call.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from operator import call
from typing import Any, TypeAlias

import pandas as pd
from anndata import AnnData

from .._keys import Slot
from .locks import locks_of

TABLES = ("obs", "var")
#: places whose dictionary is replaced rather than changed: another thread may be iterating over it
ALIGNED = ("layers", "obsm", "varm", "obsp", "varp")

#: a function written in C and its arguments, the first of which is the dictionary that it changes
Step: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """All that happens to an AnnData in one step."""

    removed: Sequence[Slot] = ()
    written: Mapping[Slot, Any] = field(default_factory=dict)
    #: attributes of the AnnData itself, such as `_X`
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def of(self, place: str, /) -> tuple[list[str], dict[str, Any]]:
        """Return the names that are removed from a place, and what is written to it."""
        return (
            [name for where, name in self.removed if where == place],
            {name: value for (where, name), value in self.written.items() if where == place},
        )


def change_slots(adata: AnnData, change: Change, /) -> None:
    """Make all of a change, or nothing; a view becomes actual in the same step."""
    with locks_of(adata).slots:
        do_at_once(_steps_of_view(adata, change) if adata.is_view else _prepared(adata, change))


def do_at_once(steps: Sequence[Step], /) -> None:
    """Call functions written in C one after the other, within one call that no interrupt can divide."""
    kept = _values_in(steps)  # nothing is deallocated in between, which could run Python code
    deque(starmap(call, steps), maxlen=0)
    del kept


def _values_in(steps: Sequence[Step]) -> list[Any]:
    return [list(target.values()) for _, target, *_ in steps]


def _prepared(adata: AnnData, change: Change) -> list[Step]:
    attributes = dict(change.attributes)
    inner: list[Step] = []
    # from anndata 0.13 on, X is the layer without a name
    unnamed: dict[Any, Any] = {None: attributes.pop("_X")} if "_X" in attributes and "_X" not in vars(adata) else {}
    for place in ALIGNED:
        removed, written = change.of(place)
        written |= unnamed if place == "layers" else {}
        if removed or written:
            attributes[f"_{place}"] = _changed(getattr(adata, f"_{place}"), removed, written)
    for place in TABLES:
        removed, written = change.of(place)
        if removed or written:
            _replace_table(adata, place, _changed_table(getattr(adata, place), removed, written), inner, attributes)
    _change_uns(adata._uns, *change.of("uns"), inner, attributes)
    return [*inner, (dict.update, vars(adata), attributes)]


def _changed(stored: Mapping[str, Any], removed: Sequence[str], written: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in stored.items() if name not in removed} | dict(written)


def _changed_table(table: pd.DataFrame, removed: Sequence[str], written: Mapping[str, Any]) -> pd.DataFrame:
    """Return a table that shares all columns but those that change."""
    changed = table.copy(deep=False)
    for name in removed:
        del changed[name]
    for name, value in written.items():
        changed[name] = value
    return changed


def _replace_table(
    adata: AnnData, place: str, table: pd.DataFrame, inner: list[Step], attributes: dict[str, Any]
) -> None:
    """Give the table that the AnnData has new columns: it may be in use under another name."""
    stored = vars(getattr(adata, place))
    if "_mgr" not in stored:  # where pandas keeps columns elsewhere, the AnnData gets another table
        attributes[f"_{place}"] = table
        return
    columns = {"_mgr": vars(table)["_mgr"]}
    if "_item_cache" in stored:
        columns["_item_cache"] = {}
    inner.append((dict.update, stored, columns))


def _change_uns(
    uns: Any, removed: Sequence[str], written: Mapping[str, Any], inner: list[Step], attributes: dict[str, Any]
) -> None:
    if type(uns) not in (dict, OrderedDict):  # the methods of another mapping may be written in Python
        attributes["_uns"] = _changed(uns, removed, written)
        return
    inner += [(type(uns).pop, uns, name, None) for name in removed]
    if written:
        inner.append((type(uns).update, uns, dict(written)))


def _steps_of_view(adata: AnnData, change: Change) -> list[Step]:
    """Prepare the actual AnnData that a view becomes, and take over all its attributes."""
    actual = adata.copy()
    do_at_once(_prepared(actual, change))
    attributes = {**vars(actual), "file": type(actual.file)(adata, None)}
    if actual._raw is not None:
        actual._raw._adata = adata
    return [(dict.update, vars(adata), attributes)]
