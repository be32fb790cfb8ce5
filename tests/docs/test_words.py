"""Pages and notebooks use the vocabulary of the field."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
#: folders of docs/ that the build copies or generates
GENERATED = ("_build", "project")
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "benchmarks" / "README.md"] + [
    page for page in sorted((ROOT / "docs").rglob("*.md")) if not {*page.relative_to(ROOT).parts} & {*GENERATED}
]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
#: a word that a reader of the field would not expect, and what to write instead
WORDS = {
    r"deals?|dealt|dealing": "permutation, label assignment",
    r"anew": "again, recompute",
    r"slabs?|tiles?": "column block",
    r"runs? of (rows|cells|observations)|in runs": "row block",
    r"twins?": "reference implementation",
    r"rooms?": "subpackage",
    r"hangs? together": "co-vary, connected",
    r"t(ook|akes?) (no )?part": "excluded, included",
    r"parted": "split, separated",
    r"side by side|under each other": "concatenated, stacked, concurrently",
    r"notebook in front": "active notebook",
    r"whole numbers?": "integer",
    r"by what (it|each|every)": "how it differs",
    r"nobody|whoever": "name the subject",
}


def name(path):
    return path.relative_to(ROOT).as_posix()


def found(text):
    """Words to replace, with their surroundings; names in code are the business of the code."""
    prose = re.sub(r"^ *```.*?^ *```|`[^`\n]+`|\]\([^)]*\)", "", text, flags=re.DOTALL | re.MULTILINE)
    pattern = re.compile(rf"\b({'|'.join(WORDS)})\b", flags=re.IGNORECASE)
    return [prose[max(0, hit.start() - 30) : hit.end() + 30] for hit in pattern.finditer(prose)]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_uses_the_words_of_the_field(page):
    assert found(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=name)
def test_a_notebook_uses_the_words_of_the_field(notebook):
    assert [hit for cell in nbformat.read(notebook, as_version=4).cells for hit in found(cell.source)] == []


def test_every_word_of_the_list_is_found_in_prose_and_not_in_code():
    assert len(found("The labels are dealt anew.")) == 2
    assert found("`deals` and\n\n```python\ndealt = 1\n```\n") == []
