"""`panels.explore`: the contents of an AnnData, what could be compared, and the panels of the methods."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .. import get
from .._calls import Call, name_of
from ._controls import Control, control_row, dropdown, on_user_change
from ._docs import documented_panel
from ._frame import Panel
from ._panels import CONDITION_PANELS, PANEL_TITLES, open_by_name

MAX_LISTED_LEVELS = 12


class ExplorePanel(Panel):
    """An AnnData before anything is computed."""

    title = "Explore"
    question = "What is in this data, and which of its columns could be conditions?"
    runs = False

    def make_controls(self, given: Mapping[str, Any]) -> list[Control]:
        """Make the choice of the column with the conditions."""
        found = get.candidate_conditions(self.adata)
        usable = [str(n) for n in found.index[found["usable"]]]
        return [dropdown("groupby", usable or [("none found", None)])]

    def make_tabs(self) -> dict[str, Any]:
        """Make the tables, and a button for each method."""
        self.facts, self.columns, self.levels = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.below = widgets.VBox([])
        self.chosen = ""
        buttons = [self._button(name, label) for name, label in PANEL_TITLES.items()]
        on_user_change(self.controls["groupby"].widget, self._list_levels)
        self._buttons = dict(zip(PANEL_TITLES, buttons, strict=True))
        return {
            "Conditions": widgets.VBox([self.columns, self.levels]),
            "Contents": self.facts,
            "Analyse": widgets.VBox([control_row(buttons), self.below]),
        }

    def _button(self, name: str, label: str) -> Any:
        button = widgets.Button(description=label, tooltip=f"Open dn.panels.{name}")
        button.layout.width = "auto"
        button.on_click(lambda _: self.open_panel(name))
        return button

    def open_panel(self, name: str) -> Any:
        """Open the panel of a method below this one, with the selected column."""
        try:
            panel = open_by_name(name, self.adata, self.controls["groupby"].value)
        except Exception as error:
            self._fail(error, "")
            return None
        self.chosen = name
        self.below.children = [panel]
        self._set_status("ready", f"Opened {PANEL_TITLES[name]} below.")
        self._write_code()
        return panel

    def has_results(self) -> bool:
        """Contents are always shown."""
        return True

    def read(self) -> list[Call]:
        """Read the tables on screen."""
        return [
            Call("dn.get.contents", (), {}, result="contents"),
            Call("dn.get.candidate_conditions", (), {}, result="columns"),
        ]

    @property
    def code(self) -> str:
        """The lines that reproduce what is on screen, with the opened panel."""
        adata = name_of(self.adata)
        lines = ["import diffnb as dn", "\n".join(call.line(adata) for call in self.read())]
        if self.chosen:
            by = self.controls["groupby"].value
            call = Call(f"dn.panels.{self.chosen}", (by,) if by is not None and self.chosen in CONDITION_PANELS else ())
            lines.append(call.line(adata))
        return "\n\n".join(lines) + "\n"

    def show(self) -> None:
        """Fill the tables."""
        contents, columns = (call.run(self.adata) for call in self.read())
        self.facts.value = html_table(contents)
        shown = columns.assign(usable=["yes" if u else "no" for u in columns["usable"]])
        self.columns.value = (
            html_table(shown.drop(columns=["nested"])) if len(columns) else "<p>No column has repeated values.</p>"
        )
        self._list_levels()

    def _list_levels(self) -> None:
        by = self.controls["groupby"].value
        if by is None:
            self.levels.value = ""
            return
        try:
            counts = pd.Series(validate.conditions(self.adata, by)).value_counts(sort=False)
        except ValueError as error:
            self.levels.value = f"<p>{html.escape(str(error))}</p>"
            return
        listed = pd.DataFrame({"observations": counts.iloc[:MAX_LISTED_LEVELS]})
        n_more = len(counts) - MAX_LISTED_LEVELS
        more = f"<p>and {n_more} more</p>" if n_more > 0 else ""
        self.levels.value = f"<p>Levels of {html.escape(by)}</p>{html_table(listed)}{more}"

    def summary(self) -> list[str]:
        """List contents, and the columns that could be conditions."""
        found = get.candidate_conditions(self.adata)
        facts = get.contents(self.adata)["value"]
        lines = [f"{name}: {value}" for name, value in facts.items()]
        for name, row in found.iterrows():
            note = f": {row['note']}" if row["note"] else ""
            lines.append(
                f"obs[{str(name)!r}]: {row['levels']} levels, {row['smallest']} to {row['largest']} each{note}"
            )
        return lines


def html_table(frame: pd.DataFrame) -> str:
    """Return a table as HTML in which every cell is escaped text."""
    head = "".join(f'<th scope="col">{html.escape(str(c))}</th>' for c in ["", *frame.columns])
    rows = "".join(
        f'<tr><th scope="row">{html.escape(str(name))}</th>'
        + "".join(f"<td>{html.escape(str(v))}</td>" for v in values)
        + "</tr>"
        for name, values in zip(frame.index, frame.itertuples(index=False), strict=True)
    )
    return f'<table class="diffnb-plain"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


@documented_panel
def explore(adata: AnnData) -> ExplorePanel:
    """Open a panel that shows the contents of an AnnData and opens the panels of the methods.

    Parameters
    ----------
    adata

    Returns
    -------
    The panel.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> panel = dn.panels.explore(adata)
    >>> opened = panel.open_panel("disc")
    >>> opened.title
    'DiSC'
    """
    return ExplorePanel(adata)
