"""The lines above the results: tested or not, by which units, with which settings, and what to mind."""

from __future__ import annotations

import html
from collections.abc import Sequence

import ipywidgets as widgets

from ..get._remarks import Remark

#: what a line begins with, so that its kind is not told by colour alone
_SIGNS = {"good": "✓", "mind": "!", "plain": "·"}


class Banner(widgets.HTML):  # type: ignore[misc, unused-ignore]
    """Lines about the results on screen; takes no space where there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.add_class("diffnb-banner")
        self.show([])

    def show(self, lines: Sequence[Remark], /) -> None:
        """Replace the lines."""
        self.lines = list(lines)
        items = "".join(
            f'<li class="diffnb-{line.kind}"><span aria-hidden="true">{_SIGNS[line.kind]}</span>'
            f"<span>{html.escape(line.text)}</span></li>"
            for line in lines
        )
        self.value = f'<div role="status"><ul>{items}</ul></div>' if items else ""
        self.layout.display = None if items else "none"

    @property
    def texts(self) -> list[str]:
        """The sentences alone."""
        return [line.text for line in self.lines]
