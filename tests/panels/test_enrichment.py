"""The tab that names groups of features."""

import ast

import numpy as np
import pytest

import diffnb as dn
from diffnb.panels._enrichment import set_columns

pytestmark = pytest.mark.slow


@pytest.fixture
def toy():
    adata = dn.datasets.newly_connected(n_obs=100)
    adata.var["network"] = np.where(np.arange(250) < 150, "early", "late")
    dn.tl.disc(adata, "condition", n_components=2)
    return adata


@pytest.fixture
def gmt(toy, tmp_path):
    path = tmp_path / "sets.gmt"
    sets = {"early": toy.var_names[:150], "late": toy.var_names[150:]}
    path.write_text("\n".join("\t".join([name, "", *own]) for name, own in sets.items()))
    return path


def open_tab(panel):
    panel.tabs.selected_index = panel.tab_names.index("Enrichment")
    return panel.enrichment


def test_groups_are_named_by_a_column_of_var(toy):
    panel = dn.panels.disc(toy)
    tab = open_tab(panel)
    assert panel.pictures["Enrichment"].png == b""
    tab.sets_column.put("network")
    tab.button.click()
    assert toy.uns["enrich"]["params"]["gene_sets"] == "network"
    assert any(note.startswith("A1: late (25 of 25 features") for note in tab.notes.notes)
    assert panel.pictures["Enrichment"].png != b""
    assert "enrichment" in panel.pictures["Enrichment"].alt.lower() or panel.pictures["Enrichment"].alt
    assert 'dn.tl.enrich(adata, "network")' in panel.code
    assert "dn.pl.enrich(adata)" in panel.code


def test_the_lines_in_the_code_do_the_same(toy, gmt):
    panel = dn.panels.disc(toy)
    tab = open_tab(panel)
    tab.gene_sets.put(str(gmt))
    tab.test()
    again = dn.datasets.newly_connected(n_obs=100)
    dn.tl.disc(again, "condition", n_components=2)
    statements = [ast.unparse(node) for node in ast.parse(panel.code).body]  # a long path takes several lines
    (call,) = [statement for statement in statements if "dn.tl.enrich" in statement]
    exec(call, {"dn": dn, "adata": again})
    assert dn.get.enrich(again).equals(dn.get.enrich(toy))


def test_an_earlier_enrichment_is_shown_when_the_panel_is_opened(toy):
    dn.tl.enrich(toy, "network")
    assert open_tab(dn.panels.disc(toy)).drawn is not None
    dn.tl.scorecard(toy, "condition")
    dn.tl.enrich(toy, "network", key="scorecard")  # of other lists
    assert open_tab(dn.panels.disc(toy)).drawn is None


def test_sets_of_earlier_groups_are_not_shown_with_new_ones(toy):
    panel = dn.panels.disc(toy)
    tab = open_tab(panel)
    tab.sets_column.put("network")
    tab.test()
    panel.run()
    assert panel.wait(60)
    assert panel.status.state == "done"
    assert tab.drawn is None
    assert tab.notes.notes == []
    assert "enrich" not in panel.code
    tab.test()
    assert "dn.pl.enrich(adata)" in panel.code


@pytest.mark.parametrize(
    ("given", "note"),
    [(None, "Nothing to test yet"), ("nowhere.gmt", "Not tested: gene_sets='nowhere.gmt' is neither")],
)
def test_what_cannot_be_tested_is_said_in_the_tab(toy, given, note):
    panel = dn.panels.disc(toy)
    tab = open_tab(panel)
    tab.gene_sets.put(given)
    tab.test()
    assert tab.notes.notes[0].startswith(note)
    assert "enrich" not in toy.uns
    assert panel.status.state != "failed"


def test_where_no_set_is_over_represented_the_tab_says_so(toy):
    toy.var["parity"] = np.where(np.arange(250) % 2, "odd", "even")
    tab = open_tab(dn.panels.disc(toy))
    tab.sets_column.put("parity")
    tab.test()
    assert tab.notes.notes == ["None of 2 sets is over-represented in a group (adjusted p < 0.05)."]


def test_columns_with_few_texts_can_be_sets(toy):
    toy.var["name"] = [f"n{i}" for i in range(250)]
    toy.var["one"] = "same"
    toy.var["number"] = np.arange(250)
    names = [name for name, _ in set_columns(toy)]
    assert "network" in names
    assert not {"name", "one", "number"} & set(names)
