"""Settings of stored results: read from `uns` when a panel opens, and compared with those on screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from anndata import AnnData
from traitlets import TraitError

from .. import get
from ._calls import Call
from ._controls import Control


def stored_call(adata: AnnData, key: str) -> Call | None:
    """Return the call that made the results under a key; `None` where it cannot be written as a line of code."""
    tools = get.results(adata)
    if key not in tools.index or not tools.loc[key, "replayable"]:
        return None
    keywords = get.params(adata, key=key)
    if keywords.get("use_rep") == "X":  # stored for scanpy, where none was given
        keywords["use_rep"] = None
    positional = (keywords.pop("groupby"),) if "groupby" in keywords else ()
    call = Call(f"dn.tl.{tools.loc[key, 'tool']}", positional, keywords)
    try:
        call.line()
    except TypeError:  # an array was given, such as a mask
        return None
    return call


def arguments_of(call: Call) -> dict[str, Any]:
    """Return all arguments of a call by name."""
    return {**dict(zip(("groupby",), call.positional, strict=False)), **call.keywords}


def restore(controls: Mapping[str, Control], call: Call, *, keep: Iterable[str] = ()) -> None:
    """Set controls to the arguments of a call, except those in `keep` and those that cannot show them."""
    values = arguments_of(call)
    kept = set(keep)
    # the conditions first, since other controls list their levels
    for name in sorted(controls, key=lambda name: name != "groupby"):
        if name in values and name not in kept:
            _put(controls[name], values[name])


def _put(control: Control, value: Any) -> None:
    before = control.value
    try:
        control.put(value)
    except (TraitError, TypeError, ValueError):
        control.put(before)
    else:
        if not same_argument(control.value, value):
            control.put(before)


def changed_controls(controls: Mapping[str, Control], made: Mapping[str, Call], wanted: Iterable[Call]) -> list[str]:
    """Name the controls by which the calls that Run would make differ from those that made the results."""
    names: dict[str, None] = {}
    for call in wanted:
        earlier = made.get(call.key)
        if earlier is None or earlier.name != call.name:
            continue
        now, then = ({**call_values.defaults, **arguments_of(call_values)} for call_values in (call, earlier))
        names |= dict.fromkeys(n for n in controls if n in now and not same_argument(now[n], then.get(n)))
    return [str(controls[name].widget.description) for name in names]


def same_argument(left: Any, right: Any) -> bool:
    """Whether two values of an argument mean the same; lists and tuples are not told apart."""
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return list(left) == list(right)
    return type(left) is type(right) and bool(left == right)
