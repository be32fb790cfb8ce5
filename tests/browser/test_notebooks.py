"""Tutorials, the template and data files: a notebook opens, fresh, and over nothing."""

from __future__ import annotations

import json
from pathlib import Path

import anndata
import nbformat
import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

QUICKSTART = Path(__file__).parents[2] / "notebooks" / "00_quickstart.ipynb"
TITLE = "Five minutes with diffnb"


@pytest.fixture
def cells():
    obs = pd.DataFrame({"arm": ["a", "b"] * 20}, index=[f"c{i}" for i in range(40)])
    return anndata.AnnData(np.random.default_rng(0).normal(size=(40, 6)).astype("float32"), obs=obs)


def code_of(path):
    return [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def test_a_card_of_the_launcher_opens_a_fresh_copy_of_a_tutorial(lab, server):
    launcher = lab.page.locator(".jp-Launcher")
    drawings = launcher.locator(".jp-LauncherCard[data-category=diffnb] svg")
    assert len({*drawings.evaluate_all("all => all.map(svg => svg.innerHTML)")}) == drawings.count()
    assert drawings.count() == 1 + len([*QUICKSTART.parent.glob("0*.ipynb")])
    launcher.get_by_text(TITLE).click()
    lab.wait_idle()
    copy = server.folder / "00_quickstart.ipynb"
    assert code_of(copy) == code_of(QUICKSTART)
    assert all(not cell.get("outputs") for cell in nbformat.read(copy, as_version=4).cells)
    expect(lab.page.locator(".jp-NotebookPanel:visible")).to_contain_text(TITLE)


def test_a_second_copy_leaves_the_first_as_it_is(lab, server):
    (server.folder / "sub").mkdir()
    mine = server.folder / "sub" / "00_quickstart.ipynb"
    mine.write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', encoding="utf-8")
    before = mine.read_bytes()
    lab.execute("diffnb:open-tutorial", {"file": "00_quickstart.ipynb", "cwd": "sub"})
    lab.wait_idle()
    assert mine.read_bytes() == before
    assert code_of(server.folder / "sub" / "00_quickstart-1.ipynb") == code_of(QUICKSTART)


def test_the_palette_has_the_tutorials_and_the_template(lab):
    for words in (f"Tutorial: {TITLE}", "New Differential Analysis Notebook", "Show the AnnData Objects"):
        lab.execute("apputils:activate-command-palette")
        lab.page.locator(".lm-CommandPalette-input").fill(words)
        expect(lab.page.locator(".lm-CommandPalette-itemLabel").first).to_contain_text(words)
        lab.page.keyboard.press("Escape")


def test_the_template_asks_for_data_and_offers_the_files_of_the_folder(lab, server, cells):
    cells.write_h5ad(server.folder / 'my "own" cells.h5ad')
    lab.page.locator(".jp-Launcher").get_by_text("New differential analysis").click()
    dialog = lab.page.get_by_role("dialog")
    expect(dialog.locator("datalist option")).to_have_count(2)
    offered = dialog.locator("datalist option").evaluate_all("all => all.map(o => o.textContent || o.value)")
    assert offered == ["Simulated cells that come with diffnb", 'my "own" cells.h5ad']
    dialog.locator("input").fill('my "own" cells.h5ad')
    dialog.get_by_role("button", name="Create").click()
    lab.wait_idle()
    load = code_of(server.folder / "differential_analysis.ipynb")[0]
    assert 'adata = ad.read_h5ad("my \\"own\\" cells.h5ad")' in load
    exec(compile("\n".join(load.splitlines()[:2]), "load", "exec"), {})


def test_the_template_without_a_file_runs_from_top_to_bottom(lab, server):
    lab.page.locator(".jp-Launcher").get_by_text("New differential analysis").click()
    lab.page.get_by_role("dialog").get_by_role("button", name="Create").click()
    lab.wait_idle()
    lab.run_all()
    lab.save()
    notebook = nbformat.read(server.folder / "differential_analysis.ipynb", as_version=4)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert [output.evalue for output in outputs if output.output_type == "error"] == []
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 3


def test_a_double_click_on_a_data_file_offers_to_explore_it_and_never_reads_or_writes_it(lab, server, cells):
    path = server.folder / "cells.h5ad"
    cells.write_h5ad(path)
    before = path.read_bytes()
    asked = []
    lab.page.on("request", lambda request: asked.append(request.url))
    lab.execute("filebrowser:refresh")
    lab.page.locator(".jp-DirListing-item", has_text="cells.h5ad").dblclick()
    offer = lab.page.locator(".diffnb-Offer")
    expect(offer.get_by_role("heading")).to_have_text("cells.h5ad")
    expect(offer).to_contain_text("MB.")
    assert not [url for url in asked if "contents/cells.h5ad" in url and "content=1" in url]
    # not waited for: a dialog that asks what to do would never be answered
    lab.page.evaluate("() => void window.jupyterapp.commands.execute('docmanager:save').catch(() => null)")
    lab.page.wait_for_timeout(500)
    assert path.read_bytes() == before
    if lab.page.get_by_role("dialog").is_visible():
        lab.page.keyboard.press("Escape")
    offer.get_by_role("button", name="Explore with diffnb").click()
    lab.wait_idle()
    expect(lab.output(0)).to_contain_text("n_obs × n_vars = 40 × 6", timeout=60_000)
    assert lab.sources()[1] == "dn.panels.explore(adata)"
    assert path.read_bytes() == before


@pytest.mark.filterwarnings("ignore:Writing zarr v2:UserWarning")
def test_a_zarr_store_is_offered_on_entering_it_and_from_the_menu(lab, server, cells):
    cells.write_zarr(server.folder / "cells.zarr")
    lab.execute("filebrowser:refresh")
    store = lab.page.locator(".jp-DirListing-item", has_text="cells.zarr")
    store.click(button="right")
    expect(lab.page.locator(".lm-Menu").get_by_text("Explore with diffnb")).to_be_visible()
    lab.page.keyboard.press("Escape")
    store.dblclick()
    lab.page.get_by_role("button", name="Explore with diffnb").click()
    lab.wait_idle()
    expect(lab.output(0)).to_contain_text("n_obs × n_vars = 40 × 6", timeout=60_000)
    assert (server.folder / "cells-explore.ipynb").exists()


def test_other_files_are_not_offered(lab, server):
    (server.folder / "notes.txt").write_text("nothing", encoding="utf-8")
    lab.execute("filebrowser:refresh")
    lab.page.locator(".jp-DirListing-item", has_text="notes.txt").click(button="right")
    expect(lab.page.locator(".lm-Menu").get_by_text("Rename")).to_be_visible()
    expect(lab.page.locator(".lm-Menu").get_by_text("Explore with diffnb")).to_be_hidden()


def test_a_file_whose_name_is_markup_shows_as_text(lab, server, cells):
    name = "<img src=x onerror=alert(1)>.h5ad"
    cells.write_h5ad(server.folder / name)
    lab.execute("docmanager:open", {"path": name})
    expect(lab.page.locator(".diffnb-Offer").get_by_role("heading")).to_have_text(name)
    lab.page.get_by_role("button", name="Explore with diffnb").click()
    lab.wait_idle()
    expect(lab.output(0)).to_contain_text("n_obs × n_vars = 40 × 6", timeout=60_000)
    assert json.dumps(name) in lab.sources()[0]
    (server.folder / name.replace("h5ad", "zarr")).mkdir()
    lab.execute("filebrowser:open-path", {"path": name.replace("h5ad", "zarr")})
    expect(lab.page.get_by_role("alert")).to_contain_text("<img src=x onerror=alert(1)>.zarr looks like")
    assert lab.dialogs == []
