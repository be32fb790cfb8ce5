"""Titles in place of those that figures choose."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ._style import label_text, medium

MAX_TITLE_LETTERS = 90


def retitle(drawn: Figure | Axes, title: str | None) -> None:
    """Replace the titles that a figure chose: `""` leaves none, `None` all of them."""
    if title is None:
        return
    panels = drawn.axes if isinstance(drawn, Figure) else [drawn]
    if title == "" or len(panels) == 1:
        for ax in panels:
            for where in ("left", "center", "right"):
                ax.set_title("", loc=where)
    if isinstance(drawn, Figure):
        _title_figure(drawn, title)
    elif title:
        drawn.set_title(label_text(title, MAX_TITLE_LETTERS), loc="left", fontsize=medium())


def _title_figure(figure: Figure, title: str) -> None:
    if title == "" and not figure.get_suptitle():
        return
    figure.suptitle(label_text(title, MAX_TITLE_LETTERS), fontsize=medium())
