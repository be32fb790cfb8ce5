"""Descriptions of parameters that several functions share, written once.

A docstring refers to such a description with a line that holds nothing but its name in braces.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

_REFERENCE = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)
_Function = TypeVar("_Function", bound=Callable[..., Any])


def documented(parts: Mapping[str, str], /) -> Callable[[_Function], _Function]:
    """Make a decorator that puts these descriptions into docstrings, indented as their references are."""

    def put(reference: re.Match[str]) -> str:
        indent, name = reference.groups()
        return "\n".join(indent + line for line in inspect.cleandoc(parts[name]).splitlines())

    def decorate(function: _Function) -> _Function:
        function.__doc__ = _REFERENCE.sub(put, function.__doc__ or "")
        return function

    return decorate
