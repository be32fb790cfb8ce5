"""The sidebar in JupyterLab: what it lists, what it says, what it inserts."""

from __future__ import annotations

import json
import re
import shutil
import sys

import pytest
from harness import axe
from playwright.sync_api import expect

HOSTILE = "<img src=x onerror=alert(1)>"
KLINGON = """
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel


class Klingon(Kernel):
    implementation, implementation_version, banner = "klingon", "1", "nuqneH"
    language_info = {"name": "klingon", "mimetype": "text/plain", "file_extension": ".tlh"}

    def do_execute(self, code, silent, *args, **kwargs):
        raise AssertionError("a kernel of another language was asked something")


IPKernelApp.launch_instance(kernel_class=Klingon)
"""
LOAD = "import diffnb as dn\nadata = dn.datasets.newly_connected(n_obs=50)"


@pytest.fixture
def sidebar(lab):
    lab.execute("diffnb:show")
    return lab.page.locator(".diffnb-Sidebar")


def card(sidebar, name):
    return sidebar.get_by_role("region", name=name, exact=True)


def test_objects_appear_when_a_cell_runs_and_go_when_the_kernel_restarts(lab, sidebar):
    lab.open_notebook([LOAD, "del adata", "count = 1\ncount"], run=False)
    expect(sidebar.get_by_role("status")).to_contain_text("No AnnData object")
    lab.execute("notebook:run-cell")
    expect(card(sidebar, "adata")).to_contain_text("100 × 250")
    expect(card(sidebar, "adata").get_by_label("Conditions")).to_contain_text("condition (2)")
    lab.execute("notebook:run-all-below")
    expect(card(sidebar, "adata")).to_have_count(0)
    # four cells have run, the first of them twice: our questions count as no execution
    expect(lab.cell(2).locator(".jp-OutputPrompt")).to_have_text("[4]:")
    lab.execute("notebook:run-all-cells")
    lab.start_command("notebook:restart-kernel")
    lab.page.get_by_role("button", name="Confirm Kernel Restart").click()
    expect(sidebar.get_by_role("status")).to_contain_text("No AnnData object", timeout=30_000)
    assert lab.errors == []


def test_each_notebook_shows_its_own_objects(lab, sidebar):
    lab.open_notebook([LOAD], "first.ipynb")
    expect(card(sidebar, "adata")).to_be_visible()
    lab.open_notebook(["other = 1"], "second.ipynb")
    expect(card(sidebar, "adata")).to_have_count(0)
    lab.open("first.ipynb")
    expect(card(sidebar, "adata")).to_be_visible()


def test_a_call_is_seen_before_it_is_inserted_and_then_runs(lab, sidebar):
    lab.open_notebook([LOAD, "# the end"])
    own = card(sidebar, "adata")
    own.get_by_label("Do").select_option("tl.scorecard")
    code = 'dn.tl.scorecard(adata, "condition")\ndn.get.scorecard(adata)'
    expect(own.get_by_label("The code to insert")).to_have_text(code)
    own.get_by_role("button", name="Insert and run").click()
    expect(lab.output(2)).to_contain_text("mean_pval_adj", timeout=60_000)
    assert lab.sources() == [LOAD, "# the end", code]


def tab_to(lab, element, most=6):
    """Press Tab until an element has the focus."""
    for _ in range(most):
        lab.page.keyboard.press("Tab")
        if element.evaluate("found => found === document.activeElement"):
            break
    expect(element).to_be_focused()


def test_the_sidebar_is_worked_with_the_keyboard(lab, sidebar):
    lab.open_notebook([LOAD])
    own = card(sidebar, "adata")
    expect(own).to_be_visible()
    own.get_by_label("Conditions").focus()
    tab_to(lab, own.get_by_label("Do"))
    lab.page.keyboard.type("Scorecard panel")
    code = own.get_by_label("The code to insert")
    expect(code).to_contain_text("dn.panels.scorecard")
    for _ in range(10):  # calls follow the panels
        lab.page.keyboard.press("ArrowDown")
        if "dn.tl.scorecard" in code.text_content():
            break
    expect(code).to_contain_text("dn.tl.scorecard")
    tab_to(lab, own.get_by_role("button", name="Insert and run"))
    lab.page.keyboard.press("Enter")
    expect(lab.output(1)).to_contain_text("mean_pval_adj", timeout=60_000)


def test_a_kernel_without_diffnb_imported_gets_the_import(lab, sidebar):
    lab.open_notebook(["import anndata, numpy\nplain = anndata.AnnData(numpy.ones((4, 3)))"])
    own = card(sidebar, "plain")
    expect(own).to_contain_text("4 × 3")
    expect(own).to_contain_text("No column of obs could hold conditions")
    expect(own.get_by_label("The code to insert")).to_have_text("import diffnb as dn\n\ndn.panels.explore(plain)")


def test_hostile_names_stay_text(lab, sidebar):
    name = json.dumps(HOSTILE)
    lab.open_notebook([f"{LOAD}\nadata.obs[{name}] = adata.obs['condition']\nglobals()[{name}] = adata"])
    own = card(sidebar, HOSTILE)
    expect(own.get_by_role("heading")).to_have_text(HOSTILE)
    own.get_by_label("Conditions").select_option(HOSTILE)
    own.get_by_label("Do").select_option("tl.scorecard")
    own.get_by_role("button", name="Insert and run").click()
    expect(lab.output(1)).to_contain_text("mean_pval_adj", timeout=60_000)
    assert lab.sources()[1].startswith(f"dn.tl.scorecard(globals()[{name}], {name})")
    assert sidebar.locator("img").count() == 0
    assert lab.dialogs == []


def test_a_busy_kernel_is_said_so_and_keeps_the_list(lab, sidebar):
    lab.open_notebook([LOAD, "import time\ntime.sleep(4)\nlate = adata.copy()"], run=False)
    lab.execute("notebook:run-cell")
    expect(card(sidebar, "adata")).to_be_visible()
    lab.start_command("notebook:run-all-below")
    expect(sidebar.get_by_role("status")).to_contain_text("The kernel is busy")
    expect(card(sidebar, "adata")).to_be_visible()
    expect(card(sidebar, "late")).to_be_visible(timeout=20_000)
    expect(sidebar.get_by_role("status")).to_have_text("2 AnnData objects in this kernel.")


def test_no_notebook_and_no_kernel_are_said_so(lab, sidebar):
    expect(sidebar.get_by_role("status")).to_contain_text("Open a notebook")
    lab.open_notebook([LOAD])
    lab.execute("kernelmenu:shutdown")
    expect(sidebar.get_by_role("status")).to_contain_text(re.compile("no kernel|not running"))


@pytest.fixture
def klingon(server):
    """A kernel that would fail loudly if it were asked to run something; there before JupyterLab looks for kernels."""
    spec = server.home / "data" / "kernels" / "klingon"
    spec.mkdir(parents=True)
    (spec / "klingon.py").write_text(KLINGON, encoding="utf-8")
    argv = [sys.executable, str(spec / "klingon.py"), "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Klingon", "language": "klingon"}))
    yield "klingon"
    shutil.rmtree(spec)


def test_a_kernel_of_another_language_is_left_alone(klingon, lab, sidebar):
    lab.open(lab.write_notebook(["nuqneH"], kernel=klingon))
    expect(sidebar.get_by_role("status")).to_contain_text("The language of this kernel is klingon")


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_text_stands_out_in_every_theme(lab, sidebar, theme):
    lab.theme(theme)
    lab.open_notebook([f"{LOAD}\nbare = adata[:, :3].copy()\ndel bare.obs['condition']"])
    expect(card(sidebar, "bare")).to_be_visible()
    ratio, text = lab.worst_contrast(sidebar)
    assert ratio >= 4.5, text
    assert axe.findings(lab.page, ".diffnb-Sidebar") == []
    lab.screenshot(f"sidebar-{theme.split()[-1].lower()}")


def test_a_panel_opens_in_a_tab_beside_the_notebook_and_the_line_stays_in_it(lab, sidebar):
    lab.open_notebook([LOAD])
    own = card(sidebar, "adata")
    own.get_by_label("Do").select_option("panels.disc")
    own.get_by_role("button", name="Open beside").click()
    beside = lab.page.locator(".jp-LinkedOutputView:visible")
    expect(beside.get_by_role("button", name="Run")).to_be_visible(timeout=60_000)
    notebook = lab.page.locator(".jp-NotebookPanel:visible")
    expect(notebook.locator(".jp-Cell").last).to_contain_text('dn.panels.disc(adata, "condition")')
    left, right = notebook.bounding_box(), beside.bounding_box()
    assert left["x"] + left["width"] <= right["x"]
    lab.screenshot("panel-beside")
