"""A call that is run, and shown as the line that does the same."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: the names under which packages appear in lines
PACKAGES = {"dn": "diffnb", "sc": "scanpy"}
WIDTH = 100


@dataclass(frozen=True, slots=True)
class Call:
    """A function by its name in lines, `dn.tl.disc`, and what it is given besides the data."""

    name: str
    positional: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    #: a name for what it returns
    result: str = ""
    #: which rows to take of the table it returns
    query: str = ""

    @property
    def function(self) -> Any:
        """The function itself."""
        package, *path = self.name.split(".")
        found: Any = importlib.import_module(PACKAGES[package])
        for part in path:
            found = getattr(found, part)
        return found

    @property
    def told(self) -> dict[str, Any]:
        """Keywords that differ from the function's own defaults: the others need no word."""
        known = inspect.signature(self.function).parameters
        return {k: v for k, v in self.keywords.items() if k not in known or not _same(known[k].default, v)}

    @property
    def key(self) -> str:
        """Name that tells its results from those of other calls."""
        known = inspect.signature(self.function).parameters
        default = known["key_added"].default if "key_added" in known else ""
        return str(self.keywords.get("key_added") or default or self.name.rpartition(".")[2])

    def run(self, adata: Any) -> Any:
        """Do it."""
        found = self.function(adata, *self.positional, **self.told)
        return found.query(self.query) if self.query else found

    def line(self, adata: str = "adata") -> str:
        """Write it; names go through `repr`, so that none of them can end the string it stands in."""
        given = [adata, *map(literal, self.positional), *(f"{k}={literal(v)}" for k, v in self.told.items())]
        start = f"{self.result} = {self.name}" if self.result else self.name
        then = f".query({literal(self.query)})" if self.query else ""
        line = f"{start}({', '.join(given)}){then}"
        if len(line) <= WIDTH:
            return line
        inner = "".join(f"    {part},\n" for part in given)
        return f"{start}(\n{inner}){then}"


def _same(default: Any, value: Any) -> bool:
    return type(default) is type(value) and bool(default == value)


def literal(value: Any) -> str:
    """Write a value so that Python reads the same again."""
    if isinstance(value, str):
        return ascii(str(value)) if any(not c.isprintable() for c in value) else _double_quoted(str(value))
    if isinstance(value, tuple):
        inner = ", ".join(map(literal, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    raise TypeError(f"no literal for {type(value).__name__}.")


def _double_quoted(text: str) -> str:
    plain = repr(text)
    return f'"{plain[1:-1]}"' if plain[0] == "'" and '"' not in text else plain


def wrapped(values: Sequence[str]) -> str:
    """Write a list of names over as many lines as it takes."""
    lines, here = [], ""
    for value in map(literal, values):
        if here and len(here) + len(value) > WIDTH - 6:
            lines.append(here.rstrip())
            here = ""
        here += f"{value}, "
    if not lines:
        return f"[{here.removesuffix(', ')}]"
    return "[\n" + "".join(f"    {line}\n" for line in [*lines, here.rstrip()]) + "]"


def name_of(adata: Any) -> str:
    """Return the name that the notebook has for this AnnData, `adata` where it has none."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    named = getattr(shell, "user_ns", {}) if shell is not None else {}
    names = [n for n, v in list(named.items()) if v is adata and n.isidentifier() and not n.startswith("_")]
    return "adata" if not names or "adata" in names else str(names[0])
