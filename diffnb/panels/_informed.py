"""`panels.informed`: distances between observations that account for clusters of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets
import pandas as pd
from anndata import AnnData

from .. import get
from .._calls import Call
from ..get._annotations import embedding_names
from . import _choices as choices
from ._controls import (
    Control,
    checkbox,
    dropdown,
    integer_field,
    integer_or_auto,
    on_user_change,
    row_of,
    set_options,
)
from ._docs import documented_panel
from ._feature_panel import MethodPanel
from ._notes import Notes

#: features up to which the covariance is drawn
MAX_COVARIANCE_FEATURES = 3000


class InformedPanel(MethodPanel):
    """The informed Mahalanobis distance with its embedding, its clusters and its covariance."""

    title = "Informed distance"
    question = "How far apart are observations, given that features form clusters?"
    tool = "dn.tl.informed_distance"
    first = ("layer", "use_rep", "n_clusters", "covariates")
    pictured = ("Embedding", "Clusters")
    arguments = (
        "local",
        "informed",
        "n_clusters",
        "n_components",
        "n_neighbors",
        "solver",
        "eigenvalues",
        "covariates",
        "use_rep",
        "layer",
        "mask_var",
        "random_state",
    )

    def make_controls(self, given: Mapping[str, Any]) -> list[Control]:
        """Make a control for each argument that users vary."""
        representations = [("X", None), *((name, name) for name in embedding_names(self.adata))]
        return [
            choices.layer(self.adata),
            dropdown("use_rep", representations, label="representation"),
            choices.mask_var(self.adata),
            choices.covariates(self.adata, given),
            integer_or_auto("n_clusters"),
            integer_or_auto("n_components", label="components"),
            integer_field("n_neighbors", min(20, self.adata.n_obs), at_least=2, at_most=self.adata.n_obs),
            dropdown("solver", ["exact", "gradient"]),
            dropdown("eigenvalues", ["pca", "own", "floor"]),
            integer_field("random_state", 0, label="seed"),
            checkbox("local", label="local metrics"),
            checkbox("informed", True, label="use clusters"),
        ]

    def make_tabs(self) -> dict[str, Any]:
        """Make the tabs and the choice of axes and colour."""
        self.notes = Notes()
        names = [str(c) for c in self.adata.obs.columns]
        self.obs_color = dropdown(
            "obs_color", [*((n, n) for n in names), ("one colour", None)], label="colour of observations"
        )
        self.x_component, self.y_component = dropdown("x", [1], label="x axis"), dropdown("y", [2], label="y axis")
        plane = (self.obs_color, self.x_component, self.y_component)
        for control in plane:
            on_user_change(control.widget, lambda: self.redraw("Embedding"))
        return {
            "Embedding": widgets.VBox([self.notes, row_of(*plane), self.picture("Embedding")]),
            "Clusters": widgets.VBox([self.notes, self.picture("Clusters")]),
            "Covariance": self.picture("Covariance"),
            "Features": self.features.features_tab(),
            "Table": self.features.table_tab(),
        }

    def calls(self) -> list[Call]:
        """Run it."""
        return [self.tool_call()]

    def table_call(self) -> Call:
        """Read clusters and directions of features."""
        return self.get_call("informed_clusters", "features")

    def _table(self) -> pd.DataFrame | None:
        """Clusters and directions of features; `None` for local metrics that share no clusters."""
        table: pd.DataFrame | None = self._if_stored(self.table_call())
        return table

    def _if_stored(self, call: Call) -> Any:
        try:
            return call.run(self.adata)
        except ValueError:
            return None

    def _has_covariance(self) -> bool:
        """Whether there is one metric of features, whose covariance is of a size that can be drawn."""
        table = self._table()
        directions = table is not None and any(_is_direction(c) for c in table.columns)
        one_metric = self._if_stored(self.get_call("informed_eigenvalues", "")) is not None
        return directions and one_metric and self.adata.n_vars <= MAX_COVARIANCE_FEATURES

    def read(self) -> list[Call]:
        """Read the numbers chosen, the embedding, and the clusters of features where all observations share them."""
        if not self.has_results():
            return []
        calls = [self._summary_call(), self.get_call("informed_embedding", "embedding")]
        return calls if self._table() is None else [*calls, self.table_call()]

    def _summary_call(self) -> Call:
        return self.get_call("informed_summary", "summary")

    def drawn(self) -> dict[str, Call]:
        """Draw the embedding, and the gap statistic and the covariance where there are any."""
        if not self.has_results():
            return {}
        plane = (self.x_component.value or 1, self.y_component.value or 2)
        calls = {"Embedding": self.pl_call("informed_embedding", color=self.obs_color.value, components=plane)}
        if self._if_stored(self.get_call("informed_gap", "")) is not None:
            calls["Clusters"] = self.pl_call("informed_gap")
        if self._has_covariance():
            calls["Covariance"] = Call("dn.pl.informed_covariance", (), {"keys": self.key})
        return calls

    def show(self) -> None:
        """Set the options of the controls within tabs, and fill map and table."""
        if not self.has_results():
            return
        self.notes.show(list(self._summary_call().run(self.adata)["note"]))
        self.pictures["Clusters"].empty = "The number of clusters was given: there is no gap statistic."
        most = f"{MAX_COVARIANCE_FEATURES:,}"
        self.pictures["Covariance"].empty = f"The covariance is drawn for a single metric of at most {most} features."
        n = get.informed_embedding(self.adata, key=self.key).shape[1]
        set_options(self.x_component, [(str(i + 1), i + 1) for i in range(n)], 1)
        set_options(self.y_component, [(str(i + 1), i + 1) for i in range(n)], min(2, n))
        table = self._table()
        if table is not None:
            self._show_features(table)

    def summary(self) -> list[str]:
        """Describe the static picture, with what is undecided about the numbers chosen."""
        return [*super().summary(), *self.notes.notes]

    def _show_features(self, table: pd.DataFrame) -> None:
        directions = [c for c in table.columns if _is_direction(c)]
        if not directions:
            table = table.assign(position=range(len(table)))
            directions = ["position"]
        color = "cluster" if "cluster" in table.columns else directions[0]
        x, y = directions[0], directions[1 % len(directions)]
        self.features.show(table, x=x, y=y, color=color, by=directions[0])


def _is_direction(column: object) -> bool:
    return str(column).startswith("direction_")


@documented_panel
def informed(adata: AnnData, *, covariates: Sequence[str] | None = None, key_added: str = "informed") -> InformedPanel:
    """Open a panel that computes informed Mahalanobis distances and shows the metric.

    Parameters
    ----------
    adata
    covariates
    key_added

    Returns
    -------
    The panel, to be shown as the last value of a cell. `panel.code` holds the lines that reproduce it.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=60)
    >>> panel = dn.panels.informed(adata)
    >>> panel.set(n_clusters=18)
    >>> panel.run()
    >>> panel.wait()
    True
    >>> dn.get.informed_embedding(adata).shape[0]
    60
    """
    return InformedPanel(adata, covariates=covariates, key=key_added)
