"""A table of features of which only the visible rows are sent to the browser."""

from __future__ import annotations

from typing import Any

import anywidget
import numpy as np
import pandas as pd
import traitlets as t

from .._csv import spreadsheet_csv
from ..core.typing import Bools, Ints
from ._marks import packed, unpacked
from ._modules import STATIC, esm

#: rows that are sent first, and in one message at most
INITIAL_ROWS, MAX_ROWS = 60, 400
#: letters of a CSV file in one message
MAX_CSV_LETTERS = 120_000
#: larger whole numbers are written with an exponent
MAX_WHOLE = 1e9


class FeatureTable(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """Rows of a DataFrame: searched, sorted and selected in the kernel, shown as text."""

    _esm = esm("feature_table/feature_table.js")
    _css = STATIC / "feature_table" / "feature_table.css"

    columns: Any = t.List().tag(sync=True)
    #: column, and whether the largest values come first
    order = t.List([0, False]).tag(sync=True)
    query = t.Unicode("").tag(sync=True)
    only_selected = t.Bool(False).tag(sync=True)
    window = t.List([0, INITIAL_ROWS]).tag(sync=True)
    page = t.Dict({"start": 0, "rows": [], "found": 0, "selected": 0, "all": 0}).tag(sync=True)
    #: one bit per row of the table in its original order; not sent, since `page` has the state of each row
    selection = t.Bytes(b"")

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self._table = pd.DataFrame()
        self._texts: list[str] = []
        self._found_rows: Ints = np.arange(0)
        self.file_name = "features.csv"
        self.on_msg(self._on_message)
        self.observe(self._search_and_sort, ["order", "query", "only_selected"])
        self.observe(self._on_selection, "selection")
        self.observe(lambda _: self._send_page(), "window")

    def show(self, table: pd.DataFrame, *, by: str, descending: bool = True, selection: bytes = b"") -> None:
        """Show another table, sorted by one of its columns, with a selection of its rows."""
        named = table.rename_axis("feature").reset_index()
        named.columns = ["feature", *map(str, table.columns)]
        self._table = named
        texts = [named[c].astype(str) for c in named.columns if not is_number(named[c])]
        self._texts = pd.concat(texts, axis=1).agg("\n".join, axis=1).str.casefold().tolist() if len(named) else []
        columns = [{"name": str(c), "number": is_number(named[c])} for c in named.columns]
        first = [named.columns.get_loc(by), descending] if by in named.columns else [0, False]
        with self.hold_trait_notifications():
            self.columns = columns
            self.order = first
            self.query = ""
            self.only_selected = self.only_selected and any(selection)
            self.window = [0, INITIAL_ROWS]
            self.selection = packed(unpacked(selection, len(named)))
        self._search_and_sort()

    @property
    def marked(self) -> Bools:
        """Which rows are selected, in the original order of the table."""
        return unpacked(self.selection, len(self._table))

    @property
    def found(self) -> pd.DataFrame:
        """Rows that the search finds, in the order shown."""
        return self._table.iloc[self._found_rows].set_index("feature")

    def _on_selection(self, _: object) -> None:
        if not self.marked.any():
            self.only_selected = False
        self._search_and_sort()

    def _search_and_sort(self, _: object = None) -> None:
        if not len(self.columns):
            return
        words = self.query.casefold().split()
        keep = self.marked if self.only_selected else np.ones(len(self._table), dtype=bool)
        if words:
            keep = keep & np.array([all(w in text for w in words) for text in self._texts], dtype=bool)
        rows = np.flatnonzero(keep)
        by, descending = self.order
        column = self._table.iloc[rows, by]
        if column.dtype == object or isinstance(column.dtype, pd.StringDtype):
            column = column.astype(str).str.casefold()
        # missing values come last in both directions
        ranked = column.reset_index(drop=True).sort_values(ascending=not descending, kind="stable", na_position="last")
        self._found_rows = rows[ranked.index.to_numpy()]
        self._send_page()

    def _send_page(self) -> None:
        """Send the rows of the window."""
        start, stop = (max(0, int(v)) for v in self.window)
        start = min(start, max(0, len(self._found_rows) - 1))
        sent = self._found_rows[start : min(stop, start + MAX_ROWS)]
        marked = self.marked
        cells = [_cell_texts(self._table[c].iloc[sent]) for c in self._table.columns]
        rows = [
            {"index": int(row), "on": bool(marked[row]), "cells": list(texts)}
            for row, texts in zip(sent, zip(*cells, strict=True), strict=True)
        ]
        self.page = {
            "start": start,
            "rows": rows,
            "found": len(self._found_rows),
            "selected": int(marked.sum()),
            "all": len(self._table),
        }

    def _on_message(self, _: object, content: dict[str, Any], _buffers: object) -> None:
        marked = self.marked
        if content.get("ask") == "toggle" and 0 <= int(content["index"]) < len(marked):
            marked[int(content["index"])] ^= True
        elif content.get("ask") == "select_found":
            marked[self._found_rows] = True
        elif content.get("ask") == "clear":
            marked[:] = False
        elif content.get("ask") == "csv":
            self._send_csv(int(content.get("from", 0)))
            return
        self.selection = packed(marked)

    def _send_csv(self, start: int) -> None:
        if start == 0:
            self._csv = spreadsheet_csv(self.found)
        stop = start + MAX_CSV_LETTERS
        following = stop if stop < len(self._csv) else 0
        self.send({"answer": "csv", "text": self._csv[start:stop], "next": following, "name": self.file_name})


def is_number(column: pd.Series[Any]) -> bool:
    """Whether a column holds numbers; booleans are not counted as such."""
    return bool(pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column))


def short_number(value: float) -> str:
    """Write a number with three digits; whole ones, such as ranks, with all of theirs."""
    whole = value.is_integer() and abs(value) < MAX_WHOLE
    return (f"{value:.0f}" if whole else f"{value:.3g}").replace("-", "−")


def _cell_texts(column: pd.Series[Any]) -> list[str]:
    if pd.api.types.is_integer_dtype(column):
        return ["" if pd.isna(v) else str(v) for v in column]
    if is_number(column):
        return ["" if pd.isna(v) else short_number(v) for v in column.astype(float)]
    if pd.api.types.is_bool_dtype(column):
        return ["yes" if v else "" for v in column]
    return ["" if pd.isna(v) else str(v) for v in column]
