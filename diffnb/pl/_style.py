"""How figures look: colours that everyone can tell apart, on light and dark; names that stay text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import Colormap, LinearSegmentedColormap, ListedColormap, to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

#: Okabe and Ito's colours that show on white and on black, then others of middle lightness
PALETTE = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#B5A100",
    "#8C6BB1",
    "#B15928",
    "#44AA99",
    "#CC6677",
    "#6A8F2A",
    "#5B7FD1",
    "#C44E9B",
    "#A98600",
    "#3E9BB3",
    "#E0785A",
    "#7A8B99",
    "#9ACD4E",
    "#D79AD2",
)
#: shapes tell groups apart where more of them share a plane than colours can
MARKERS = ("o", "s", "^", "D")
COLORS_PER_MARKER = 6
BACKGROUND = "background"
BACKGROUND_COLOR = "#A9A9A9"
SMALLEST_TEXT = 7.0
#: width of a letter over its height, on the generous side
LETTER = 0.62
#: entries of a legend before it takes another column
ENTRIES = 16
#: entries of a legend at all
LISTED = 30


class Panels(Figure):  # type: ignore[misc, unused-ignore]
    """A figure that a notebook shows once, whether or not it is the last value of a cell."""

    def _ipython_display_(self) -> None:
        # the inline backend shows every open figure at the end of a cell, and IPython the returned one too
        if "inline" in mpl.get_backend():
            plt.close(self)
        raise NotImplementedError  # IPython goes on to show it as any figure


#: whether figures are drawn for somebody who shows them himself
_off_screen: ContextVar[bool] = ContextVar("diffnb_off_screen", default=False)


@contextmanager
def off_screen() -> Iterator[None]:
    """Make figures that pyplot knows nothing of: no cell shows them, and any thread may draw them."""
    token = _off_screen.set(True)
    try:
        yield
    finally:
        _off_screen.reset(token)


def new_figure(width: float, height: float) -> Any:
    """Make a figure that lays itself out."""
    if _off_screen.get():
        figure = Panels(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        return figure
    return plt.figure(FigureClass=Panels, figsize=(width, height), layout="constrained")


def own_axes(ax: Any, width: float, height: float) -> Any:
    """Return `ax`, or the axes of a new figure."""
    return new_figure(width, height).add_subplot() if ax is None else ax


def is_dark() -> bool:
    """Whether text is light: the face itself may be transparent."""
    red, green, blue = to_rgb(text_color())
    return bool(0.299 * red + 0.587 * green + 0.114 * blue > 0.5)


def text_color() -> Any:
    """Colour of text and of what must stand out as much."""
    return mpl.rcParams["text.color"]


def faint_color(share: float = 0.35) -> Any:
    """Colour of lines that help to read and say nothing."""
    return to_rgba(text_color(), share)


def page_color(share: float = 1.0) -> Any:
    """Colour of the page that text of this lightness is written on."""
    return to_rgba("black" if is_dark() else "white", share)


def small() -> float:
    """Font size of names and ticks, never below what prints legibly."""
    return max(SMALLEST_TEXT, 0.8 * float(mpl.rcParams["font.size"]))


def medium() -> float:
    """Font size of titles and axis labels."""
    return max(SMALLEST_TEXT, 0.9 * float(mpl.rcParams["font.size"]))


def shown(name: object, width: int = 26) -> str:
    """Turn a name into text to draw: cut in the middle, where names differ least, and never mathematics."""
    plain = " ".join(str(name).split())
    if len(plain) > width:
        tail = (width - 1) * 2 // 5
        plain = plain[: width - 1 - tail] + "…" + plain[len(plain) - tail :]
    return plain.replace("$", r"\$")


def text_inches(texts: Sequence[str], size: float) -> float:
    """Width that the longest of these needs, in inches."""
    return max((len(t) for t in texts), default=0) * LETTER * size / 72


def colors_of(names: Sequence[str]) -> dict[str, str]:
    """Give each name a colour in order, the background its grey."""
    others = [name for name in names if name != BACKGROUND]
    colors = {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(others)}
    return {name: colors.get(name, BACKGROUND_COLOR) for name in names}


def markers_of(names: Sequence[str]) -> dict[str, str]:
    """Give each name a marker; the first few share one, since their colours suffice."""
    others = [name for name in names if name != BACKGROUND]
    markers = {name: MARKERS[i // COLORS_PER_MARKER % len(MARKERS)] for i, name in enumerate(others)}
    return {name: markers.get(name, MARKERS[0]) for name in names}


def diverging(dark: bool | None = None) -> Colormap:
    """Blue over nothing to vermilion, where nothing looks like the page."""
    if is_dark() if dark is None else dark:
        stops = ("#9ED2F5", "#2E8FD0", "#14507C", "#161616", "#8A3D05", "#E5701A", "#FFC08F")
    else:
        stops = ("#06385C", "#0072B2", "#83BFE2", "#F7F7F7", "#F0A974", "#D55E00", "#6E2C00")
    cmap = LinearSegmentedColormap.from_list("diffnb_diverging", stops)
    cmap.set_bad(alpha=0.0)
    return cmap


def sequential(dark: bool | None = None) -> Colormap:
    """Colours from little to much."""
    dark = is_dark() if dark is None else dark
    start, stop = (0.25, 1.0) if dark else (0.0, 0.92)  # neither end may vanish in the page
    cmap = ListedColormap(plt.get_cmap("cividis")(np.linspace(start, stop, 256)), "diffnb_sequential")
    cmap.set_bad(alpha=0.0)
    return cmap


def signed_number(value: float, _position: object = None) -> str:
    """Write a tick with a proper minus."""
    return f"{value:.2g}".replace("-", "−")


def tidy(ax: Any) -> None:
    """Leave of the frame what carries numbers, and make ticks legible."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=small())
    ax.xaxis.label.set_size(medium())
    ax.yaxis.label.set_size(medium())


def dot(color: Any, marker: str = "o", *, filled: bool = True, size: float = 6.0) -> Line2D:
    """Make an entry of a legend."""
    return Line2D([], [], ls="none", marker=marker, ms=size, mec=color, mfc=color if filled else "none")


def legend(target: Any, entries: Sequence[tuple[Any, object]], **options: Any) -> Any:
    """Add a legend in which any name is text, one that begins with an underscore too."""
    texts = [shown(name) for _, name in entries]
    options.setdefault("ncols", 1 + (len(texts) - 1) // ENTRIES)
    drawn = target.legend(
        [handle for handle, _ in entries],
        [str(i) for i in range(len(texts))],
        frameon=False,
        fontsize=small(),
        **options,
    )
    for label, text in zip(drawn.get_texts(), texts, strict=True):
        label.set_text(text)
    return drawn


def beside(ax: Any, entries: Sequence[tuple[Any, object]], **options: Any) -> Any:
    """Add a legend to the right of the axes, where it covers nothing."""
    return legend(ax, entries, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2, **options)


def group_entries(colors: Mapping[str, str], present: Sequence[str]) -> list[tuple[Any, object]]:
    """List feature groups for a legend, the background last."""
    markers = markers_of(list(colors))
    ordered = [g for g in colors if g in present and g != BACKGROUND] + [BACKGROUND] * (BACKGROUND in present)
    return [(dot(colors[g], markers[g]), g) for g in ordered]


def say(ax: Any, message: str) -> None:
    """Write why there is nothing to draw, in place of it."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, message, ha="center", va="center", transform=ax.transAxes, fontsize=medium())
