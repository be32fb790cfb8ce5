"""Which groups of a reference are connected in a query, as dots."""

from __future__ import annotations

import numpy as np
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from .. import get
from ..core.preservation import COMPOSITES
from ..core.scorecard import ALPHA
from ._canvas import ROW_INCHES, axes_or_new, show_message, tidy
from ._docs import documented_figure
from ._page import MIN_FIGURE_INCHES, is_narrow
from ._style import PALETTE, dot, faint_color, label_text, legend_right, medium, signed_number

WIDTH_INCHES, ABOVE_INCHES = 6.4, 1.0
#: height of the legend where it is below the axes
LEGEND_INCHES = 0.9
#: a figure is as high as if it had so many rows
MIN_ROWS = 2
MARKERS = ("o", "s", "^")
#: z scores are spaced evenly up to this value, and by their logarithm above
LINEAR_Z = 5.0
Z_TICKS = (2, 5, 10, 30, 100, 300, 1000)


@documented_figure
def preservation(
    adata: AnnData,
    *,
    key: str = "preservation",
    title: str | None = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how far the groups of a reference exceed random sets of features in this data set.

    Each row is a group. Its density, connectivity and separability are mean z scores against random sets; markers are
    filled where the adjusted p-value is at most .05. Names of groups that are preserved are bold.

    Parameters
    ----------
    adata
        Annotated data, the query of :func:`diffnb.tl.preservation`.
    key
    title
    width
    ax

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import diffnb as dn
    >>> reference, query = (dn.datasets.newly_connected(n_obs=200, random_state=i) for i in range(2))
    >>> dn.tl.disc(reference, "condition")
    >>> dn.tl.preservation(reference, query, n_permutations=99)
    >>> dn.pl.preservation(query).get_xlabel()
    'z against random sets of features'
    """
    table = get.preservation(adata, key=key)
    height = ABOVE_INCHES + 1.6 * ROW_INCHES * max(len(table), MIN_ROWS)
    ax = axes_or_new(ax, WIDTH_INCHES, height + LEGEND_INCHES * is_narrow(MIN_FIGURE_INCHES))
    known = np.isfinite(table["density_z"].to_numpy(dtype=float))
    if not known.any():
        show_message(ax, "no group could be compared")
        return ax
    shifts = np.linspace(-0.2, 0.2, len(COMPOSITES))
    for name, marker, color, shift in zip(COMPOSITES, MARKERS, PALETTE, shifts, strict=False):
        z, pval = (table[f"{name}_{value}"].to_numpy(dtype=float) for value in ("z", "pval_adj"))
        places = np.arange(len(table)) + shift
        for is_filled, own in ((True, pval <= ALPHA), (False, pval > ALPHA)):
            face = color if is_filled else "none"
            ax.scatter(z[own], places[own], marker=marker, s=34, zorder=3, facecolors=face, edgecolors=color)
    ax.axvline(0, color=faint_color(), lw=0.8)
    names = [
        f"{label_text(n, 18)} ({m}/{k})"
        for n, m, k in zip(table.index, table["n_matched"], table["n_features"], strict=True)
    ]
    ax.set_yticks(range(len(table)), names)
    ax.set_ylim(len(table) - 0.4, -0.6)
    # values differ by orders of magnitude, and both ends matter
    ax.set_xscale("symlog", linthresh=LINEAR_Z)
    ax.margins(x=0.08)
    if max(map(abs, ax.get_xlim())) > LINEAR_Z:
        ax.xaxis.set_major_locator(FixedLocator([0, *(sign * z for sign in (-1, 1) for z in Z_TICKS)]))
    else:
        ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(signed_number)
    ax.set_xlabel("z against random sets of features")
    tidy(ax)
    for text, is_preserved in zip(ax.get_yticklabels(), table["preserved"], strict=True):
        text.set_fontweight("bold" if is_preserved else "normal")
    ax.set_title("group (features matched / of all)", loc="left", fontsize=medium())
    entries = [(dot(c, m), name) for name, m, c in zip(COMPOSITES, MARKERS, PALETTE, strict=False)]
    legend_right(ax, [*entries, (dot(faint_color(0.7), filled=False), f"adjusted p > {ALPHA:g}".replace("0.", "."))])
    return ax
