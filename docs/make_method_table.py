"""Write the method table of the README: `python docs/make_method_table.py`.

The table has one source, docs/howto/choose_method.md; the README, which must stand alone, shows three of its columns.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
SOURCE = ROOT / "docs" / "howto" / "choose_method.md"
COLUMNS = ("question", "call", "how it works")
MARKED = re.compile(r"(<!-- methods:start.*?-->\n).*?(<!-- methods:end -->)", flags=re.DOTALL)


def cells(line: str) -> list[str]:
    """Split a row of a Markdown table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def row(values: list[str]) -> str:
    """Join the cells of a row."""
    return f"| {' | '.join(values)} |"


def from_root(text: str) -> str:
    """Turn the relative links of the source page into links from the root of the repository."""
    return re.sub(
        r"\]\(([^)#:]+)", lambda link: f"]({os.path.relpath(SOURCE.parent / link[1], ROOT).replace(os.sep, '/')}", text
    )


def method_table() -> str:
    """Return the columns that the README shows, of the first table of the source page."""
    head, _, *rows = re.search(r"(?:^\|.*\n)+", SOURCE.read_text(encoding="utf-8"), flags=re.MULTILINE)[0].splitlines()
    chosen = [cells(head).index(name) for name in COLUMNS]
    lines = [list(COLUMNS), ["---"] * len(COLUMNS), *([cells(line)[i] for i in chosen] for line in rows)]
    return "".join(from_root(row(line)) + "\n" for line in lines)


def with_method_table(readme: str) -> str:
    """Return the text of the README with the table as it should be."""
    return MARKED.sub(lambda found: found[1] + method_table() + found[2], readme)


if __name__ == "__main__":
    README.write_text(with_method_table(README.read_text(encoding="utf-8")), encoding="utf-8")
