"""Settings of stored results: read from `uns` when a panel opens, and compared with those on screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from traitlets import TraitError

from .._calls import Call
from ..get._stored_call import arguments_of
from ._controls import Control


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
