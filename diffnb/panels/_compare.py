"""`panels.compare`: what one method finds and the others miss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets
from anndata import AnnData

from ..get._compare import METHODS
from . import _choices as choices
from ._calls import Call
from ._controls import Control, auto_count, choice, count, offer, several, watch
from ._features import FeatureView
from ._frame import Panel

#: keys of its own, so that results under the usual ones stay as they are
PREFIX = "compare_"


class ComparePanel(Panel):
    """DiSC, SPARDA, scorecard and scanpy's ranking side by side."""

    title = "Compare methods"
    question = "What does each method find, and what do the others miss?"
    tool = "dn.get.compare"
    pictured = ("Ranks", "Overlap")

    def make_controls(self, given: Mapping[str, Any]) -> list[Control]:
        """Make the controls that all methods share."""
        by = choices.groupby(self.adata, given)
        return [
            by,
            several("methods", list(METHODS)),
            choices.sample_key(self.adata),
            choices.layer(self.adata),
            choices.mask_var(self.adata),
            choice(
                "standardize",
                [("no", None), ("global", "global"), ("within conditions", "within")],
                label="DiSC standardize",
            ),
            auto_count("n_features", label="SPARDA features"),
            count("n_top", min(50, self.adata.n_vars), at_least=1, at_most=self.adata.n_vars, label="first features"),
            count("random_state", 0, label="seed"),
        ]

    def make_tabs(self) -> dict[str, Any]:
        """Make the tabs and the choice of a condition."""
        self.features = FeatureView(self.adata, self._on_view, file_name="compared_features.csv")
        self.group = choice("group", [("all", None)], label="condition")
        watch(self.group.widget, self._turn)
        watch(self.controls["n_top"].widget, self._turn)
        which = widgets.Box([self.group.widget])
        which.add_class("diffnb-controls")
        return {
            "Ranks": widgets.VBox([which, self.picture("Ranks")]),
            "Overlap": widgets.VBox([which, self.picture("Overlap")]),
            "Features": self.features.features_tab(self.group.widget),
            "Table": self.features.table_tab(which),
        }

    def has_results(self) -> bool:
        """Whether any of the methods has left its results under the panel's keys."""
        return any(PREFIX + key in self.adata.uns for key in METHODS.values())

    def shown_keys(self) -> list[str]:
        """Return the keys of the results on screen."""
        return [PREFIX + key for key in METHODS.values()]

    def calls(self) -> list[Call]:
        """Run the chosen methods."""
        by = self.controls["groupby"].value
        wanted = self.controls["methods"].value or list(METHODS)
        of = self.settings("layer", "mask_var", "sample_key")
        seed = self.settings("random_state")
        kept = {method: {"key_added": PREFIX + key} for method, key in METHODS.items()}
        genes = {"layer": of["layer"], "mask_var": of["mask_var"], "method": "wilcoxon", "use_raw": False}
        calls = {
            "DiSC": Call("dn.tl.disc", (by,), {**of, **self.settings("standardize"), **seed, **kept["DiSC"]}),
            "SPARDA": Call("dn.tl.sparda", (by,), {**of, **self.settings("n_features"), **seed, **kept["SPARDA"]}),
            "scorecard": Call("dn.tl.scorecard", (by,), {**of, **seed, **kept["scorecard"]}),
            "rank_genes_groups": Call("sc.tl.rank_genes_groups", (by,), {**genes, **kept["rank_genes_groups"]}),
        }
        return [calls[method] for method in METHODS if method in wanted]

    def _shown(self) -> dict[str, Any]:
        return {"group": self.group.value, "n_top": self.controls["n_top"].value, "prefix": PREFIX}

    def _table(self) -> Call:
        return Call("dn.get.compare", (), self._shown(), result="features")

    def read(self) -> list[Call]:
        """Read the ranks and the overlap."""
        if not self.has_results():
            return []
        return [self._table(), Call("dn.get.compare_overlap", (), self._shown(), result="overlap")]

    def drawn(self) -> dict[str, Call]:
        """Draw rank against rank, and the overlap."""
        if not self.has_results():
            return {}
        return {
            "Ranks": Call("dn.pl.compare_ranks", (), self._shown()),
            "Overlap": Call("dn.pl.compare_overlap", (), self._shown()),
        }

    def show(self) -> None:
        """Offer the conditions, and fill map and table."""
        if self.has_results():
            levels = choices.levels_of(self.adata, self.controls["groupby"].value)
            offer(self.group, [("all", None), *((v, v) for v in levels)])
            self._turn()

    def _turn(self) -> None:
        """Show ranks for the condition and the number of features that were chosen."""
        if not self.has_results():
            return
        table = self._table().run(self.adata)
        methods = [c for c in table.columns if c in METHODS]
        self.features.show(
            table, x=methods[0], y=methods[1 % len(methods)], color="found_by", by=methods[0], down=False
        )
        self.redraw("Ranks", "Overlap")

    def recolor(self) -> None:
        """Colour the map for the page."""
        self.features.repaint(self.status.dark)

    def more_lines(self, adata: str) -> list[str]:
        """Return the lines of saved selections."""
        return self.features.lines(adata)


def compare(adata: AnnData, groupby: str | None = None) -> ComparePanel:
    """Open a panel that runs several methods and compares what they find.

    Parameters
    ----------
    adata
        Annotated data, observations × features.
    groupby
        Column of `adata.obs` with the conditions; the likeliest by default.

    Returns
    -------
    The panel. Results are stored under keys of its own: `compare_disc`, `compare_sparda`, `compare_scorecard`
    and `compare_rank_genes_groups`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> panel = dn.panels.compare(adata, "condition")
    >>> panel.set(methods=["DiSC", "scorecard"], n_top=20)
    >>> panel.run()
    >>> panel.wait()
    True
    >>> dn.get.compare_overlap(adata, n_top=20, prefix="compare_").index.tolist()
    ['DiSC', 'scorecard']
    """
    return ComparePanel(adata, groupby=groupby)
