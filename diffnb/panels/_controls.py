"""Controls: a widget, the argument that it stands for, and what the docs say of it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import ipywidgets as widgets

#: sections of a docstring that end the list of parameters
_END = re.compile(r"\n\n(Returns|References|Examples)\n-")


@dataclass(frozen=True, slots=True)
class Control:
    """One argument of a call, as a labelled widget."""

    name: str
    widget: Any
    #: turns the widget's value into the argument
    read: Callable[[Any], Any] = lambda value: value
    #: turns an argument into the widget's value
    write: Callable[[Any], Any] = lambda value: value

    @property
    def value(self) -> Any:
        """The argument as it stands."""
        return self.read(self.widget.value)

    def put(self, argument: Any) -> None:
        """Set the widget to an argument."""
        self.widget.value = self.write(argument)


def label_of(name: str) -> str:
    """Name a control after its argument."""
    return name.removeprefix("n_").replace("_", " ") if name != "groupby" else "conditions in"


def _made(kind: Any, name: str, label: str | None, **traits: Any) -> Any:
    style = {"description_width": "initial"}
    made = kind(description=label or label_of(name), style=style, **traits)
    made.add_class("diffnb-control")
    return made


class _Nothing:
    """Stands for `None` among options, which to a widget would mean that nothing is chosen."""


NOTHING = _Nothing()


def _pairs(options: Sequence[Any]) -> list[tuple[str, Any]]:
    pairs = [o if isinstance(o, tuple) else (str(o), o) for o in options]
    return [(label, NOTHING if value is None else value) for label, value in pairs]


def choice(name: str, options: Sequence[Any], *, value: Any = None, label: str | None = None) -> Control:
    """One of several: words, or pairs of what is shown and what is meant."""
    pairs = _pairs(options)
    meant = [o[1] for o in pairs]
    first = value if value in meant else (meant[0] if meant else None)
    return Control(
        name,
        _made(widgets.Dropdown, name, label, options=pairs, value=first),
        lambda value: None if value is NOTHING else value,
        lambda value: NOTHING if value is None else value,
    )


def count(name: str, value: int, *, at_least: int = 0, at_most: int = 1_000_000, label: str | None = None) -> Control:
    """Ask for a whole number within bounds."""
    return Control(name, _made(widgets.BoundedIntText, name, label, value=value, min=at_least, max=at_most))


def number(name: str, value: float, *, label: str | None = None, **bounds: float) -> Control:
    """Ask for a number."""
    return Control(name, _made(widgets.FloatText, name, label, value=value, **bounds))


def auto_count(name: str, *, means: str | None = "auto", label: str | None = None) -> Control:
    """Ask for a whole number, or the word `auto`, which stands for the argument that leaves it to the data."""

    def read(text: str) -> Any:
        text = text.strip()
        if text in ("", "auto"):
            return means
        # what is no number goes on as it is: the tool says best what would do
        return int(text) if re.fullmatch(r"[+-]?\d+", text) else text

    def write(value: Any) -> str:
        return "auto" if value == means else str(value)

    field = _made(widgets.Text, name, label, value="auto", placeholder="auto or a number", continuous_update=False)
    return Control(name, field, read, write)


def switch(name: str, value: bool = False, *, label: str | None = None) -> Control:
    """Yes or no."""
    return Control(name, _made(widgets.Checkbox, name, label, value=value, indent=False))


def several(name: str, options: Sequence[str], *, label: str | None = None) -> Control:
    """Ask for some of several; all of them is `None`."""

    def read(chosen: tuple[str, ...]) -> list[str] | None:
        return list(chosen) if 0 < len(chosen) < len(field.options) else None

    def write(chosen: Sequence[str] | None) -> tuple[str, ...]:
        return tuple(field.options if chosen is None else chosen)

    rows = min(5, max(2, len(options)))
    field = _made(widgets.SelectMultiple, name, label, options=list(options), value=tuple(options), rows=rows)
    return Control(name, field, read, write)


_offering: ContextVar[bool] = ContextVar("diffnb_offering", default=False)


def watch(widget: Any, act: Callable[[], None]) -> None:
    """Do something whenever a user changes the value of a widget; not when `offer` does."""
    widget.observe(lambda _: None if _offering.get() else act(), "value")


def offer(control: Control, options: Sequence[Any], preferred: Any = None) -> None:
    """Change what a choice offers; keep what is chosen where it is still there."""
    pairs = _pairs(options)
    meant = [o[1] for o in pairs]
    kept = next((v for v in (control.widget.value, preferred) if v in meant), meant[0] if meant else None)
    token = _offering.set(True)
    try:
        if list(control.widget.options) != pairs:
            control.widget.options = pairs
        control.widget.value = kept
    finally:
        _offering.reset(token)


def describe(controls: Sequence[Control], function: Any) -> None:
    """Give every control what the function's own docs say of its argument."""
    said = parameters_of(function)
    for control in controls:
        text = said.get(control.name, "")
        if text:
            control.widget.tooltip = text


def parameters_of(function: Any) -> Mapping[str, str]:
    """Read the parameters of a numpy docstring."""
    doc = inspect.getdoc(function) or ""
    _, _, section = doc.partition("Parameters\n----------\n")
    section = _END.split(section)[0]
    found: dict[str, str] = {}
    for head, body in re.findall(r"^(\w[\w, ]*)\n((?:[ ]{4}.*\n?|\n)+)", section, re.M):
        for name in head.split(","):
            found[name.strip()] = " ".join(body.split()).replace("`", "")
    return found
