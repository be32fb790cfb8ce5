"""The arguments of a call, as they are kept in `uns` and read again.

h5ad and zarr hold numbers, texts, arrays and groups of those. Arguments that are none of these are encoded: a mapping
by two arrays, a function by its qualified name; `None` is left out, and the argument only listed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from anndata import AnnData

#: arguments that are not kept: the data, whether to work on a copy of it, and a permission that holds once
NOT_KEPT = ("adata", "query", "overwrite", "copy")
_MAPPING = ("mapping_keys", "mapping_values")


class StandIn(str):
    """Tells what an argument was that is not kept itself: other data, a collection of sets."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a function of `tl`, with the values of all its arguments."""

    tool: str
    arguments: Mapping[str, Any]
    #: what other packages look for among the parameters, such as scanpy's `method` of a neighbour graph
    extra: Mapping[str, Any] = field(default_factory=dict)
    #: whether slots that others wrote may be replaced
    overwrite: bool = False

    def encoded(self) -> dict[str, Any]:
        """Return the parameters as they are stored."""
        given = {name: value for name, value in self.arguments.items() if value is not None}
        return {name: _encoded(value) for name, value in {**given, **self.extra}.items()}

    def described(self) -> dict[str, Any]:
        """Return the name of the tool, and what the stored parameters do not show."""
        return {
            "tool": self.tool,
            "arguments": names(self.arguments),
            "functions": names(name for name, value in self.arguments.items() if _is_lost(value)),
        }


def bound(tool: Callable[..., Any], arguments: Mapping[str, Any], /, **extra: Any) -> ToolCall:
    """Keep the arguments of a call; `arguments` are the `locals()` of the tool, defaults included."""
    given = [name for name in inspect.signature(tool).parameters if name not in NOT_KEPT]
    values = {name: _kept(arguments[name]) for name in given}
    return ToolCall(tool.__name__, values, extra, overwrite=bool(arguments.get("overwrite")))


def replayed(entry: Mapping[str, Any], /) -> dict[str, Any]:
    """Return the arguments with which a call can be made again, from an entry of `uns`."""
    stored = entry["params"]
    arguments = [str(name) for name in np.atleast_1d(entry["call"]["arguments"])]
    return {name: _decoded(stored[name]) if name in stored else None for name in arguments}


def names(values: Iterable[Any]) -> Any:
    """Make an array of texts, which may be empty."""
    return np.array([str(value) for value in values], dtype=object)


def _kept(value: Any) -> Any:
    """Describe other data, such as the reference of a tool that takes two."""
    return StandIn(f"AnnData of {value.n_obs} × {value.n_vars}") if isinstance(value, AnnData) else value


def _is_lost(value: Any) -> bool:
    return callable(value) or isinstance(value, StandIn)


def _encoded(value: Any) -> Any:
    if isinstance(value, StandIn):
        return str(value)
    if callable(value):
        return f"{value.__module__}.{value.__qualname__}" if hasattr(value, "__qualname__") else repr(value)
    if isinstance(value, Mapping):
        return {_MAPPING[0]: names(value), _MAPPING[1]: np.asarray(list(value.values()))}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Iterable) and not isinstance(value, str):
        array = np.array(value if isinstance(value, np.ndarray) else list(value))
        return array if array.dtype.kind in "biuf" else names(array)
    return value


def _decoded(value: Any) -> Any:
    if isinstance(value, Mapping):
        listed = (np.asarray(value[name]).tolist() for name in _MAPPING)
        return dict(zip(*listed, strict=True))
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        if value.ndim == 0:
            return value.item()
        # a list of names or numbers was given as one; a mask is an array
        return value if value.dtype == bool else value.tolist()
    return value
