"""Panels: `python benchmarks/panels.py [map] [cells] [network] [notebook] [speed] [stop]`.

map       20,000 features: first paint, lasso to table, frames per second while panning, bytes per interaction
cells     200,000 observations in explore: first paint, frames per second while panning
network   300 features and 1,500 edges in the linked views: first paint, frames per second while panning
notebook  size of a notebook saved with a DiSC panel of 5,000 features
speed     processor seconds of the same calls in a panel and in a script
stop      seconds from Stop to its end, with 50,000 cells, at several moments of a run
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from _tools import save, table
from harness import chromium
from harness.lab import Lab
from harness.server import Server
from playwright.sync_api import sync_playwright

REPEATS = 5
#: results of 250 features, repeated with noise: what is timed is the map, not DiSC
WIDE = """
import anndata as ad, numpy as np, pandas as pd, diffnb as dn
small = dn.datasets.newly_connected(n_obs=200)
dn.tl.disc(small, "condition", n_components=10, n_clusters=3)
n = 20_000
copies = np.resize(np.arange(250), n)
names = [f"ENSG{i:011d}" for i in range(n)]
adata = ad.AnnData(np.resize(small.X, (small.n_obs, n)), obs=small.obs, var=small.var.iloc[copies].set_axis(names))
found = small.varm["disc"].iloc[copies].set_axis(names)
noise = np.random.default_rng(0).normal(scale=0.3 * found.std().to_numpy(), size=found.shape)
adata.varm["disc"] = found + noise
adata.uns["disc"] = small.uns["disc"]
"""
LISTEN = """() => {
    const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
    window.diffnbMessages = [];
    kernel.anyMessage.connect((_, { msg, direction }) => {
        const buffers = (msg.buffers || []).reduce((sum, b) => sum + (b.byteLength ?? b.buffer.byteLength), 0);
        window.diffnbMessages.push([direction, JSON.stringify(msg.content).length + buffers]);
    });
}"""
#: from the end of the lasso to the moment when the table shows what was selected
WATCH = """() => new Promise((resolve) => {
    const overlay = [...document.querySelectorAll('.diffnb-overlay')].find((o) => o.offsetParent);
    const counted = [...document.querySelectorAll('.diffnb-counted')].find((o) => o.offsetParent);
    const before = counted.textContent;
    let began = 0;
    overlay.addEventListener('pointerup', () => { began = performance.now(); }, { capture: true, once: true });
    const look = new MutationObserver(() => {
        if (!began || counted.textContent === before) return;
        look.disconnect();
        requestAnimationFrame(() => { window.diffnbLasso = performance.now() - began; });
    });
    look.observe(counted, { childList: true, characterData: true, subtree: true });
    window.diffnbLasso = null;
    resolve(null);
})"""
#: a pointer that moves in every frame, for two seconds
PAN = """() => new Promise((resolve) => {
    const overlay = [...document.querySelectorAll('.diffnb-overlay')].find((o) => o.offsetParent);
    const map = overlay.closest('.diffnb-map'), box = overlay.getBoundingClientRect();
    const fire = (type, dx) => overlay.dispatchEvent(new PointerEvent(type, {
        bubbles: true, pointerId: 1, button: 0, clientX: box.x + 200 + dx, clientY: box.y + 200 }));
    overlay.setPointerCapture = () => {};
    fire('pointerdown', 0);
    const began = performance.now(), drawn = map.diffnbDraws.count, times = [];
    let frames = 0;
    const step = () => {
        fire('pointermove', 60 * Math.sin(frames++ / 10));
        times.push(map.diffnbDraws.ms);
        if (performance.now() - began < 2000) return requestAnimationFrame(step);
        fire('pointerup', 0);
        const seconds = (performance.now() - began) / 1000;
        times.sort((a, b) => a - b);
        resolve({ fps: (map.diffnbDraws.count - drawn) / seconds, draw: times[times.length >> 1] });
    };
    requestAnimationFrame(step);
})"""


class Page:
    """A JupyterLab for one part of the benchmark."""

    def __enter__(self) -> Lab:
        self.server = Server(folder=Path(tempfile.mkdtemp()), home=Path(tempfile.mkdtemp()))
        self.server.start()
        self.playwright = sync_playwright().start()
        path = chromium.find()
        self.browser = self.playwright.chromium.launch(executable_path=path, headless=True, args=chromium.FLAGS)
        page = self.browser.new_context(viewport={"width": 1400, "height": 1100}).new_page()
        lab = Lab(page, self.server, Path(tempfile.mkdtemp()))
        lab.start()
        return lab

    def __exit__(self, *_: object) -> None:
        self.browser.close()
        self.playwright.stop()
        self.server.end_sessions()
        self.server.stop()


def largest(lab: Lab) -> dict[str, int]:
    """Return the largest message each way since the last look."""
    messages = lab.page.evaluate("() => { const m = window.diffnbMessages; window.diffnbMessages = []; return m; }")
    return {way: max((size for d, size in messages if d == way), default=0) for way in ("send", "recv")}


def lasso(lab: Lab, right: float) -> float:
    """Draw around a part of the map and return milliseconds until the table has followed."""
    page = lab.page
    page.evaluate(WATCH)
    box = page.locator(".diffnb-overlay:visible").bounding_box()
    corners = [(0.15, 0.05), (right, 0.05), (right, 0.9), (0.15, 0.9), (0.15, 0.05)]
    places = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=6)
    page.mouse.up()
    page.wait_for_function("() => window.diffnbLasso !== null")
    return float(page.evaluate("() => window.diffnbLasso"))


def part_map() -> dict[str, object]:
    with Page() as lab:
        lab.open_notebook([WIDE])
        page = lab.page
        page.evaluate(LISTEN)
        began = time.perf_counter()
        insert_and_run(lab, "panel = dn.panels.disc(adata)\npanel")
        tab = page.get_by_role("tab", name="Features", exact=True)
        tab.wait_for(timeout=120_000)
        shown = time.perf_counter() - began
        clicked = time.perf_counter()
        tab.click()
        page.wait_for_function("() => document.querySelector('.diffnb-map')?.diffnbDraws?.count > 0", timeout=60_000)
        painted = time.perf_counter() - clicked
        draw = page.evaluate("() => document.querySelector('.diffnb-map').diffnbDraws.ms")
        page.wait_for_timeout(4000)
        opening = largest(lab)
        page.get_by_role("button", name="Lasso", exact=True).click()
        page.locator(".diffnb-overlay:visible").scroll_into_view_if_needed()
        lassos = [lasso(lab, 0.4 + 0.1 * i) for i in range(REPEATS)]
        page.wait_for_timeout(500)
        selecting = largest(lab)
        page.get_by_role("button", name="Pan", exact=True).click()
        pans = [page.evaluate(PAN) for _ in range(REPEATS)]
        panning = largest(lab)
        page.get_by_label("x axis", exact=True).select_option(label="vector_3")
        page.wait_for_timeout(2000)
        axes = largest(lab)
        page.get_by_label("colour", exact=True).select_option(label="score")
        page.wait_for_timeout(2000)
        colour = largest(lab)
    results: dict[str, object] = {
        "cell to panel (s)": shown,
        "tab to first paint (s)": painted,
        "first frame drawn in (ms)": draw,
        "lasso to table, median (ms)": median(lassos),
        "lasso to table, worst (ms)": max(lassos),
        "frames per second while panning, median": median(p["fps"] for p in pans),
        "a frame while panning, median (ms)": median(p["draw"] for p in pans),
    }
    table("20,000 features on the map", ["", "measured"], list(results.items()))
    sizes = {
        "opening": opening,
        "lasso": selecting,
        "panning": panning,
        "other axes": axes,
        "other colours": colour,
    }
    rows = [[name, way["send"] / 1000, way["recv"] / 1000] for name, way in sizes.items()]
    table("largest message of an interaction (kB)", ["", "to the kernel", "from the kernel"], rows)
    return {**results, "messages": sizes}


def part_notebook() -> dict[str, object]:
    """Execute and save a notebook with a panel that ran DiSC on 5,000 features."""
    import nbclient
    import nbformat

    cells = [
        "import diffnb as dn\nadata = dn.datasets.planted_groups(n_features=5000, n_obs=60)",
        "panel = dn.panels.disc(adata)\npanel.run()\npanel.wait()",
        "panel",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    nbclient.NotebookClient(notebook, timeout=600).execute()
    whole = len(nbformat.writes(notebook)) / 1e6
    state = len(json.dumps(notebook.metadata.pop("widgets", {}))) / 1e6
    results = {
        "with the state of widgets (MB)": whole,
        "of which state (MB)": state,
        "as JupyterLab saves it (MB)": len(nbformat.writes(notebook)) / 1e6,
    }
    table("a notebook saved with a DiSC panel of 5,000 features", ["", "size"], list(results.items()))
    return results


#: observations with an embedding, and nothing else that takes time
MANY_CELLS = """
import anndata as ad, numpy as np, pandas as pd, diffnb as dn
rng = np.random.default_rng(0)
n = 200_000
obs = pd.DataFrame({"condition": rng.choice(["a", "b"], n)}, index=[f"cell{i}" for i in range(n)])
adata = ad.AnnData(rng.normal(size=(n, 3)).astype(np.float32), obs=obs)
adata.obsm["X_umap"] = rng.normal(size=(n, 2)).astype(np.float32)
"""
#: a group of 300 features that are connected in one condition only
LARGE_GROUP = """
import anndata as ad, numpy as np, pandas as pd, diffnb as dn
rng = np.random.default_rng(0)
x = rng.normal(size=(600, 400)).astype(np.float32)
x[:300, :300] += 1.2 * rng.normal(size=(300, 1))
obs = pd.DataFrame({"condition": np.repeat(["a", "b"], 300)}, index=[f"cell{i}" for i in range(600)])
adata = ad.AnnData(x, obs=obs, var=pd.DataFrame(index=[f"gene{i}" for i in range(400)]))
dn.tl.disc(adata, "condition", n_clusters=2)
dn.tl.meta_features(adata)
"""
FIRST_DRAW = "(n) => document.querySelectorAll('.diffnb-map')[n]?.diffnbDraws?.count > 0"


def part_cells() -> dict[str, object]:
    """Show 200,000 observations in the explore panel."""
    with Page() as lab:
        lab.open_notebook([MANY_CELLS])
        page = lab.page
        began = time.perf_counter()
        insert_and_run(lab, "dn.panels.explore(adata)")
        page.wait_for_function(FIRST_DRAW, arg=0, timeout=120_000)
        painted = time.perf_counter() - began
        page.wait_for_timeout(3000)
        page.locator(".diffnb-overlay:visible").first.scroll_into_view_if_needed()
        return panned("200,000 observations in explore", {"cell to first paint (s)": painted}, page, PAN)


def part_network() -> dict[str, object]:
    """Show a large group in the linked views, and pan its network."""
    with Page() as lab:
        lab.open_notebook([LARGE_GROUP])
        page = lab.page
        insert_and_run(lab, "panel = dn.panels.disc(adata)\npanel")
        tab = page.get_by_role("tab", name="Linked views", exact=True)
        tab.wait_for(timeout=120_000)
        clicked = time.perf_counter()
        tab.click()
        page.wait_for_function("() => document.querySelectorAll('.diffnb-pairs').length > 0", timeout=120_000)
        shown = time.perf_counter() - clicked
        page.wait_for_timeout(3000)
        page.locator(".diffnb-overlay:visible").nth(1).scroll_into_view_if_needed()
        of_network = PAN.replace(".find((o) => o.offsetParent)", ".filter((o) => o.offsetParent)[1]")
        return panned("300 features and 1,500 edges", {"tab to all views (s)": shown}, page, of_network)


def insert_and_run(lab: Lab, source: str) -> None:
    """Add a cell with this source, and start it."""
    lab.execute("notebook:insert-cell-below")
    lab.page.evaluate(
        "(code) => window.jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel.setSource(code)", source
    )
    lab.start_command("notebook:run-cell")


def panned(title: str, results: dict[str, object], page: object, script: str) -> dict[str, object]:
    """Pan a map several times, and add what a frame takes."""
    pans = [page.evaluate(script) for _ in range(REPEATS)]
    results["frames per second while panning, median"] = median(p["fps"] for p in pans)
    results["a frame while panning, median (ms)"] = median(p["draw"] for p in pans)
    table(title, ["", "measured"], list(results.items()))
    return results


def part_speed() -> dict[str, object]:
    """Make the same calls in a panel and in a script, alternately, and compare processor seconds."""
    import diffnb as dn

    seconds: dict[str, list[float]] = {"panel": [], "script": []}
    for repeat in range(3):
        order = ("panel", "script") if repeat % 2 else ("script", "panel")
        for where in order:
            adata = cells(6000, 2000)
            panel = dn.panels.disc(adata, "condition")
            panel.set(n_permutations=9)
            began = time.process_time()
            if where == "panel":
                panel.run()
                panel.wait()
                assert panel.status.state == "done", panel.status.details
            else:
                for call in panel.calls():
                    call.run(adata)
            seconds[where].append(time.process_time() - began)
    results: dict[str, object] = {f"{where}, processor seconds": median(all_) for where, all_ in seconds.items()}
    results["panel over script"] = median(seconds["panel"]) / median(seconds["script"])
    table("DiSC of 6,000 cells × 2,000 genes, 9 permutations", ["", "measured"], list(results.items()))
    return results


def cells(n_obs: int, n_vars: int) -> object:
    """Sparse values of cells in two conditions, with a group that is connected in one of them."""
    import anndata as ad
    import numpy as np
    import pandas as pd
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    x = sp.random(n_obs, n_vars, density=0.1, format="csr", dtype=np.float32, random_state=rng)
    shared = sp.csr_matrix(rng.random((n_obs, 1), dtype=np.float32) * (np.arange(n_obs) % 2 == 0)[:, None])
    x = (x + sp.hstack([shared @ np.ones((1, 20), dtype=np.float32), sp.csr_matrix((n_obs, n_vars - 20))])).tocsr()
    obs = pd.DataFrame(
        {"condition": np.where(np.arange(n_obs) % 2, "b", "a")}, index=[f"cell{i}" for i in range(n_obs)]
    )
    return ad.AnnData(x, obs=obs, var=pd.DataFrame(index=[f"gene{i}" for i in range(n_vars)]))


def part_stop() -> dict[str, object]:
    """Stop runs on 50,000 cells after some seconds."""
    import diffnb as dn

    adata, rows = cells(50_000, 2000), []
    for name in ("scorecard", "disc", "sparda"):
        for after in (0.5, 2.0, 5.0, 10.0, 20.0):
            panel = getattr(dn.panels, name)(adata, "condition")
            panel.run()
            time.sleep(after)
            step = panel.status.step
            began, cpu = time.perf_counter(), time.process_time()
            panel.stop()
            panel.wait()
            rows.append([name, after, step, panel.status.state, time.perf_counter() - began, time.process_time() - cpu])
    table("Stop on 50,000 cells × 2,000 genes", ["panel", "after (s)", "step", "state", "s", "processor s"], rows)
    return {f"{name} after {after:g} s": [state, wall, cpu] for name, after, _, state, wall, cpu in rows}


PARTS = {
    "map": part_map,
    "cells": part_cells,
    "network": part_network,
    "notebook": part_notebook,
    "speed": part_speed,
    "stop": part_stop,
}

if __name__ == "__main__":
    chosen = sys.argv[1:] or list(PARTS)
    save("panels", {name: PARTS[name]() for name in chosen})
