"""What panels about features have in common: a map and a table of them, and results under a key."""

from __future__ import annotations

from typing import Any, ClassVar

from anndata import AnnData

from .._calls import Call
from ..get._presence import has_results
from ..get._remarks import Remark, remarks
from ._controls import Control
from ._features import FeatureView
from ._frame import Panel


class FeaturePanel(Panel):
    """A panel with a map and a table of features, which share a selection."""

    def __init__(self, adata: AnnData, *, file_name: str, **given: Any) -> None:
        self.features = FeatureView(adata, self._on_view, file_name=file_name)
        super().__init__(adata, **given)

    def table_call(self) -> Call:
        """Return the call that reads the table of features on screen."""
        raise NotImplementedError

    def tab_controls(self) -> list[Control]:
        """Return the controls within tabs, those of the map among them."""
        return [*super().tab_controls(), self.features.x, self.features.y, self.features.color]

    def recolor(self) -> None:
        """Colour the map for the theme of the page."""
        self.features.repaint(self.status.dark)

    def more_lines(self, adata: str) -> list[str]:
        """Return the lines that save the saved selections."""
        return self.features.lines(adata)


class MethodPanel(FeaturePanel):
    """The panel of one tool, whose results are stored under a key."""

    #: arguments of the tool that have a control
    arguments: ClassVar[tuple[str, ...]] = ()

    def __init__(self, adata: AnnData, *, key: str, **given: Any) -> None:
        self.key = key
        super().__init__(adata, file_name=f"{key}_features.csv", **given)

    def has_results(self) -> bool:
        """Whether the tool has stored results under the key of the panel."""
        return has_results(self.adata, self.tool, self.key)

    def shown_keys(self) -> list[str]:
        """Return the keys of the results on screen."""
        return [self.key]

    def about_results(self) -> list[Remark]:
        """Say whether the results are tested, and by which units."""
        if not self.has_results():
            return []
        tool = self.tool.rpartition(".")[2]
        return remarks(self.adata, tool, self.key, self._calls_by_key.get(self.key))

    def tool_call(self) -> Call:
        """Return the call of the tool with the current settings."""
        by = (self.controls["groupby"].value,) if "groupby" in self.controls else ()
        return Call(self.tool, by, {**self.settings(*self.arguments), "key_added": self.key})

    def get_call(self, name: str, result: str, **keywords: Any) -> Call:
        """Return a call that reads results under the key of the panel."""
        return Call(f"dn.get.{name}", (), {**keywords, "key": self.key}, result=result)

    def pl_call(self, name: str, *positional: Any, **keywords: Any) -> Call:
        """Return a call that draws results under the key of the panel."""
        return Call(f"dn.pl.{name}", positional, {**keywords, "key": self.key})
