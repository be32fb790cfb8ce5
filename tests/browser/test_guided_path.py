"""From an .h5ad to a tested answer in JupyterLab, on real cells; the report of it without a network."""

import shutil

import pytest
from harness import axe
from playwright.sync_api import expect

LOAD = """import diffnb as dn
import numpy as np
adata = dn.datasets.pbmc()
adata = adata[adata.obs["bulk_labels"].isin(["CD14+ Monocyte", "CD56+ NK"]), :150].copy()
adata.obs["bulk_labels"] = adata.obs["bulk_labels"].cat.remove_unused_categories()
adata.obs["donor"] = np.array(["d1", "d2", "d3"])[np.arange(adata.n_obs) % 3]
adata.obs["kind"] = adata.obs["bulk_labels"].astype(str)"""
SHOW = 'dn.panels.explore(adata, "kind")'
UNDESCRIBED = """() => [...document.querySelectorAll('.diffnb-panel .diffnb-control')]
    .filter(control => !control.title).map(control => control.innerText.split('\\n')[0])"""


@pytest.fixture
def explore(lab):
    lab.open_notebook([LOAD, SHOW, 'print(dn.report(adata, "report.html"))'])
    panel = lab.page.locator(".diffnb-panel").first
    expect(panel.locator(".diffnb-status").first).to_have_attribute("data-state", "ready", timeout=90_000)
    return panel


def test_two_keys_lead_from_the_data_to_a_tested_answer_and_its_report(explore, lab, browser):
    expect(explore.get_by_label("samples in", exact=True)).to_have_value("donor")
    expect(explore.locator(".diffnb-banner").first).to_contain_text("Units of the p-values: the 3 samples in 'donor'.")
    first = explore.get_by_role("button", name="1. How does each feature differ")
    explore.get_by_label("samples in", exact=True).focus()
    for _ in range(10):  # Tab goes on to the first question, past the covariates and what is folded
        lab.page.keyboard.press("Tab")
        if first.evaluate("button => button === document.activeElement"):
            break
    lab.page.keyboard.press("Enter")
    answer = explore.locator(".diffnb-panel")
    expect(answer.locator(".diffnb-status")).to_have_attribute("data-state", "done", timeout=90_000)
    expect(answer.locator(".diffnb-banner")).to_contain_text("Tested: every feature in four ways")
    answer.get_by_role("tab", name="Table", exact=True).click()
    expect(answer.locator(".diffnb-row:visible").first).to_be_visible()
    lab.page.wait_for_timeout(500)
    assert lab.page.evaluate(UNDESCRIBED) == []
    assert axe.findings(lab.page, ".diffnb-panel") == []
    assert lab.errors == []

    lab.page.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 2; }")
    lab.execute("notebook:run-cell")
    expect(lab.output(2)).to_contain_text("report.html", timeout=60_000)
    path = lab.server.folder / "report.html"
    context = browser.new_context(offline=True)
    page = context.new_page()
    shutil.copy(path, path.with_name("alone.html"))
    failures = []
    page.on("console", lambda message: failures.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: failures.append(request.url) if request.url.startswith("http") else None)
    page.goto(path.with_name("alone.html").as_uri())
    rows = page.locator(".live tbody tr")
    expect(rows).to_have_count(25)
    page.get_by_label("Filter").fill(page.locator(".live tbody td").first.inner_text())
    assert rows.count() < 25
    page.get_by_label("Filter").fill("")
    page.get_by_role("button", name="mean_stat", exact=True).press("Enter")
    expect(page.locator("th[aria-sort=descending]")).to_have_text("mean_stat")
    for shade in ("light", "dark"):
        page.emulate_media(color_scheme=shade)
        assert axe.findings(page, "body") == [], shade
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 400
    assert failures == []
    context.close()
