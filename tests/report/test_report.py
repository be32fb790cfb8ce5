"""The report: one page that holds everything, escapes everything and fetches nothing."""

import json
import re

import anndata as ad
import numpy as np
import pandas as pd
import pytest

import diffnb as dn
from diffnb._calls import Call
from diffnb.report import _figures, _html
from diffnb.report._contents import settings_of, versions
from diffnb.report._sections import SECTIONS
from diffnb.report._tables import MAX_ROWS, as_json, cells_of

EVIL = '</script><script>alert("1")</script><img src=x onerror=alert(2)>'


@pytest.fixture
def toy():
    return dn.datasets.newly_connected(n_obs=40)


def test_a_page_without_results_says_so(toy, tmp_path):
    path = dn.report(toy, tmp_path / "report.html", title="Mine")
    text = path.read_text()
    assert text.startswith("<!doctype html>")
    assert "<h1>Mine</h1>" in text
    assert "No results are stored in this AnnData yet." in text
    assert "80 observations × 250 features" in text


def test_the_function_and_the_folder_have_one_name(toy, tmp_path):
    import diffnb.report

    assert dn.report is diffnb.report
    assert dn.report(toy, str(tmp_path / "a.html")) == tmp_path / "a.html"


def test_a_result_has_settings_code_table_and_figure(toy, tmp_path):
    dn.tl.scorecard(toy, "condition", random_state=3)
    text = dn.report(toy, tmp_path / "report.html").read_text()
    assert "dn.tl.scorecard(adata, &quot;condition&quot;, random_state=3)" in text
    assert "Units of the p-values: single observations" in text
    (table,) = re.findall(r'<script type="application/json">(.*?)</script>', text)
    shown = json.loads(table)
    names = [c["name"] for c in shown["columns"]]
    assert names[:3] == ["feature", "group", "reference"]
    assert sorted(shown["cells"][0]) == sorted(toy.var_names)
    assert text.count('<img src="data:image/') == 1
    assert "<figcaption>Leading features</figcaption>" in text


def test_the_page_fetches_nothing_and_runs_its_own_script_only(toy, tmp_path):
    dn.tl.scorecard(toy, "condition")
    text = dn.report(toy, tmp_path / "report.html").read_text()
    assert "default-src &#x27;none&#x27;" in text
    assert not re.search(r'(src|href)="(?!data:|#)', text)
    assert "@import" not in text
    assert text.count("<script>") == 1


def test_names_in_the_data_are_text(toy, tmp_path):
    toy.var_names = [f"{EVIL}{i}" for i in range(toy.n_vars)]
    toy.obs["condition"] = toy.obs["condition"].cat.rename_categories({"A": EVIL, "B": "b"})
    dn.tl.scorecard(toy, "condition", key_added=EVIL.replace("/", ""))
    text = dn.report(toy, tmp_path / "report.html", title=EVIL).read_text()
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    (table,) = re.findall(r'<script type="application/json">(.*?)</script>', text)
    assert json.loads(table)["cells"][0][0].startswith(EVIL)


def test_one_of_several_results_can_be_chosen(toy, tmp_path):
    dn.tl.scorecard(toy, "condition", key_added="first")
    dn.tl.scorecard(toy, "condition", key_added="second")
    text = dn.report(toy, tmp_path / "report.html", keys=["second"]).read_text()
    assert "<h2>Scorecard (second)</h2>" in text
    assert "<h2>Scorecard (first)</h2>" not in text
    with pytest.raises(KeyError, match=r"key='secnd'; there are 'first'.*'second'.*Did you mean 'second'"):
        dn.report(toy, tmp_path / "report.html", keys=["secnd"])


def test_a_call_that_cannot_be_repeated_is_named(toy, tmp_path):
    dn.tl.scorecard(toy, "condition", mask_var=np.arange(250) < 100)
    text = dn.report(toy, tmp_path / "report.html").read_text()
    assert "The call cannot be repeated from what is stored" in text
    assert "cannot be written as a line" in text


def test_five_thousand_features_take_less_than_five_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    obs = pd.DataFrame({"condition": np.repeat(["a", "b"], 20)}, index=[f"c{i}" for i in range(40)])
    data = ad.AnnData(rng.normal(size=(40, 5000)).astype(np.float32), obs=obs)
    dn.tl.scorecard(data, "condition")
    assert dn.report(data, tmp_path / "report.html").stat().st_size < 5e6


def test_the_list_of_contents_leads_to_every_section(toy, tmp_path):
    dn.tl.scorecard(toy, "condition", key_added="first")
    text = dn.report(toy, tmp_path / "report.html", tables={"Mine": pd.DataFrame({"a": [1]})}).read_text()
    linked = re.findall(r'<a href="#([^"]+)">', text)
    assert linked == re.findall(r'<section id="([^"]+)">', text)
    assert [name.rsplit("-", 1)[0] for name in linked] == [
        "data",
        "scorecard-first",
        "further-tables",
        "code",
        "versions-and-how-to-cite",
    ]


def test_further_tables_are_shown_and_must_be_tables(toy, tmp_path):
    dn.tl.disc(toy, "condition", n_components=2, n_clusters=2)
    pairs = dn.get.edges(toy, max_edges=5)
    del toy.uns["disc"]
    text = dn.report(toy, tmp_path / "report.html", tables={"Pairs <that> differ": pairs}).read_text()
    assert "<h4>Pairs &lt;that&gt; differ</h4>" in text
    assert 'data-file="Pairs_that_differ.csv"' in text
    (table,) = re.findall(r'<script type="application/json">(.*?)</script>', text)
    assert len(json.loads(table)["cells"][0]) == len(pairs) == 5
    with pytest.raises(TypeError, match=r"tables\['a'\] is list; give a pandas DataFrame"):
        dn.report(toy, tmp_path / "report.html", tables={"a": [1]})


@pytest.mark.slow
def test_every_method_has_a_section_with_its_tables(tmp_path):
    data = dn.datasets.nuisance_factor(n_obs=40, n_features=40)
    dn.tl.disc(data, "condition", n_components=2)
    dn.tl.sparda(data, "condition", n_features=4, n_permutations=3)
    dn.tl.informed_distance(data, n_clusters=4)
    dn.tl.dufs(data, n_steps=3, n_features=3)
    dn.tl.laplacian_score(data)
    text = dn.report(data, tmp_path / "report.html").read_text()
    for tool in ("disc", "sparda", "informed_distance", "dufs", "laplacian_score"):
        assert f"<h2>{SECTIONS[tool].title}" in text
        assert SECTIONS[tool].paper in text.replace("&amp;", "&")
    assert "Tested against" in text
    assert "vector_3" not in text


def test_what_follows_a_finding_has_its_sections(tmp_path):
    found, other = (dn.datasets.newly_connected(n_obs=100, random_state=i) for i in range(2))
    dn.tl.disc(found, "condition", n_components=2)
    dn.tl.enrich(found, {"late": found.var_names[150:]})
    dn.tl.preservation(found, other, n_permutations=19)
    dn.tl.project(other, found)
    dn.tl.power(other, "condition", n_units=[20, 40], n_simulations=2)
    pages = [dn.report(data, tmp_path / f"{i}.html").read_text() for i, data in enumerate((found, other))]
    assert "<h2>Enrichment</h2>" in pages[0]
    assert "<figcaption>Leading sets</figcaption>" in pages[0]
    assert all(f"<h2>{name}" in pages[1] for name in ("Preservation</h2>", "Projection (projected)", "Power</h2>"))
    assert "Groups against random sets" in pages[1]
    assert "Cell Systems" in pages[1]
    # neither the sets nor the reference are stored: no line pretends to repeat these calls
    assert "dn.tl.enrich(" not in pages[0]
    assert "dn.tl.preservation(" not in pages[1]


def test_every_section_names_functions_that_exist():
    for section in SECTIONS.values():
        assert all(hasattr(dn.get, table.name) for table in section.tables)
        assert all(hasattr(dn.pl, figure.name) for figure in section.figures)
    assert set(SECTIONS) <= set(dn.tl.__all__)


def test_json_cannot_end_its_element():
    assert "<" not in as_json(["</script>", "&amp;"])
    assert json.loads(as_json(["</script>", "é"])) == ["</script>", "é"]


def test_cells_are_short_numbers_texts_and_gaps():
    index = pd.Index(["x", "y", "z"], name="gene")
    table = pd.DataFrame(
        {"n": [1.0, 0.123456789, np.nan], "on": [True, False, True], "t": ["a", None, "b"]}, index=index
    )
    shown, n_rows = cells_of(table)
    assert shown["cells"] == [["x", "y", "z"], [1, 0.1235, None], ["yes", "no", "yes"], ["a", "", "b"]]
    assert [c["number"] for c in shown["columns"]] == [False, True, False, False]
    assert n_rows == 3


def test_a_very_long_table_is_cut_and_says_so():
    frame = pd.DataFrame({"v": np.arange(MAX_ROWS + 5)})
    text = _html.live_table("Long", frame, "long.csv")
    assert "the first 20,000 of 20,005 rows" in text


def test_settings_that_were_given_come_first():
    table = settings_of(Call("dn.tl.disc", ("condition",), {"n_components": 3}))
    assert table.iloc[:2]["argument"].tolist() == ["groupby", "n_components"]
    assert len(table) > 15


def test_versions_name_the_packages():
    assert {"diffnb", "numpy", "Python"} <= set(versions()["package"])


def test_a_figure_too_large_for_vectors_is_pixels(toy, monkeypatch):
    dn.tl.scorecard(toy, "condition")
    call = Call("dn.pl.scorecard")
    assert _figures.image_url(call, toy).startswith("data:image/svg+xml")
    monkeypatch.setattr(_figures, "MAX_SVG_BYTES", 10)
    assert _figures.image_url(call, toy).startswith("data:image/png")


@pytest.mark.slow
def test_the_button_of_a_panel_writes_a_new_file(toy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    panel = dn.panels.disc(toy)
    panel.report_button.click()
    panel.report_button.click()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report-1.html", "report.html"]
    assert panel.status.message == "Report written to report-1.html."
    assert 'dn.report(adata, "report-1.html")' in panel.code
    monkeypatch.setattr("diffnb.report._report.html.page", lambda *_: 1 / 0)
    assert panel.write_report() is None
    assert panel.status.state == "failed"
