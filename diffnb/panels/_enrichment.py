"""The tab in which groups of features are named by gene sets, or by a column of `var`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import numpy as np
from anndata import AnnData

from .. import get
from .._calls import Call
from .._keys import EnrichKeys
from ..get._common import stored
from ._controls import Control, control_row, dropdown, text_field
from ._notes import Notes
from ._views import Picture

#: columns of `var` with as many categories as this can be sets
MAX_CATEGORIES = 200
ALPHA = 0.05
HOW = (
    "Fisher's exact test with the tested features as background. Give the path of a GMT file, or choose a column of"
    " adata.var whose categories are the sets (networks, regions)."
)


class Enrichment:
    """Sets that are over-represented in the groups of features under a key."""

    def __init__(self, adata: AnnData, key: str, picture: Picture, made: Callable[[Call], None]) -> None:
        self.adata, self.key, self._made = adata, key, made
        self.key_added = "enrich" if key == "disc" else f"{key}_enrich"
        self.gene_sets = text_field("gene_sets", label="GMT file", placeholder="path of a .gmt file")
        self.sets_column = dropdown("sets_column", [("none", None), *set_columns(adata)], label="or column of var")
        self.button = widgets.Button(description="Test", tooltip="Test the groups with dn.tl.enrich")
        self.notes = Notes()
        self.picture = picture
        #: the results whose groups were tested; others replace them when the tool runs again
        self._tested: Any = self._results() if self._is_stored() else None
        self.button.on_click(lambda _: self.test())

    @property
    def controls(self) -> list[Control]:
        """The controls of the tab."""
        return [self.gene_sets, self.sets_column]

    def tab(self) -> Any:
        """Return the tab."""
        head = control_row([self.gene_sets.widget, self.sets_column.widget, self.button])
        hint = widgets.HTML(f"<p>{HOW}</p>")
        hint.add_class("diffnb-hint")
        return widgets.VBox([hint, head, self.notes, self.picture])

    def test(self) -> None:
        """Test the groups on screen, and say in the tab why where that cannot be."""
        given = self.sets_column.value or self.gene_sets.value
        if not given:
            self.notes.show(["Nothing to test yet: give a GMT file, or choose a column of var."])
            return
        call = Call("dn.tl.enrich", (given,), {"key": self.key, "key_added": self.key_added})
        try:
            call.run(self.adata)
        except Exception as error:
            message = error.args[0] if isinstance(error, KeyError) and error.args else error
            self.notes.show([f"Not tested: {' '.join(str(message).split())}"])
            return
        self._tested = self._results()
        self.show()
        self._made(call)

    @property
    def drawn(self) -> Call | None:
        """The figure of the sets; none where the groups on screen were not tested."""
        if self._tested is None or self._tested is not self._results() or not self._is_stored():
            return None
        return Call("dn.pl.enrich", (), {"key": self.key_added})

    def show(self) -> None:
        """Write what was found above the figure."""
        if self.drawn is None:
            self.notes.show([])
            return
        table = get.enrich(self.adata, key=self.key_added)
        found = table[table["pval_adj"] < ALPHA]
        lines = [
            f"{row['list']}: {row['set']} ({row['n_overlap']} of {row['n_list']} features, adjusted p ="
            f" {row['pval_adj']:.2g})."
            for row in found.groupby("list", sort=False).head(1).to_dict("records")
        ]
        n_sets = table["set"].nunique()
        self.notes.show(lines or [f"None of {n_sets} sets is over-represented in a group (adjusted p < {ALPHA})."])

    def _results(self) -> Any:
        return stored(self.adata, self.key)

    def _is_stored(self) -> bool:
        found = stored(self.adata, self.key_added, EnrichKeys)
        return found is not None and str(found["params"]["key"]) == self.key


def set_columns(adata: AnnData) -> list[tuple[str, str]]:
    """Columns of `var` whose categories may be sets: texts with few values that are not results."""
    found = []
    for name, column in adata.var.items():
        values = column.dropna().astype(str) if column.dtype.kind in "OSU" or str(column.dtype) == "category" else None
        if values is not None and 1 < np.unique(values.to_numpy()).size <= min(MAX_CATEGORIES, len(values) // 2):
            found.append((str(name), str(name)))
    return found
