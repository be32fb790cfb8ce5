"""`panels.dufs`: the features that carry the structure of the data, without labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anndata import AnnData

from . import _choices as choices
from ._calls import Call
from ._controls import Control, auto_count, choice, count, number, switch
from ._features import FeatureView
from ._frame import Panel

TAKES = (
    "n_features",
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


class DufsPanel(Panel):
    """DUFS with its gates and its training."""

    title = "DUFS"
    question = "Which features carry the structure of the data, without any labels?"
    tool = "dn.tl.dufs"
    pictured = ("Gates",)

    def __init__(self, adata: AnnData, *, key: str = "dufs", **given: Any) -> None:
        self.key = key
        super().__init__(adata, **given)

    def make_controls(self, given: Mapping[str, Any]) -> list[Control]:
        """Make a control for each argument that is worth trying."""
        penalties = [("parameter-free", None), ("warm start", "warm"), ("0.1", 0.1), ("1", 1.0), ("10", 10.0)]
        return [
            choices.layer(self.adata),
            choices.mask_var(self.adata),
            auto_count("n_features", label="features to select"),
            choice("penalty", penalties),
            choice("gates", ["deterministic", ("per sample", "per_sample"), ("per feature", "per_feature")]),
            choice("standardize", ["global", ("no", None)]),
            count("n_neighbors", 2, at_least=2),
            number("scale", 5.0),
            choice("bandwidth", ["median", "max", "local"]),
            count("power", 2, at_least=1, at_most=3),
            count("n_steps", 200, at_least=1),
            count("n_restarts", 1, at_least=1),
            count("random_state", 0, label="seed"),
            switch("laplacian_score", label="Laplacian score too"),
        ]

    def make_tabs(self) -> dict[str, Any]:
        """Make the tabs."""
        self.features = FeatureView(self.adata, self._on_view, file_name=f"{self.key}_features.csv")
        return {
            "Gates": self.picture("Gates"),
            "Features": self.features.features_tab(),
            "Table": self.features.table_tab(),
        }

    def has_results(self) -> bool:
        """Whether `tl.dufs` has left its results."""
        return "training" in self.adata.uns.get(self.key, {})

    def shown_keys(self) -> list[str]:
        """Return the keys of the results on screen."""
        return [self.key]

    def calls(self) -> list[Call]:
        """Run DUFS and, where asked for, the score that it is compared with."""
        calls = [Call("dn.tl.dufs", (), {**self.settings(*TAKES), "key_added": self.key})]
        if self.controls["laplacian_score"].value:
            calls.append(Call("dn.tl.laplacian_score", (), self.settings("layer", "mask_var")))
        return calls

    def _table(self) -> Call:
        return Call("dn.get.dufs", (), {"key": self.key}, result="features")

    def read(self) -> list[Call]:
        """Read the gates."""
        return [self._table()] if self.has_results() else []

    def drawn(self) -> dict[str, Call]:
        """Draw gates and training."""
        return {"Gates": Call("dn.pl.dufs", (), {"key": self.key})} if self.has_results() else {}

    def show(self) -> None:
        """Fill map and table."""
        if self.has_results():
            table = self._table().run(self.adata)
            self.features.show(table, x="rank", y="gate", color="selected", by="rank", down=False)

    def recolor(self) -> None:
        """Colour the map for the page."""
        self.features.repaint(self.status.dark)

    def more_lines(self, adata: str) -> list[str]:
        """Return the lines of saved selections."""
        return self.features.lines(adata)


def dufs(adata: AnnData, *, key_added: str = "dufs") -> DufsPanel:
    """Open a panel that runs DUFS and shows what it selects.

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
    >>> adata = dn.datasets.two_moons(10)
    >>> panel = dn.panels.dufs(adata)
    >>> panel.run()
    >>> panel.wait()
    True
    >>> adata.var_names[adata.var["dufs"]].tolist()
    ['moon_x', 'moon_y']
    """
    return DufsPanel(adata, key=key_added)
