"""Values of the command line, read as the annotation of an argument says."""

from __future__ import annotations

import argparse
import collections.abc
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any, Literal, Union

NOTHING = "none"


def value_reader(annotation: Any, /) -> Callable[[str], Any]:
    """Return the function that turns the text of an option into a value of this type.

    `none` is `None`, a comma separates the parts of a list, and `name=value` those of a mapping.
    """
    kinds = list(_alternatives(annotation))
    words = [word for kind in kinds if typing.get_origin(kind) is Literal for word in typing.get_args(kind)]

    def read(text: str) -> Any:
        if text in words:
            return text
        if text == NOTHING and type(None) in kinds:
            return None
        for kind in kinds:
            try:
                return _read_as(kind, text)
            except ValueError:
                continue
        allowed = [*words, *([NOTHING] if type(None) in kinds else []), *_described(kinds)]
        raise argparse.ArgumentTypeError(f"{text!r} is none of: {', '.join(allowed)}")

    return read


def takes_flag(annotation: Any, /) -> bool:
    """Return whether an argument is true or false and nothing else."""
    return annotation is bool


def _alternatives(annotation: Any) -> Iterator[Any]:
    if typing.get_origin(annotation) in (Union, types.UnionType):
        for part in typing.get_args(annotation):
            yield from _alternatives(part)
    else:
        yield annotation


def _read_as(kind: Any, text: str) -> Any:
    origin = typing.get_origin(kind)
    if kind in (int, float):
        return kind(text)
    if kind is bool and text in ("true", "false"):
        return text == "true"
    if origin is collections.abc.Sequence and typing.get_args(kind) != (bool,):
        return [_read_as(typing.get_args(kind)[0], part) for part in text.split(",")]
    if origin is collections.abc.Mapping and all("=" in part for part in text.split(",")):
        of = typing.get_args(kind)[1]
        return {name: _read_as(of, value) for name, value in (part.split("=", 1) for part in text.split(","))}
    if kind is str:
        return text
    raise ValueError(f"{text!r} is no {kind}")


def _described(kinds: list[Any]) -> list[str]:
    names = {int: "an integer", float: "a number", bool: "true or false", str: "a text"}
    found = [names[kind] for kind in kinds if kind in names]
    origins = {typing.get_origin(kind) for kind in kinds}
    found += ["a list with commas"] if collections.abc.Sequence in origins else []
    return found + (["name=value pairs with commas"] if collections.abc.Mapping in origins else [])
