"""The map and the table of features, and the selection that they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import numpy as np
import pandas as pd
from anndata import AnnData

from .._anndata import set_var_column
from ._calls import wrapped
from ._controls import choice, offer, watch
from ._feature_map import FeatureMap
from ._feature_table import FeatureTable
from ._frame import saved_selection
from ._marks import packed

#: where values are read: the table of results, or `adata.var`
RESULT, VAR = "result", "var"


class FeatureView:
    """A map and a table of the same features; what is selected in one is selected in the other."""

    def __init__(self, adata: AnnData, changed: Callable[[], None], *, file_name: str) -> None:
        self.adata, self._changed = adata, changed
        self.map, self.table = FeatureMap(), FeatureTable()
        self.table.file_name = file_name
        self.frame = pd.DataFrame()
        self.dark = False
        self._colors: dict[str, str] = {}
        self._foremost = pd.Series(dtype=float)
        self._saved: dict[str, list[str]] = {}
        self.x, self.y = choice("x", [], label="across"), choice("y", [], label="up")
        self.color = choice("color", [], label="colour")
        self.column = widgets.Text(value="selected", description="save as adata.var[…]", continuous_update=False)
        self.column.style = {"description_width": "initial"}
        self.save_button = widgets.Button(description="Save selection", tooltip="Write the selection to adata.var")
        self.said = widgets.Label("")
        self._listen()

    def _listen(self) -> None:
        for control in (self.x, self.y):
            watch(control.widget, self._place)
        watch(self.color.widget, self._paint)
        self.map.observe(lambda _: self._on_map(), "selection")
        self.table.observe(lambda _: self._on_table(), "selection")
        self.save_button.on_click(lambda _: self.save())

    def features_tab(self, *more: Any) -> Any:
        """Return the map with its choices, after those that are given, and the table beside it."""
        box = widgets.Box([*more, self.x.widget, self.y.widget, self.color.widget])
        box.add_class("diffnb-controls")
        both = widgets.Box([self.map, self.table])
        both.add_class("diffnb-features")
        return widgets.VBox([box, both])

    def table_tab(self, *more: Any) -> Any:
        """Return the table with what can be done with a selection."""
        saving = widgets.HBox([self.column, self.save_button, self.said])
        saving.add_class("diffnb-actions")
        return widgets.VBox([*more, self.table, saving])

    def show(
        self,
        frame: pd.DataFrame,
        *,
        x: str,
        y: str,
        color: str,
        by: str,
        down: bool = True,
        colors: dict[str, str] | None = None,
    ) -> None:
        """Show another table; choices that it also has are kept."""
        # the same features under another condition: what is selected stays so
        kept = self.table.selection if frame.index.equals(self.frame.index) else b""
        self.frame, self._colors = frame, colors or {}
        order = frame[by].astype(float)
        self._foremost = order if down else -order
        var = self.adata.var
        ours = [(str(c), (RESULT, str(c))) for c in frame.columns]
        theirs = [(f"var: {c}", (VAR, str(c))) for c in var.columns]
        numbers = [o for o in ours if _is_number(frame[o[1][1]])] + [o for o in theirs if _is_number(var[o[1][1]])]
        with self.map.hold_sync():
            offer(self.x, numbers, (RESULT, x))
            offer(self.y, numbers, (RESULT, y))
            offer(self.color, ours + theirs, (RESULT, color))
            self._place()
            self._paint()
        self.table.show(frame, by=by, down=down, selection=kept)

    def _place(self) -> None:
        if self.x.value is None or self.y.value is None or not len(self.frame):
            return
        x, y = (self._values(control.value).astype(float) for control in (self.x, self.y))
        self.map.place(x, y, foremost=self._foremost)
        self._changed()

    def _paint(self) -> None:
        if self.color.value is None or not len(self.frame):
            return
        self.map.paint(self._values(self.color.value), colors=self._colors, dark=self.dark)
        self._changed()

    def _values(self, source: tuple[str, str]) -> pd.Series[Any]:
        kind, name = source
        return (self.frame[name] if kind == RESULT else self._of_var(name)).rename(name)

    def _of_var(self, name: str) -> pd.Series[Any]:
        """Bring a column of `var` into the order of the table."""
        column = self.adata.var[name]
        if self.frame.index.equals(column.index):
            return column
        first = column[~column.index.duplicated()]
        return first.reindex(self.frame.index)

    def repaint(self, dark: bool) -> None:
        """Colour the map for a light or dark page."""
        self.dark = dark
        self._paint()

    def _on_map(self) -> None:
        if self.table.selection != self.map.selection:
            with self.table.hold_trait_notifications():
                # what was drawn around is what one wants to read
                self.table.only_selected = any(self.map.selection)
                self.table.window = [0, 60]
                self.table.selection = self.map.selection
        self._changed()

    def _on_table(self) -> None:
        self.map.selection = self.table.selection
        self._changed()

    @property
    def selected(self) -> list[str]:
        """Names of the selected features, in the order of the table."""
        return [str(n) for n in self.frame.index[self.table.marked]] if len(self.frame) else []

    def select(self, names: Any) -> None:
        """Select features by name."""
        self.table.selection = packed(np.asarray(self.frame.index.isin(list(names)), dtype=bool))

    def save(self) -> None:
        """Write the selection to `adata.var`, and keep the line that does the same."""
        column, names = self.column.value.strip(), self.selected
        if not column:
            self.said.value = "Give the column a name first."
            return
        set_var_column(self.adata, column, np.asarray(self.adata.var_names.isin(names)))
        self._saved[column] = names
        self.said.value = f"{len(names)} features saved."
        self._changed()

    def lines(self, adata: str) -> list[str]:
        """Return the lines that save what was saved."""
        return [saved_selection(column, wrapped(names), adata) for column, names in self._saved.items()]


def _is_number(column: pd.Series[Any]) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column))
