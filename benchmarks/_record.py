"""Tables of `real.py` as JSON, and the pages of the docs that show them between markers.

A page says `<!-- real: nulls -->` … `<!-- /real -->` for every table of the part `nulls`, `<!-- real: nulls 2 -->` for
the second one. What stands between is written by `python benchmarks/real.py --show`, never by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import _tools

DOCS = _tools.ROOT.parent / "docs"
RESULTS = _tools.ROOT / "results" / "real"
MARKED = re.compile(
    r"(?P<open><!-- real: (?P<part>\w+)(?: (?P<number>\d+))? -->\n).*?(?P<close><!-- /real -->)", re.DOTALL
)


class Recorder(list[dict[str, Any]]):
    """Tables that are kept as soon as they are printed, so that what an interrupted run has measured is not lost."""

    def __init__(self, keep: Callable[[list[dict[str, Any]]], Any]) -> None:
        super().__init__()
        self.keep = keep

    def append(self, table: dict[str, Any], /) -> None:
        super().append(table)
        self.keep(self)


def recorded(
    report: Callable[[], Any], keep: Callable[[list[dict[str, Any]]], Any] = lambda tables: None
) -> list[dict[str, Any]]:
    """Run a part and return its tables: those it prints, and those it returns but did not print.

    `keep` gets all tables so far after each of them.
    """
    tables = Recorder(keep)
    _tools.RECORDERS.append(tables)
    try:
        returned = report()
        for title, head, rows in _tables(returned):
            if title not in {table["title"] for table in tables}:
                _tools.table(title, head, rows)
    finally:
        _tools.RECORDERS.remove(tables)
    return tables


def _tables(returned: Any) -> Iterable[tuple[str, Any, Any]]:
    """Find tables, mappings with `title`, `head` and `rows`, in what a part returns, one or several."""
    if isinstance(returned, Mapping) and {"title", "head", "rows"} <= set(returned):
        yield returned["title"], returned["head"], returned["rows"]
    elif isinstance(returned, Mapping):
        yield from (table for value in returned.values() for table in _tables(value))
    elif isinstance(returned, (list, tuple)):
        yield from (table for value in returned for table in _tables(value))


def save(part: str, tables: list[dict[str, Any]], facts: Mapping[str, Any], folder: Path = RESULTS) -> Path:
    """Write the tables of a part, and how they were made."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{part}.json"
    path.write_text(json.dumps({**facts, "tables": tables}, indent=1, ensure_ascii=False, default=float) + "\n")
    return path


def markdown(part: str, number: int | None, folder: Path = RESULTS) -> str | None:
    """Return one table of a part, or all of them, as Markdown; None where the part never got there."""
    path = folder / f"{part}.json"
    if not path.exists():
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    chosen = found["tables"] if number is None else found["tables"][number - 1 : number]
    if not chosen:
        return None
    command = f"`benchmarks/real.py {part} --seeds {found['seeds']}`"
    parts = [f"*{t['title']}* ({command})\n\n" + "\n".join(_tools.markdown_rows(t["head"], t["rows"])) for t in chosen]
    return "\n" + "\n\n".join(parts) + "\n\n"


def filled(text: str, folder: Path = RESULTS) -> str:
    """Return the text of a page with the tables that its markers ask for; those without results stay."""

    def replaced(match: re.Match[str]) -> str:
        number = match["number"]
        tables = markdown(match["part"], None if number is None else int(number), folder)
        return match[0] if tables is None else match["open"] + tables + match["close"]

    return MARKED.sub(replaced, text)


def marked_pages() -> list[Path]:
    """Pages of the docs with markers."""
    return [page for page in sorted(DOCS.rglob("*.md")) if MARKED.search(page.read_text(encoding="utf-8"))]


def show(folder: Path = RESULTS) -> None:
    """Write the tables of all results into the pages that ask for them."""
    for page in marked_pages():
        before = page.read_text(encoding="utf-8")
        after = filled(before, folder)
        if after != before:
            page.write_text(after, encoding="utf-8")
        print(f"{'written' if after != before else 'up to date'}: {page.relative_to(DOCS.parent)}")
