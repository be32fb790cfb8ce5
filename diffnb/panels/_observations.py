"""The map of observations: on an embedding, coloured by a column or a feature, with a lasso that names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import numpy as np
import pandas as pd
from anndata import AnnData

from .._anndata import set_obs_column
from .._calls import MAX_LINE_LETTERS, literal, wrapped
from ..get._annotations import embedding, embedding_names, values_of_feature
from ._controls import Control, control_row, dropdown, on_user_change, set_options
from ._feature_map import FeatureMap
from ._marks import unpacked

#: embeddings that are shown first
USUAL_BASES = ("X_umap", "X_tsne", "X_draw_graph_fa", "X_diffmap", "X_pca")
#: features that the field of the colour suggests
MAX_SUGGESTED_FEATURES = 300
#: observations whose names are written into the code; the lines of more would be unreadable
MAX_NAMES_IN_CODE = 300
SELECTED, OTHER = "selected", "other"
#: the choice of colour that is no column of `obs`
SCORE = ("score",)


class ObservationView:
    """A map of observations with its controls, and the columns that were saved from it."""

    def __init__(
        self,
        adata: AnnData,
        changed: Callable[[], None],
        saved: Callable[[str], None],
        *,
        score: Callable[[], pd.Series[Any]] | None = None,
    ) -> None:
        self.adata, self._changed, self._on_saved, self._score = adata, changed, saved, score
        self.map = FeatureMap(noun="observations")
        self.basis = dropdown("basis", [], label="embedding")
        self.color = dropdown("obs_color", [], label="colour by")
        self.feature = widgets.Combobox(
            description="or by feature",
            options=[str(n) for n in adata.var_names[:MAX_SUGGESTED_FEATURES]],
            placeholder="name of a feature",
            continuous_update=False,
            style={"description_width": "initial"},
        )
        self.feature.add_class("diffnb-control")
        self.column = widgets.Text(value="picked", description="save as adata.obs[…]", continuous_update=False)
        self.column.style = {"description_width": "initial"}
        self.column.tooltip = "Name of the column of adata.obs that marks the selected observations."
        self.save_button = widgets.Button(
            description="Save selection", tooltip=f"Write {SELECTED!r} and {OTHER!r} to a column of adata.obs"
        )
        self.message = widgets.Label("")
        self.dark = False
        self._saved: dict[str, list[str]] = {}
        self.n_selected = 0
        self._connect()

    def _connect(self) -> None:
        on_user_change(self.basis.widget, self._place)
        on_user_change(self.color.widget, self._by_column)
        self.feature.observe(lambda _: self._paint(), "value")
        self.save_button.on_click(lambda _: self.save())

    @property
    def controls(self) -> list[Control]:
        """The controls of the map."""
        return [self.basis, self.color, Control("obs_feature", self.feature)]

    def tab(self, *without_embedding: Any) -> Any:
        """Return the map with its controls; the given widgets are shown where there is no embedding."""
        saving = widgets.HBox([self.column, self.save_button, self.message])
        saving.add_class("diffnb-actions")
        self._with_map = widgets.VBox(
            [control_row([self.basis.widget, self.color.widget, self.feature]), self.map, saving]
        )
        self._without_map = widgets.VBox(list(without_embedding))
        return widgets.VBox([self._with_map, self._without_map])

    def show(self, color: str | None) -> None:
        """Show the embeddings there are, coloured by a column of `obs` at first."""
        bases = embedding_names(self.adata, min_columns=2)
        order = [b for b in USUAL_BASES if b in bases]
        set_options(self.basis, [*order, *(b for b in bases if b not in order)])
        columns: list[Any] = [str(c) for c in self.adata.obs.columns]
        scores = [] if self._score is None else [("score of group", SCORE)]
        set_options(self.color, [*scores, *columns], color)
        shown, hidden = (self._with_map, self._without_map) if bases else (self._without_map, self._with_map)
        shown.layout.display, hidden.layout.display = None, "none"
        self._place()
        self._paint()

    def color_by(self, column: str) -> None:
        """Colour by a column of `obs`."""
        if column in self.adata.obs.columns:
            self.color.put(column)
            self._by_column()

    def repaint(self, dark: bool | None = None) -> None:
        """Colour the map for a light or dark page, or again as before."""
        self.dark = self.dark if dark is None else dark
        self._paint()

    def _by_column(self) -> None:
        if self.feature.value:
            self.feature.value = ""  # paints
        else:
            self._paint()

    def _place(self) -> None:
        if self.basis.value is None:
            return
        values = embedding(self.adata, self.basis.value)
        names = self.adata.obs_names
        x, y = (pd.Series(values[:, i], index=names, name=f"{self.basis.value[2:]} {i + 1}") for i in (0, 1))
        self.map.place(x, y, priority=pd.Series(-np.inf, index=names))
        self._changed()

    def _paint(self) -> None:
        if self.basis.value is None:
            return
        name = self.feature.value.strip()
        if name and name not in self.adata.var_names:
            self.message.value = f"There is no feature {name}."
            return
        if name:
            self.map.paint(pd.Series(values_of_feature(self.adata, name), name=name), dark=self.dark)
        elif self.color.value == SCORE and self._score is not None:
            self.map.paint(self._score(), dark=self.dark)
        elif self.color.value is not None:
            self.map.paint(self.adata.obs[self.color.value], dark=self.dark)
        self._changed()

    @property
    def selected(self) -> Any:
        """Which observations are selected."""
        return unpacked(self.map.selection, self.adata.n_obs)

    def save(self) -> None:
        """Write the selection to `adata.obs` as two conditions, and record it for the code."""
        column, mask = self.column.value.strip(), self.selected
        if not column or not mask.any():
            self.message.value = "Select observations with the lasso first, and name the column."
            return
        set_obs_column(self.adata, column, pd.Categorical(np.where(mask, SELECTED, OTHER)))
        self._saved[column] = [str(name) for name in self.adata.obs_names[mask]]
        self.message.value = (
            f"{mask.sum():,} observations are {SELECTED!r} in adata.obs[{column!r}], {OTHER!r} the rest."
        )
        self._on_saved(column)

    def column_of(self, mask: Any) -> str | None:
        """Return the column that was saved from this selection and still says so."""
        for column in self._saved:
            if column in self.adata.obs and np.array_equal(np.asarray(self.adata.obs[column] == SELECTED), mask):
                return column
        return None

    def lines(self, adata: str) -> list[str]:
        """Return the lines that save the saved selections."""
        return [_saving(column, names, adata) for column, names in self._saved.items()]


def _saving(column: str, names: list[str], adata: str) -> str:
    if len(names) > MAX_NAMES_IN_CODE:
        text = f"# {adata}.obs[{literal(column)}] was saved from the map: {len(names):,} observations, too many to list"
        return text[: 2 * MAX_LINE_LETTERS]
    chosen = f"{adata}.obs_names.isin({wrapped(names)})"
    return f'{adata}.obs[{literal(column)}] = ["{SELECTED}" if one else "{OTHER}" for one in {chosen}]'
