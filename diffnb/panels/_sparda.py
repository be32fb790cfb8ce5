"""`panels.sparda`: the few features along which two conditions differ most."""

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
    "n_features",
    "group",
    "reference",
    "n_projections",
    "layer",
    "mask_var",
    "standardize",
    "divergence",
    "n_permutations",
    "sample_key",
    "certificate",
    "random_state",
)


class SpardaPanel(Panel):
    """SPARDA with its weights, its path and the projection itself."""

    title = "SPARDA"
    question = "Along which few features do two conditions differ most, as whole distributions?"
    tool = "dn.tl.sparda"
    pictured = ("Weights", "Projection", "Path")

    def __init__(self, adata: AnnData, *, key: str = "sparda", **given: Any) -> None:
        self.key = key
        super().__init__(adata, **given)

    def make_controls(self, given: Mapping[str, Any]) -> list[Control]:
        """Make a control for each argument that is worth trying."""
        by = choices.groupby(self.adata, given)
        return [
            by,
            choices.level("group", self.adata, by, empty="later, or each"),
            choices.level("reference", self.adata, by, empty="other, or rest"),
            choices.sample_key(self.adata),
            choices.layer(self.adata),
            choices.mask_var(self.adata),
            auto_count("n_features", label="features to select"),
            count("n_projections", 1, at_least=1),
            choice("standardize", ["global", ("within conditions", "within"), ("no", None)]),
            choice("divergence", ["wasserstein2", "wasserstein1", "kolmogorov"]),
            count("n_permutations", 0),
            count("random_state", 0, label="seed"),
            switch("certificate"),
        ]

    def make_tabs(self) -> dict[str, Any]:
        """Make the tabs and the choice of a comparison."""
        self.features = FeatureView(self.adata, self._on_view, file_name=f"{self.key}_features.csv")
        self.comparison = choice("comparison", [])
        self.projection = choice("projection", [1])
        which = widgets.Box([self.comparison.widget, self.projection.widget])
        which.add_class("diffnb-controls")
        for control in (self.comparison, self.projection):
            watch(control.widget, self._turn)
        return {
            "Weights": self.picture("Weights"),
            "Features": self.features.features_tab(self.comparison.widget, self.projection.widget),
            "Table": self.features.table_tab(which),
            "Projection": widgets.VBox([which, self.picture("Projection")]),
            "Path": self.picture("Path"),
        }

    def has_results(self) -> bool:
        """Whether `tl.sparda` has left its results."""
        return "objective" in self.adata.uns.get(self.key, {})

    def shown_keys(self) -> list[str]:
        """Return the keys of the results on screen."""
        return [self.key]

    def calls(self) -> list[Call]:
        """Run SPARDA."""
        by = self.controls["groupby"].value
        return [Call("dn.tl.sparda", (by,), {**self.settings(*TAKES), "key_added": self.key})]

    def read(self) -> list[Call]:
        """Read the summary, and the weights of the comparison that is shown."""
        if not self.has_results():
            return []
        return [Call("dn.get.sparda_summary", (), {"key": self.key}, result="summary"), self._table()]

    def _table(self) -> Call:
        of = {"group": self.comparison.value, "key": self.key}
        return Call("dn.get.sparda", (), of, result="features", query=f"projection == {self.projection.value}")

    def drawn(self) -> dict[str, Call]:
        """Draw weights, the path and the projection."""
        if not self.has_results():
            return {}
        of = {"group": self.comparison.value, "key": self.key}
        return {
            "Weights": Call("dn.pl.sparda", (), {"key": self.key}),
            "Projection": Call("dn.pl.sparda_projection", (), {**of, "projection": self.projection.value}),
            "Path": Call("dn.pl.sparda_path", (), of),
        }

    def show(self) -> None:
        """Offer the comparisons there are, and fill map and table."""
        if not self.has_results():
            return
        summary = get.sparda_summary(self.adata, key=self.key)
        pairs = list(dict.fromkeys(zip(summary["group"], summary["reference"], strict=True)))
        offer(self.comparison, [(f"{g} vs {r}", g) for g, r in pairs])
        offer(self.projection, [(str(i), int(i)) for i in sorted(set(summary["projection"]))])
        self._turn()

    def _turn(self) -> None:
        """Show the comparison that was chosen."""
        if self.has_results() and self.comparison.value is not None:
            table = self._table().run(self.adata).drop(columns=["group", "reference", "projection"])
            self.features.show(table, x="rank", y="weight", color="selected", by="rank", down=False)
            self.redraw("Projection", "Path")

    def recolor(self) -> None:
        """Colour the map for the page."""
        self.features.repaint(self.status.dark)

    def more_lines(self, adata: str) -> list[str]:
        """Return the lines of saved selections."""
        return self.features.lines(adata)


def sparda(adata: AnnData, groupby: str | None = None, *, key_added: str = "sparda") -> SpardaPanel:
    """Open a panel that runs SPARDA and shows what it finds.

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
    >>> adata = dn.datasets.nuisance_factor(n_obs=200, n_features=60)
    >>> panel = dn.panels.sparda(adata, "condition")
    >>> panel.set(n_features=10)
    >>> panel.run()
    >>> panel.wait()
    True
    >>> int(dn.get.sparda(adata)["selected"].sum())
    10
    """
    return SpardaPanel(adata, groupby=groupby, key=key_added)
