"""Singular values, together with those of permutations."""

from __future__ import annotations

import pandas as pd
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from .. import get
from ..get._conditions import compared_conditions, disc_conditions, disc_params
from ._canvas import axes_or_new, tidy
from ._docs import documented_figure
from ._style import Color, Entry, colors_of, dot, legend_right, text_color

#: p-value below which markers are filled
MAX_SIGNIFICANT_PVAL = 0.05


@documented_figure
def disc_significance(
    adata: AnnData,
    *,
    group: str | None = None,
    key: str = "disc",
    title: str | None = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the singular value σ of every component, and those of permutations.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
    key
    title
    width
    ax

    Returns
    -------
    The axes. With permutations, σ is the tested statistic, the band reaches from the median of the
    permutations to their 95 % quantile, and markers are filled where p < 0.05.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition", n_permutations=19)
    >>> ax = dn.pl.disc_significance(adata)
    >>> ax.get_ylabel()
    'singular value σ'
    """
    names = [c.name for c in disc_conditions(adata, group, key)]
    table = get.disc_significance(adata, key=key)
    colors = colors_of(compared_conditions(adata, key))
    tested = bool(table["pval"].notna().any())
    axes = axes_or_new(ax, 6.0, 3.2)
    for name in names:
        _draw_sigma(axes, table[table["group"] == name], colors[name], tested)
    axes.set_xlabel("component")
    within = tested and disc_params(adata, key).get("null") == "connectivity"
    axes.set_ylabel("σ, standardised within conditions" if within else "singular value σ")
    axes.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True))
    axes.set_xlim(0.5, table["component"].max() + 0.5)
    axes.set_ylim(bottom=0)
    tidy(axes)
    entries: list[Entry] = [(dot(colors[name]), name) for name in names]
    legend_right(axes, [*entries, *(_test_entries() if tested else [])])
    return axes


def _test_entries() -> list[Entry]:
    ink = text_color()
    return [
        (dot(ink), f"p < {MAX_SIGNIFICANT_PVAL}"),
        (dot(ink, filled=False), f"p ≥ {MAX_SIGNIFICANT_PVAL}"),
        (Patch(color=ink, alpha=0.2, lw=0), "permutations, 50–95 %"),
    ]


def _draw_sigma(ax: Axes, rows: pd.DataFrame, color: str, tested: bool) -> None:
    x = rows["component"].to_numpy()
    y = rows["sigma_tested" if tested else "sigma"].to_numpy()
    if not tested:
        ax.plot(x, y, color=color, marker="o", ms=4)
        return
    ax.fill_between(x, rows["null_median"], rows["null_95"], color=color, alpha=0.2, lw=0)
    ax.plot(x, rows["null_95"], color=color, lw=0.8, ls=(0, (3, 2)), alpha=0.8)
    ax.plot(x, y, color=color, lw=1.2)
    significant = rows["pval"].to_numpy() < MAX_SIGNIFICANT_PVAL
    for chosen, face in ((significant, color), (~significant, ax.get_facecolor())):
        # open markers are filled with the colour of the axes, to hide the line behind them
        ax.plot(x[chosen], y[chosen], ls="none", marker="o", ms=5.5, mec=color, mfc=_opaque(face))


def _opaque(face: Color) -> Color:
    return face if isinstance(face, str) or face[3] > 0 else "none"
