"""The map and the table of features, and the selection that they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets
import numpy as np
import pandas as pd
from anndata import AnnData

from .._anndata import set_var_column
from .._calls import literal, wrapped
from ._controls import PANEL_CONTROLS, control_row, dropdown, on_user_change, set_options
from ._feature_map import FeatureMap
from ._feature_table import INITIAL_ROWS, FeatureTable, is_number
from ._marks import packed

#: source of values: the table of results, or `adata.var`
RESULT, VAR = "result", "var"


class FeatureView:
    """A map and a table of the same features with a common selection."""

    def __init__(self, adata: AnnData, changed: Callable[[], None], *, file_name: str) -> None:
        self.adata, self._changed = adata, changed
        self.map, self.table = FeatureMap(), FeatureTable()
        self.table.file_name = file_name
        self.frame = pd.DataFrame()
        self.dark = False
        self._colors: dict[str, str] = {}
        self._priority = pd.Series(dtype=float)
        self._saved: dict[str, list[str]] = {}
        self.x, self.y = dropdown("x", [], label="x axis"), dropdown("y", [], label="y axis")
        self.color = dropdown("color", [], label="colour")
        self.column = widgets.Text(value="selected", description="save as adata.var[…]", continuous_update=False)
        self.column.style = {"description_width": "initial"}
        self.column.tooltip = PANEL_CONTROLS["column"]
        self.save_button = widgets.Button(description="Save selection", tooltip="Write the selection to adata.var")
        self.message = widgets.Label("")
        self._connect()

    def _connect(self) -> None:
        for control in (self.x, self.y):
            on_user_change(control.widget, self._place)
        on_user_change(self.color.widget, self._paint)
        self.map.observe(lambda _: self._on_map(), "selection")
        self.table.observe(lambda _: self._on_table(), "selection")
        self.save_button.on_click(lambda _: self.save())

    def features_tab(self, *more: Any) -> Any:
        """Return the map and the table, with the given controls and those of the map above."""
        controls = control_row([*more, self.x.widget, self.y.widget, self.color.widget])
        both = widgets.Box([self.map, self.table])
        both.add_class("diffnb-features")
        return widgets.VBox([controls, both])

    def table_tab(self, *more: Any) -> Any:
        """Return the table with the given widgets above and the saving of a selection below."""
        saving = widgets.HBox([self.column, self.save_button, self.message])
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
        descending: bool = True,
        colors: dict[str, str] | None = None,
        only_on_map: Sequence[str] = (),
    ) -> None:
        """Show another table; selected options that still exist are kept. Some columns may be for the map only."""
        # the same features in another condition keep their selection
        kept = self.table.selection if frame.index.equals(self.frame.index) else b""
        self.frame, self._colors = frame, colors or {}
        order = frame[by].astype(float)
        self._priority = order if descending else -order
        var = self.adata.var
        results = [(str(c), (RESULT, str(c))) for c in frame.columns]
        annotations = [(f"var: {c}", (VAR, str(c))) for c in var.columns]
        numbers = [o for o in results if is_number(frame[o[1][1]])]
        numbers += [o for o in annotations if is_number(var[o[1][1]])]
        with self.map.hold_sync():
            set_options(self.x, numbers, (RESULT, x))
            set_options(self.y, numbers, (RESULT, y))
            set_options(self.color, results + annotations, (RESULT, color))
            self._place()
            self._paint()
        self.table.show(frame.drop(columns=list(only_on_map)), by=by, descending=descending, selection=kept)

    def _place(self) -> None:
        if self.x.value is None or self.y.value is None or not len(self.frame):
            return
        x, y = (self._values(control.value).astype(float) for control in (self.x, self.y))
        self.map.place(x, y, priority=self._priority)
        self._changed()

    def _paint(self) -> None:
        if self.color.value is None or not len(self.frame):
            return
        self.map.paint(self._values(self.color.value), colors=self._colors, dark=self.dark)
        self._changed()

    def _values(self, source: tuple[str, str]) -> pd.Series[Any]:
        kind, name = source
        return (self.frame[name] if kind == RESULT else self._var_column(name)).rename(name)

    def _var_column(self, name: str) -> pd.Series[Any]:
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
                # list the features that the lasso has selected
                self.table.only_selected = any(self.map.selection)
                self.table.window = [0, INITIAL_ROWS]
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
        """Write the selection to `adata.var`, and record it for the code."""
        column, names = self.column.value.strip(), self.selected
        if not column:
            self.message.value = "Enter a name for the column."
            return
        set_var_column(self.adata, column, np.asarray(self.adata.var_names.isin(names)))
        self._saved[column] = names
        self.message.value = f"{len(names)} features saved."
        self._changed()

    def lines(self, adata: str) -> list[str]:
        """Return the lines that save the saved selections."""
        return [saved_selection(column, wrapped(names), adata) for column, names in self._saved.items()]


def saved_selection(column: str, names: str, adata: str) -> str:
    """Return the line that saves a selection of features."""
    return f"{adata}.var[{literal(column)}] = {adata}.var_names.isin({names})"
