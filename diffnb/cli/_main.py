"""What a command does: read, call the tool, write."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import sys
import time
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

DONE, REFUSED, NOT_UNDERSTOOD, INTERRUPTED = 0, 1, 2, 130
FILES = ("tool", "input", "out", "tables", "report", "json")
#: what a tool raises for data or arguments that it cannot work with
REFUSALS = (ValueError, TypeError, KeyError, OSError, MemoryError, ImportError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    if not sys.stderr.isatty():
        os.environ.setdefault("TQDM_DISABLE", "1")  # a log file is no place for progress bars
    from ._parser import make_parser

    parser = make_parser()
    given = parser.parse_args(arguments)
    _check(parser, given)
    try:
        summary = _run(given)
    except KeyboardInterrupt:
        print("diffnb: interrupted; nothing was written", file=sys.stderr)
        return INTERRUPTED
    except REFUSALS as error:
        message = error.args[0] if isinstance(error, KeyError) and error.args else error
        print(f"diffnb: {message}", file=sys.stderr)
        return REFUSED
    print(json.dumps(summary) if given.json else _text(summary))
    return DONE


def _check(parser: ArgumentParser, given: Namespace) -> None:
    if not (given.out or given.tables or given.report or given.json):
        parser.error("nothing would be kept: give --out, --tables, --report or --json")
    for name in ("input", "out"):
        path = getattr(given, name)
        if path is not None and Path(path).suffix not in (".h5ad", ".zarr"):
            parser.error(f"{name}: {path!r} ends neither in .h5ad nor in .zarr")
    if given.out and Path(given.out).is_dir():
        parser.error(f"out: {given.out!r} is a folder that exists; remove it first")


def _run(given: Namespace) -> dict[str, Any]:
    from ._parser import tools

    started = time.monotonic()
    tool = tools()[given.tool]
    arguments = {name: value for name, value in vars(given).items() if name not in FILES}
    key = arguments.get("key_added", arguments.get("key", _default_key(tool)))
    adata = _read(Path(given.input))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        tool(adata, **arguments)
    messages = list(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, UserWarning)))
    for message in messages:
        print(f"diffnb: warning: {message}", file=sys.stderr)
    written = list(_write(given, adata, key))
    return {
        "tool": given.tool,
        "key": key,
        "input": given.input,
        "n_obs": adata.n_obs,
        "n_vars": adata.n_vars,
        "arguments": arguments,
        "written": written,
        "warnings": messages,
        "seconds": round(time.monotonic() - started, 2),
    }


def _default_key(tool: Any) -> str:
    found = inspect.signature(tool).parameters
    return str(found["key_added" if "key_added" in found else "key"].default)


def _read(path: Path) -> Any:
    import anndata

    if not path.exists():
        raise FileNotFoundError(f"input {str(path)!r} does not exist")
    try:
        return anndata.read_h5ad(path) if path.suffix == ".h5ad" else anndata.read_zarr(path)
    except OSError as error:
        raise OSError(f"input {str(path)!r} cannot be read as an AnnData: {error}") from error


def _write(given: Namespace, adata: Any, key: str) -> Iterator[str]:
    """Write what was asked for; a file appears only when it is complete."""
    if given.out:
        target = Path(given.out)
        partial = target.with_name(f".{target.name}.partial")
        try:
            (adata.write_h5ad if target.suffix == ".h5ad" else adata.write_zarr)(partial)
            partial.replace(target)
        finally:
            _remove(partial)
        yield given.out
    if given.tables:
        yield from _write_tables(Path(given.tables), adata, given.tool, key)
    if given.report:
        from .. import report

        report.report(adata, given.report, keys=[key])
        yield given.report


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _write_tables(folder: Path, adata: Any, tool: str, key: str) -> Iterator[str]:
    import pandas as pd

    from .. import get
    from .._csv import spreadsheet_csv

    folder.mkdir(parents=True, exist_ok=True)
    for name in get.__all__:
        reader = getattr(get, name)
        source = (inspect.getdoc(reader) or "").partition("Returns\n")[0]
        if f"diffnb.tl.{tool}`" not in source or "key" not in inspect.signature(reader).parameters:
            continue
        try:
            table = reader(adata, key=key)
        except (KeyError, ValueError, TypeError):
            continue  # what this call was not asked for
        if isinstance(table, pd.DataFrame):
            path = folder / f"{key}.{name}.csv" if name != key else folder / f"{key}.csv"
            path.write_text(spreadsheet_csv(table), encoding="utf-8", newline="")
            yield str(path)


def _text(summary: dict[str, Any]) -> str:
    written = ", ".join(summary["written"]) or "nothing"
    return (
        f"{summary['tool']}: {summary['n_obs']:,} observations × {summary['n_vars']:,} features in"
        f" {summary['seconds']} s; written: {written}"
    )
