"""`panels.disc`: groups of features that are connected in one condition only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets
import numpy as np
from anndata import AnnData

from .. import get
from .._keys import DiscKeys
from ..pl._observations import BASES
from ..pl._read import group_colors
from . import _choices as choices
from ._calls import Call
from ._controls import Control, auto_count, choice, count, offer, switch, watch
from ._features import RESULT, VAR, FeatureView
from ._frame import Panel

TAKES = (
    "groups",
    "sample_key",
    "layer",
    "mask_var",
    "metric",
    "standardize",
    "n_neighbors",
    "n_eigenvectors",
    "n_components",
    "n_clusters",
    "n_permutations",
    "null",
    "n_bootstraps",
    "random_state",
)


class DiscPanel(Panel):
    """DiSC with its significance, features, groups and observations."""

    title = "DiSC"
    question = "Which groups of features are connected in one condition only?"
    tool = "dn.tl.disc"
    pictured = ("Significance", "Features: figure", "Observations")

    def __init__(self, adata: AnnData, *, key: str = "disc", **given: Any) -> None:
        self.key = key
        super().__init__(adata, **given)

    def make_controls(self, given: Mapping[str, Any]) -> list[Control]:
        """Make a control for each argument that is worth trying."""
        by = choices.groupby(self.adata, given)
        most = max(1, self.adata.n_vars - 1)
        return [
            by,
            choices.groups(self.adata, by),
            choices.sample_key(self.adata),
            choices.layer(self.adata),
            choices.mask_var(self.adata),
            choice("metric", ["euclidean", "correlation", "cosine"]),
            choice("standardize", [("no", None), ("global", "global"), ("within conditions", "within")]),
            auto_count("n_neighbors"),
            auto_count("n_eigenvectors"),
            count("n_components", min(10, most), at_least=1, at_most=most, label="vectors"),
            auto_count("n_clusters"),
            count("n_permutations", 0),
            choice("null", [("any difference", "labels"), ("connectivity only", "connectivity")], label="tested for"),
            count("n_bootstraps", 0, label="bootstraps"),
            count("random_state", 0, label="seed"),
            switch("scorecard", label="scorecard too"),
        ]

    def make_tabs(self) -> dict[str, Any]:
        """Make the tabs and the choices within them."""
        self.features = FeatureView(self.adata, self._on_view, file_name=f"{self.key}_features.csv")
        self.group = choice("group", [], label="condition")
        self.basis = choice("basis", [], label="embedding")
        self.component = choice("component", [1], label="vector")
        seen = widgets.Box([self.group.widget, self.basis.widget, self.component.widget])
        seen.add_class("diffnb-controls")
        watch(self.group.widget, self._turn)
        watch(self.basis.widget, lambda: self.redraw(*self.pictures))
        watch(self.component.widget, lambda: self.redraw(*self.pictures))
        places = [self.picture("Observations: features")] if self._places() else []
        which = widgets.Box([self.group.widget])
        which.add_class("diffnb-controls")
        return {
            "Significance": self.picture("Significance"),
            "Features": self.features.features_tab(self.group.widget),
            "Groups": self.features.table_tab(which, self.picture("Groups")),
            "Observations": widgets.VBox([seen, self.picture("Observations"), *places]),
        }

    def has_results(self) -> bool:
        """Whether `tl.disc` has left its results."""
        return "sigma" in self.adata.uns.get(self.key, {})

    def shown_keys(self) -> list[str]:
        """Return the keys of the results on screen."""
        return [self.key, "scorecard"]

    def calls(self) -> list[Call]:
        """Run DiSC, its meta-features and, where asked for, the scorecard."""
        by = self.controls["groupby"].value
        calls = [
            Call("dn.tl.disc", (by,), {**self.settings(*TAKES), "key_added": self.key}),
            Call("dn.tl.meta_features", (), {"key": self.key}),
        ]
        if self.controls["scorecard"].value:
            calls.append(Call("dn.tl.scorecard", (by,), self.settings("groups", "sample_key", "layer", "mask_var")))
        return calls

    def read(self) -> list[Call]:
        """Read σ, and the table of the condition that is shown."""
        if not self.has_results():
            return []
        return [Call("dn.get.disc_significance", (), {"key": self.key}, result="significance"), self._table()]

    def _table(self) -> Call:
        return Call("dn.get.disc_features", (), {"group": self.group.value, "key": self.key}, result="features")

    def drawn(self) -> dict[str, Call]:
        """Draw σ, the groups, the map as a figure, and observations."""
        if not self.has_results():
            return {}
        of = {"group": self.group.value, "key": self.key}
        calls = {
            "Significance": Call("dn.pl.disc_significance", (), {"key": self.key}),
            "Groups": Call("dn.pl.disc_groups", (), of),
            "Features: figure": Call("dn.pl.disc_embedding", (), {**of, **self._plane()}),
        }
        if DiscKeys(self.key).obsm in self.adata.obsm:
            about = {"component": self.component.value or 1, "basis": self.basis.value}
            calls["Observations"] = Call("dn.pl.disc_observations", (), {**of, **about})
        if self._places():
            vector = f"vector_{self.component.value or 1}"
            calls["Observations: features"] = Call(f"dn.pl.{self._places()}", (vector,), of)
        return calls

    def _places(self) -> str:
        """Name the figure that shows features where they lie, if the data says that they lie somewhere."""
        kind = str(self.adata.uns.get("features", {}).get("kind", ""))
        return {"pixels": "feature_image", "parcels": "feature_brain"}.get(kind, "")

    def _plane(self) -> dict[str, Any]:
        """Say in the figure's words what the map shows, as far as it has words for it."""
        plane: dict[str, Any] = {}
        axes = [control.value or ("", "") for control in (self.features.x, self.features.y)]
        if all(kind == RESULT and name.startswith("vector_") for kind, name in axes):
            plane["components"] = (int(axes[0][1][7:]), int(axes[1][1][7:]))
        kind, name = self.features.color.value or (RESULT, "feature_group")
        usual = ("feature_group", "score", "stability")
        if kind == VAR or name in usual or name.startswith(("vector_", "spread_")):
            plane["color"] = name
        return plane

    def show(self) -> None:
        """Offer what there is to choose, and fill map and table."""
        if not self.has_results():
            return
        first = get.disc_significance(self.adata, key=self.key).query("component == 1").set_index("group")["sigma"]
        names = [str(g) for g in first.index]
        # the condition with most of its own is where one looks first
        offer(self.group, [(n, n) for n in names], preferred=str(first.idxmax()))
        bases = [
            b for b in self.adata.obsm if np.ndim(self.adata.obsm[b]) == 2 and np.shape(self.adata.obsm[b])[1] >= 2
        ]
        usual = [b for b in BASES if b in bases]
        others = [b for b in bases if b not in usual and b != DiscKeys(self.key).obsm]
        offer(self.basis, [("first found", None), *((b, b) for b in [*usual, *others])])
        self._turn()

    def _turn(self) -> None:
        """Show the condition that was chosen."""
        if not self.has_results() or self.group.value is None:
            return
        table = self._table().run(self.adata)
        vectors = [c for c in table.columns if c.startswith("vector_")]
        offer(self.component, [(str(i + 1), i + 1) for i in range(len(vectors))])
        self.features.show(
            table,
            x=vectors[0],
            y=vectors[1] if len(vectors) > 1 else "score",
            color="feature_group",
            by="score",
            colors=group_colors(self.adata, self.key),
        )
        self.redraw(*self.pictures)

    def recolor(self) -> None:
        """Colour the map for the page."""
        self.features.repaint(self.status.dark)

    def more_lines(self, adata: str) -> list[str]:
        """Return the lines of saved selections."""
        return self.features.lines(adata)


def disc(adata: AnnData, groupby: str | None = None, *, key_added: str = "disc") -> DiscPanel:
    """Open a panel that runs DiSC and shows what it finds.

    Parameters
    ----------
    adata
        Annotated data, observations × features.
    groupby
        Column of `adata.obs` with the conditions; the likeliest by default.
    key_added
        Name under which results are stored, and under which results of an earlier call are shown.

    Returns
    -------
    The panel. Show it as the last value of a cell; `panel.code` holds the lines that do the same,
    `panel.snapshot()` a picture.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> panel = dn.panels.disc(adata, "condition")
    >>> panel.set(n_components=4)
    >>> panel.run()
    >>> panel.wait()
    True
    >>> panel.code.splitlines()[2]
    'dn.tl.disc(adata, "condition", n_components=4)'
    """
    return DiscPanel(adata, groupby=groupby, key=key_added)
