"""A call that is run, and shown as the line of code that does the same."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: the names under which packages appear in lines of code
PACKAGES = {"dn": "diffnb", "sc": "scanpy"}
MAX_LINE_LETTERS = 100


@dataclass(frozen=True, slots=True)
class Call:
    """A function by its name in code, `dn.tl.disc`, and its arguments besides the data."""

    name: str
    positional: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    #: name of the variable that the returned value is assigned to
    result: str = ""
    #: selects rows of the returned table
    query: str = ""

    @property
    def function(self) -> Any:
        """The function itself."""
        package, *path = self.name.split(".")
        try:
            found: Any = importlib.import_module(PACKAGES[package])
        except ImportError as error:
            needed = PACKAGES[package]
            raise ImportError(f"{self.name} is of {needed} ({error}); install it with pip install {needed}.") from None
        for name in path:
            found = getattr(found, name)
        return found

    @property
    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        """Parameters of the function; none where its package, which may be optional, is not installed."""
        try:
            return inspect.signature(self.function).parameters
        except ImportError:
            return {}

    @property
    def non_default_kwargs(self) -> dict[str, Any]:
        """Keyword arguments that differ from the defaults of the function."""
        known = self._parameters
        return {k: v for k, v in self.keywords.items() if k not in known or not _is_default(known[k].default, v)}

    @property
    def defaults(self) -> dict[str, Any]:
        """Default values of the arguments that have one."""
        known = self._parameters.values()
        return {parameter.name: parameter.default for parameter in known if parameter.default is not parameter.empty}

    @property
    def key(self) -> str:
        """Key under which the results are stored."""
        known = self._parameters
        default = known["key_added"].default if "key_added" in known else ""
        return str(self.keywords.get("key_added") or default or self.name.rpartition(".")[2])

    def run(self, adata: Any) -> Any:
        """Make the call."""
        found = self.function(adata, *self.positional, **self.non_default_kwargs)
        return found.query(self.query) if self.query else found

    def line(self, adata: str = "adata") -> str:
        """Return the call as code; names are written as literals, so that none can end its string early."""
        keywords = (f"{k}={literal(v)}" for k, v in self.non_default_kwargs.items())
        arguments = [adata, *map(literal, self.positional), *keywords]
        start = f"{self.result} = {self.name}" if self.result else self.name
        then = f".query({literal(self.query)})" if self.query else ""
        line = f"{start}({', '.join(arguments)}){then}"
        if len(line) <= MAX_LINE_LETTERS:
            return line
        inner = "".join(f"    {argument},\n" for argument in arguments)
        return f"{start}(\n{inner}){then}"


def _is_default(default: Any, value: Any) -> bool:
    return type(default) is type(value) and bool(default == value)


class Expression(str):
    """Code that stands in a line as it is, such as the name of a variable; never text that comes from data."""

    __slots__ = ()


def literal(value: Any) -> str:
    """Return Python code that evaluates to the value."""
    if isinstance(value, Expression):
        return str(value)
    if isinstance(value, str):
        return ascii(str(value)) if any(not c.isprintable() for c in value) else _double_quoted(str(value))
    if isinstance(value, tuple):
        inner = ", ".join(map(literal, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(k)}: {literal(v)}' for k, v in value.items())}}}"
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    raise TypeError(f"no literal for {type(value).__name__}.")


def _double_quoted(text: str) -> str:
    plain = repr(text)
    return f'"{plain[1:-1]}"' if plain[0] == "'" and '"' not in text else plain


def wrapped(values: Sequence[str]) -> str:
    """Return a list of names as code, over as many lines as needed."""
    lines, current = [], ""
    for value in map(literal, values):
        if current and len(current) + len(value) > MAX_LINE_LETTERS - 6:
            lines.append(current.rstrip())
            current = ""
        current += f"{value}, "
    if not lines:
        return f"[{current.removesuffix(', ')}]"
    return "[\n" + "".join(f"    {line}\n" for line in [*lines, current.rstrip()]) + "]"


def name_of(adata: Any) -> str:
    """Return the name of the notebook's variable that holds this AnnData, `adata` where there is none."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    named = getattr(shell, "user_ns", {}) if shell is not None else {}
    names = [n for n, v in list(named.items()) if v is adata and n.isidentifier() and not n.startswith("_")]
    return "adata" if not names or "adata" in names else str(names[0])
