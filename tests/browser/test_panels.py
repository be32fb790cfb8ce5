"""Panels in a real JupyterLab: with the mouse, with keys, in the dark, stopped, copied, and without a kernel."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

QUICKSTART = Path(__file__).parents[2] / "notebooks" / "00_quickstart.ipynb"
LOAD = "import diffnb as dn\nadata = dn.datasets.newly_connected(n_obs=100)"
SHOW = "panel = dn.panels.disc(adata)\npanel"
DONE = 90_000
EVIL = "<img src=x onerror=alert(1)>"


class PanelPage:
    """A panel in a notebook, and the actions of a user."""

    def __init__(self, lab, root=".diffnb-panel"):
        self.lab, self.page = lab, lab.page
        self.root = lab.page.locator(root).first

    def button(self, name):
        return self.root.get_by_role("button", name=name, exact=True)

    def field(self, name):
        return self.root.get_by_label(name, exact=True)

    def open_advanced(self):
        """Unfold the settings that few users need."""
        folded = self.root.locator(".jupyter-widget-Collapse").first
        if "jupyter-widget-Collapse-open" not in (folded.get_attribute("class") or ""):
            folded.locator(".jupyter-widget-Collapse-header").click()

    def fill(self, name, value):
        """Type into a field and leave it."""
        if not self.field(name).first.is_visible():
            self.open_advanced()
        self.field(name).fill(value)
        self.field(name).press("Tab")

    def tab(self, name):
        return self.root.get_by_role("tab", name=name, exact=True)

    def state(self, name, timeout=DONE):
        expect(self.root.locator(".diffnb-status").first).to_have_attribute("data-state", name, timeout=timeout)

    def run(self):
        self.button("Run").click()
        self.state("done")

    @property
    def map(self):
        return self.root.locator(".diffnb-overlay:visible")

    @property
    def rows(self):
        return self.root.locator(".diffnb-row:visible")

    @property
    def counted(self):
        return self.root.locator(".diffnb-counted:visible")

    def lasso(self, corners):
        """Draw around a part of the map, given in shares of its width and height."""
        self.map.scroll_into_view_if_needed()
        box = self.map.bounding_box()
        places = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in corners]
        mouse = self.page.mouse
        mouse.move(*places[0])
        mouse.down()
        for place in [*places[1:], places[0]]:
            mouse.move(*place, steps=5)
        mouse.up()


@pytest.fixture
def disc(lab):
    """The DiSC panel of the toy, not run yet."""
    lab.open_notebook([LOAD, SHOW])
    panel = PanelPage(lab)
    panel.state("ready")
    return panel


RIGHT = [(0.5, 0.0), (0.99, 0.0), (0.99, 0.92), (0.5, 0.92)]


def test_run_with_the_mouse_fills_scree_map_and_table_and_both_follow_a_lasso(disc, lab):
    disc.fill("permutations", "9")
    disc.run()
    scree = disc.root.locator(".diffnb-picture img:visible")
    drawn = "Draw the singular value σ of every component, and those of permutations."
    expect(scree).to_have_attribute("alt", f"{drawn} Drawn by dn.pl.disc_significance(adata)")
    assert scree.evaluate("image => image.naturalWidth") > 300
    disc.tab("Features").click()
    expect(disc.rows.first).to_contain_text("feature_")
    expect(disc.counted).to_have_text("250 of 250 features")

    disc.button("Lasso").click()
    disc.lasso(RIGHT)
    expect(disc.counted).to_contain_text("selected")
    found = int(disc.counted.inner_text().split()[0])
    assert 0 < found < 250
    expect(disc.rows.locator("input:checked").first).to_be_visible()
    assert disc.rows.locator("input:not(:checked)").count() == 0

    # a row that is clicked leaves the selection of the map
    disc.rows.first.click()
    expect(disc.root.locator(".diffnb-map:visible .diffnb-tools")).to_contain_text(f"{found - 1} selected")
    disc.tab("Groups").click()
    expect(disc.counted).to_contain_text(f"{found - 1} selected")
    name = disc.root.get_by_label("save as adata.var[…]")
    name.fill("picked")
    name.press("Tab")
    disc.button("Save selection").click()
    expect(disc.root).to_contain_text(f"{found - 1} features saved.")
    assert lab.errors == []


def test_the_module_of_the_quickstart_is_found_by_hand(lab):
    shutil.copy(QUICKSTART, lab.server.folder / "quickstart.ipynb")
    lab.open("quickstart.ipynb")
    content = "window.jupyterapp.shell.currentWidget.content"
    lab.page.evaluate(f"() => {{ {content}.activeCellIndex = 4; }}")
    lab.execute("notebook:run-all-above")
    lab.wait_idle()
    lab.execute("notebook:insert-cell-above")
    lab.page.evaluate(f"() => {content}.activeCell.model.sharedModel.setSource('dn.panels.disc(adata)')")
    lab.execute("notebook:run-cell")
    disc = PanelPage(lab)
    disc.state("ready")
    expect(disc.field("question")).to_have_value("connected in one condition only (relations)")
    disc.run()
    disc.tab("Features").click()
    disc.field("condition").locator("visible=true").select_option(label="stimulated")
    expect(disc.root.locator(".diffnb-legend:visible")).to_contain_text("stimulated1 (30)")
    expect(disc.rows.first).to_contain_text("stimulated1")
    search = disc.root.get_by_label("Search").locator("visible=true")
    search.fill("stimulated1")
    expect(disc.counted).to_contain_text("30 of")
    disc.tab("Code").click()
    expect(disc.root.locator(".diffnb-code pre")).to_contain_text('dn.tl.disc(adata, "condition", sample_key="donor")')


def test_everything_can_be_done_with_keys(disc, lab):
    keys = lab.page.keyboard
    disc.fill("vectors", "4")
    disc.field("vectors").focus()
    for _ in range(25):  # Tab goes on to Run, past the controls between
        keys.press("Tab")
        if lab.page.evaluate("() => document.activeElement.textContent") == "Run":
            break
    keys.press("Enter")
    disc.state("done")
    disc.tab("Significance").focus()
    for _ in ("Linked views", "Features"):
        keys.press("ArrowRight")
    keys.press("Enter")
    expect(disc.map).to_be_visible()

    disc.map.focus()
    keys.press("n")
    expect(disc.root.locator(".diffnb-tip:visible")).to_contain_text("feature_")
    keys.press("Space")
    expect(disc.counted).to_contain_text("1 of 250 features · 1 selected")
    keys.press("n")
    keys.press("Space")
    expect(disc.counted).to_contain_text("2 selected")
    keys.press("Escape")
    expect(disc.counted).to_have_text("250 of 250 features")

    disc.root.locator(".diffnb-scroller:visible").focus()
    keys.press("ArrowDown")
    keys.press("ArrowDown")
    keys.press("Space")
    expect(disc.counted).to_contain_text("1 selected")
    expect(disc.rows.nth(1)).to_have_attribute("aria-selected", "true")
    search = disc.root.get_by_label("Search").locator("visible=true")
    search.fill("feature_01")
    expect(disc.counted).to_contain_text("10 of 250 features")
    assert lab.errors == []


def test_stop_ends_a_long_run_and_leaves_the_data_unchanged(lab):
    lab.open_notebook([LOAD, SHOW, "print(sorted(adata.uns), sorted(adata.varm))"])
    disc = PanelPage(lab)
    disc.fill("permutations", "100000")
    disc.button("Run").click()
    disc.state("running")
    expect(disc.root.locator(".diffnb-message")).to_contain_text("of 100000", timeout=30_000)
    expect(disc.button("Run")).to_be_disabled()
    disc.button("Stop").click()
    disc.state("stopped", timeout=20_000)
    lab.execute("notebook:run-all-below")
    lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.content.activeCellIndex = 2")
    lab.execute("notebook:run-cell")
    lab.wait_idle()
    expect(lab.output(2)).to_contain_text("[] []")
    # and the panel is as ready as before
    disc.fill("permutations", "0")
    disc.run()


def test_an_error_is_a_sentence_and_its_traceback_is_folded(disc):
    disc.fill("neighbors", "many")
    disc.button("Run").click()
    disc.state("failed")
    expect(disc.root.locator(".diffnb-message")).to_have_text("n_neighbors='many' is not an option; use one of 'auto'.")
    trace = disc.root.locator(".diffnb-trace")
    expect(trace).not_to_be_visible()
    disc.root.get_by_text("Traceback", exact=True).click()
    expect(trace).to_contain_text("ValueError")


def test_the_code_that_is_copied_gives_the_same_table_in_a_fresh_kernel(disc, lab):
    disc.fill("vectors", "3")
    disc.run()
    disc.tab("Features").click()
    first = disc.rows.first.locator("td").nth(1).inner_text()
    scores = [disc.rows.nth(i).locator("td").nth(3).inner_text() for i in range(5)]
    disc.tab("Code").click()
    disc.button("Copy code").click()
    expect(disc.root.locator(".diffnb-code")).to_contain_text("Copied.")
    code = lab.page.evaluate("() => navigator.clipboard.readText()")
    assert 'dn.tl.disc(adata, "condition", n_components=3)' in code
    ask = "top = features.nlargest(5, 'score')\nprint(top.index[0], [f'{v:.3g}' for v in top['score']])"
    lab.open_notebook([LOAD, code, ask], name="copied.ipynb")
    expect(lab.output(2)).to_contain_text(f"{first} {scores}")


HOSTILE = f"""import diffnb as dn
evil = {EVIL!r}
adata = dn.datasets.newly_connected(n_obs=60)
adata.var_names = [f"{{evil}}{{i}}" for i in range(adata.n_vars)]
adata.obs["condition"] = adata.obs["condition"].cat.rename_categories({{"A": evil, "B": "b"}})
adata.obs[evil] = adata.obs["condition"].astype(str)
adata.var[evil] = adata.obs["condition"].astype(str).to_numpy().repeat(3)[:adata.n_vars]"""


def test_names_that_are_markup_stay_text(lab):
    lab.open_notebook([HOSTILE, "panel = dn.panels.disc(adata, 'condition')\npanel", "dn.panels.explore(adata)"])
    disc = PanelPage(lab)
    disc.run()
    for name in ("Significance", "Features", "Groups", "Enrichment", "Observations", "Code"):
        disc.tab(name).click()
        lab.page.wait_for_timeout(600)
    expect(disc.root.locator(".diffnb-code pre")).to_contain_text(EVIL)
    disc.tab("Features").click()
    expect(disc.rows.first).to_contain_text(EVIL)
    expect(disc.root.locator(".diffnb-legend:visible")).to_contain_text(EVIL)
    disc.map.focus()
    lab.page.keyboard.press("n")
    expect(disc.root.locator(".diffnb-tip:visible")).to_contain_text(EVIL)
    explore = PanelPage(lab)
    explore.root = lab.page.locator(".diffnb-panel").nth(1)
    expect(explore.root.locator(".diffnb-plain").first).to_contain_text(EVIL)
    assert lab.page.locator("img[src='x']").count() == 0
    assert lab.dialogs == []


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_text_stands_out_in_both_themes(disc, lab, theme):
    lab.theme(theme)
    disc.run()
    for name in ("Significance", "Features", "Groups", "Code"):
        disc.tab(name).click()
        lab.page.wait_for_timeout(800)
        ratio, text = lab.worst_contrast(disc.root)
        assert ratio >= 4.5, (name, text)
    dark = "true" if theme == "JupyterLab Dark" else "false"
    expect(disc.root).to_have_attribute("data-dark", dark)
    disc.tab("Significance").click()
    ink = """async image => {
        await image.decode();
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
        const pen = canvas.getContext('2d');
        pen.drawImage(image, 0, 0);
        const data = pen.getImageData(0, 0, canvas.width, canvas.height).data;
        let sum = 0, n = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200) { sum += data[i]; n++; }
        return sum / n;
    }"""
    brightness = disc.root.locator(".diffnb-picture img:visible").evaluate(ink)
    assert brightness > 130 if dark == "true" else brightness < 130


def test_a_saved_notebook_keeps_a_picture_that_is_hidden_while_the_panel_lives(disc, lab):
    disc.run()
    picture = lab.page.locator(".jp-RenderedImage img")
    expect(picture).to_have_count(1)
    expect(picture).not_to_be_visible()
    lab.page.wait_for_timeout(6000)  # the picture waits for a quiet moment
    lab.save()
    path = lab.server.folder / "test.ipynb"
    outputs = json.loads(path.read_text())["cells"][1]["outputs"]
    assert [sorted(o["data"]) for o in outputs] == [
        ["application/vnd.jupyter.widget-view+json", "text/plain"],
        ["image/png", "text/plain"],
    ]
    assert len(outputs[1]["data"]["image/png"]) > 30_000
    page = lab.server.folder / "test.html"
    subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "html", str(path), "--output", str(page)], check=True, timeout=120
    )
    lab.page.route("**/*", lambda route: route.abort() if "127.0.0.1" not in route.request.url else route.continue_())
    lab.page.set_content(page.read_text())
    alone = lab.page.locator("img[src^='data:image/png']")
    expect(alone.first).to_be_visible()
    assert alone.first.evaluate("image => image.naturalHeight") > 500


def test_voila_shows_a_panel_that_runs(lab):
    lab.write_notebook([LOAD, SHOW], name="app.ipynb")
    lab.page.goto(f"{lab.server.url}/voila/render/app.ipynb?token={lab.server.token}")
    disc = PanelPage(lab)
    expect(disc.root.locator(".diffnb-message")).to_have_text("Ready.", timeout=DONE)
    disc.run()
    disc.tab("Features").click()
    expect(disc.rows.first).to_contain_text("feature_")
    assert lab.page.locator("img[src^='data:image/png']:visible").count() == 0
