"""Pages that the site generates or copies: notebooks, root files, one page per public function.

They are written to folders that git ignores. Links between files, which work on GitHub, are converted to links
between pages, or to links to the repository where the site has no such page.
"""

from __future__ import annotations

import inspect
import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat
import yaml

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY = PROJECT["urls"]["Repository"]
#: address at which a file of the repository is shown; pyproject.toml is its only source
BLOB = PROJECT["urls"]["Changelog"].removesuffix("CHANGELOG.md")

TUTORIALS, PROJECT_PAGES, API = "tutorials", "project", "reference/api"
#: files of the root that are also pages of the site
ROOT_PAGES = {
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
    "CODE_OF_CONDUCT.md": "code_of_conduct",
    "CITATION.cff": "citing",
}
SUBPACKAGES = ("pp", "tl", "get", "pl", "panels", "report", "datasets", "sklearn")
#: the methods of a panel, below the list of functions that open one
PANEL = [
    "",
    "Methods of every panel",
    "----------------------",
    "",
    ".. autoclass:: diffnb.panels._frame.Panel",
    "   :members: set, run, stop, wait, code, snapshot",
    "   :no-undoc-members:",
    "   :class-doc-from: class",
]
#: how a page documents a function, and an estimator with the methods that it defines
FUNCTION = ".. autofunction:: {name}\n"
CLASS = ".. autoclass:: {name}\n   :members:\n   :no-undoc-members:\n   :class-doc-from: class\n"
PICTURES = (".png", ".svg", ".jpg")


def site_page(path: Path) -> Path | None:
    """Return the page, relative to the source folder of the site, that shows a file of the repository."""
    name = path.relative_to(ROOT)
    if name.as_posix() in ROOT_PAGES:
        return Path(PROJECT_PAGES, ROOT_PAGES[name.as_posix()] + ".md")
    if name.parts[:1] == ("notebooks",) and path.suffix == ".ipynb":
        return Path(TUTORIALS, path.name)
    if name.parts[:1] == ("docs",) and path.suffix == ".md":
        return path.relative_to(DOCS)
    return None


def site_link(target: str, written_in: Path, shown_as: Path) -> str:
    """Return the target that a link of a file has on the page that shows it."""
    name, hash_, anchor = target.partition("#")
    if re.match(r"[a-z]+:", target) or not name:
        return target
    path = Path(os.path.normpath(written_in.parent / name))
    if not path.exists() or not path.is_relative_to(ROOT):
        return target  # sphinx warns about it
    page = site_page(path)
    if page is None and path.suffix in PICTURES:
        page = Path(os.path.relpath(path, DOCS))
    if page is None and path.is_dir():
        return BLOB.replace("/blob/", "/tree/") + path.relative_to(ROOT).as_posix()
    if page is None:
        return BLOB + path.relative_to(ROOT).as_posix() + hash_ + anchor
    return Path(os.path.relpath(page, shown_as.parent)).as_posix() + hash_ + anchor


def with_site_links(text: str, written_in: Path, shown_as: Path) -> str:
    """Convert every relative link of a Markdown text, outside of code, to one that is valid on the site."""
    pieces = re.split(r"(^ *```.*?^ *```|`[^`\n]+`)", text, flags=re.DOTALL | re.MULTILINE)
    for i in range(0, len(pieces), 2):
        pieces[i] = re.sub(
            r"(\]\()([^)\s]+)", lambda found: found[1] + site_link(found[2], written_in, shown_as), pieces[i]
        )
    return "".join(pieces)


def write(page: Path, text: str) -> Path:
    """Write a page unless it is up to date: sphinx reads what has changed."""
    page.parent.mkdir(parents=True, exist_ok=True)
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")
    return page


def notebook_pages() -> Iterator[Path]:
    """Copy the notebooks."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        shown_as = Path(TUTORIALS, path.name)
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = with_site_links(cell.source, path, shown_as)
        yield write(DOCS / shown_as, nbformat.writes(notebook))


def root_pages() -> Iterator[Path]:
    """Copy the root files that are pages, and generate the one on citing."""
    for name, page in ROOT_PAGES.items():
        shown_as = Path(PROJECT_PAGES, f"{page}.md")
        text = (ROOT / name).read_text(encoding="utf-8")
        text = citing(yaml.safe_load(text)) if name == "CITATION.cff" else with_site_links(text, ROOT / name, shown_as)
        yield write(DOCS / shown_as, text)


def people(authors: Iterable[dict[str, str]]) -> str:
    """Return names as BibTeX joins them."""
    return " and ".join(
        f"{a['family-names']}, {a['given-names']}" if "family-names" in a else f"{{{a['name']}}}" for a in authors
    )


def bibtex(entry: dict) -> str:
    """Return one reference of a CITATION.cff as BibTeX."""
    kind, where = ("article", "journal") if entry["type"] == "article" else ("inproceedings", "booktitle")
    place = entry["journal"] if kind == "article" else entry["conference"]["name"]
    key = entry["authors"][0]["family-names"].lower() + str(entry["year"])
    fields = {"title": f"{{{entry['title']}}}", "author": people(entry["authors"]), where: place, "year": entry["year"]}
    return f"@{kind}{{{key},\n" + "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items()) + "}\n"


def citing(citation: dict) -> str:
    """Generate the page on citing from CITATION.cff."""
    software = (
        f"@software{{diffnb,\n  title = {{{{{citation['title']}}}}},\n  author = {{{people(citation['authors'])}}},\n"
        f"  version = {{{citation['version']}}},\n  url = {{{citation['repository-code']}}},\n}}\n"
    )
    papers = "\n".join(bibtex(entry) for entry in citation["references"])
    return (
        f"# Citing\n\n{citation['message']}\n\nThis page is generated from "
        f"[CITATION.cff]({BLOB}CITATION.cff), which GitHub and Zotero also read.\n\n"
        f"```bibtex\n{software}```\n\n## The papers\n\n```bibtex\n{papers}```\n"
    )


def function_pages() -> Iterator[Path]:
    """Write one page for every subpackage, with a table, and one for every public function."""
    import diffnb

    for subpackage in SUBPACKAGES:
        module = getattr(diffnb, subpackage)
        title = f"diffnb.{subpackage}"
        lines = [title, "=" * len(title), "", module.__doc__ or "", "", f".. currentmodule:: diffnb.{subpackage}", ""]
        lines += [".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
        lines += [f"   {name}" for name in module.__all__]
        lines += PANEL if subpackage == "panels" else []
        yield write(DOCS / API / f"{subpackage}.rst", "\n".join([*lines, ""]))
        for name in module.__all__:
            title = f"{subpackage}.{name}"
            head = f"{title}\n{'=' * len(title)}\n\n.. currentmodule:: diffnb.{subpackage}\n\n"
            documented = CLASS if isinstance(getattr(module, name), type) else FUNCTION
            yield write(DOCS / API / "generated" / f"diffnb.{title}.rst", head + documented.format(name=name))


def function_tables() -> str:
    """Return a table of every subpackage: its functions, and the first sentence of what each says of itself."""
    import diffnb

    tables = []
    for subpackage in SUBPACKAGES:
        module = getattr(diffnb, subpackage)
        lines = [f"## [dn.{subpackage}]({subpackage}.rst)", "", module.__doc__ or "", "", "| | |", "| --- | --- |"]
        for name in module.__all__:
            page = f"generated/diffnb.{subpackage}.{name}.rst"
            lines.append(f"| [`{subpackage}.{name}`]({page}) | {first_sentence(getattr(module, name))} |")
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def figure_table() -> str:
    """Return a table of the figures: a picture of each, and the first sentence of what it says of itself."""
    import diffnb

    rows = ["| | |", "| --- | --- |"]
    for name in diffnb.pl.__all__:
        sentence = first_sentence(getattr(diffnb.pl, name))
        picture = f"![{sentence.rstrip('.')}](../images/pl_{name}.png)"
        rows.append(f"| {picture} | [`pl.{name}`](api/generated/diffnb.pl.{name}.rst) {sentence} |")
    return "\n".join(rows)


def first_sentence(value: object) -> str:
    """Return the first line of a docstring, as Markdown that a table can hold."""
    line = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
    return re.sub(r":\w+:`~?(?:diffnb\.)?([^`]+)`", r"`\1`", line).replace("|", r"\|")


def gather() -> None:
    """Write all of them into the source folder, and remove those that are no longer needed."""
    kept = {*notebook_pages(), *root_pages(), *function_pages()}
    old = [*(DOCS / TUTORIALS).glob("*.ipynb"), *(DOCS / PROJECT_PAGES).glob("*.md"), *(DOCS / API).rglob("*.rst")]
    for page in set(old) - kept:
        page.unlink()


def unlisted(index: str, folder: Path) -> list[str]:
    """Return the pages of a section that its index does not name, so that a new page appears without an edit."""
    named = {"index", *(line.strip() for line in index.splitlines())}
    return [page.stem for page in sorted(folder.glob("*.md")) if page.stem not in named]
