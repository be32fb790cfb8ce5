"""`dn.report`: the results of an AnnData as one HTML page."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .. import get
from .._calls import Call
from ..get._remarks import Remark, remarks
from ..get._stale import collected_staleness
from ..get._stored_call import stored_call
from . import _contents as contents
from . import _html as html
from ._docs import documented_report
from ._figures import image_url
from ._sections import SECTIONS, Section, read_table

CITE = "The diffnb developers. diffnb: which features, and which groups of features, make conditions differ."

CITING, FURTHER = "Versions and how to cite", "Further tables"


@documented_report
def report(
    adata: AnnData,
    path: str | Path,
    *,
    keys: Sequence[str] | None = None,
    tables: Mapping[str, pd.DataFrame] | None = None,
    title: str = "Differential analysis",
) -> Path:
    """Write what an AnnData holds and what was found in it to one HTML page.

    The page needs no kernel and no network: tables sort and filter in the browser, figures are part of the file. It
    holds a summary of the data, and for every result its settings, what to mind, tables, figures and the code, then
    versions and how to cite.

    Parameters
    ----------
    adata
    path
        File to write.
    keys
        Results to show, by the `key_added` of their calls; all by default.
    tables
        Further tables to show, by their titles, such as `{"Pairs that differ": dn.get.edges(adata)}`.
    title
        Heading of the page.

    Returns
    -------
    The path of the file.

    Examples
    --------
    >>> import tempfile
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.scorecard(adata, "condition")
    >>> path = dn.report(adata, tempfile.mkdtemp() + "/report.html")
    >>> "dn.tl.scorecard(adata, &quot;condition&quot;)" in path.read_text()
    True
    """
    validate.tables_in_memory(adata)
    if not isinstance(path, str | Path):
        raise TypeError(f"path={path!r} must be the name of a file, got {type(path).__name__}.")
    if not isinstance(title, str):
        raise TypeError(f"title={title!r} must be a text, got {type(title).__name__}.")
    keys = [keys] if isinstance(keys, str) else keys
    if keys is not None and not isinstance(keys, Iterable):
        raise TypeError(f"keys={keys!r} must be a key of results, or a list of them.")
    found = get.results(adata)["tool"].to_dict()
    if keys is not None:
        unknown = [key for key in keys if key not in found]
        if unknown:
            raise KeyError(
                f"no results are stored under key={unknown[0]!r}; there are {validate.quoted(found)}."
                f"{validate.nearest(unknown[0], found)}"
            )
        found = {key: found[key] for key in keys}
    further = _checked(tables or {})
    target = Path(path)
    with collected_staleness():  # the page says which results are older than the data
        body = "".join(_body(adata, title, found, further))
    # complete or not at all: an interrupt leaves the page that was there
    partial = target.with_name(f".{target.name}.partial")
    try:
        partial.write_text(html.page(title, body), encoding="utf-8")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return target


def _checked(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    for name, table in tables.items():
        if not isinstance(table, pd.DataFrame):
            raise TypeError(f"tables[{name!r}] is {type(table).__name__}; give a pandas DataFrame.")
    return {str(name): table for name, table in tables.items()}


def _body(adata: AnnData, title: str, tools: dict[str, str], tables: dict[str, pd.DataFrame]) -> Iterator[str]:
    calls = {key: stored_call(adata, key) for key in tools}
    yield "<header>"
    yield html.element("h1", title)
    day = dt.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    yield html.element("p", f"{adata.n_obs:,} observations × {adata.n_vars:,} features. Written {day} by diffnb.")
    yield "</header>"
    names = [_heading(tool, key) for key, tool in tools.items()]
    yield html.contents(["Data", *names, *([FURTHER] if tables else []), "Code", CITING])
    yield from _data(adata, [call for call in calls.values() if call is not None])
    if not tools:
        yield html.element("p", "No results are stored in this AnnData yet.")
    for key, tool in tools.items():
        yield from _result(adata, tool, key, calls[key])
    if tables:
        yield from _tables(tables)
    yield from _code(calls)
    yield from _versions(tools)


def _heading(tool: str, key: str) -> str:
    title = SECTIONS.get(tool, Section(tool, "")).title
    return title if key == tool else f"{title} ({key})"


def _tables(tables: dict[str, pd.DataFrame]) -> Iterator[str]:
    yield html.section(FURTHER)
    for name, table in tables.items():
        yield html.live_table(name, table, re.sub(r"\W+", "_", name).strip("_") + ".csv")
    yield "</section>"


def _data(adata: AnnData, calls: list[Call]) -> Iterator[str]:
    yield html.section("Data")
    yield html.plain_table(get.contents(adata).rename_axis("what").reset_index())
    compared = contents.conditions_of(adata, calls)
    if not compared.empty:
        yield html.element("h3", "Conditions")
        yield html.plain_table(compared)
    notes = contents.about_data(adata)
    if notes:
        yield html.element("h3", "What to mind")
        yield html.remark_list(notes)
    yield "</section>"


def _result(adata: AnnData, tool: str, key: str, call: Call | None) -> Iterator[str]:
    section = SECTIONS.get(tool, Section(tool, ""))
    yield html.section(_heading(tool, key))
    if section.question:
        yield html.element("p", section.question)
    yield html.remark_list(_remarks(adata, tool, key, call))
    yield from _figures(adata, section, key)
    for table in section.tables:
        frame = read_table(adata, table, key)
        if frame is not None:
            yield html.live_table(table.title, frame, f"{key}_{table.name}.csv")
    if call is not None:
        yield f"<details>{html.element('summary', 'Settings')}{html.plain_table(contents.settings_of(call))}</details>"
    yield "</section>"


def _remarks(adata: AnnData, tool: str, key: str, call: Call | None) -> list[Remark]:
    if call is None:
        text = "The call cannot be repeated from what is stored: it was given an array, a function, sets or other data."
        return [*remarks(adata, tool, key, call), Remark("mind", text)]
    return remarks(adata, tool, key, call)


def _figures(adata: AnnData, section: Section, key: str) -> Iterator[str]:
    for figure in section.figures:
        call = figure.call(key)
        try:
            url = image_url(call, adata)
        except (KeyError, ValueError, ImportError):  # these results have no such figure
            continue
        yield html.image(url, figure.title, f"{figure.title}, drawn by {call.line()}")


def _code(calls: dict[str, Call | None]) -> Iterator[str]:
    yield html.section("Code")
    yield html.element("p", "These lines repeat the analysis on the same data.")
    lines = ["import anndata as ad", "import diffnb as dn", "", "adata = ad.read_h5ad(…)  # the data", ""]
    for key, call in calls.items():
        lines.append(f"# {key!a} cannot be written as a line" if call is None else call.line())
    yield html.code(lines)
    yield "</section>"


def _versions(tools: dict[str, str]) -> Iterator[str]:
    yield html.section(CITING)
    yield html.plain_table(contents.versions())
    papers = dict.fromkeys(SECTIONS[tool].paper for tool in tools.values() if tool in SECTIONS)
    yield "<ul>" + "".join(html.element("li", text) for text in [CITE, *papers] if text) + "</ul></section>"


def free_path(stem: str, suffix: str) -> Path:
    """Return the first path in the current folder that is not taken."""
    names = (f"{stem}{number}{suffix}" for number in ("", *(f"-{i}" for i in range(1, 10_000))))
    return next(path for path in map(Path, names) if not path.exists())
