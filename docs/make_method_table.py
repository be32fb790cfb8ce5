"""Write the method table of the README: `python docs/make_method_table.py`.

The table has one source, docs/howto/choose_method.md; the README, which must stand alone, shows a copy.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
SOURCE = ROOT / "docs" / "howto" / "choose_method.md"
TABLE = re.compile(r"(?:^\|.*\n)+", flags=re.MULTILINE)
MARKED = re.compile(r"(<!-- methods:start.*?-->\n).*?(<!-- methods:end -->)", flags=re.DOTALL)


def link_from_root(target: str) -> str:
    """Return a link of the source page as it must be in the root of the repository."""
    return Path(os.path.relpath(SOURCE.parent / target, ROOT)).as_posix()


def method_table() -> str:
    """Return the first table of the source page, its links relative to the root."""
    table = TABLE.search(SOURCE.read_text(encoding="utf-8"))[0]
    return re.sub(r"\]\(([^)]+)\)", lambda link: f"]({link_from_root(link[1])})", table)


def with_method_table(readme: str) -> str:
    """Return the text of the README with the current table."""
    return MARKED.sub(lambda marks: marks[1] + method_table() + marks[2], readme)


if __name__ == "__main__":
    README.write_text(with_method_table(README.read_text(encoding="utf-8")), encoding="utf-8")
