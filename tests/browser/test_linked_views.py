"""Linked views of a group of features in JupyterLab: what is selected in one is followed by the others."""

import pytest
from playwright.sync_api import expect

LOAD = """import numpy as np
import diffnb as dn
adata = dn.datasets.newly_connected(n_obs=150)
adata.obsm["X_umap"] = np.random.default_rng(0).normal(size=(adata.n_obs, 2))
dn.tl.disc(adata, "condition", n_clusters=3)
dn.tl.meta_features(adata)"""
DRAWN = "() => [...document.querySelectorAll('.diffnb-map')].filter(m => m.diffnbDraws?.count && m.offsetParent).length"
#: whether any pixel of the canvas of edges is painted
EDGES = """() => {
    const stages = [...document.querySelectorAll('.diffnb-stage')].filter(s => s.offsetParent);
    const canvas = stages[1].querySelector('canvas');
    return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(v => v > 0);
}"""


@pytest.fixture
def panel(lab):
    lab.open_notebook([LOAD, "panel = dn.panels.disc(adata)\npanel"])
    panel = lab.page.locator(".diffnb-panel").first
    panel.get_by_role("tab", name="Linked views", exact=True).click()
    expect(panel.locator(".diffnb-pairs")).to_have_count(2, timeout=60_000)
    lab.page.wait_for_function(f"({DRAWN})() === 2")
    return panel


def test_a_pair_and_a_lasso_are_followed_by_all_views(panel, lab):
    page = lab.page
    assert page.evaluate(EDGES)
    legend = panel.locator(".diffnb-legend:visible").first
    expect(legend).to_contain_text("score of A1")
    first = panel.locator(".diffnb-square .diffnb-overlay").first
    first.focus()
    page.keyboard.press("ArrowDown")
    expect(panel.locator(".diffnb-square .diffnb-tip").first).to_contain_text("r = ")
    page.keyboard.press("Enter")
    expect(legend).to_contain_text("score of 2 selected features")
    expect(panel.locator(".diffnb-row[aria-selected=true]:visible")).to_have_count(2)

    panel.get_by_role("button", name="Lasso", exact=True).first.click()
    overlay = panel.locator(".diffnb-stage .diffnb-overlay:visible").first
    overlay.scroll_into_view_if_needed()
    box = overlay.bounding_box()
    corners = [(0.2, 0.1), (0.6, 0.1), (0.6, 0.9), (0.2, 0.9), (0.2, 0.1)]
    places = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=4)
    page.mouse.up()
    expect(panel.locator(".diffnb-hint").filter(has_text="observations are selected")).to_be_visible()
    expect(panel.get_by_role("button", name="mean_rest", exact=True)).to_be_visible()
    assert lab.errors == []
