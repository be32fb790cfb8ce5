"""`panels.dufs`: the features that carry the structure of the data, without labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets
from anndata import AnnData

from .._calls import Call
from . import _choices as choices
from ._controls import Control, also, dropdown, integer_field, integer_or_auto, number_field
from ._docs import documented_panel
from ._feature_panel import MethodPanel

#: what the panel says about the number of open gates
EDGE_TEXTS = {
    "none": "{open} of {features} gates are open.",
    "few": (
        "Only {open} of {features} gates are open, fewer than {min_features}: those with the largest gates are"
        " selected. Consider diverse features."
    ),
    "most": (
        "{open} of {features} gates are open: they hardly distinguish the features. Give a number of features, or"
        " consider diverse features."
    ),
}


class DufsPanel(MethodPanel):
    """DUFS with its gates and its training."""

    title = "DUFS"
    question = "Which features carry the structure of the data, without any labels?"
    tool = "dn.tl.dufs"
    first = ("layer", "mask_var", "n_features")
    pictured = ("Gates",)
    arguments = (
        "n_features",
        "min_features",
        "penalty",
        "gates",
        "layer",
        "mask_var",
        "standardize",
        "n_neighbors",
        "scale",
        "bandwidth",
        "power",
        "n_steps",
        "n_restarts",
        "random_state",
    )

    def make_controls(self, given: Mapping[str, Any]) -> list[Control]:
        """Make a control for each argument that users vary."""
        penalties = [("parameter-free", None), ("warm start", "warm"), ("0.1", 0.1), ("1", 1.0), ("10", 10.0)]
        return [
            choices.layer(self.adata),
            choices.mask_var(self.adata),
            integer_or_auto("n_features", label="features to select"),
            integer_or_auto("min_features", label="at least"),
            dropdown("penalty", penalties),
            dropdown("gates", ["deterministic", ("per sample", "per_sample"), ("per feature", "per_feature")]),
            dropdown("standardize", ["global", ("no", None)]),
            integer_field("n_neighbors", 2, at_least=2),
            number_field("scale", 5.0),
            dropdown("bandwidth", ["median", "max", "local"]),
            integer_field("power", 2, at_least=1, at_most=3),
            integer_or_auto("n_steps"),
            integer_field("n_restarts", 1, at_least=1),
            integer_field("random_state", 0, label="seed"),
            also("dn.tl.laplacian_score", label="also compute the Laplacian score"),
            also("dn.tl.diverse_features", label="also compute diverse features (recommended for real data)"),
        ]

    def make_tabs(self) -> dict[str, Any]:
        """Make the tabs, and the line that tells where the number of open gates lies."""
        self.edge = widgets.Label("")
        return {
            "Gates": widgets.VBox([self.edge, self.picture("Gates")]),
            "Features": self.features.features_tab(),
            "Table": self.features.table_tab(),
        }

    def calls(self) -> list[Call]:
        """Run DUFS and, if selected, the methods that it is compared with."""
        others = ("dn.tl.laplacian_score", "dn.tl.diverse_features")
        wanted = [name for name in others if self.controls[name.rpartition(".")[2]].value]
        return [self.tool_call(), *(Call(name, (), self.settings("layer", "mask_var")) for name in wanted)]

    def table_call(self) -> Call:
        """Read the gates."""
        return self.get_call("dufs", "features")

    def summary_call(self) -> Call:
        """Read how many gates are open."""
        return self.get_call("dufs_summary", "summary")

    def read(self) -> list[Call]:
        """Read the summary and the gates."""
        return [self.summary_call(), self.table_call()] if self.has_results() else []

    def drawn(self) -> dict[str, Call]:
        """Draw gates and training."""
        return {"Gates": self.pl_call("dufs")} if self.has_results() else {}

    def show(self) -> None:
        """Fill map, table and the line about open gates."""
        if self.has_results():
            summary = self.summary_call().run(self.adata)["value"]
            self.edge.value = EDGE_TEXTS[summary["edge"]].format(**summary)
            table = self.table_call().run(self.adata)
            self.features.show(table, x="rank", y="gate", color="selected", by="rank", descending=False)


@documented_panel
def dufs(adata: AnnData, *, key_added: str = "dufs") -> DufsPanel:
    """Open a panel that runs DUFS and shows the features that it selects.

    Parameters
    ----------
    adata
    key_added

    Returns
    -------
    The panel, to be shown as the last value of a cell. `panel.code` holds the lines that reproduce it.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_moons(10)
    >>> panel = dn.panels.dufs(adata)
    >>> panel.run()
    >>> panel.wait()
    True
    >>> adata.var_names[adata.var["dufs"]].tolist()
    ['moon_x', 'moon_y']
    """
    return DufsPanel(adata, key=key_added)
