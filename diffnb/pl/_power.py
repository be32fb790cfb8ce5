"""Power against the size of a study."""

from __future__ import annotations

import numpy as np
from anndata import AnnData
from matplotlib.axes import Axes

from .. import get
from ._canvas import axes_or_new, tidy
from ._docs import documented_figure
from ._page import is_narrow
from ._style import BACKGROUND_COLOR, PALETTE, faint_color, legend_right, medium

WANTED = 0.8
WIDTH_INCHES = 6.0


@documented_figure
def power(
    adata: AnnData, *, key: str = "power", title: str | None = None, width: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw how often a group of connected features would be found in studies of several sizes.

    Bars are two standard errors over simulations; the dashed line is the share of other features that is called.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.power`.
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
    >>> adata = dn.datasets.newly_connected(n_obs=100)
    >>> dn.tl.power(adata, "condition", n_units=[20, 100], n_simulations=4)
    >>> dn.pl.power(adata).get_xlabel()
    'observations per condition'
    """
    table = get.power(adata, key=key)
    params = get.params(adata, key=key)
    needed, units = table.attrs["needed"], table.attrs["units"]
    ax = axes_or_new(ax, WIDTH_INCHES, 3.4)
    sizes, values = table["n_units"].to_numpy(), table["power"].to_numpy()
    bars = ax.errorbar(sizes, values, yerr=2 * table["error"].to_numpy(), color=PALETTE[0], marker="o", ms=5, capsize=2)
    (others,) = ax.plot(sizes, table["others"].to_numpy(), color=BACKGROUND_COLOR, ls="--", marker="s", ms=3)
    ax.axhline(WANTED, color=faint_color(), lw=0.8)
    if np.isfinite(needed):
        ax.plot([needed, needed], [0, WANTED], color=faint_color(), lw=0.8)
    ax.set_xscale("log")
    ax.set_xticks(sizes, [f"{n:,}" for n in sizes])
    ax.minorticks_off()
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel(f"{units} per condition")
    ax.set_ylabel("share called")
    shown = f"about {needed:.0f} {units}" if np.isfinite(needed) else f"more than {sizes[-1]:,} {units}"
    separator = "\n" if is_narrow(WIDTH_INCHES) else " "  # a long title would extend beyond the page
    read = f"{params['group_size']} features, ρ = {params['correlation']:g}:{separator}{shown} for {WANTED:g}"
    ax.set_title(read, loc="left", fontsize=medium())
    tidy(ax)
    legend_right(ax, [(bars.lines[0], "in the group"), (others, "other features")])
    return ax
