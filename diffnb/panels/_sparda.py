"""`panels.sparda`: the few features along which two conditions differ most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets
import pandas as pd
from anndata import AnnData

from .. import get
from .._calls import Call
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

#: permutations by default: few, so that no result is untested; p-values are 0.05 at least
QUICK_PERMUTATIONS = 19


class SpardaPanel(MethodPanel):
    """SPARDA with its weights, its path and the projection itself."""

    title = "SPARDA"
    question = "Along which few features do the distributions of two conditions differ most?"
    tool = "dn.tl.sparda"
    first = ("groupby", "group", "reference", "sample_key", "covariates", "n_features")
    pictured = ("Weights", "Projection", "Path")
    arguments = (
        "n_features",
        "group",
        "reference",
        "n_projections",
        "covariates",
        "layer",
        "mask_var",
        "standardize",
        "divergence",
        "n_permutations",
        "sample_key",
        "permute_within",
        "certificate",
        "random_state",
    )

    def make_controls(self, given: Mapping[str, Any]) -> list[Control]:
        """Make a control for each argument that users vary."""
        by = choices.groupby(self.adata, given)
        samples = choices.sample_key(self.adata, by, given)
        return [
            by,
            choices.level("group", self.adata, by, default="automatic"),
            choices.level("reference", self.adata, by, default="automatic"),
            samples,
            choices.covariates(self.adata, given, by, samples),
            choices.layer(self.adata),
            choices.mask_var(self.adata),
            integer_or_auto("n_features", label="features to select"),
            integer_field("n_projections", 1, at_least=1),
            dropdown("standardize", ["global", ("within conditions", "within"), ("no", None)]),
            dropdown("divergence", ["wasserstein2", "wasserstein1", "kolmogorov"]),
            integer_field("n_permutations", QUICK_PERMUTATIONS),
            choices.permute_within(self.adata),
            integer_field("random_state", 0, label="seed"),
            checkbox("certificate", label="bound the objective"),
        ]

    def make_tabs(self) -> dict[str, Any]:
        """Make the tabs and the choice of a comparison."""
        self.notes = Notes()
        self.comparison = dropdown("comparison", [])
        self.projection = dropdown("projection", [1])
        for control in (self.comparison, self.projection):
            on_user_change(control.widget, self._show_comparison)
        which = row_of(self.comparison, self.projection)
        return {
            "Weights": widgets.VBox([self.notes, self.picture("Weights")]),
            "Features": self.features.features_tab(self.comparison.widget, self.projection.widget),
            "Table": self.features.table_tab(which),
            "Projection": widgets.VBox([which, self.picture("Projection")]),
            "Path": widgets.VBox([self.notes, self.picture("Path")]),
        }

    def calls(self) -> list[Call]:
        """Run SPARDA."""
        return [self.tool_call()]

    def read(self) -> list[Call]:
        """Read the summary, and the weights of the selected comparison."""
        return [self.get_call("sparda_summary", "summary"), self.table_call()] if self.has_results() else []

    def table_call(self) -> Call:
        """Read the weights of the selected comparison and projection."""
        of = {"group": self.comparison.value, "key": self.key}
        return Call("dn.get.sparda", (), of, result="features", query=f"projection == {self.projection.value}")

    def drawn(self) -> dict[str, Call]:
        """Draw weights, the path and the projection."""
        if not self.has_results():
            return {}
        group, projection = self.comparison.value, self.projection.value
        return {
            "Weights": self.pl_call("sparda"),
            "Projection": self.pl_call("sparda_projection", group=group, projection=projection),
            "Path": self.pl_call("sparda_path", group=group),
        }

    def show(self) -> None:
        """Set the options of the controls within tabs, and fill map and table."""
        if not self.has_results():
            return
        summary = get.sparda_summary(self.adata, key=self.key)
        self.notes.show(_notes(summary))
        pairs = list(dict.fromkeys(zip(summary["group"], summary["reference"], strict=True)))
        set_options(self.comparison, [(f"{g} vs {r}", g) for g, r in pairs])
        set_options(self.projection, [(str(i), int(i)) for i in sorted(set(summary["projection"]))])
        self._show_comparison()

    def summary(self) -> list[str]:
        """Describe the static picture, with what is undecided about the numbers of features."""
        return [*super().summary(), *self.notes.notes]

    def _show_comparison(self) -> None:
        """Show the selected comparison."""
        if self.has_results() and self.comparison.value is not None:
            table = self.table_call().run(self.adata).drop(columns=["group", "reference", "projection"])
            self.features.show(table, x="rank", y="weight", color="selected", by="rank", descending=False)
            self.redraw("Projection", "Path")


def _notes(summary: pd.DataFrame) -> list[str]:
    """Return the note of every projection, which it names where there are several."""
    if len(summary) == 1:
        return [str(note) for note in summary["note"]]
    rows = summary[summary["note"] != ""].to_dict("records")
    return [f"{r['group']} vs {r['reference']}, projection {r['projection']}: {r['note']}" for r in rows]


@documented_panel
def sparda(
    adata: AnnData,
    groupby: str | None = None,
    *,
    sample_key: str | None = "auto",
    covariates: Sequence[str] | None = None,
    key_added: str = "sparda",
) -> SpardaPanel:
    """Open a panel that runs SPARDA and shows its results.

    Parameters
    ----------
    adata
    groupby
    sample_key
    covariates
    key_added

    Returns
    -------
    The panel, to be shown as the last value of a cell. `panel.code` holds the lines that reproduce it.

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
    return SpardaPanel(adata, groupby=groupby, sample_key=sample_key, covariates=covariates, key=key_added)
