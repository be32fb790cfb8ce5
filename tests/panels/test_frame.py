import base64
import io
import threading
import warnings

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from PIL import Image

import diffnb as dn
from diffnb._calls import Call
from diffnb.panels import _frame, _snapshot
from diffnb.panels._pictures import PNG_HEADER_BYTES, mark_in_base64, marked, render_png

pytestmark = pytest.mark.slow


def same(left, right):
    """Whether two AnnData hold the same results."""
    return (
        list(left.uns) == list(right.uns)
        and list(left.varm) == list(right.varm)
        and list(left.obsm) == list(right.obsm)
        and left.var.equals(right.var)
        and left.obs.equals(right.obs)
    )


def test_a_run_stores_what_the_tool_stores(fresh, run):
    panel = run(dn.panels.disc(fresh), n_components=3, n_clusters=3)
    assert panel.status.state == "done"
    assert panel.status.message.startswith("Done in")
    alone = dn.datasets.newly_connected(n_obs=60)
    dn.tl.disc(alone, "condition", n_components=3, n_clusters=3)
    pd.testing.assert_frame_equal(fresh.varm["disc"], alone.varm["disc"])
    assert fresh.var["disc_A"].equals(alone.var["disc_A"])


def test_stop_leaves_the_data_unchanged(fresh):
    before = fresh.copy()
    panel = dn.panels.disc(fresh)
    panel.set(n_permutations=100_000)
    panel.run()
    assert panel.status.state == "running"
    assert panel.run_button.disabled
    assert not panel.stop_button.disabled
    panel.stop_button.click()
    assert panel.wait(60)
    assert panel.status.state == "stopped"
    assert same(fresh, before)
    assert not panel.run_button.disabled
    assert panel.stop_button.disabled


def test_stop_keeps_the_results_of_an_earlier_run(toy):
    before = toy.varm["disc"].copy()
    panel = dn.panels.disc(toy)
    panel.set(n_permutations=100_000, n_components=5)
    panel.run()
    panel.stop()
    assert panel.wait(60)
    pd.testing.assert_frame_equal(toy.varm["disc"], before)
    assert panel.features.table.page["all"] == toy.n_vars


def test_an_error_is_one_sentence_with_the_traceback_folded(fresh, run):
    panel = run(dn.panels.disc(fresh), n_neighbors="many")
    assert panel.status.state == "failed"
    assert panel.status.message == "n_neighbors='many' is not an option; use one of 'auto'."
    assert "Traceback" in panel.status.details
    assert "disc" not in fresh.uns
    run(panel, n_neighbors="auto", n_components=2)
    assert panel.status.state == "done"
    assert panel.status.details == ""


def test_results_for_other_features_than_there_are_now_are_not_stored(fresh):
    panel = dn.panels.disc(fresh)
    go = threading.Event()
    started = panel._worker.start

    def held(work):
        started(lambda: (go.wait(20), work())[1])

    panel._worker.start = held
    panel.run()
    fresh._inplace_subset_var(np.arange(50))
    go.set()
    panel.wait(60)
    assert panel.status.state == "failed"
    assert "other features than when the run began" in panel.status.message
    assert "disc" not in fresh.uns


def test_panels_run_on_views_and_on_files_on_disk(fresh, run, tmp_path):
    view = fresh[:, :60]
    assert run(dn.panels.disc(view), n_components=2).status.state == "done"
    assert "disc" in view.uns
    assert "disc" not in fresh.uns
    fresh.write_h5ad(tmp_path / "data.h5ad")
    backed = ad.read_h5ad(tmp_path / "data.h5ad", backed="r")
    panel = run(dn.panels.disc(backed), n_components=2)
    assert panel.status.state == "done", panel.status.details
    assert backed.isbacked
    assert "disc" in backed.uns
    backed.file.close()


def test_names_that_repeat_do_no_harm(fresh, run):
    fresh.var_names = [f"gene{i // 2}" for i in range(fresh.n_vars)]
    panel = run(dn.panels.disc(fresh), n_components=2)
    assert panel.status.state == "done", panel.status.details
    panel.features.select(["gene3"])
    panel.features.save()
    assert fresh.var["selected"].sum() == 2


def test_warnings_are_notes(fresh, run):
    fresh.X[:, 3] = 1.0
    with pytest.warns(UserWarning, match="constant"):
        dn.tl.disc(fresh, "condition", key_added="alone", n_components=2)
    panel = dn.panels.disc(fresh)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        run(panel, n_components=2)
    assert panel.status.notes == ["1 constant feature left out ('feature_004'); their results are NaN."]


def test_progress_is_shown(fresh):
    panel = dn.panels.disc(fresh)
    panel._on_progress("permutations", 3, 10, "p so far 0.5")
    assert (panel.status.step, panel.status.done, panel.status.total) == ("permutations", 3, 10)
    assert panel.status.so_far == "p so far 0.5"


def test_stored_results_are_shown_at_once_and_marked_as_such_in_the_code(toy):
    panel = dn.panels.disc(toy)
    assert panel.features.table.page["all"] == 250
    assert 'dn.tl.disc(adata, "condition", n_components=3, n_clusters=3)' in panel.code
    assert "dn.tl.meta_features(adata)" in panel.code
    assert len(panel.pictures["Significance"].png) > 1000


def test_results_whose_call_cannot_be_written_are_marked_as_such_in_the_code(fresh):
    mask = np.arange(fresh.n_vars) < 200
    dn.tl.disc(fresh, "condition", mask_var=mask, n_components=2)
    panel = dn.panels.disc(fresh)
    assert '# stored before this panel was opened, and not made by these lines: "disc"' in panel.code
    assert "dn.tl.disc(" not in panel.code


def test_before_a_run_the_panel_is_empty(fresh):
    panel = dn.panels.disc(fresh)
    assert panel.pictures["Significance"].png == b""
    assert panel.code == "import diffnb as dn\n"


def test_a_note_appears_when_settings_have_changed_since_the_run(fresh, run):
    panel = run(dn.panels.disc(fresh), n_components=2)
    assert panel.code_view.note == ""
    panel.set(n_components=3)
    assert "changed since" in panel.code_view.note
    assert "n_components=2" in panel.code_view.code
    panel.set(n_components=2)
    assert panel.code_view.note == ""


def test_pictures_are_drawn_when_their_tab_is_opened(toy):
    panel = dn.panels.disc(toy)
    assert panel.pictures["Observations"].png == b""
    panel.tabs.selected_index = panel.tab_names.index("Observations")
    assert len(panel.pictures["Observations"].png) > 1000
    assert panel.pictures["Observations"].alt.startswith("Draw observations coloured by condition")
    drawn = panel.pictures["Observations"].png
    panel.component.put(2)
    assert panel.pictures["Observations"].png != drawn


def test_the_dark_theme_draws_light_text(toy):
    panel = dn.panels.disc(toy)
    light = np.asarray(Image.open(io.BytesIO(panel.pictures["Significance"].png)))
    panel.status.dark = True
    dark = np.asarray(Image.open(io.BytesIO(panel.pictures["Significance"].png)))
    inked = [image[..., :3][image[..., 3] > 200].mean() for image in (light, dark)]
    assert inked[0] < 140 < inked[1]
    assert (dark[..., 3] == 0).mean() > 0.5  # the page shows through


def test_the_error_replaces_a_figure_that_cannot_be_drawn(toy, monkeypatch):
    panel = dn.panels.disc(toy)

    def fails(*_, **__):
        raise ImportError("install <nilearn>")

    monkeypatch.setattr(_frame, "render_png", fails)
    monkeypatch.setattr(_snapshot, "render_image", fails)
    panel.redraw("Significance")
    assert panel.pictures["Significance"].png == b""
    assert panel.pictures["Significance"].empty == "install <nilearn>"
    assert panel.snapshot().data.startswith(b"\x89PNG")


def test_figures_of_panels_are_unknown_to_pyplot(toy):
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    dn.panels.disc(toy).snapshot()
    assert plt.get_fignums() == before
    settings = dict(plt.rcParams)
    dn.panels.disc(toy)
    assert dict(plt.rcParams) == settings


def test_a_new_panel_is_one_small_class(fresh, run):
    class Scorecard(_frame.Panel):
        title = "Scorecard"

        def make_tabs(self):
            return {"Kinds": self.picture("Kinds")}

        def has_results(self):
            return "scorecard" in self.adata.uns

        def calls(self):
            return [Call("dn.tl.scorecard", ("condition",))]

        def drawn(self):
            return {"Kinds": Call("dn.pl.scorecard")} if self.has_results() else {}

    panel = Scorecard(fresh)
    panel.status.dark = True
    run(panel)
    assert panel.status.state == "done"
    assert len(panel.pictures["Kinds"].png) > 1000
    assert 'dn.tl.scorecard(adata, "condition")' in panel.code
    assert panel.snapshot().data.startswith(b"\x89PNG")


def test_a_panel_that_defines_nothing_is_empty(fresh, run):
    panel = run(_frame.Panel(fresh))
    assert panel.status.state == "done"
    assert panel.tab_names == ["Code"]
    assert panel.code == "import diffnb as dn\n"
    panel.tabs.selected_index = None
    panel.redraw()


def test_setting_what_is_no_control_is_refused(fresh):
    with pytest.raises(ValueError, match="'nonsense' is not a control of this panel; there are question, groupby"):
        dn.panels.disc(fresh).set(nonsense=1)


def test_a_panel_needs_an_anndata():
    with pytest.raises(TypeError, match="a panel needs an AnnData, got DataFrame"):
        dn.panels.disc(pd.DataFrame())


def test_a_click_on_run_while_running_does_nothing(fresh):
    panel = dn.panels.disc(fresh)
    panel.set(n_permutations=100_000)
    panel.run_button.click()
    panel.run_button.click()
    panel.stop()
    assert panel.wait(60)
    panel.stop()
    assert panel.status.state == "stopped"


def test_settings_that_make_no_call_show_the_error(fresh, monkeypatch):
    panel = dn.panels.disc(fresh)

    def wrong():
        raise KeyError("no such column")

    monkeypatch.setattr(panel, "calls", wrong)
    panel.run()
    assert panel.status.message == "no such column"
    panel._write_code()


# ---- static pictures ----


def test_the_snapshot_is_a_picture_and_a_file(toy, tmp_path):
    panel = dn.panels.disc(toy)
    picture = panel.snapshot(tmp_path / "panel.png")
    with Image.open(tmp_path / "panel.png") as image:
        assert min(image.size) > 500
    assert picture.data == (tmp_path / "panel.png").read_bytes()


def test_the_snapshot_notes_that_the_panel_was_not_run(fresh):
    assert dn.panels.disc(fresh).summary() == ["120 observations × 250 features. Not run yet."]


def test_the_mark_is_found_in_the_text_of_the_picture(toy):
    panel = dn.panels.disc(toy)
    text = base64.b64encode(panel.snapshot().data).decode()
    assert panel.status.mark in text
    other = base64.b64encode(dn.panels.disc(toy).snapshot().data).decode()
    assert panel.status.mark not in other


def test_a_marked_picture_is_still_a_picture():
    made = io.BytesIO()
    Image.new("RGB", (3, 2), "red").save(made, format="png")
    png = marked(made.getvalue(), "abc")
    image = Image.open(io.BytesIO(png))
    image.load()
    assert image.text == {"diffnb": "abc"}
    assert image.getpixel((0, 0)) == (255, 0, 0)
    assert PNG_HEADER_BYTES % 3 == 0
    assert mark_in_base64("abc") in base64.b64encode(png).decode()


class Shown:
    """Collects what a notebook would display."""

    def __init__(self):
        self.bundles, self.updates = [], []

    def __call__(self, data, **options):
        self.bundles.append((data, options))
        return self if options.get("display_id") else None

    def update(self, data, **options):
        self.updates.append((data, options))


@pytest.fixture
def shown(monkeypatch):
    shown = Shown()
    monkeypatch.setattr("IPython.display.display", shown)
    return shown


def test_showing_a_panel_leaves_the_widget_and_a_picture(toy, shown):
    panel = dn.panels.disc(toy)
    panel._ipython_display_()
    (live, _), (still, options) = shown.bundles
    assert live["application/vnd.jupyter.widget-view+json"]["model_id"] == panel.model_id
    assert list(still) == ["image/png", "text/plain"]
    assert options["display_id"]
    assert panel.status.mark in still["image/png"]
    assert len(still["image/png"]) > 20_000, "the figures are there at once where there are results"


def test_a_run_updates_the_picture(fresh, shown, run):
    panel = dn.panels.disc(fresh)
    panel._ipython_display_()
    before = shown.bundles[-1][0]["image/png"]
    run(panel, n_components=2)
    assert shown.updates[-1][0]["image/png"] != before


def test_only_the_last_of_two_pictures_is_finished(toy, shown, monkeypatch):
    waiting = []
    monkeypatch.setattr(_snapshot, "run_in_steps", waiting.append)
    panel = dn.panels.disc(toy)
    panel._ipython_display_()
    panel.update_picture()
    panel.update_picture()
    first, second = waiting
    next(first)
    next(second)
    assert list(first) == []
    assert len(list(second)) > 0
    assert len(shown.updates) == 1


def test_waiting_completes_the_picture(fresh, shown, monkeypatch, run):
    monkeypatch.setattr(_snapshot, "run_in_steps", lambda steps: None)
    panel = dn.panels.disc(fresh)
    panel._ipython_display_()
    run(panel, n_components=2)
    assert len(shown.updates) == 1


def test_the_text_of_a_panel_is_short(fresh):
    assert repr(dn.panels.disc(fresh)) == "<diffnb panel DiSC: 120 × 250, ready>"


def test_errors_are_one_line():
    assert _frame.error_message(KeyError("no results\nunder key")) == "no results under key"
    assert _frame.error_message(RuntimeError()) == "RuntimeError"


def test_drawing_returns_bytes_and_a_width(toy):
    png, width = render_png(Call("dn.pl.disc_significance"), toy, dark=False)
    assert png.startswith(b"\x89PNG")
    assert 300 < width < 600


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("disc", ["reading the data", "graphs of features", "permutations to name groups", "groups of features"]),
        ("scorecard", ["reading the data", "mean, spread and distribution", "connectivity"]),
    ],
)
def test_every_long_part_of_a_run_is_named(fresh, name, steps):
    from diffnb.core.runtime.progress import progress_callback

    told = []
    panel = getattr(dn.panels, name)(fresh)
    with progress_callback(lambda step, *_: told.append(step)):
        panel.tool_call().run(fresh)
    assert [step for step in dict.fromkeys(told) if step in steps] == steps
