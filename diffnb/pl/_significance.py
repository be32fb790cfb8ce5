"""Significance levels, beside those of permutations."""

from __future__ import annotations

from typing import Any

import pandas as pd
from anndata import AnnData
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from .. import get
from ._read import conditions, described
from ._style import beside, colors_of, dot, own_axes, text_color, tidy

LEVEL = 0.05


def disc_significance(adata: AnnData, *, group: str | None = None, key: str = "disc", ax: Any = None) -> Any:
    """Draw σ of every component, and what permutations give.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
        A condition; all by default.
    key
        The `key_added` of the call.
    ax
        Axes to draw into; those of a new figure by default.

    Returns
    -------
    The axes. Where permutations were made, σ is the tested one, the band reaches from the median of the
    permutations to their 95 % quantile, and markers are filled where p < 0.05.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition", n_permutations=19)
    >>> ax = dn.pl.disc_significance(adata)
    >>> ax.get_ylabel()
    'significance level σ'
    """
    names = [c.name for c in conditions(adata, group, key)]
    table = get.disc_significance(adata, key=key)
    colors = colors_of([str(g) for g in described(adata, key)["groups"]])
    tested = bool(table["pval"].notna().any())
    axes = own_axes(ax, 4.6, 2.9)
    for name in names:
        _draw(axes, table[table["group"] == name], colors[name], tested)
    axes.set_xlabel("component")
    within = tested and described(adata, key)["params"].get("null") == "connectivity"
    axes.set_ylabel("σ, standardised within conditions" if within else "significance level σ")
    axes.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True))
    axes.set_xlim(0.5, table["component"].max() + 0.5)
    axes.set_ylim(bottom=0)
    tidy(axes)
    entries: list[tuple[Any, object]] = [(dot(colors[name]), name) for name in names]
    if tested:
        ink = text_color()
        entries += [
            (dot(ink), f"p < {LEVEL}"),
            (dot(ink, filled=False), f"p ≥ {LEVEL}"),
            (Patch(color=ink, alpha=0.2, lw=0), "permutations, 50–95 %"),
        ]
    beside(axes, entries)
    return axes


def _draw(ax: Any, rows: pd.DataFrame, color: str, tested: bool) -> None:
    x = rows["component"].to_numpy()
    y = rows["sigma_tested" if tested else "sigma"].to_numpy()
    if not tested:
        ax.plot(x, y, color=color, marker="o", ms=4)
        return
    ax.fill_between(x, rows["null_median"], rows["null_95"], color=color, alpha=0.2, lw=0)
    ax.plot(x, rows["null_95"], color=color, lw=0.8, ls=(0, (3, 2)), alpha=0.8)
    ax.plot(x, y, color=color, lw=1.2)
    clear = rows["pval"].to_numpy() < LEVEL
    for chosen, face in ((clear, color), (~clear, ax.get_facecolor())):
        # hollow markers take the face of the axes, or the line would show through them
        ax.plot(x[chosen], y[chosen], ls="none", marker="o", ms=5.5, mec=color, mfc=_opaque(face))


def _opaque(face: Any) -> Any:
    return face if isinstance(face, str) or face[3] > 0 else "none"
