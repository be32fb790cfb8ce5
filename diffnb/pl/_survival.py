"""Kaplan–Meier curves of groups of samples."""

from __future__ import annotations

import numpy as np
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from .. import get
from ._canvas import axes_or_new, tidy
from ._docs import documented_figure
from ._style import Entry, area_alpha, colors_of, label_text, legend_right, medium


@documented_figure
def survival(
    adata: AnnData,
    *,
    key: str = "survival",
    interval: bool = True,
    title: str | None = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw Kaplan–Meier curves of each group, with censored samples as ticks and the log-rank test as title.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.survival`.
    key
    interval
        Also draw 95 % confidence intervals.
    title
    width
    ax

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=40)
    >>> adata.obs["time"], adata.obs["event"] = range(1, 41), True
    >>> dn.tl.survival(adata, "condition")
    >>> ax = dn.pl.survival(adata)
    >>> ax.get_ylabel()
    'survival'
    """
    curves = get.survival(adata, key=key)
    groups = get.survival_groups(adata, key=key)
    pval = float(get.survival_tests(adata, key=key)["pval"].iloc[0])
    ax = axes_or_new(ax, 5.9, 3.3)
    colors = colors_of(list(groups.index))
    entries: list[Entry] = []
    for group, color in colors.items():
        table = curves[(curves["group"] == group).to_numpy()]
        ax.step(table["time"], table["survival"], where="post", color=color, lw=1.5)
        if interval:
            alpha = area_alpha(0.16, 0.34)
            ax.fill_between(table["time"], table["lower"], table["upper"], step="post", color=color, lw=0, alpha=alpha)
        censored = table[(table["censored"] > 0).to_numpy()]
        ax.plot(censored["time"], censored["survival"], ls="none", marker="|", ms=6, mew=1.0, color=color)
        n, n_events = groups.loc[group, ["n", "n_events"]].astype(int)
        entries.append((Line2D([], [], color=color, lw=1.5), f"{label_text(group, 14)}: {n_events} events of {n}"))
    entries.append((Line2D([], [], color="0.5", ls="none", marker="|", ms=6), "censored"))
    tidy(ax)
    ax.set_ylim(0, 1.03)
    ax.set_xlim(0, float(np.nanmax(curves["time"])) * 1.02)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.set_xlabel("time", fontsize=medium())
    ax.set_ylabel("survival", fontsize=medium())
    ax.set_title(f"log-rank p = {pval:.2g}", fontsize=medium(), loc="left")
    legend_right(ax, entries)
    return ax
