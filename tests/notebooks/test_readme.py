"""The first things a newcomer reads must be true: README, docs and notebooks."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbformat
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
#: folders of docs/ whose pages the build copies or generates
GENERATED = ("_build", "project")
DOCS = [page for page in (ROOT / "docs").rglob("*.md") if page.relative_to(ROOT / "docs").parts[0] not in GENERATED]
PAGES = [
    README,
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "benchmarks" / "README.md",
    *sorted(DOCS),
]
QUICKSTART = ROOT / "notebooks" / "00_quickstart.ipynb"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PLACES = [Path("/home"), Path("/Users"), Path.home(), Path(tempfile.gettempdir()), ROOT]
# a home at the root of the file system would be found in every link
MACHINE_PATHS = [f"{place}/" for place in PLACES if place != Path("/")]
LARGEST = 3_000_000
LARGEST_QUICKSTART = 1_500_000


def name(path):
    return path.relative_to(ROOT).as_posix()


def relative_links(text):
    """Targets of links and pictures that are files of this repository."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\]\(([^)\s]+)[^)]*\)", prose)
    return [t.split("#")[0] for t in targets if not re.match(r"[a-z]+:|#", t)]


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=name)
def path(request):
    return request.param


@pytest.fixture(scope="module")
def notebook(path):
    return nbformat.read(path, as_version=4)


@pytest.fixture(scope="module")
def outputs(notebook):
    return [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]


def test_the_example_in_the_readme_runs_as_written(capsys):
    examples = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert len(examples) == 1
    seen: dict[str, object] = {}
    with mpl.rc_context({"backend": "agg"}):
        exec(compile(examples[0], "README.md", "exec"), seen)
    plt.close("all")
    var = seen["adata"].var
    assert set(var["truth"][var["disc_stimulated"] == "stimulated1"]) == {"module_stimulated"}
    assert (var["truth"] == "module_stimulated").sum() == (var["disc_stimulated"] == "stimulated1").sum() == 30
    assert "pval" in capsys.readouterr().out


def test_the_readme_names_the_two_commands_and_the_makefile_has_them():
    text, makefile = (ROOT / f for f in ("README.md", "Makefile"))
    for command in ("lab", "test"):
        assert f"`make {command}`" in text.read_text(encoding="utf-8")
        assert re.search(rf"^{command}:", makefile.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_the_readme_is_short_and_shows_a_picture_before_its_badges():
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert text.index("docs/overview.png") < text.index("mybinder.org")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_relative_link_and_picture_exists(page):
    missing = [t for t in relative_links(page.read_text(encoding="utf-8")) if not (page.parent / t).exists()]
    assert missing == []


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=name)
def test_no_page_names_a_place_on_some_machine(page):
    text = page.read_text(encoding="utf-8")
    assert [path for path in MACHINE_PATHS if path in text] == []


def test_links_in_a_notebook_exist(notebook, path):
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert [t for t in relative_links(text) if not (path.parent / t).exists()] == []


def test_the_quickstart_links_to_the_docs():
    cells = nbformat.read(QUICKSTART, as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert "../docs/explanation/significance.md" in relative_links(text)


def test_every_notebook_was_run_from_top_to_bottom(notebook):
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))


def test_every_notebook_shows_tables_and_figures_and_nothing_went_wrong(outputs, path):
    kinds = [o.output_type for o in outputs]
    assert "error" not in kinds
    assert [o.text for o in outputs if o.output_type == "stream" and o.name == "stderr"] == []
    at_least = 5 if path == QUICKSTART else 2
    assert sum("image/png" in o.get("data", {}) for o in outputs) >= at_least
    assert sum("text/html" in o.get("data", {}) for o in outputs) >= at_least


def test_every_notebook_opens_with_any_python_kernel(notebook):
    assert notebook.metadata.kernelspec.name == "python3"
    assert "widgets" not in notebook.metadata


def test_every_notebook_is_small_enough_to_download(path):
    assert path.stat().st_size <= (LARGEST_QUICKSTART if path == QUICKSTART else LARGEST)
