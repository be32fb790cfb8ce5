"""Small views of the frame in the browser: state, picture, code."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets as t

STATIC = Path(__file__).parent / "static"


def joined(*names: str) -> str:
    """Read files of JavaScript as one: a widget is a single module, and a long one is easier to read in parts."""
    return "\n".join((STATIC / name).read_text(encoding="utf-8") for name in names)


class Status(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """Progress and messages, announced to screen readers; brings the panel's style sheet."""

    _esm = STATIC / "status.js"
    _css = STATIC / "panel.css"

    state = t.Unicode("ready").tag(sync=True)
    message = t.Unicode("").tag(sync=True)
    notes = t.List(t.Unicode()).tag(sync=True)
    details = t.Unicode("").tag(sync=True)
    step = t.Unicode("").tag(sync=True)
    done = t.Int(0).tag(sync=True)
    total = t.Int(0).tag(sync=True)
    #: what marks the static picture, which hides while this view lives
    mark = t.Unicode("").tag(sync=True)
    #: whether the page is dark; the browser says so
    dark = t.Bool(False).tag(sync=True)


class Picture(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """A figure as an image with a description."""

    _esm = STATIC / "picture.js"

    png = t.Bytes(b"").tag(sync=True)
    alt = t.Unicode("").tag(sync=True)
    width = t.Int(0).tag(sync=True)
    empty = t.Unicode("Press Run to see this.").tag(sync=True)


class CodeView(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """Lines of Python with a button that copies them."""

    _esm = STATIC / "code.js"

    code = t.Unicode("").tag(sync=True)
    note = t.Unicode("").tag(sync=True)
