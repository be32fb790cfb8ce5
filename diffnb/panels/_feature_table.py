"""A table of features of which only the visible rows travel to the browser."""

from __future__ import annotations

import io
from typing import Any

import anywidget
import numpy as np
import pandas as pd
import traitlets as t

from ..core.typing import Ints
from ._marks import packed, unpacked
from ._modules import STATIC, esm

#: rows that are sent before anybody asks, and at most
FIRST, MOST = 60, 400
#: letters of one piece of a CSV file
PIECE = 120_000


class FeatureTable(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """Rows of a DataFrame: searched, ordered and marked in the kernel, shown as text."""

    _esm = esm("feature_table/feature_table.js")
    _css = STATIC / "feature_table" / "feature_table.css"

    columns: Any = t.List().tag(sync=True)
    #: column and whether the largest stands first
    order = t.List([0, False]).tag(sync=True)
    query = t.Unicode("").tag(sync=True)
    only_selected = t.Bool(False).tag(sync=True)
    window = t.List([0, FIRST]).tag(sync=True)
    page = t.Dict({"start": 0, "rows": [], "found": 0, "selected": 0, "all": 0}).tag(sync=True)
    #: a bit a row of the table in its own order; not sent: the page tells of each row whether it is marked
    selection = t.Bytes(b"")

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self._table = pd.DataFrame()
        self._texts: list[str] = []
        self._places: Ints = np.arange(0)
        self.file_name = "features.csv"
        self.on_msg(self._on_message)
        self.observe(self._arrange, ["order", "query", "only_selected"])
        self.observe(self._on_selection, "selection")
        self.observe(lambda _: self._turn(), "window")

    def show(self, table: pd.DataFrame, *, by: str, down: bool = True, selection: bytes = b"") -> None:
        """Show another table, ordered by one of its columns, and with a selection where one fits."""
        named = table.rename_axis("feature").reset_index()
        named.columns = ["feature", *map(str, table.columns)]
        self._table = named
        texts = [named[c].astype(str) for c in named.columns if not _is_number(named[c])]
        self._texts = pd.concat(texts, axis=1).agg("\n".join, axis=1).str.casefold().tolist() if len(named) else []
        columns = [{"name": str(c), "number": _is_number(named[c])} for c in named.columns]
        first = [named.columns.get_loc(by), down] if by in named.columns else [0, False]
        with self.hold_trait_notifications():
            self.columns = columns
            self.order = first
            self.query = ""
            self.only_selected = self.only_selected and any(selection)
            self.window = [0, FIRST]
            self.selection = packed(unpacked(selection, len(named)))
        self._arrange()

    @property
    def marked(self) -> Any:
        """Which rows are selected, in the table's own order."""
        return unpacked(self.selection, len(self._table))

    @property
    def found(self) -> pd.DataFrame:
        """Rows that the search finds, in the order shown."""
        return self._table.iloc[self._places].set_index("feature")

    def _on_selection(self, _: object) -> None:
        if not self.marked.any():
            self.only_selected = False
        self._arrange()

    def _arrange(self, _: object = None) -> None:
        """Search and sort."""
        if not len(self.columns):
            return
        words = self.query.casefold().split()
        keep = self.marked if self.only_selected else np.ones(len(self._table), dtype=bool)
        if words:
            keep = keep & np.array([all(w in text for w in words) for text in self._texts], dtype=bool)
        places = np.flatnonzero(keep)
        by, down = self.order
        column = self._table.iloc[places, by]
        if column.dtype == object or isinstance(column.dtype, pd.StringDtype):
            column = column.astype(str).str.casefold()
        # missing values last, whatever the direction; equal ones keep their order
        ranked = column.reset_index(drop=True).sort_values(ascending=not down, kind="stable", na_position="last")
        self._places = places[ranked.index.to_numpy()]
        self._turn()

    def _turn(self) -> None:
        """Send the rows of the window."""
        start, stop = (max(0, int(v)) for v in self.window)
        start = min(start, max(0, len(self._places) - 1))
        places = self._places[start : min(stop, start + MOST)]
        marked = self.marked
        cells = [_written(self._table[c].iloc[places]) for c in self._table.columns]
        rows = [
            {"index": int(place), "on": bool(marked[place]), "cells": list(texts)}
            for place, texts in zip(places, zip(*cells, strict=True), strict=True)
        ]
        self.page = {
            "start": start,
            "rows": rows,
            "found": len(self._places),
            "selected": int(marked.sum()),
            "all": len(self._table),
        }

    def _on_message(self, _: object, content: dict[str, Any], _buffers: object) -> None:
        marked = self.marked
        if content.get("ask") == "toggle" and 0 <= int(content["index"]) < len(marked):
            marked[int(content["index"])] ^= True
        elif content.get("ask") == "select_found":
            marked[self._places] = True
        elif content.get("ask") == "clear":
            marked[:] = False
        elif content.get("ask") == "csv":
            self._send_csv(int(content.get("from", 0)))
            return
        self.selection = packed(marked)

    def _send_csv(self, start: int) -> None:
        if start == 0:
            written = io.StringIO()
            self.found.to_csv(written)
            self._csv = written.getvalue()
        stop = start + PIECE
        rest = stop if stop < len(self._csv) else 0
        self.send({"answer": "csv", "text": self._csv[start:stop], "next": rest, "name": self.file_name})


def _is_number(column: pd.Series[Any]) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column))


def _written(column: pd.Series[Any]) -> list[str]:
    if pd.api.types.is_integer_dtype(column):
        return ["" if pd.isna(v) else str(v) for v in column]
    if _is_number(column):
        return ["" if pd.isna(v) else f"{v:.3g}".replace("-", "−") for v in column.astype(float)]
    if pd.api.types.is_bool_dtype(column):
        return ["yes" if v else "" for v in column]
    return ["" if pd.isna(v) else str(v) for v in column]
