"""`panels.compare`: features that one method finds and the others miss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets
from anndata import AnnData

from .._calls import Call
from ..get._compare import METHODS
from ..get._presence import has_key
from ..get._remarks import Remark, stale_remarks, unit_remarks
from . import _choices as choices
from ._controls import (
    Control,
    dropdown,
    integer_field,
    integer_or_auto,
    multi_select,
    on_user_change,
    row_of,
    set_options,
)
from ._docs import documented_panel
from ._feature_panel import FeaturePanel

METHODS_BY_KEY = {f"compare_{key}": method for method, key in METHODS.items()}
#: separate keys, so that results under the default ones are kept
COMPARE_PREFIX = "compare_"


class ComparePanel(FeaturePanel):
    """DiSC, SPARDA, the scorecard and scanpy's ranking compared."""

    title = "Compare methods"
    question = "What does each method find, and what do the others miss?"
    tool = "dn.get.compare"
    also_described_by = ("dn.tl.disc", "dn.tl.sparda")
    first = ("question", "groupby", "methods", "sample_key", "covariates", "n_top")
    pictured = ("Ranks", "Overlap")

    def make_controls(self, given: Mapping[str, Any]) -> list[Control]:
        """Make the controls that all methods share."""
        by = choices.groupby(self.adata, given)
        samples = choices.sample_key(self.adata, by, given)
        n_vars = self.adata.n_vars
        return [
            choices.question(),
            by,
            multi_select("methods", list(METHODS)),
            samples,
            choices.covariates(self.adata, given, by, samples),
            choices.layer(self.adata),
            choices.mask_var(self.adata),
            dropdown("standardize", choices.STANDARDIZE, label="standardize for DiSC"),
            integer_or_auto("n_features", label="features of SPARDA"),
            integer_field("n_top", min(50, n_vars), at_least=1, at_most=n_vars, label="leading features"),
            integer_field("random_state", 0, label="seed"),
        ]

    def make_tabs(self) -> dict[str, Any]:
        """Make the tabs and the choice of a condition."""
        self.group = dropdown("group", [("all", None)], label="condition")
        on_user_change(self.group.widget, self._show_group)
        on_user_change(self.controls["n_top"].widget, self._show_group)
        which = row_of(self.group)
        return {
            "Ranks": widgets.VBox([which, self.picture("Ranks")]),
            "Overlap": widgets.VBox([which, self.picture("Overlap")]),
            "Features": self.features.features_tab(self.group.widget),
            "Table": self.features.table_tab(which),
        }

    def has_results(self) -> bool:
        """Whether any of the methods has stored results under the keys of the panel."""
        return any(has_key(self.adata, key) for key in self.shown_keys())

    def shown_keys(self) -> list[str]:
        """Return the keys of the results on screen."""
        return [COMPARE_PREFIX + key for key in METHODS.values()]

    def calls(self) -> list[Call]:
        """Run the selected methods."""
        by = (self.controls["groupby"].value,)
        wanted = self.controls["methods"].value or list(METHODS)
        shared, seed = self.settings("layer", "mask_var", "sample_key", "covariates"), self.settings("random_state")
        genes = {"layer": shared["layer"], "mask_var": shared["mask_var"], "method": "wilcoxon", "use_raw": False}
        tools: dict[str, tuple[str, dict[str, Any]]] = {
            "DiSC": ("dn.tl.disc", {**shared, **self.settings("question", "standardize"), **seed}),
            "SPARDA": ("dn.tl.sparda", {**shared, **self.settings("n_features"), **seed}),
            "scorecard": ("dn.tl.scorecard", {**shared, **seed}),
            "rank_genes_groups": ("sc.tl.rank_genes_groups", genes),
        }
        return [
            Call(name, by, {**keywords, "key_added": COMPARE_PREFIX + METHODS[method]})
            for method, (name, keywords) in tools.items()
            if method in wanted
        ]

    def about_results(self) -> list[Remark]:
        """Say which of the methods are tested, and by which units."""
        if not self.has_results():
            return []
        made = {
            METHODS_BY_KEY[key]: self._calls_by_key.get(key) for key in self.shown_keys() if has_key(self.adata, key)
        }
        tested = {
            "scorecard": "every feature",
            "DiSC": "whether there are groups",
            "rank_genes_groups": "every feature",
        }
        lines = [
            Remark("plain", "Tested: " + "; ".join(f"{m}, {what}" for m, what in tested.items() if m in made) + ".")
        ]
        if "SPARDA" in made:
            lines.append(Remark("mind", "The features of SPARDA are ranked, not tested: its own panel tests them."))
        calls = [call for call in made.values() if call is not None and "sample_key" in call.defaults]
        return [
            *stale_remarks(self.adata, self.shown_keys()),
            *lines,
            *(unit_remarks(self.adata, calls[0]) if calls else []),
            *self._cells_note(made),
        ]

    @staticmethod
    def _cells_note(made: Mapping[str, Call | None]) -> list[Remark]:
        if "rank_genes_groups" not in made:
            return []
        return [Remark("mind", "rank_genes_groups of scanpy takes single observations as units, always.")]

    def _selected(self) -> dict[str, Any]:
        return {"group": self.group.value, "n_top": self.controls["n_top"].value, "prefix": COMPARE_PREFIX}

    def table_call(self) -> Call:
        """Read the ranks by all methods."""
        return Call("dn.get.compare", (), self._selected(), result="features")

    def read(self) -> list[Call]:
        """Read the ranks and the overlap."""
        if not self.has_results():
            return []
        return [self.table_call(), Call("dn.get.compare_overlap", (), self._selected(), result="overlap")]

    def drawn(self) -> dict[str, Call]:
        """Draw rank against rank, and the overlap."""
        if not self.has_results():
            return {}
        return {
            "Ranks": Call("dn.pl.compare_ranks", (), self._selected()),
            "Overlap": Call("dn.pl.compare_overlap", (), self._selected()),
        }

    def show(self) -> None:
        """Set the conditions to choose from, and fill map and table."""
        if self.has_results():
            levels = choices.levels_of(self.adata, self.controls["groupby"].value)
            set_options(self.group, [("all", None), *((v, v) for v in levels)])
            self._show_group()

    def _show_group(self) -> None:
        """Show the ranks for the selected condition and number of features."""
        if not self.has_results():
            return
        table = self.table_call().run(self.adata)
        methods = [c for c in table.columns if c in METHODS]
        x, y = methods[0], methods[1 % len(methods)]
        self.features.show(table, x=x, y=y, color="found_by", by=methods[0], descending=False)
        self.redraw("Ranks", "Overlap")


@documented_panel
def compare(
    adata: AnnData,
    groupby: str | None = None,
    *,
    sample_key: str | None = "auto",
    covariates: Sequence[str] | None = None,
) -> ComparePanel:
    """Open a panel that runs several methods and compares the features that they find.

    Parameters
    ----------
    adata
    groupby
    sample_key
    covariates

    Returns
    -------
    The panel. Results are stored under separate keys: `compare_disc`, `compare_sparda`, `compare_scorecard` and
    `compare_rank_genes_groups`.

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
    given = {"groupby": groupby, "sample_key": sample_key, "covariates": covariates}
    return ComparePanel(adata, **given, file_name="compared_features.csv")
