"""`panels.informed`: distances between observations that know which features belong together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets
from anndata import AnnData

from .. import get
from . import _choices as choices
from ._calls import Call
from ._controls import Control, auto_count, choice, count, offer, switch, watch
from ._features import FeatureView
from ._frame import Panel

TAKES = (
    "local",
    "informed",
    "n_clusters",
    "n_components",
    "n_neighbors",
    "solver",
    "eigenvalues",
    "use_rep",
    "layer",
    "mask_var",
    "random_state",
)
#: features of which a covariance is still worth a picture
MOST_DRAWN = 3000


class InformedPanel(Panel):
    """The informed Mahalanobis distance with its embedding, its clusters and its covariance."""

    title = "Informed distance"
    question = "How far apart are observations, when features come in groups?"
    tool = "dn.tl.informed_distance"
    pictured = ("Embedding", "Clusters")

    def __init__(self, adata: AnnData, *, key: str = "informed", **given: Any) -> None:
        self.key = key
        super().__init__(adata, **given)

    def make_controls(self, given: Mapping[str, Any]) -> list[Control]:
        """Make a control for each argument that is worth trying."""
        representations = [("X", None), *((str(name), str(name)) for name in self.adata.obsm)]
        return [
            choices.layer(self.adata),
            choice("use_rep", representations, label="representation"),
            choices.mask_var(self.adata),
            auto_count("n_clusters"),
            auto_count("n_components", label="components"),
            count("n_neighbors", min(20, self.adata.n_obs), at_least=2, at_most=self.adata.n_obs),
            choice("solver", ["exact", "gradient"]),
            choice("eigenvalues", ["pca", "own", "floor"]),
            count("random_state", 0, label="seed"),
            switch("local", label="local metrics"),
            switch("informed", True, label="use clusters"),
        ]

    def make_tabs(self) -> dict[str, Any]:
        """Make the tabs and the choice of a colour."""
        self.features = FeatureView(self.adata, self._on_view, file_name=f"{self.key}_features.csv")
        names = [str(c) for c in self.adata.obs.columns]
        self.obs_color = choice("color", [*((n, n) for n in names), ("one colour", None)], label="colour")
        self.across, self.up = choice("across", [1], label="across"), choice("up", [2], label="up")
        for control in (self.obs_color, self.across, self.up):
            watch(control.widget, lambda: self.redraw("Embedding"))
        which = widgets.Box([self.obs_color.widget, self.across.widget, self.up.widget])
        which.add_class("diffnb-controls")
        return {
            "Embedding": widgets.VBox([which, self.picture("Embedding")]),
            "Clusters": self.picture("Clusters"),
            "Covariance": self.picture("Covariance"),
            "Features": self.features.features_tab(),
            "Table": self.features.table_tab(),
        }

    def has_results(self) -> bool:
        """Whether `tl.informed_distance` has left its results."""
        return "has_pairwise" in self.adata.uns.get(self.key, {})

    def shown_keys(self) -> list[str]:
        """Return the keys of the results on screen."""
        return [self.key]

    def calls(self) -> list[Call]:
        """Run it."""
        return [Call("dn.tl.informed_distance", (), {**self.settings(*TAKES), "key_added": self.key})]

    def _table(self) -> Call:
        return Call("dn.get.informed_clusters", (), {"key": self.key}, result="features")

    def _has_table(self) -> bool:
        try:
            self._table().run(self.adata)
        except ValueError:  # a local metric has no directions, and may have no clusters that all share
            return False
        return True

    def read(self) -> list[Call]:
        """Read the embedding, and the clusters of features where all observations share them."""
        if not self.has_results():
            return []
        embedding = Call("dn.get.informed_embedding", (), {"key": self.key}, result="embedding")
        return [embedding, self._table()] if self._has_table() else [embedding]

    def drawn(self) -> dict[str, Call]:
        """Draw the embedding, and the gap and the covariance where there are any."""
        if not self.has_results():
            return {}
        found = self.adata.uns[self.key]
        plane = (self.across.value or 1, self.up.value or 2)
        look = {"color": self.obs_color.value, "components": plane, "key": self.key}
        calls = {"Embedding": Call("dn.pl.informed_embedding", (), look)}
        if "gap" in found:
            calls["Clusters"] = Call("dn.pl.informed_gap", (), {"key": self.key})
        if "eigenvalues" in found and self.key in self.adata.varm and self.adata.n_vars <= MOST_DRAWN:
            calls["Covariance"] = Call("dn.pl.informed_covariance", (), {"keys": self.key})
        return calls

    def show(self) -> None:
        """Offer the components there are, and fill map and table."""
        if not self.has_results():
            return
        self.pictures["Clusters"].empty = "The number of clusters was given: there is no gap statistic."
        self.pictures["Covariance"].empty = "Drawn for one metric of at most 3,000 features."
        n = get.informed_embedding(self.adata, key=self.key).shape[1]
        offer(self.across, [(str(i + 1), i + 1) for i in range(n)], 1)
        offer(self.up, [(str(i + 1), i + 1) for i in range(n)], min(2, n))
        if self._has_table():
            self._fill(self._table().run(self.adata))

    def _fill(self, table: Any) -> None:
        directions = [c for c in table.columns if str(c).startswith("direction_")]
        if not directions:
            table = table.assign(place=range(len(table)))
            directions = ["place"]
        color = "cluster" if "cluster" in table.columns else directions[0]
        x, y = directions[0], directions[1 % len(directions)]
        self.features.show(table, x=x, y=y, color=color, by=directions[0])

    def recolor(self) -> None:
        """Colour the map for the page."""
        self.features.repaint(self.status.dark)

    def more_lines(self, adata: str) -> list[str]:
        """Return the lines of saved selections."""
        return self.features.lines(adata)


def informed(adata: AnnData, *, key_added: str = "informed") -> InformedPanel:
    """Open a panel that measures informed Mahalanobis distances and shows what they tell.

    Parameters
    ----------
    adata
        Annotated data, observations × features.
    key_added
        Name under which results are stored, and under which results of an earlier call are shown.

    Returns
    -------
    The panel. Show it as the last value of a cell; `panel.code` holds the lines that do the same,
    `panel.snapshot()` a picture.

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
    return InformedPanel(adata, key=key_added)
