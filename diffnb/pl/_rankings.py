"""Features with the highest scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .. import _validate as validate
from ..get._conditions import DiscCondition, disc_conditions
from ._canvas import ROW_INCHES, draw_panels, grid_of_axes, new_figure, require_one_panel, show_message, tidy
from ._docs import documented_figure
from ._read import group_colors
from ._style import faint_color, label_text, medium, plural, small, text_inches

MAX_GROUP_COLUMNS = 4
#: letters of a name up to which the number of features fits next to it
MAX_NAME_LETTERS = 10
#: distance between columns of text
COLUMN_GAP_POINTS = 8.0


@dataclass(frozen=True, slots=True)
class RankedGroup:
    """The leading features of a feature group."""

    name: str
    top: pd.DataFrame
    size: int
    #: highest score of any feature of the condition
    highest: float


@documented_figure
def disc_groups(
    adata: AnnData,
    *,
    group: str | None = None,
    n_features: int = 10,
    key: str = "disc",
    title: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw the features of each group with the highest scores, without the background.

    There is no `ax`: the figure has a panel for each feature group.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
    n_features
        Features of each group.
    key
    title
    width

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
    ranked = [g for condition in disc_conditions(adata, group, key) for g in _ranked_groups(condition, n_features)]
    if not ranked:
        figure = new_figure(3.6, 1.2)
        show_message(figure.add_subplot(), "no feature groups besides the background")
        return figure
    colors = group_colors(adata, key)
    longest = max(len(each.top) for each in ranked)
    width = text_inches([label_text(name) for each in ranked for name in each.top.index], small()) + 1.7
    figure, axes = grid_of_axes(len(ranked), width, ROW_INCHES * longest + 0.75, max_columns=MAX_GROUP_COLUMNS)
    # a long title would extend into the next panel
    separator = " · " if all(len(each.name) <= MAX_NAME_LETTERS for each in ranked) else "\n"
    for ax, each in zip(axes, ranked, strict=True):
        _draw_group(ax, each, colors[each.name], longest, separator)
    return figure


@documented_figure
def disc_features(
    adata: AnnData,
    *,
    group: str | None = None,
    n_features: int = 30,
    key: str = "disc",
    title: str | None = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """Draw a table of the features with the highest scores: name, score, feature group, and stability if computed.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
    n_features
        Rows of the table of each condition.
    key
    title
    width
    ax
        ... Given axes take a single condition.

    Returns
    -------
    The figure, a panel for each condition; or `ax`.

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
    found = disc_conditions(adata, group, key)
    require_one_panel(ax, len(found), "condition", "group=")
    tops = [c.ranked().iloc[:n_features] for c in found]
    longest = max(len(top) for top in tops)
    names = [label_text(name) for top in tops for name in top.index]
    groups = [label_text(name, 14) for top in tops for name in top["feature_group"]]
    colors = group_colors(adata, key)

    def draw(axes: Axes, i: int) -> None:
        _draw_scores(axes, found[i].name, tops[i], colors, longest)

    width = text_inches(names, small()) + text_inches(groups, small()) + 2.6
    return draw_panels(draw, len(found), ax, width=width, height=ROW_INCHES * longest + 0.8, max_columns=len(found))


def _ranked_groups(condition: DiscCondition, n_features: int) -> list[RankedGroup]:
    ranked = condition.ranked()
    highest = float(ranked["score"].max())
    members = {name: ranked[ranked["feature_group"] == name] for name in condition.groups}
    return [RankedGroup(name, table.iloc[:n_features], len(table), highest) for name, table in members.items()]


def _draw_group(ax: Axes, ranked: RankedGroup, color: str, longest: int, separator: str) -> None:
    scores, y = ranked.top["score"], np.arange(len(ranked.top))
    ax.hlines(y, 0, scores, color=color, lw=1.2, alpha=0.6)
    ax.plot(scores, y, ls="none", marker="o", ms=5, color=color, mew=0, clip_on=False)
    ax.set_title(label_text(ranked.name, 20) + separator + plural(ranked.size), fontsize=medium())
    _name_rows(ax, ranked.top.index, longest)
    ax.set_xlim(0, 1.05 * ranked.highest or 1.0)


def _draw_scores(ax: Axes, condition: str, top: pd.DataFrame, colors: dict[str, str], longest: int) -> None:
    y = np.arange(len(top))
    ax.barh(y, top["score"], height=0.72, color=[colors[str(g)] for g in top["feature_group"]], lw=0)
    _name_rows(ax, top.index, longest)
    ax.set_title(label_text(condition, 24), fontsize=medium())
    ax.set_xlim(0, 1.02 * float(top["score"].max()) or 1.0)
    groups = [label_text(g, 14) for g in top["feature_group"]]
    _add_text_column(ax, "group", groups, COLUMN_GAP_POINTS)
    if "stability" in top.columns:
        written = ["–" if pd.isna(v) else f"{v:.2f}" for v in top["stability"]]
        offset = 2 * COLUMN_GAP_POINTS + 72 * text_inches(["group", *groups], small())
        _add_text_column(ax, "stability", written, offset)


def _add_text_column(ax: Axes, head: str, texts: Sequence[str], offset_points: float) -> None:
    """Write a column of text to the right of the axes."""
    for row, text in enumerate([head, *texts], start=-1):
        ax.annotate(
            text,
            (1, row),
            xycoords=ax.get_yaxis_transform(),
            xytext=(offset_points, 0),
            textcoords="offset points",
            va="center",
            fontsize=small(),
            fontstyle="italic" if row < 0 else "normal",
            annotation_clip=False,
        )


def _name_rows(ax: Axes, names: Sequence[object], longest: int) -> None:
    """Name the rows, the first on top; rows have the same height in every panel."""
    tidy(ax)
    ax.set_yticks(np.arange(len(names)), [label_text(n) for n in names], fontsize=small())
    ax.set_ylim(longest - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.axvline(0, color=faint_color(), lw=0.8)
    ax.xaxis.set_major_locator(MaxNLocator(3))
    ax.set_xlabel("score", fontsize=small())
