"""Shared parameters are described once, and inserted into the docstrings of the functions that take them.

A docstring lists all parameters in their order. One without a description gets the shared text; one whose
description begins with `...` gets the shared text and then its own:

    layer
    sample_key
        ... Whole samples are permuted.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

WIDTH = 108
_CONTINUED = "..."
_NAME = re.compile(r"^\w+(, \w+)*$")
#: the section that follows the parameters, of a function or of a class
_NEXT = re.compile(r"\n\n(?=(?:Returns|Attributes)\n)")

F = TypeVar("F", bound=Callable[..., Any])


def documented(shared: Mapping[str, str], /) -> Callable[[F], F]:
    """Insert the shared texts into the section `Parameters` of a docstring."""

    def insert(function: F) -> F:
        if function.__doc__:  # there is none under `python -OO`
            function.__doc__ = _filled(inspect.cleandoc(function.__doc__), shared)
        return function

    return insert


def _filled(doc: str, shared: Mapping[str, str]) -> str:
    head, title, rest = doc.partition("Parameters\n----------\n")
    if not title:
        return doc
    section, *tail = _NEXT.split(rest, maxsplit=1)
    entries = [_entry(name, text, shared) for name, text in parameters(section).items()]
    return "\n\n".join([head + title + "\n".join(entries), *tail])


def parameters(section: str, /) -> dict[str, str]:
    """Read names and descriptions from a section `Parameters`."""
    found: dict[str, list[str]] = {}
    for line in section.splitlines():
        if _NAME.match(line):
            found[line] = []
        else:
            list(found.values())[-1].append(line)
    return {name: textwrap.dedent("\n".join(lines)) for name, lines in found.items()}


def _entry(name: str, text: str, shared: Mapping[str, str]) -> str:
    if text and not text.startswith(_CONTINUED):
        described = text
    else:
        described = textwrap.fill(" ".join(f"{shared[name]} {text.removeprefix(_CONTINUED)}".split()), WIDTH)
    return f"{name}\n{textwrap.indent(described, '    ')}"
