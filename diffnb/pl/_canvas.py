"""Figures and their axes: new ones, given ones, grids of panels, and what most axes have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PathCollection
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure

from ..core.typing import Floats
from ._page import columns_that_fit, figure_width, page_width
from ._style import medium, small

#: height of a row of names
ROW_INCHES = 0.19
#: points up to which they are vector graphics; more are drawn as pixels
MAX_VECTOR_POINTS = 2000


class NotebookFigure(Figure):  # type: ignore[misc, unused-ignore]
    """A figure that a notebook shows once, whether or not it is the last value of a cell."""

    def _ipython_display_(self) -> None:
        # the inline backend shows every open figure at the end of a cell, and IPython the returned one too
        if "inline" in mpl.get_backend():
            plt.close(self)
        raise NotImplementedError  # IPython goes on to show it as any figure


#: whether the caller shows the figures, and pyplot must not
_off_screen: ContextVar[bool] = ContextVar("diffnb_off_screen", default=False)


@contextmanager
def off_screen() -> Iterator[None]:
    """Make figures that pyplot does not manage: no cell shows them, and any thread may draw them."""
    token = _off_screen.set(True)
    try:
        yield
    finally:
        _off_screen.reset(token)


def new_figure(width: float, height: float) -> Figure:
    """Make a figure of this size in inches, or as wide as the page that is asked for, which lays itself out."""
    width = page_width() or width
    if _off_screen.get():
        figure = NotebookFigure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        return figure
    shown: Figure = plt.figure(FigureClass=NotebookFigure, figsize=(width, height), layout="constrained")
    return shown


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """Return `ax`, or the axes of a new figure."""
    return new_figure(width, height).add_subplot() if ax is None else ax


def grid_of_axes(
    n_panels: int, width: float, height: float, *, max_columns: int, beside: float = 0.0
) -> tuple[Figure, list[Axes]]:
    """Make a figure of panels of this size each, in as few rows as `max_columns` and the page allow.

    `beside` is the width of what all panels share, such as a legend.
    """
    n_rows = -(-n_panels // columns_that_fit(n_panels, width, max_columns))
    n_columns = -(-n_panels // n_rows)
    figure = new_figure(figure_width(width * n_columns + beside), height * n_rows)
    axes = list(figure.subplots(n_rows, n_columns, squeeze=False).ravel())
    for unused in axes[n_panels:]:
        unused.remove()
    return figure, axes[:n_panels]


def draw_panels(
    draw: Callable[[Axes, int], None],
    n_panels: int,
    ax: Axes | None,
    *,
    width: float,
    height: float,
    max_columns: int,
) -> Figure | Axes:
    """Draw each panel into a new figure, or the only one into `ax`; return what was drawn into."""
    if ax is not None:
        draw(ax, 0)
        return ax
    figure, axes = grid_of_axes(n_panels, width, height, max_columns=max_columns)
    for i, panel in enumerate(axes):
        draw(panel, i)
    return figure


def require_one_panel(ax: Axes | None, n_panels: int, what: str, remedy: str) -> None:
    """Refuse a given `ax` where there is more than one panel to draw."""
    if ax is not None and n_panels > 1:
        raise ValueError(f"ax takes one {what}, got {n_panels}; choose one with {remedy}.")


def tidy(ax: Axes) -> None:
    """Remove the frame where it carries no numbers, and make ticks legible."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=small())
    ax.xaxis.label.set_fontsize(medium())
    ax.yaxis.label.set_fontsize(medium())


def hide_frame(ax: Axes) -> None:
    """Remove ticks and frame, as around an image."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)


def show_message(ax: Axes, message: str) -> None:
    """Write why there is nothing to draw, in its place."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, message, ha="center", va="center", transform=ax.transAxes, fontsize=medium())


def scatter_points(
    ax: Axes, points: Floats, *, sizes: tuple[float, float], n_points: int | None = None, **look: Any
) -> PathCollection:
    """Scatter points, with smaller markers and as pixels where the plane holds many of them."""
    many = (len(points) if n_points is None else n_points) > MAX_VECTOR_POINTS
    return ax.scatter(points[:, 0], points[:, 1], s=sizes[1] if many else sizes[0], rasterized=many, **look)


def color_bar(drawn: ScalarMappable, ax: Axes | list[Axes], label: str = "", **options: Any) -> Colorbar:
    """Add a colour bar without a frame."""
    first = ax[0] if isinstance(ax, list) else ax
    bar = first.figure.colorbar(drawn, ax=ax, **options)
    bar.set_label(label, fontsize=small())
    bar.ax.tick_params(labelsize=small())
    bar.outline.set_visible(False)
    return bar
