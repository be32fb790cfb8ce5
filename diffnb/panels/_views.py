"""Views of the frame in the browser: status, picture, code."""

from __future__ import annotations

import anywidget
import traitlets as t

from ._modules import css, esm


class Status(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """Progress and messages, announced to screen readers; also loads the style sheet of the panel."""

    _esm = esm("status.js")
    _css = css("panel.css", "banner.css")

    state = t.Unicode("ready").tag(sync=True)
    message = t.Unicode("").tag(sync=True)
    notes = t.List(t.Unicode()).tag(sync=True)
    details = t.Unicode("").tag(sync=True)
    step = t.Unicode("").tag(sync=True)
    done = t.Int(0).tag(sync=True)
    total = t.Int(0).tag(sync=True)
    #: what the step has found so far
    so_far = t.Unicode("").tag(sync=True)
    #: description of each control, by its label
    tooltips = t.Dict({}).tag(sync=True)
    #: mark of the static picture, which is hidden while this view is shown
    mark = t.Unicode("").tag(sync=True)
    #: whether the page is dark; set by the browser
    dark = t.Bool(False).tag(sync=True)


class Picture(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """A figure as an image with a description."""

    _esm = esm("picture.js")

    png = t.Bytes(b"").tag(sync=True)
    alt = t.Unicode("").tag(sync=True)
    width = t.Int(0).tag(sync=True)
    empty = t.Unicode("Press Run to compute this.").tag(sync=True)


class CodeView(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """Python code with a button to copy it."""

    _esm = esm("code.js")

    code = t.Unicode("").tag(sync=True)
    note = t.Unicode("").tag(sync=True)
