"""`panels.explore`: one path from data to a tested answer.

The observations on an embedding, the columns of conditions and samples that are likely, what to mind about them, and
what to ask first; a click on a question runs it.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .. import get
from .._calls import Call, name_of
from ..get._data_remarks import data_remarks
from ..get._remarks import Remark
from . import _choices as choices
from ._controls import Control, dropdown, on_user_change, set_options
from ._docs import documented_panel
from ._frame import Panel
from ._observations import ObservationView
from ._panels import CONDITION_PANELS, QUESTIONS, opening_call

MAX_LISTED_LEVELS = 12
#: components of the embedding that is offered where there is none
N_QUICK_COMPONENTS = 10


class ExplorePanel(Panel):
    """An AnnData before anything is computed, and the way to a first answer."""

    title = "Explore"
    question = "What is in this data, and what can be asked of it?"
    runs = False
    tool = "dn.tl.scorecard"

    def make_controls(self, given: Mapping[str, Any]) -> list[Control]:
        """Make the choices of conditions, samples and covariates."""
        found = get.candidate_conditions(self.adata)
        usable = [str(n) for n in found.index[found["usable"]]]
        wanted = given.get("groupby")
        if wanted is not None:
            validate.obs_column(self.adata, "groupby", wanted)
            usable = list(dict.fromkeys([*usable, str(wanted)]))
        by = dropdown("groupby", usable or [("none found", None)], value=wanted)
        if by.value is None:
            return [by]
        samples = choices.sample_key(self.adata, by, given)
        return [by, samples, choices.covariates(self.adata, given, by, samples)]

    def make_tabs(self) -> dict[str, Any]:
        """Make the map, the tables, and the questions."""
        self.observations = ObservationView(self.adata, self._on_view, self._on_saved)
        self.facts, self.columns, self.levels = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.below = widgets.VBox([])
        self.chosen = ""
        self._buttons = {name: self._button(name) for name in QUESTIONS}
        self._remarks: list[Remark] = []
        for control in self.controls.values():
            on_user_change(control.widget, self._on_columns)
        return {
            "Observations": self.observations.tab(*self._offer_of_embedding()),
            "Conditions": widgets.VBox([self.columns, self.levels]),
            "Contents": self.facts,
        }

    def _settings(self) -> list[Any]:
        row, advanced, actions = super()._settings()
        heading = widgets.HTML("<h4>What to ask, in this order</h4>")
        self.questions = widgets.VBox([heading, *self._buttons.values()])
        self.questions.add_class("diffnb-questions")
        return [row, advanced, self.questions, actions]

    def below_tabs(self) -> list[Any]:
        """Return the panel that was opened."""
        return [self.below]

    def _offer_of_embedding(self) -> list[Any]:
        note = widgets.HTML("<p>There is no embedding of the observations in adata.obsm yet.</p>")
        self.pca_button = widgets.Button(description="Compute a quick PCA", button_style="primary")
        self.pca_button.tooltip = f"Run sc.pp.pca(adata, n_comps={self._n_components()})"
        self.pca_button.layout.width = "auto"
        self.pca_button.on_click(lambda _: None if self._worker.busy else self.run())
        return [note, self.pca_button]

    def _n_components(self) -> int:
        n_obs, n_vars = self.adata.shape
        return max(1, min(N_QUICK_COMPONENTS, int(n_obs) - 1, int(n_vars) - 1))

    def calls(self) -> list[Call]:
        """Compute an embedding."""
        return [Call("sc.pp.pca", (), {"n_comps": self._n_components()})]

    def _button(self, name: str) -> Any:
        number = list(QUESTIONS).index(name) + 1
        button = widgets.Button(description=f"{number}. {QUESTIONS[name]}", tooltip=f"Open dn.panels.{name} and run it")
        button.add_class("diffnb-question")
        button.disabled = name in CONDITION_PANELS and self.controls["groupby"].value is None
        button.on_click(lambda _: self.ask(name))
        return button

    def columns_chosen(self) -> dict[str, Any]:
        """Return the columns of conditions, samples and covariates."""
        names = ("groupby", "sample_key", "covariates")
        return {name: self.controls[name].value if name in self.controls else None for name in names}

    def ask(self, name: str) -> Any:
        """Open the panel that answers a question below this one, and run it unless its results are there."""
        panel = self.open_panel(name)
        if panel is not None and (not panel.has_results() or panel.changed_settings()):
            panel.run()
        return panel

    def open_panel(self, name: str) -> Any:
        """Open the panel of a method below this one, with the selected columns."""
        try:
            panel = opening_call(name, **self.columns_chosen()).run(self.adata)
        except Exception as error:
            self._fail(error, "")
            return None
        self.chosen = name
        self.below.children = [panel]
        self._set_status("ready", f"Opened below: {panel.title}.")
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
        made = list(self._calls_by_key.values())
        lines = ["import diffnb as dn" + "\nimport scanpy as sc" * bool(made)]
        lines += ["\n".join(call.line(adata) for call in calls) for calls in (made, self.read()) if calls]
        lines += self.observations.lines(adata)
        if self.chosen:
            lines.append(opening_call(self.chosen, **self.columns_chosen()).line(adata))
        return "\n\n".join(lines) + "\n"

    def about_results(self) -> list[Remark]:
        """Say what to mind about the selected columns."""
        return self._remarks

    def recolor(self) -> None:
        """Colour the map for the theme of the page."""
        self.observations.repaint(self.status.dark)

    def tab_controls(self) -> list[Control]:
        """Return the controls of the map."""
        return self.observations.controls

    def show(self) -> None:
        """Fill the map, the tables and the remarks."""
        contents, columns = (call.run(self.adata) for call in self.read())
        self.facts.value = html_table(contents)
        shown = columns.assign(usable=["yes" if u else "no" for u in columns["usable"]])
        self.columns.value = (
            html_table(shown.drop(columns=["nested"])) if len(columns) else "<p>No column has repeated values.</p>"
        )
        self.observations.show(self.controls["groupby"].value)
        self._list_levels()
        self._find_remarks()

    def _on_columns(self) -> None:
        """Follow a change of conditions, samples or covariates."""
        by = self.controls["groupby"].value
        for name in CONDITION_PANELS:
            self._buttons[name].disabled = by is None
        if by is not None:
            self.observations.color_by(by)
        self._list_levels()
        self._find_remarks()
        self._about = self._remarks
        self._on_view()

    def _on_saved(self, column: str) -> None:
        """Offer a selection that was saved as conditions."""
        by = self.controls["groupby"]
        offered = [value for _, value in by.widget.options if isinstance(value, str)]
        set_options(by, list(dict.fromkeys([*offered, column])))
        self.observations.show(self.observations.color.value)
        self._on_columns()

    def _find_remarks(self) -> None:
        chosen = self.columns_chosen()
        if chosen["groupby"] is None:
            text = (
                "No column of adata.obs could hold conditions: two levels or more, each with at least 3 observations."
            )
            self._remarks = [Remark("mind", f"{text} Select observations with the lasso, and save them as a column.")]
            return
        try:
            self._remarks = data_remarks(self.adata, chosen["groupby"], chosen["sample_key"])
        except Exception as error:
            self._remarks = [Remark("mind", f"The data could not be checked: {error}")]

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
        """List contents, and what to mind about the likeliest conditions."""
        facts = get.contents(self.adata)["value"]
        lines = [f"{name}: {value}" for name, value in facts.items()]
        for name, row in get.candidate_conditions(self.adata).iterrows():
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
def explore(
    adata: AnnData,
    groupby: str | None = None,
    *,
    sample_key: str | None = "auto",
    covariates: Sequence[str] | None = None,
) -> ExplorePanel:
    """Open a panel that shows an AnnData, what to mind about it and what to ask, and answers it.

    Parameters
    ----------
    adata
    groupby
    sample_key
    covariates

    Returns
    -------
    The panel.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> panel = dn.panels.explore(adata)
    >>> opened = panel.ask("scorecard")
    >>> opened.wait()
    True
    >>> opened.status.state
    'done'
    """
    return ExplorePanel(adata, groupby=groupby, sample_key=sample_key, covariates=covariates)
