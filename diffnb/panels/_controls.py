"""Controls: a widget, the argument that it sets, and the description of that argument."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import ipywidgets as widgets

from .._calls import Call

#: controls that are no arguments of a tool
PANEL_CONTROLS = {
    "methods": "The methods to run and to compare; all of them by default.",
    "group": "The condition whose features are shown.",
    "comparison": "The two conditions, or the condition and the rest, whose features are shown.",
    "projection": "The projection that is shown, the one along which the conditions differ most first.",
    "component": "The differential vector that is shown, the one with the largest singular value first.",
    "gene_sets": "Path of a GMT file with the sets to test.",
    "sets_column": "A column of adata.var whose categories are the sets, such as networks or regions.",
    "basis": "The embedding in adata.obsm on which observations are drawn.",
    "feature_group": "The group of features that all views show.",
    "network_reference": "The condition with which correlations are compared in the network.",
    "layout": "Where features are: near those with which they are connected, or at their place in the image or brain.",
    "x": "What is on the horizontal axis: a column of the table of results or of adata.var.",
    "y": "What is on the vertical axis: a column of the table of results or of adata.var.",
    "color": "What the colours show: a column of the table of results or of adata.var.",
    "obs_color": "What the colours show: a column of adata.obs.",
    "obs_feature": "Show the values of this feature in adata.X instead of a column of adata.obs.",
    "column": "Name of the column of adata.var that marks the selected features.",
}
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
        """The current argument."""
        return self.read(self.widget.value)

    def put(self, argument: Any) -> None:
        """Set the widget to an argument."""
        self.widget.value = self.write(argument)


def label_of(name: str) -> str:
    """Name a control after its argument."""
    return name.removeprefix("n_").replace("_", " ") if name != "groupby" else "conditions in"


def _labelled(kind: Any, name: str, label: str | None, **traits: Any) -> Any:
    widget = kind(description=label or label_of(name), style={"description_width": "initial"}, **traits)
    widget.add_class("diffnb-control")
    return widget


class _NoneOption:
    """Represents `None` among options: a dropdown with the value `None` has nothing selected."""


NONE_OPTION = _NoneOption()


def _label_and_value(options: Sequence[Any]) -> list[tuple[str, Any]]:
    pairs = [o if isinstance(o, tuple) else (str(o), o) for o in options]
    return [(label, NONE_OPTION if value is None else value) for label, value in pairs]


def dropdown(name: str, options: Sequence[Any], *, value: Any = None, label: str | None = None) -> Control:
    """Make a choice among options: strings, or pairs of label and value."""
    pairs = _label_and_value(options)
    values = [o[1] for o in pairs]
    first = value if value in values else (values[0] if values else None)
    return Control(
        name,
        _labelled(widgets.Dropdown, name, label, options=pairs, value=first),
        lambda value: None if value is NONE_OPTION else value,
        lambda value: NONE_OPTION if value is None else value,
    )


def integer_field(
    name: str, value: int, *, at_least: int = 0, at_most: int = 1_000_000, label: str | None = None
) -> Control:
    """Make a field for an integer within bounds."""
    return Control(name, _labelled(widgets.BoundedIntText, name, label, value=value, min=at_least, max=at_most))


def number_field(name: str, value: float, *, label: str | None = None, **bounds: float) -> Control:
    """Make a field for a number."""
    return Control(name, _labelled(widgets.FloatText, name, label, value=value, **bounds))


def integer_or_auto(name: str, *, label: str | None = None) -> Control:
    """Make a field for an integer or the word `auto`."""

    def read(text: str) -> Any:
        text = text.strip()
        if text in ("", "auto"):
            return "auto"
        # any other text is passed on: the error of the tool explains what it accepts
        return int(text) if re.fullmatch(r"[+-]?\d+", text) else text

    hint = "auto or an integer"
    return Control(
        name,
        _labelled(widgets.Text, name, label, value="auto", placeholder=hint, continuous_update=False),
        read,
        str,
    )


def text_field(name: str, *, label: str | None = None, placeholder: str = "") -> Control:
    """Make a field for a text; an empty one is `None`."""
    return Control(
        name,
        _labelled(widgets.Text, name, label, value="", placeholder=placeholder, continuous_update=False),
        lambda text: text.strip() or None,
        lambda value: value or "",
    )


def checkbox(name: str, value: bool = False, *, label: str | None = None) -> Control:
    """Make a choice between yes and no."""
    return Control(name, _labelled(widgets.Checkbox, name, label, value=value, indent=False))


def multi_select(name: str, options: Sequence[str], *, label: str | None = None) -> Control:
    """Make a choice of several options; with all of them the argument is `None`."""

    def read(chosen: tuple[str, ...]) -> list[str] | None:
        return list(chosen) if 0 < len(chosen) < len(field.options) else None

    def write(chosen: Sequence[str] | None) -> tuple[str, ...]:
        return tuple(field.options if chosen is None else chosen)

    rows = min(5, max(2, len(options)))
    field = _labelled(widgets.SelectMultiple, name, label, options=list(options), value=tuple(options), rows=rows)
    return Control(name, field, read, write)


def any_of(name: str, options: Sequence[str], *, label: str | None = None) -> Control:
    """Make a choice of any number of options; with none of them the argument is `None`."""
    rows = min(4, max(2, len(options)))
    field = _labelled(widgets.SelectMultiple, name, label, options=list(options), value=(), rows=rows)
    return Control(name, field, lambda chosen: list(chosen) or None, lambda chosen: tuple(chosen or ()))


_setting_options: ContextVar[bool] = ContextVar("diffnb_setting_options", default=False)


def on_user_change(widget: Any, act: Callable[[], None]) -> None:
    """Call a function whenever a user changes the value of a widget; not when `set_options` does."""
    widget.observe(lambda _: None if _setting_options.get() else act(), "value")


def shown_value(control: Control) -> str:
    """Return the value of a control as it is read on screen."""
    label = getattr(control.widget, "label", None)
    if isinstance(label, str):
        return label
    value = control.widget.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def set_options(control: Control, options: Sequence[Any], preferred: Any = None) -> None:
    """Replace the options of a dropdown; keep the selected one if it is still there."""
    pairs = _label_and_value(options)
    values = [o[1] for o in pairs]
    kept = next((v for v in (control.widget.value, preferred) if v in values), values[0] if values else None)
    token = _setting_options.set(True)
    try:
        if list(control.widget.options) != pairs:
            control.widget.options = pairs
        control.widget.value = kept
    finally:
        _setting_options.reset(token)


def also(tool: str, *, label: str) -> Control:
    """Make the choice to call another tool, too, with the summary of its docstring as the tooltip."""
    control = checkbox(tool.rpartition(".")[2], label=label)
    control.widget.tooltip = f"{label[0].upper()}{label[1:]}: {summary_of(Call(tool).function)}"
    return control


def row_of(*controls: Control) -> Any:
    """Lay out controls in a row."""
    return control_row([control.widget for control in controls])


def control_row(children: Sequence[Any]) -> Any:
    """Lay out widgets in a row that wraps."""
    box = widgets.Box(list(children))
    box.add_class("diffnb-controls")
    return box


def describe(controls: Sequence[Control], functions: Sequence[Any]) -> None:
    """Give every control a tooltip: what the docstring of the first function that has the argument says of it."""
    found = [parameters_of(function) for function in functions]
    for control in controls:
        texts = (descriptions[control.name] for descriptions in found if descriptions.get(control.name))
        text = next(texts, PANEL_CONTROLS.get(control.name, ""))
        if text:
            control.widget.tooltip = text


def summary_of(function: Any) -> str:
    """Return the first line of the docstring of a function."""
    return (inspect.getdoc(function) or "").partition("\n")[0]


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
