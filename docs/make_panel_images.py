"""Take the screenshots of docs/howto/panels.md: `python docs/make_panel_images.py [name …]`.

Writes docs/images/panel_*.png; needs the test tools and chromium.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT.parent / "tests"))

from harness import chromium  # noqa: E402
from harness.lab import Lab  # noqa: E402
from harness.server import Server  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

CELLS = "adata = dn.datasets.scrna(n_cells=400, n_genes=600, n_donors=8, n_mean=60, n_spread=60, module_size=30)"
TOY = "adata = dn.datasets.newly_connected(n_obs=500)"
#: data, call, settings by their labels, and the tabs that are shown with the names of their pictures
PANELS = {
    "explore": (CELLS, "explore(adata)", {}, {"Observations": "explore"}),
    "scorecard": (CELLS, "scorecard(adata)", {}, {"Features": "scorecard"}),
    "disc": (
        TOY,
        "disc(adata)",
        {"permutations": "99"},
        {"Significance": "disc_significance", "Linked views": "disc_linked", "Features": "disc"},
    ),
    "sparda": (
        "adata = dn.datasets.nuisance_factor(n_obs=300, n_features=100)",
        "sparda(adata)",
        {},
        {"Projection": "sparda"},
    ),
    "dufs": ("adata = dn.datasets.two_moons(30)", "dufs(adata)", {}, {"Gates": "dufs"}),
    "informed": ("adata = dn.datasets.two_types(n_obs=100)", "informed(adata)", {}, {"Embedding": "informed"}),
    "compare": (CELLS, "compare(adata)", {"SPARDA features": "30"}, {"Ranks": "compare"}),
}
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
WIDTH = 1000


def take(lab: Lab, name: str) -> None:
    """Run one panel and take its picture in both themes."""
    data, call, settings, tabs = PANELS[name]
    lab.theme(THEMES["light"])
    lab.open_notebook([f"import diffnb as dn\n{data}", f"dn.panels.{call}"], name=f"{name}.ipynb")
    lab.execute("application:toggle-left-area")
    panel = lab.page.locator(".jp-NotebookPanel:visible .diffnb-panel").first
    for label, value in settings.items():
        fill(panel, label, value)
    if name != "explore":
        panel.get_by_role("button", name="Run", exact=True).click()
        panel.locator(".diffnb-status[data-state='done']").first.wait_for(timeout=300_000)
    for tab, stem in tabs.items():
        panel.get_by_role("tab", name=tab, exact=True).click()
        if stem == "disc":
            draw_around_the_right(lab, panel)
        for theme, called in THEMES.items():
            lab.theme(called)
            lab.page.wait_for_timeout(4000)  # figures are drawn again for the theme
            save(panel, ROOT / "images" / f"panel_{stem}_{theme}.png")
    lab.execute("application:toggle-left-area")


def save(panel, path: Path) -> None:
    """Take a picture; few colours are enough for a screen and make it small."""
    panel.screenshot(path=path)
    with Image.open(path) as taken:
        image = taken.convert("RGB")
    image.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    print(path.relative_to(ROOT.parent), image.size, f"{path.stat().st_size / 1000:.0f} kB", flush=True)


def fill(panel, label: str, value: str) -> None:
    """Type into a field, which may be folded away, and fold it again."""
    field, folded = panel.get_by_label(label, exact=True), panel.locator(".jupyter-widget-Collapse-header").first
    is_folded = not field.is_visible()
    if is_folded:
        folded.click()
    field.fill(value)
    field.press("Tab")
    if is_folded:
        folded.click()


def draw_around_the_right(lab: Lab, panel) -> None:
    """Select some features, so that map and table show what they share."""
    panel.get_by_role("button", name="Lasso", exact=True).click()
    overlay = panel.locator(".diffnb-overlay:visible")
    overlay.scroll_into_view_if_needed()
    box = overlay.bounding_box()
    corners = [(0.55, 0.02), (0.98, 0.02), (0.98, 0.5), (0.6, 0.5), (0.55, 0.02)]
    places = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in corners]
    lab.page.mouse.move(*places[0])
    lab.page.mouse.down()
    for place in places[1:]:
        lab.page.mouse.move(*place, steps=6)
    lab.page.mouse.up()


def main(names: list[str]) -> None:
    """Take the pictures of these panels."""
    (ROOT / "images").mkdir(exist_ok=True)
    server = Server(folder=Path(tempfile.mkdtemp()), home=Path(tempfile.mkdtemp()))
    server.start()
    with sync_playwright() as playwright:
        path = chromium.find()
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=chromium.FLAGS)
        for name in names:
            page = browser.new_context(viewport={"width": WIDTH + 180, "height": 1900}, locale="en-US").new_page()
            lab = Lab(page, server, ROOT)
            lab.start()
            take(lab, name)
            page.context.close()
            server.end_sessions()
        browser.close()
    server.stop()


if __name__ == "__main__":
    main(sys.argv[1:] or list(PANELS))
