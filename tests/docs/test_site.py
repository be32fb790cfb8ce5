"""The site is built as a reader will see it: completely, from the sources, without the network."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
import yaml

import diffnb as dn

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
URLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
SUBPACKAGES = ("pp", "tl", "get", "pl", "panels", "report", "datasets", "sklearn")
FUNCTIONS = [f"diffnb.{subpackage}.{name}" for subpackage in SUBPACKAGES for name in getattr(dn, subpackage).__all__]
PAGES = runpy.run_path(str(DOCS / "_pages.py"))
#: one folder for each purpose that a reader may have
SECTIONS = ("tutorials", "howto", "explanation", "reference", "validation")
#: pages that are kept in git, without those that the build copies or generates
WRITTEN = sorted([*DOCS.glob("*.md"), *(page for section in SECTIONS for page in (DOCS / section).rglob("*.md"))])
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
ROOT_PAGES = {
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
    "CODE_OF_CONDUCT.md": "code_of_conduct",
    "CITATION.cff": "citing",
}
#: pages whose code must run as written, from the first block to the last
RUNNABLE = [
    "index",
    "howto/choose_method",
    "howto/choose_parameters",
    "howto/coming_from",
    "howto/scikit_learn",
    "howto/two_groups_of_patients",
    "howto/cells_of_donors",
    "howto/time_series_of_subjects",
    "howto/two_images",
    "howto/no_labels",
    "howto/three_conditions",
    "howto/paired",
    "howto/batch",
    "howto/nifti",
    "howto/envi",
    "howto/cytoscape",
    "howto/covariates",
    "howto/match_depth",
    "howto/read_groups",
    "howto/image_change",
    "howto/series_and_subjects",
    "howto/dose",
    "howto/replicate",
    "howto/report",
    "howto/edges",
    "howto/enrichment",
    "howto/power",
    "howto/publication_figures",
    "howto/stale_results",
    "explanation/disc",
    "explanation/sparda",
    "explanation/diverse_features",
    "explanation/dufs",
    "explanation/informed",
]


def donors():
    """Two conditions of four donors each, with a batch and a number."""
    adata = dn.datasets.newly_connected(n_obs=80)[:, 140:].copy()
    adata.obs["condition"] = adata.obs["condition"].cat.rename_categories({"A": "ctrl", "B": "stim"})
    adata.obs["donor"] = [f"{c}{i % 4}" for i, c in enumerate(adata.obs["condition"])]
    adata.obs["batch"] = np.array(["first", "second"])[np.arange(adata.n_obs) // 4 % 2]
    adata.obs["percent_mito"] = np.random.default_rng(0).random(adata.n_obs)
    return {"adata": adata}


def donors_of_cells():
    """The same, with types of cells."""
    adata = donors()["adata"]
    adata.obs["cell_type"] = np.array(["CD14+ Monocytes", "B cells"])[np.arange(adata.n_obs) % 2]
    return {"adata": adata}


def counted_cells():
    adata = dn.datasets.scrna(n_cells=100, n_genes=60, n_donors=4, n_mean=5, n_spread=5, module_size=10)
    return {"adata": adata[:, adata.X.getnnz(axis=0) >= 40].copy()}


def cubes():
    rng = np.random.default_rng(0)
    scene = rng.random((12, 12, 1)) + 0.1 * rng.random((12, 12, 6))
    return {"before": scene, "after": scene + 0.01 * rng.random(scene.shape), "wavelengths": np.linspace(400, 900, 6)}


def recordings():
    adata = dn.datasets.nback_fmri(n_subjects=6, n_blocks=2)[:, :40].copy()
    adata.obs = adata.obs.drop(columns="block").assign(run=adata.obs["subject"])
    return {"adata": adata}


#: what a reader of these pages has when their code begins
GIVEN = {
    "howto/covariates": donors,
    "howto/match_depth": counted_cells,
    "howto/read_groups": donors_of_cells,
    "howto/image_change": cubes,
    "howto/series_and_subjects": recordings,
    "howto/report": donors,
}


def groups(adata):
    """Sizes of the groups that DiSC names."""
    return {name: len(features) for name, features in dn.get.gene_sets(adata).items()}


def claims_of_batches(seen):
    cards = [dn.get.scorecard(seen["adata"], key=key) for key in ("plain", "adjusted")]
    assert [(card["mean_pval_adj"] < 0.05).sum() for card in cards] == [134, 0]
    assert list(groups(seen["adata"]).values()) == [25] * 4


def claims_of_patients(seen):
    kinds = dn.get.scorecard(seen["patients"])["kind"].value_counts()
    assert (kinds["mean"], kinds.drop("none").sum()) == (30, 33)
    assert (dn.get.scorecard(seen["patients"], key="null")["kind"] == "none").all()
    assert groups(seen["patients"]) == {}


def claims_of_images(seen):
    angles = seen["pair"].var["feature_change"].sort_values(ascending=False).to_numpy()
    assert 0.77 < angles[11] < angles[0] < 0.8 + 0.005
    assert angles[12] < 0.055
    assert groups(seen["pair"]) == {"autumn1": 12}


def claims_of_pairs(seen):
    assert groups(seen["cells"]) == {"stimulated1": 15}
    assert (dn.get.scorecard(seen["cells"])["kind"] == "connectivity").sum() == 120


#: what pages say that their code finds
CLAIMS = {
    "howto/batch": claims_of_batches,
    "howto/two_groups_of_patients": claims_of_patients,
    "howto/two_images": claims_of_images,
    "howto/paired": claims_of_pairs,
}
#: imported before all other modules of the build: every attempt to open a connection is recorded and refused
NO_NETWORK = """
import socket, traceback

def refused(*args, **kwargs):
    with open({path!r}, "a") as file:
        file.write(repr(args) + "".join(traceback.format_stack()))
    raise OSError("the build must not need the network")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refused
"""


class Page(HTMLParser):
    """Anchors, links, loaded files and tags of a page."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loaded, self.tags = set(), [], [], Counter()
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags[tag] += 1
        self.ids |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in ("script", "img", "iframe", "source", "video") and given.get("src"):
            self.loaded.append(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "preload", "icon", "modulepreload"):
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the site, the finished build, and the record of connections."""
    folder = tmp_path_factory.mktemp("site")
    asked = folder / "network.txt"
    (folder / "first").mkdir()
    (folder / "first" / "sitecustomize.py").write_text(NO_NETWORK.format(path=str(asked)), encoding="utf-8")
    paths = [str(folder / "first"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--nitpicky", "--fresh-env"]
    command += ["--doctree-dir", str(folder / "doctrees"), str(DOCS), str(folder / "html")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
    return folder / "html", done, asked


@pytest.fixture(scope="module")
def pages(built):
    """All pages by their path."""
    html = built[0]
    found = [path for path in sorted(html.rglob("*.html")) if "_static" not in path.parts]
    return {path.relative_to(html).as_posix(): Page(path) for path in found}


@pytest.mark.parametrize(
    ("link", "written_in", "leads_to"),
    [
        ("../../notebooks/02_fmri.ipynb", "docs/explanation/significance.md", "../tutorials/02_fmri.ipynb"),
        ("../docs/explanation/sparda.md#limits", "notebooks/00_quickstart.ipynb", "../explanation/sparda.md#limits"),
        ("docs/validation/reproduction.md", "CONTRIBUTING.md", "../validation/reproduction.md"),
        ("CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "code_of_conduct.md"),
        ("../LICENSE", "docs/ecosystem.md", f"{URLS['Repository']}/blob/main/LICENSE"),
        ("../../benchmarks", "docs/validation/index.md", f"{URLS['Repository']}/tree/main/benchmarks"),
        ("../images/sweep.svg", "docs/validation/defaults.md", "../images/sweep.svg"),
        ("https://example.org/a.md", "docs/howto/panels.md", "https://example.org/a.md"),
    ],
)
def test_links_between_files_become_links_between_pages(link, written_in, leads_to):
    path = ROOT / written_in
    shown_as = PAGES["site_page"](path)
    assert PAGES["site_link"](link, path, shown_as) == leads_to


def test_code_is_unchanged_when_links_are_converted():
    text = "`[a](../LICENSE)`\n\n```\n[a](../LICENSE)\n```\n"
    assert PAGES["with_site_links"](text, DOCS / "index.md", Path("index.md")) == text


@pytest.mark.parametrize("section", SECTIONS)
def test_a_page_that_is_added_to_a_section_is_listed_without_an_edit(section, tmp_path):
    index = (DOCS / section / "index.md").read_text(encoding="utf-8")
    assert re.search(r"^(<others>|\*)$", index, flags=re.MULTILINE)
    for page in ("index", "added", "listed"):
        (tmp_path / f"{page}.md").touch()
    assert PAGES["unlisted"]("listed\n", tmp_path) == ["added"]


def test_every_page_is_in_the_folder_of_its_purpose():
    at_the_top = {path.stem for path in WRITTEN if path.parent == DOCS}
    assert at_the_top == {"index", "ecosystem"}
    assert {path.relative_to(DOCS).parts[0] for path in WRITTEN if path.parent != DOCS} == set(SECTIONS)


def test_the_readme_shows_the_method_table_of_the_docs():
    table = runpy.run_path(str(DOCS / "make_method_table.py"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert table["with_method_table"](readme) == readme, "python docs/make_method_table.py writes it"
    methods = set(re.findall(r"`dn\.tl\.(\w+)`", table["method_table"]()))
    assert methods == set(dn.tl.__all__) - {"meta_features", "feature_diffmap", "feature_change"}


def test_it_builds_without_a_warning(built):
    _, done, _ = built
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr


def test_the_build_does_not_use_the_network(built):
    _, done, asked = built
    assert "build succeeded" in done.stdout
    assert not asked.exists(), asked.read_text(encoding="utf-8")


def test_the_guard_records_a_connection(tmp_path):
    asked = tmp_path / "network.txt"
    (tmp_path / "sitecustomize.py").write_text(NO_NETWORK.format(path=str(asked)), encoding="utf-8")
    code = "import urllib.request as r; r.urlopen('http://localhost:9/')"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode != 0
    assert "urlopen" in asked.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_has_a_page_that_its_subpackage_lists(name, pages):
    page = pages[f"reference/api/generated/{name}.html"]
    assert name in page.ids
    assert "Examples" in page.text
    subpackage = pages[f"reference/api/{name.split('.')[1]}.html"]
    assert f"generated/{name}.html#{name}" in subpackage.links


def test_every_page_of_the_docs_can_be_reached_from_the_index(pages):
    linked = set(pages["index.html"].links)
    written = {path.relative_to(DOCS).with_suffix(".html").as_posix() for path in WRITTEN} - {"index.html"}
    copied = {f"project/{page}.html" for page in ROOT_PAGES.values()}
    assert written | copied <= linked


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_is_a_tutorial_under_its_own_title(path, pages):
    title = re.search(r"^# (.+)$", nbformat.read(path, as_version=4).cells[0].source, re.MULTILINE)[1]
    assert f"{path.stem}.html" in pages["tutorials/index.html"].links
    page = pages[f"tutorials/{path.stem}.html"]
    assert unescape(re.search(r"<h1>([^<]*)<a class=.headerlink", page.text)[1]) == title.replace("`", "")
    assert page.tags["img"] > 0


def test_every_link_within_the_site_leads_somewhere(built, pages):
    html, lost = built[0], []
    for name, page in pages.items():
        for link in [*page.links, *page.loaded]:
            if re.match(r"[a-z]+:", link):
                continue
            target, _, anchor = link.partition("#")
            path = (html / name).parent / unquote(target.split("?")[0]) if target else html / name
            path = Path(os.path.normpath(path))
            other = path.relative_to(html).as_posix()
            if not path.exists() or (anchor and other in pages and unquote(anchor) not in pages[other].ids):
                lost.append((name, link))
    assert lost == []


def test_no_page_loads_a_script_a_style_or_a_picture_from_elsewhere(pages):
    elsewhere = [(name, src) for name, page in pages.items() for src in page.loaded if re.match(r"(\w+:)?//", src)]
    assert elsewhere == []
    assert not [name for name, page in pages.items() if re.search(r"mathjax|require\.min\.js", page.text, re.I)]


def test_links_to_the_repository_lead_to_files_that_are_there(pages):
    base = URLS["Changelog"].removesuffix("CHANGELOG.md")
    found = {link.replace("/tree/", "/blob/") for page in pages.values() for link in page.links}
    named = {link for link in found if link.startswith(URLS["Repository"]) and "/blob/" in link}
    assert len(named) > 5
    assert [link for link in named if not link.startswith(base)] == []
    assert [link for link in named if not (ROOT / link.removeprefix(base).split("#")[0]).exists()] == []


def test_the_address_of_the_repository_is_written_in_no_page_of_the_docs():
    written = [path.name for path in DOCS.rglob("*.py") if URLS["Repository"] in path.read_text(encoding="utf-8")]
    written += [path.name for path in WRITTEN if URLS["Repository"] in path.read_text(encoding="utf-8")]
    assert written == []


@pytest.mark.parametrize("page", [f"explanation/{method}" for method in ("disc", "sparda", "dufs", "informed")])
def test_equations_are_drawn_by_the_browser_itself(page, pages):
    source = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert pages[f"{page}.html"].tags["math"] >= source.count("\n$$\n") // 2 > 0
    assert "$" not in re.sub(r"<(pre|script).*?</\1>", "", pages[f"{page}.html"].text, flags=re.DOTALL)


def test_names_of_functions_in_the_text_lead_to_their_pages(pages):
    links = pages["howto/choose_method.html"].links
    assert {
        "../reference/api/generated/diffnb.tl.disc.html#diffnb.tl.disc",
        "../reference/api/generated/diffnb.tl.sparda.html#diffnb.tl.sparda",
    } <= {*links}


def test_every_figure_that_is_drawn_is_shown(pages):
    drawn = re.search(r"for f in \((.*?)\)", (DOCS / "make_figures.py").read_text(encoding="utf-8"))[1].split(", ")
    shown = {Path(src).stem for page in pages.values() for src in page.loaded}
    assert set(drawn) <= shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_tutorial_has_a_picture_and_a_sentence_in_the_gallery(path, pages):
    gallery = (DOCS / "tutorials" / "index.md").read_text(encoding="utf-8")
    (row,) = [line for line in gallery.splitlines() if f"notebooks/{path.name}" in line]
    assert f"../images/tutorial_{path.stem}.png" in row
    assert len(row.split("**")[2]) > 60
    assert 2_000 < (DOCS / "images" / f"tutorial_{path.stem}.png").stat().st_size < 60_000
    assert any(f"tutorial_{path.stem}" in src for src in pages["tutorials/index.html"].loaded)


@pytest.mark.parametrize("name", dn.pl.__all__)
def test_the_gallery_of_figures_has_a_small_picture_of_every_function(name, pages):
    gallery = pages["reference/figures.html"]
    assert 2_000 < (DOCS / "images" / f"pl_{name}.png").stat().st_size < 60_000
    assert any(src.endswith(f"pl_{name}.png") for src in gallery.loaded)
    assert f"api/generated/diffnb.pl.{name}.html" in {link.split("#")[0] for link in gallery.links}


def about(seconds):
    """A time in words, to half a minute."""
    halves = max(1, round(seconds / 30))
    whole = ("", "a minute", "two minutes", "three minutes", "four minutes")[halves // 2]
    return "half a minute" if halves == 1 else whole + " and a half" * (halves % 2)


def test_times_of_tutorials_are_those_that_were_measured_and_stand_in_one_place():
    measured = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    spent = dict(re.findall(r"^\| (\d\d_\w+) \| [^|]+ \| (\d+) \|", measured, flags=re.MULTILINE))
    gallery = (DOCS / "tutorials" / "index.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"notebooks/(\w+)\.ipynb\).*; about ([\w ]+)\.\*", gallery))
    assert told == {path.stem: about(int(spent[path.stem])) for path in NOTEBOOKS}
    texts = {path.name: nbformat.read(path, as_version=4).cells for path in NOTEBOOKS}
    texts = {name: "".join(c.source for c in cells if c.cell_type == "markdown") for name, cells in texts.items()}
    texts["README.md"] = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name, text in texts.items() if re.search(r"[Rr]uns in (about )?\w+ (and a half )?min", text)] == []


def test_the_style_of_all_tutorials_has_the_colours_of_the_figures():
    from diffnb.pl._style import PALETTE

    with plt.style.context("diffnb.style"):
        assert [f"#{c['color'].lstrip('#')}".upper() for c in plt.rcParams["axes.prop_cycle"]] == [
            c.upper() for c in PALETTE
        ]
        assert (plt.rcParams["svg.fonttype"], plt.rcParams["pdf.fonttype"]) == ("none", 42)
    for path in NOTEBOOKS:
        code = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        assert 'plt.style.use("diffnb.style")' in code[0], path.name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_index_of_functions_describes_each(name, pages):
    index = pages["reference/api/index.html"]
    assert f"generated/{name}.html" in {link.split("#")[0] for link in index.links}
    sentence = PAGES["first_sentence"](getattr(getattr(dn, name.split(".")[1]), name.split(".")[2]))
    assert len(sentence) > 10


def blocks(page):
    """The Python code of a page, in order."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    found = re.findall(r"^( *)```python\n(.*?)^ *```", text, flags=re.DOTALL | re.MULTILINE)
    return ["\n".join(line.removeprefix(indent) for line in code.splitlines()) for indent, code in found]


@pytest.mark.parametrize("page", RUNNABLE)
@pytest.mark.filterwarnings("ignore::UserWarning")  # pages show what a reader would see, advice included
def test_the_code_of_a_page_runs_as_written(page, tmp_path, monkeypatch):
    if page == "howto/two_groups_of_patients":
        pytest.importorskip("sksurv", reason="its data come with scikit-survival, which Python 3.13 cannot install")
    seen: dict[str, object] = GIVEN[page]() if page in GIVEN else {}
    assert blocks(page)
    monkeypatch.chdir(tmp_path)
    for code in blocks(page):
        exec(compile(code, f"{page}.md", "exec"), seen)
    plt.close("all")
    if page == "howto/choose_method":
        true = seen["adata"].var_names[seen["adata"].var["truth"]]
        for by in ("by_sparda", "by_disc"):
            assert set(seen[by]) == set(true), by
        assert set(true) < set(seen["by_scorecard"])
        assert len(seen["by_scorecard"]) == len(true) + 2, "the page says two"
    if page in CLAIMS:
        CLAIMS[page](seen)


def test_the_citation_has_an_entry_for_every_paper(pages):
    references = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    text = re.sub(r"<[^>]+>", "", pages["project/citing.html"].text)
    assert all(entry["title"] in text and str(entry["year"]) in text for entry in references)


def test_generated_pages_are_not_kept_in_git():
    listed = subprocess.run(["git", "ls-files", "docs"], capture_output=True, text=True, cwd=ROOT)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    kept = listed.stdout.split()
    assert not [path for path in kept if path.endswith((".ipynb", ".rst")) or "/project/" in path]


def test_the_services_build_what_make_builds():
    service = yaml.safe_load((ROOT / ".readthedocs.yaml").read_text(encoding="utf-8"))
    assert (ROOT / service["sphinx"]["configuration"]).exists()
    assert service["sphinx"]["fail_on_warning"] is True
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))
    steps = [step["run"] for step in workflow["jobs"]["test"]["steps"] if "run" in step]
    assert {"bash .ci/run", "make docs"} <= set(steps)
    assert json.dumps(workflow).count("secrets") == 0
