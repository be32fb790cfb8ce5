"""The look of figures: colours that remain distinct on light and dark pages, font sizes, labels and legends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, ListedColormap, to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from .._keys import BACKGROUND_GROUP
from ..core.typing import Floats
from ._page import MIN_FIGURE_INCHES, is_narrow, page_width

#: a colour as matplotlib takes it
Color: TypeAlias = str | tuple[float, ...]
#: handle and text of an entry of a legend
Entry: TypeAlias = tuple[Artist, object]

#: the colours of Okabe and Ito that are visible on white and on black, then others of medium lightness
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
HIGHER_COLOR, LOWER_COLOR = PALETTE[1], PALETTE[0]
BACKGROUND_COLOR = "#A9A9A9"
#: markers distinguish groups where there are more of them in a plane than distinct colours
MARKERS = ("o", "s", "^", "D")
COLORS_PER_MARKER = 6
MIN_FONT_POINTS = 7.0
#: average width of a letter relative to the font size, rounded up
LETTER_ASPECT = 0.62
#: entries in a column of a legend, and in a legend in total
MAX_LEGEND_ROWS = 16
MAX_LEGEND_ENTRIES = 30
#: numbers between these are written as integers, not with an exponent
MIN_THOUSAND, MAX_WRITTEN_OUT = 1e3, 1e7
#: width of an entry of a legend besides its text
HANDLE_INCHES = 0.5
#: distance of a legend from the axes that it is below, which holds ticks and the label of an axis
BELOW_AXES_POINTS = 34.0


def is_dark() -> bool:
    """Whether figures are drawn for a dark page: text is light, while the face itself may be transparent."""
    return luminance(text_color()) > 0.5


def luminance(color: Color) -> float:
    """Perceived lightness of a colour, from 0 to 1."""
    red, green, blue = to_rgb(color)
    return float(0.299 * red + 0.587 * green + 0.114 * blue)


def text_color() -> Color:
    """Colour of text and of what must stand out as much."""
    color: Color = mpl.rcParams["text.color"]
    return color


def faint_color(alpha: float = 0.35) -> Color:
    """Colour of auxiliary lines."""
    color: Color = to_rgba(text_color(), alpha)
    return color


def page_color(alpha: float = 1.0) -> Color:
    """Colour of the page that text of this lightness is written on."""
    color: Color = to_rgba("black" if is_dark() else "white", alpha)
    return color


def area_alpha(light: float, dark: float) -> float:
    """Opacity of a filled area; on a dark page it must be higher to remain visible."""
    return dark if is_dark() else light


def small() -> float:
    """Font size of names and ticks in points, never below what prints legibly."""
    return max(MIN_FONT_POINTS, 0.8 * float(mpl.rcParams["font.size"]))


def medium() -> float:
    """Font size of titles and axis labels in points."""
    return max(MIN_FONT_POINTS, 0.9 * float(mpl.rcParams["font.size"]))


def label_text(name: object, max_letters: int = 26) -> str:
    """Turn a name into a label: shortened in the middle, where names differ least, and never read as mathematics."""
    plain = " ".join(str(name).split())
    if len(plain) > max_letters:
        tail = (max_letters - 1) * 2 // 5
        plain = plain[: max_letters - 1 - tail] + "…" + plain[len(plain) - tail :]
    return plain.replace("$", r"\$")


def text_inches(texts: Sequence[str], font_points: float) -> float:
    """Width of the longest text in inches, estimated from its number of letters."""
    return max((len(t) for t in texts), default=0) * LETTER_ASPECT * font_points / 72


def plural(count: int, noun: str = "feature") -> str:
    """Write a number with its noun."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def signed_number(value: float, _position: object = None) -> str:
    """Format a tick with a minus sign rather than a hyphen, and with separators of thousands."""
    written = f"{value:,.0f}" if MIN_THOUSAND <= abs(value) < MAX_WRITTEN_OUT else f"{value:.3g}"
    return written.replace("-", "−")


def integer_tick(value: float, _position: object = None) -> str:
    """Format a tick as an integer with separators of thousands."""
    return f"{value:,.0f}"


def colors_of(names: Sequence[str]) -> dict[str, str]:
    """Assign colours to names in order, grey to the background."""
    others = [name for name in names if name != BACKGROUND_GROUP]
    colors = {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(others)}
    return {name: colors.get(name, BACKGROUND_COLOR) for name in names}


def markers_of(names: Sequence[str]) -> dict[str, str]:
    """Assign markers to names; the first few share one, since their colours suffice."""
    others = [name for name in names if name != BACKGROUND_GROUP]
    markers = {name: MARKERS[i // COLORS_PER_MARKER % len(MARKERS)] for i, name in enumerate(others)}
    return {name: markers.get(name, MARKERS[0]) for name in names}


def diverging(dark: bool | None = None) -> Colormap:
    """Colour map from blue over the colour of the page, at zero, to vermilion."""
    if is_dark() if dark is None else dark:
        stops = ("#9ED2F5", "#2E8FD0", "#14507C", "#161616", "#8A3D05", "#E5701A", "#FFC08F")
    else:
        stops = ("#06385C", "#0072B2", "#83BFE2", "#F7F7F7", "#F0A974", "#D55E00", "#6E2C00")
    cmap = LinearSegmentedColormap.from_list("diffnb_diverging", stops)
    cmap.set_bad(alpha=0.0)
    return cmap


def sequential(dark: bool | None = None) -> Colormap:
    """Colour map for values of one sign."""
    dark = is_dark() if dark is None else dark
    start, stop = (0.25, 1.0) if dark else (0.0, 0.92)  # neither end may blend into the page
    cmap = ListedColormap(plt.get_cmap("cividis")(np.linspace(start, stop, 256)), "diffnb_sequential")
    cmap.set_bad(alpha=0.0)
    return cmap


def color_limits(values: Floats) -> tuple[float, float, bool]:
    """Return the limits of a colour scale, symmetric where values have both signs, and whether they have."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if low < 0 < high:
        reach = max(-low, high)
        return -reach, reach, True
    return low, high, False


def dot(color: Color, marker: str = "o", *, filled: bool = True, size: float = 6.0) -> Line2D:
    """Make the handle of a legend entry."""
    return Line2D([], [], ls="none", marker=marker, ms=size, mec=color, mfc=color if filled else "none")


def legend(target: Axes | Figure, entries: Sequence[Entry], **options: object) -> Legend:
    """Add a legend that shows every name as text, also one that begins with an underscore."""
    texts = [label_text(name) for _, name in entries]
    options.setdefault("ncols", 1 + (len(texts) - 1) // MAX_LEGEND_ROWS)
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


def legend_right(ax: Axes, entries: Sequence[Entry], **options: object) -> Legend:
    """Add a legend to the right of the axes, or below them on a narrow page; it covers nothing there."""
    if is_narrow(MIN_FIGURE_INCHES):
        below = ax.transAxes + ScaledTranslation(0, -BELOW_AXES_POINTS / 72, ax.figure.dpi_scale_trans)
        place: dict[str, object] = {"bbox_to_anchor": (0.0, 0.0), "bbox_transform": below, "ncols": _columns(entries)}
    else:
        place = {"bbox_to_anchor": (1.0, 1.0)}
    return legend(ax, entries, loc="upper left", borderaxespad=0.2, **place, **options)


def legend_outside(figure: Figure, entries: Sequence[Entry]) -> Legend:
    """Add a legend to the right of all panels of a figure, or below them on a narrow page."""
    if is_narrow(MIN_FIGURE_INCHES):
        return legend(figure, entries, loc="outside lower center", ncols=_columns(entries))
    return legend(figure, entries, loc="outside right upper")


def _columns(entries: Sequence[Entry]) -> int:
    """Return how many columns of a legend fit on the page."""
    one = text_inches([label_text(name) for _, name in entries], small()) + HANDLE_INCHES
    return max(1, int(0.8 * (page_width() or MIN_FIGURE_INCHES) / one))


def group_entries(colors: Mapping[str, str], present: Sequence[str]) -> list[Entry]:
    """List feature groups for a legend, the background last."""
    markers = markers_of(list(colors))
    ordered = [g for g in colors if g in present and g != BACKGROUND_GROUP]
    ordered += [BACKGROUND_GROUP] * (BACKGROUND_GROUP in present)
    return [(dot(colors[g], markers[g]), g) for g in ordered]
