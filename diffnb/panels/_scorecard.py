"""`panels.scorecard`: how every feature differs between conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets
from anndata import AnnData

from .. import get
from .._calls import Call
from ..core.scorecard import KINDS
from . import _choices as choices
from ._controls import Control, dropdown, integer_field, on_user_change, row_of, set_options
from ._docs import documented_panel
from ._feature_panel import MethodPanel


class ScorecardPanel(MethodPanel):
    """The four tests of every feature."""

    title = "Scorecard"
    question = "How does each feature differ: in its mean, spread, distribution, or connectivity?"
    tool = "dn.tl.scorecard"
    first = ("groupby", "groups", "sample_key", "covariates")
    pictured = ("Leading features",)
    arguments = (
        "groups",
        "reference",
        "sample_key",
        "covariates",
        "layer",
        "counts",
        "mask_var",
        "random_state",
    )

    def make_controls(self, given: Mapping[str, Any]) -> list[Control]:
        """Make a control for each argument that users vary."""
        by = choices.groupby(self.adata, given)
        samples = choices.sample_key(self.adata, by, given)
        return [
            by,
            choices.groups(self.adata, by),
            samples,
            choices.covariates(self.adata, given, by, samples),
            choices.level("reference", self.adata, by, default="automatic"),
            choices.layer(self.adata),
            choices.counts(self.adata),
            choices.mask_var(self.adata),
            integer_field("random_state", 0, label="seed"),
        ]

    def make_tabs(self) -> dict[str, Any]:
        """Make the tabs and the choice of a comparison."""
        self.comparison = dropdown("comparison", [])
        on_user_change(self.comparison.widget, self._show_comparison)
        return {
            "Leading features": self.picture("Leading features"),
            "Features": self.features.features_tab(self.comparison.widget),
            "Table": self.features.table_tab(widgets.VBox([row_of(self.comparison)])),
        }

    def calls(self) -> list[Call]:
        """Run the scorecard."""
        return [self.tool_call()]

    def table_call(self) -> Call:
        """Read the selected comparison."""
        group, reference = self.comparison.value or (None, None)
        return self.get_call("scorecard", "features", group=group, reference=reference)

    def read(self) -> list[Call]:
        """Read the selected comparison."""
        return [self.table_call()] if self.has_results() else []

    def drawn(self) -> dict[str, Call]:
        """Draw the leading features of every kind."""
        return {"Leading features": self.pl_call("scorecard")} if self.has_results() else {}

    def show(self) -> None:
        """Set the comparisons to choose from, and fill map and table."""
        if not self.has_results():
            return
        table = get.scorecard(self.adata, key=self.key)
        pairs = table[["group", "reference"]].drop_duplicates().itertuples(index=False)
        set_options(self.comparison, [(f"{g} vs {r}", (str(g), str(r))) for g, r in pairs])
        self._show_comparison()

    def _show_comparison(self) -> None:
        """Show the selected comparison, the features with the smallest p-values first."""
        if not self.has_results() or self.comparison.value is None:
            return
        table = self.table_call().run(self.adata).drop(columns=["group", "reference"])
        first = ["kind", *(f"{kind}_pval_adj" for kind in KINDS)]
        table = table[[*first, *(c for c in table.columns if c not in first)]]
        table.insert(1, "smallest_pval_adj", table[first[1:]].min(axis=1))
        self.features.show(
            table, x="mean_stat", y="connectivity_stat", color="kind", by="smallest_pval_adj", descending=False
        )


@documented_panel
def scorecard(
    adata: AnnData,
    groupby: str | None = None,
    *,
    sample_key: str | None = "auto",
    covariates: Sequence[str] | None = None,
    key_added: str = "scorecard",
) -> ScorecardPanel:
    """Open a panel that tests how every feature differs, and shows the results.

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
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> panel = dn.panels.scorecard(adata, "condition")
    >>> panel.run()
    >>> panel.wait()
    True
    >>> dn.get.scorecard(adata)["kind"].value_counts().index[:2].tolist()
    ['none', 'spread']
    """
    return ScorecardPanel(adata, groupby=groupby, sample_key=sample_key, covariates=covariates, key=key_added)
