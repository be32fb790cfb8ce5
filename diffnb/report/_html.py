"""Pieces of the page. Everything that comes from data is escaped here, and only here."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from ..get._remarks import Remark
from ._tables import as_json, cells_of

STATIC = Path(__file__).resolve().parent / "static"


def element(tag: str, text: object, **attributes: str) -> str:
    """Return an element that holds a text."""
    given = "".join(f' {name.rstrip("_")}="{html.escape(value)}"' for name, value in attributes.items())
    return f"<{tag}{given}>{html.escape(str(text))}</{tag}>"


def plain_table(frame: pd.DataFrame) -> str:
    """Return a small table that needs no script."""
    head = "".join(element("th", c, scope="col") for c in frame.columns)
    rows = "".join(
        "<tr>" + "".join(element("td", "" if pd.isna(v) else v) for v in row) + "</tr>"
        for row in frame.itertuples(index=False)
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def live_table(title: str, frame: pd.DataFrame, file_name: str) -> str:
    """Return a table that the script of the page sorts and filters."""
    shown, n_rows = cells_of(frame)
    n_shown = len(shown["cells"][0]) if shown["cells"] else 0
    cut = f" (the first {n_shown:,} of {n_rows:,} rows)" if n_shown < n_rows else ""
    heading = element("h4", f"{title}{cut}")
    data = f'<script type="application/json">{as_json(shown)}</script>'
    names = f'data-title="{html.escape(title)}" data-file="{html.escape(file_name)}"'
    return f'<div class="live" {names}>{heading}{data}</div>'


def remark_list(remarks: Sequence[Remark]) -> str:
    """Return remarks as a list."""
    signs = {"good": "✓", "mind": "!", "plain": "·"}
    items = "".join(
        f'<li class="{r.kind}"><span aria-hidden="true">{signs[r.kind]}</span>{element("span", r.text)}</li>'
        for r in remarks
    )
    return f'<ul class="remarks">{items}</ul>' if items else ""


def image(url: str, title: str, alt: str) -> str:
    """Return a figure with its title."""
    return f'<figure><img src="{url}" alt="{html.escape(alt)}">{element("figcaption", title)}</figure>'


def code(lines: Iterable[str]) -> str:
    """Return lines of code."""
    return element("pre", "\n".join(lines), tabindex="0")


def section(title: str) -> str:
    """Begin a section, which the list of contents leads to."""
    return f'<section id="{anchor(title)}">{element("h2", title)}'


def contents(titles: Iterable[str]) -> str:
    """Return a list of links to sections."""
    items = "".join(f"<li>{element('a', title, href='#' + anchor(title))}</li>" for title in titles)
    return f'<nav aria-label="Contents"><ul>{items}</ul></nav>'


def anchor(title: str) -> str:
    """Return the name that a title has in addresses."""
    letters = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    return f"{letters}-{hashlib.sha256(title.encode()).hexdigest()[:6]}"


def page(title: str, body: str) -> str:
    """Return the complete page; its policy lets nothing run but its own script, and nothing be fetched."""
    script = (STATIC / "report.js").read_text(encoding="utf-8")
    style = (STATIC / "report.css").read_text(encoding="utf-8")
    hashed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{hashed}'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{element('title', title)}<style>{style}</style></head>"
        f"<body><main>{body}</main><script>{script}</script></body></html>\n"
    )
