"""The parser, made of the signatures and docstrings of the tools."""

from __future__ import annotations

import argparse
import inspect
import re
import typing
from collections.abc import Callable
from typing import Any

from .. import __version__, tl
from .._docs import parameters
from ._values import takes_flag, value_reader

#: arguments that the command line has other means for
NOT_OPTIONS = ("adata", "copy")


def tools() -> dict[str, Callable[..., Any]]:
    """Return the tools that work on one AnnData, by name."""
    found = {name: getattr(tl, name) for name in tl.__all__}
    return {name: tool for name, tool in found.items() if next(iter(inspect.signature(tool).parameters)) == "adata"}


def make_parser() -> argparse.ArgumentParser:
    """Return the parser with one command per tool."""
    parser = argparse.ArgumentParser(
        prog="diffnb",
        description="Which features, and which groups of features, make conditions differ?",
        epilog="Exit codes: 0 done, 1 the data or an argument was refused, 2 the command was not understood.",
    )
    parser.add_argument("--version", action="version", version=f"diffnb {__version__}")
    commands = parser.add_subparsers(dest="tool", metavar="tool", required=True)
    for name, tool in tools().items():
        doc = inspect.getdoc(tool) or ""
        command = commands.add_parser(name, help=doc.partition("\n")[0], description=doc.partition("\n")[0])
        _add_files(command)
        _add_arguments(command, tool, doc)
    return parser


def _add_files(command: argparse.ArgumentParser) -> None:
    files = command.add_argument_group("files")
    files.add_argument("input", help="AnnData to read: .h5ad, or a .zarr folder")
    files.add_argument("--out", help="AnnData to write, with the results: .h5ad, or a .zarr folder")
    files.add_argument("--tables", metavar="FOLDER", help="write the results as CSV tables, one file per reader")
    files.add_argument("--report", metavar="HTML", help="write a report that opens in any browser")
    files.add_argument("--json", action="store_true", help="print a summary as JSON instead of text")


def _add_arguments(command: argparse.ArgumentParser, tool: Callable[..., Any], doc: str) -> None:
    options = command.add_argument_group(f"arguments of dn.tl.{tool.__name__}")
    annotations = typing.get_type_hints(tool)
    described = parameters(doc.partition("Parameters\n----------\n")[2].partition("\n\nReturns\n")[0])
    for name, parameter in inspect.signature(tool).parameters.items():
        if name in NOT_OPTIONS:
            continue
        required = parameter.default is inspect.Parameter.empty
        text = _plain(described[name]) + ("" if required else f" (default: {_shown(parameter.default)})")
        flag = "--" + name.replace("_", "-")
        # what is not given is not passed: defaults have one place, the signature
        given: dict[str, Any] = {"dest": name, "default": argparse.SUPPRESS, "help": text.replace("%", "%%")}
        if takes_flag(annotations[name]):
            options.add_argument(flag, action=argparse.BooleanOptionalAction, **given)
        else:
            reader = value_reader(annotations[name])
            options.add_argument(flag, type=reader, required=required, metavar="VALUE", **given)


def _plain(text: str) -> str:
    """Return the description without Markdown and references."""
    return " ".join(re.sub(r":\w+:`([^`]*)`", r"\1", text).replace("`", "").split())


def _shown(default: Any) -> str:
    return "none" if default is None else str(default).lower() if isinstance(default, bool) else str(default)
