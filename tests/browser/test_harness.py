"""The harness itself: cells run, the theme changes, a script that pops up is noticed."""

from playwright.sync_api import expect


def test_a_notebook_runs_from_top_to_bottom(lab):
    lab.open_notebook(["import diffnb as dn", "adata = dn.datasets.newly_connected(n_obs=50)\nprint(adata.shape)"])
    expect(lab.output(1)).to_contain_text("(100, 250)")
    assert lab.sources()[0] == "import diffnb as dn"
    assert lab.errors == []


def test_a_script_that_pops_up_is_noticed(lab):
    lab.page.evaluate("() => window.alert('here')")
    assert lab.dialogs == ["here"]


def test_contrast_is_measured_on_what_is_seen(lab):
    lab.page.set_content("<p style='color: #777; background: #fff'>grey</p><p style='color: #000'>black</p>")
    ratio, text = lab.worst_contrast(lab.page.locator("body"))
    assert (round(ratio, 2), text) == (4.48, "grey")


def test_the_dark_theme_is_dark(lab):
    lab.theme("JupyterLab Dark")
    background = lab.page.locator(".jp-LauncherBody, .jp-Launcher").first
    colour = background.evaluate("element => getComputedStyle(element).getPropertyValue('--jp-layout-color1')")
    assert int(colour.strip().lstrip("#")[:2], 16) < 80
