"""Take the pictures of docs/howto/jupyterlab.md in JupyterLab itself: python docs/make_lab_screenshots.py.

Needs what the browser tests need: the test extra and chromium.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, expect, sync_playwright

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "tests"))

from harness import chromium  # noqa: E402
from harness.lab import Lab  # noqa: E402
from harness.server import Server  # noqa: E402

VIEWPORT = {"width": 1300, "height": 900}
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
LOAD = """import diffnb as dn

adata = dn.datasets.scrna(n_cells=500, n_genes=600, n_donors=8, n_mean=60, n_spread=60, module_size=30)
adata = adata[:, adata.X.getnnz(axis=0) >= 40].copy()
stimulated = adata[adata.obs["condition"] == "stimulated"]"""


def save(lab: Lab, name: str) -> None:
    """Take a picture; few colours are enough for a screen and make it small."""
    lab.page.wait_for_timeout(500)
    taken = lab.screenshot(name)
    path = DOCS / "images" / f"{name}.png"
    path.parent.mkdir(exist_ok=True)
    with Image.open(taken) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.relative_to(DOCS)}: {path.stat().st_size / 1000:.0f} kB")


def card(lab: Lab):
    """Find the card of the object in the sidebar."""
    return lab.page.get_by_role("region", name="adata", exact=True)


def launcher(lab: Lab, shade: str) -> None:
    """Show the cards of diffnb in the launcher."""
    expect(lab.page.locator(".jp-Launcher").get_by_text("New differential analysis")).to_be_visible()
    save(lab, f"lab-launcher-{shade}")


def sidebar(lab: Lab, shade: str) -> None:
    """Show an inserted call and its table."""
    lab.execute("diffnb:show")
    lab.open_notebook([LOAD], "cells.ipynb")
    card(lab).get_by_label("Do", exact=True).select_option("tl.scorecard")
    card(lab).get_by_role("button", name="Insert and run").click()
    expect(lab.output(1)).to_contain_text("mean_pval_adj", timeout=60_000)
    save(lab, f"lab-sidebar-{shade}")


def beside(lab: Lab, shade: str) -> None:
    """Show the DiSC panel in a tab beside the notebook."""
    lab.execute("diffnb:show")
    lab.open_notebook([LOAD], "cells.ipynb")
    card(lab).get_by_label("Do", exact=True).select_option("panels.disc")
    card(lab).get_by_role("button", name="Open beside").click()
    view = lab.page.locator(".jp-LinkedOutputView:visible")
    view.get_by_role("button", name="Run").click(timeout=60_000)
    expect(view).to_contain_text("Done", timeout=120_000)
    save(lab, f"lab-beside-{shade}")


def offer(lab: Lab, shade: str) -> None:
    """Show what a double click on a data file opens."""
    import diffnb as dn

    dn.datasets.newly_connected(n_obs=200).write_h5ad(lab.server.folder / "cells.h5ad")
    lab.execute("filebrowser:refresh")
    lab.page.locator(".jp-DirListing-item", has_text="cells.h5ad").dblclick()
    expect(lab.page.locator(".diffnb-Offer")).to_be_visible()
    save(lab, f"lab-offer-{shade}")


def picture(browser: Browser, server: Server, pictures: Path, scene, shade: str) -> None:
    """Set one scene in a fresh JupyterLab."""
    context = browser.new_context(viewport=VIEWPORT, locale="en-US")
    lab = Lab(context.new_page(), server, pictures)
    lab.start()
    lab.theme(THEMES[shade])
    scene(lab, shade)
    context.close()
    server.end_sessions()
    server.clear_folder()


def main(names: list[str]) -> None:
    """Take all pictures, or those of the scenes that are named."""
    scenes = [scene for scene in (launcher, sidebar, beside, offer) if not names or scene.__name__ in names]
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder, home = (Path(place) / name for name in ("notebooks", "jupyter"))
        for path in (folder, home):
            path.mkdir()
        server = Server(folder=folder, home=home)
        server.start()
        try:
            browser = playwright.chromium.launch(executable_path=chromium.find(), args=chromium.FLAGS)
            for scene in scenes:
                for shade in THEMES:
                    picture(browser, server, Path(place), scene, shade)
            browser.close()
        finally:
            server.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
