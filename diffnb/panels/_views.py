"""Small views of the frame in the browser: state, picture, code."""

from __future__ import annotations

import anywidget
import traitlets as t

from ._modules import STATIC, esm


class Status(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """Progress and messages, announced to screen readers; brings the panel's style sheet."""

    _esm = esm("status.js")
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

    _esm = esm("picture.js")

    png = t.Bytes(b"").tag(sync=True)
    alt = t.Unicode("").tag(sync=True)
    width = t.Int(0).tag(sync=True)
    empty = t.Unicode("Press Run to see this.").tag(sync=True)


class CodeView(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """Lines of Python with a button that copies them."""

    _esm = esm("code.js")

    code = t.Unicode("").tag(sync=True)
    note = t.Unicode("").tag(sync=True)
