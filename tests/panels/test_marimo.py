"""The views of the panels in marimo, which shows anywidgets and knows nothing of JupyterLab and its extensions."""

import re

import marimo
import pytest

import diffnb as dn
from diffnb.panels._feature_map import FeatureMap
from diffnb.panels._feature_table import FeatureTable
from diffnb.panels._views import CodeView, Picture, Status


@pytest.mark.parametrize("view", [CodeView, FeatureMap, FeatureTable, Picture, Status])
def test_marimo_shows_every_view(view):
    shown = marimo.ui.anywidget(view())
    assert "<marimo-anywidget" in shown.text
    assert re.findall(r"https?://[^'\"&\s]+", shown.text) == []  # nothing is loaded from elsewhere


def test_a_notebook_of_marimo_runs_a_panel_and_shows_its_table():
    app = marimo.App()

    @app.cell
    def compute():
        import diffnb as dn

        panel = dn.panels.scorecard(dn.datasets.newly_connected(n_obs=40, random_state=0), "condition")
        panel.run()
        panel.wait()
        return (panel,)

    @app.cell
    def show(panel):
        import marimo

        table = marimo.ui.anywidget(panel.features.table)
        table  # noqa: B018, the last value of a cell is shown
        return (table,)

    outputs, defined = app.run()
    assert defined["panel"].status.state == "done"
    assert "<marimo-anywidget" in outputs[-1].text


def test_what_is_done_on_the_page_reaches_the_panel(adata):
    dn.tl.scorecard(adata, "condition")
    panel = dn.panels.scorecard(adata, "condition")
    shown = marimo.ui.anywidget(panel.features.table)
    shown._update({"only_selected": True})  # what marimo calls when the page sends a change
    assert panel.features.table.only_selected
