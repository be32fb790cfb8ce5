"""Features from the highest score down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.ticker import MaxNLocator

from .. import _validate as validate
from ._read import Condition, conditions, group_colors
from ._style import (
    faint_color,
    medium,
    new_figure,
    say,
    shown,
    small,
    text_inches,
    tidy,
)

ROW = 0.19
MOST_COLUMNS = 4
#: letters of a name beside which more fits into a title
SHORT = 10
#: points between columns of text
GAP = 8.0


def disc_groups(adata: AnnData, *, group: str | None = None, n_features: int = 10, key: str = "disc") -> Any:
    """Draw the features of each group that score highest, the background left out.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
        A condition; all by default.
    n_features
        Features of each group.
    key
        The `key_added` of the call.

    Returns
    -------
    The figure, a panel for each feature group.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> dn.tl.disc(adata, "condition")
    >>> figure = dn.pl.disc_groups(adata, group="A")
    >>> [ax.get_title().split()[0] for ax in figure.axes]
    ['A1', 'A2']
    """
    validate.count("n_features", n_features)
    colors = group_colors(adata, key)
    panels: list[tuple[str, pd.DataFrame, int, float]] = []
    for condition in conditions(adata, group, key):
        ranked = condition.ranked()
        for name in condition.groups:
            members = ranked[ranked["feature_group"] == name]
            panels.append((name, members.iloc[:n_features], len(members), float(ranked["score"].max())))
    if not panels:
        figure = new_figure(3.6, 1.2)
        say(figure.add_subplot(), "no feature groups besides the background")
        return figure
    longest = max(len(members) for _, members, _, _ in panels)
    n_rows = -(-len(panels) // MOST_COLUMNS)
    n_columns = -(-len(panels) // n_rows)
    names = [shown(name) for _, members, _, _ in panels for name in members.index]
    width = text_inches(names, small()) + 1.7
    figure = new_figure(width * n_columns, (ROW * longest + 0.75) * n_rows)
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for ax, (name, members, size, reach) in zip(axes, panels, strict=False):
        y = np.arange(len(members))
        ax.hlines(y, 0, members["score"], color=colors[name], lw=1.2, alpha=0.6)
        ax.plot(members["score"], y, ls="none", marker="o", ms=5, color=colors[name], mew=0, clip_on=False)
        called, counted = shown(name, 20), f"{size} feature{'s' * (size != 1)}"
        # a long title would reach into its neighbour
        between = " · " if len(called) <= SHORT else "\n"
        ax.set_title(called + between + counted, fontsize=medium())
        _name_rows(ax, members.index, longest)
        ax.set_xlim(0, 1.05 * reach or 1.0)
    for ax in axes[len(panels) :]:
        ax.remove()
    return figure


def disc_features(adata: AnnData, *, group: str | None = None, n_features: int = 30, key: str = "disc") -> Any:
    """Draw a table of the features that score highest: name, score, feature group, and stability where known.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
        A condition; all by default.
    n_features
        Rows of each condition's table.
    key
        The `key_added` of the call.

    Returns
    -------
    The figure, a panel for each condition.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> dn.tl.disc(adata, "condition")
    >>> figure = dn.pl.disc_features(adata, n_features=12)
    >>> len(figure.axes[0].patches)
    12
    """
    validate.count("n_features", n_features)
    found = conditions(adata, group, key)
    tops = [c.ranked().iloc[:n_features] for c in found]
    longest = max(len(top) for top in tops)
    words = [shown(name) for top in tops for name in top.index]
    groups = [shown(name, 14) for top in tops for name in top["feature_group"]]
    width = text_inches(words, small()) + text_inches(groups, small()) + 2.6
    figure = new_figure(width * len(found), ROW * longest + 0.8)
    axes = figure.subplots(1, len(found), squeeze=False)[0]
    colors = group_colors(adata, key)
    for ax, condition, top in zip(axes, found, tops, strict=True):
        _bars(ax, condition, top, colors, longest)
    return figure


def _bars(ax: Any, condition: Condition, top: pd.DataFrame, colors: dict[str, str], longest: int) -> None:
    y = np.arange(len(top))
    ax.barh(y, top["score"], height=0.72, color=[colors[str(g)] for g in top["feature_group"]], lw=0)
    _name_rows(ax, top.index, longest)
    ax.set_title(shown(condition.name, 24), fontsize=medium())
    ax.set_xlim(0, 1.02 * float(top["score"].max()) or 1.0)
    groups = [shown(g, 14) for g in top["feature_group"]]
    _write(ax, "group", groups, GAP)
    if "stability" in top.columns:
        written = ["–" if pd.isna(v) else f"{v:.2f}" for v in top["stability"]]
        _write(ax, "stability", written, 2 * GAP + 72 * text_inches(["group", *groups], small()))


def _write(ax: Any, head: str, texts: Sequence[str], offset: float) -> None:
    """Add a column of text, so many points to the right of the axes."""
    for row, text in enumerate([head, *texts], start=-1):
        ax.annotate(
            text,
            (1, row),
            xycoords=ax.get_yaxis_transform(),
            xytext=(offset, 0),
            textcoords="offset points",
            va="center",
            fontsize=small(),
            fontstyle="italic" if row < 0 else "normal",
            annotation_clip=False,
        )


def _name_rows(ax: Any, names: Any, longest: int) -> None:
    """Name the rows, the first on top; rows are as high in every panel."""
    tidy(ax)
    ax.set_yticks(np.arange(len(names)), [shown(n) for n in names], fontsize=small())
    ax.set_ylim(longest - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.axvline(0, color=faint_color(), lw=0.8)
    ax.xaxis.set_major_locator(MaxNLocator(3))
    ax.set_xlabel("score", fontsize=small())
