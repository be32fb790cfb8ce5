"""The lines above the results: tested or not, units, settings."""

import pytest

import diffnb as dn
from diffnb._calls import Call
from diffnb.get._remarks import Remark, unit_remark, unit_remarks
from diffnb.get._stored_call import stored_call
from diffnb.panels._banner import Banner
from diffnb.panels._restore import same_argument


def test_lines_are_escaped_and_without_lines_there_is_nothing():
    banner = Banner()
    assert banner.layout.display == "none"
    banner.show([Remark("mind", "<img src=x>")])
    assert "&lt;img" in banner.value
    assert "<img" not in banner.value
    assert banner.layout.display is None
    assert banner.texts == ["<img src=x>"]


def test_units_are_named(adata):
    with_donors = unit_remark(adata, "condition", "donor")
    assert with_donors == Remark("good", "Units of the p-values: the 6 samples in 'donor'.")
    alone = unit_remark(adata, "condition", None)
    assert alone.kind == "mind"
    assert "p-values are too small: use sample_key='subject'" in alone.text
    adata.obs = adata.obs[["condition"]]
    assert unit_remark(adata, "condition", None).kind == "plain"


def test_a_call_without_samples_has_no_units(adata):
    assert unit_remarks(adata, Call("dn.tl.dufs")) == []
    assert unit_remarks(adata, None) == []


@pytest.mark.slow
def test_settings_of_a_stored_run_are_on_screen_when_a_panel_opens(fresh):
    dn.tl.disc(fresh, "condition", question="any difference", n_components=3, n_permutations=9, n_clusters=3)
    panel = dn.panels.disc(fresh)
    shown = panel.settings("question", "n_components", "n_permutations", "n_clusters", "sample_key")
    assert list(shown.values()) == ["any difference", 3, 9, 3, None]
    assert panel.changed_settings() == []
    panel.set(n_components=4, n_permutations=0)
    assert panel.changed_settings() == ["vectors", "permutations"]
    assert panel.banner.texts[0].startswith("Results from earlier settings. Changed since: vectors, permutations.")
    panel.set(n_components=3, n_permutations=9)
    assert not panel.banner.texts[0].startswith("Results from earlier")


@pytest.mark.slow
def test_conditions_that_the_caller_names_stay_and_mark_the_result_as_earlier(adata):
    dn.tl.sparda(adata, "condition", n_features=3, group="stim")
    panel = dn.panels.sparda(adata, "donor")
    assert panel.controls["groupby"].value == "donor"
    assert "conditions in" in panel.changed_settings()


@pytest.mark.slow
def test_what_was_not_tested_says_so(fresh, run):
    panel = run(dn.panels.disc(fresh), n_components=2, n_clusters=3)
    assert panel.banner.texts[0].startswith("Not tested: the number of groups was given")
    run(panel, n_clusters="auto")
    assert panel.banner.texts[0].startswith("Tested against ")
    assert any(text.startswith("Units of the p-values: single observations") for text in panel.banner.texts)


@pytest.mark.slow
def test_sparda_is_tested_by_default(run):
    adata = dn.datasets.nuisance_factor(n_obs=60, n_features=40)
    panel = run(dn.panels.sparda(adata), n_features=5)
    assert panel.banner.texts[0].startswith("Tested against 19 permutations of the labels: B vs A p = ")
    run(panel, n_permutations=0)
    assert panel.banner.texts[0].startswith("Not tested")


def test_a_mask_cannot_be_written_and_is_not_restored(fresh):
    dn.tl.scorecard(fresh, "condition", mask_var=[True] * 40 + [False] * 210)
    assert stored_call(fresh, "scorecard") is None
    assert stored_call(fresh, "nothing") is None


@pytest.mark.parametrize(("left", "right", "same"), [([1], (1,), True), (1, True, False), ("auto", 3, False)])
def test_lists_and_tuples_are_the_same_argument(left, right, same):
    assert same_argument(left, right) is same


@pytest.mark.slow
def test_results_older_than_their_data_say_so_until_the_next_run(fresh, run):
    dn.tl.disc(fresh, "condition", n_components=2)
    fresh.X = fresh.X + 1.0
    panel = dn.panels.disc(fresh)
    assert panel.banner.texts[0].startswith("'disc' is older than the data")
    run(panel)
    assert not any("older" in text for text in panel.banner.texts)
