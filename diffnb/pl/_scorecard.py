"""The scorecard as a figure: by what the leading features differ, and how many of each kind there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from ..core.scorecard import ALPHA, KINDS, NONE
from ..core.typing import Floats, Ints
from ..get._scorecard import scorecard as read
from ._style import (
    PALETTE,
    dot,
    faint_color,
    legend,
    medium,
    new_figure,
    say,
    shown,
    small,
    text_color,
    text_inches,
    tidy,
)

ROW = 0.19
COLUMN = 0.42
#: room for titles, for the names of kinds above and beside, and for the overview, in inches
ABOVE, BESIDE, OVERVIEW = 1.1, 1.0, 2.5
#: height of the bars and of the legend, in inches
BARS, LEGEND = 1.5, 1.7
MOST_PAIRS = 6
LOWER, HIGHER = PALETTE[0], PALETTE[1]
#: kinds whose statistic has a direction
SIGNED = ("mean", "spread")
#: adjusted p-values on a scale of −log₁₀: drawn no larger than this, and shown in the legend
LARGEST = 20.0
SHOWN = (("0.05", -np.log10(ALPHA)), ("10⁻⁵", 5.0), ("≤ 10⁻²⁰", LARGEST))


def scorecard(
    adata: AnnData,
    *,
    group: str | None = None,
    reference: str | None = None,
    n_features: int = 30,
    key: str = "scorecard",
    ax: Any = None,
) -> Any:
    """Draw by what the leading features differ between conditions.

    A row is a feature, a column a kind of difference. A dot grows with the significance of the adjusted
    p-value, is filled below 0.05, and tells by its colour whether the group is higher or lower. Every kind
    that dominates somewhere has its share of the rows. Bars count the features of each kind.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.scorecard`.
    group
        A condition that was compared with another; all by default.
    reference
        The condition it was compared with; all by default.
    n_features
        Features to show for each pair of conditions.
    key
        The `key_added` of the call.
    ax
        Axes to draw the features of a single pair on, without the bars.

    Returns
    -------
    The figure, or `ax`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.scorecard(adata, "condition")
    >>> figure = dn.pl.scorecard(adata, n_features=10)
    >>> figure.axes[0].get_title(loc="left")
    'B vs A'
    """
    validate.count("n_features", n_features)
    table = read(adata, group=group, reference=reference, key=key)
    pairs = list(table.groupby(["group", "reference"], sort=False, observed=True))
    if ax is not None:
        if len(pairs) > 1:
            raise ValueError(
                f"ax takes one pair of conditions, got {len(pairs)}; choose one with group= and reference=."
            )
        _dots(ax, pairs[0][1], n_features)
        legend(ax, _entries(), loc="upper left", bbox_to_anchor=(0.0, 0.0), ncols=2)
        return ax
    if len(pairs) > MOST_PAIRS:
        raise ValueError(
            f"group=None leaves {len(pairs)} pairs of conditions, more than a figure holds ({MOST_PAIRS});"
            " choose with group= and reference=."
        )
    return _figure([rows for _, rows in pairs], n_features)


def _figure(tables: list[pd.DataFrame], n_features: int) -> Any:
    """Lay out a row of panels for each pair: dots, then bars, and a legend under the first bars."""
    rows = [leading(t, n_features) for t in tables]
    names = [shown(name) for t, where in zip(tables, rows, strict=True) for name in t.index[where]]
    dots = text_inches(names, small()) + COLUMN * len(KINDS) + BESIDE
    least = [BARS + LEGEND, *[BARS] * (len(tables) - 1)]
    heights = [max(ROW * len(where), low) + ABOVE for where, low in zip(rows, least, strict=True)]
    figure = new_figure(dots + OVERVIEW, sum(heights))
    parts = np.atleast_1d(figure.subfigures(len(tables), 1, height_ratios=heights))
    for number, (part, table) in enumerate(zip(parts, tables, strict=True)):
        below = (LEGEND, max(0.01, heights[number] - BARS - LEGEND)) if number == 0 else (heights[number] - BARS,)
        grid = part.add_gridspec(1 + len(below), 2, width_ratios=(dots, OVERVIEW), height_ratios=(BARS, *below))
        _dots(part.add_subplot(grid[:, 0]), table, n_features)
        _bars(part.add_subplot(grid[0, 1]), table)
        if number == 0:
            key = part.add_subplot(grid[1, 1])
            key.set_axis_off()
            legend(key, _entries(), loc="upper left", labelspacing=0.7, borderaxespad=0.0)
    return figure


def leading(table: pd.DataFrame, n_features: int) -> Ints:
    """Positions of the features to show: the best of every kind by turns, then sorted by kind."""
    pvals = table[[f"{kind}_pval_adj" for kind in KINDS]].to_numpy()
    tested = np.flatnonzero(~np.isnan(pvals).all(axis=1))
    best = np.nanmin(pvals[tested], axis=1) if tested.size else np.empty(0)
    size = np.abs(np.nan_to_num(table[[f"{kind}_stat" for kind in KINDS]].to_numpy()[tested], posinf=np.inf))
    kind = pd.Categorical(table["kind"].iloc[tested], categories=[*KINDS, NONE]).codes
    order = np.lexsort((-size.max(axis=1, initial=0.0), best))
    turn = np.empty(tested.size, dtype=int)
    for code in range(len(KINDS) + 1):
        of_kind = order[kind[order] == code]
        turn[of_kind] = np.arange(of_kind.size) + (code == len(KINDS)) * tested.size
    chosen = np.lexsort((best, turn))[:n_features]
    rank = np.empty(tested.size, dtype=int)
    rank[order] = np.arange(tested.size)
    return np.asarray(tested[chosen[np.lexsort((rank[chosen], kind[chosen]))]])


def _dots(ax: Any, table: pd.DataFrame, n_features: int) -> None:
    rows = table.iloc[leading(table, n_features)]
    ax.set_title(_title(table), loc="left", fontsize=medium(), fontweight="bold")
    if not len(rows):
        say(ax, "no feature was tested")
        return
    for x, kind in enumerate(KINDS):
        _column(ax, x, rows[f"{kind}_stat"].to_numpy(), rows[f"{kind}_pval_adj"].to_numpy(), kind in SIGNED)
    ax.set_xlim(-0.6, len(KINDS) - 0.4)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xticks(range(len(KINDS)), KINDS, rotation=40, ha="left", rotation_mode="anchor")
    ax.set_yticks(range(len(rows)), [shown(name) for name in rows.index])
    ax.tick_params(length=0, labelsize=small(), top=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    _name_kinds(ax, rows["kind"].astype(str).to_numpy())


def _column(ax: Any, x: int, stat: Floats, pval_adj: Floats, signed: bool) -> None:
    there = np.flatnonzero(np.isfinite(pval_adj))
    sizes = _area(-np.log10(np.maximum(pval_adj[there], 1e-300)))
    colors = np.array([_color(s, signed) for s in stat[there]], dtype=object)
    filled = pval_adj[there] < ALPHA
    ax.scatter(np.full(filled.sum(), x), there[filled], s=sizes[filled], c=list(colors[filled]), lw=0, clip_on=False)
    ax.scatter(
        np.full((~filled).sum(), x),
        there[~filled],
        s=sizes[~filled],
        facecolors="none",
        edgecolors=faint_color(0.5),
        lw=0.6,
        clip_on=False,
    )


def _area(significance: Any) -> Any:
    """Area of a dot, in square points."""
    return 9 + 81 * np.sqrt(np.clip(significance, 0, LARGEST) / LARGEST)


def _color(stat: float, signed: bool) -> Any:
    if not signed:
        return faint_color(0.75)
    return HIGHER if stat > 0 else LOWER


def _name_kinds(ax: Any, kinds: Any) -> None:
    """Part the rows by the kind that dominates, and name it beside the first of them."""
    starts = np.flatnonzero(np.r_[True, kinds[1:] != kinds[:-1]])
    for start in starts:
        if start:
            ax.axhline(start - 0.5, color=faint_color(0.25), lw=0.6)
        ax.annotate(
            kinds[start],
            (1.0, start),
            xycoords=("axes fraction", "data"),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=small(),
            color=text_color(),
            fontstyle="italic",
            annotation_clip=False,
        )


def _bars(ax: Any, table: pd.DataFrame) -> None:
    counted = table["kind"].value_counts()
    counts = np.array([int(counted.get(name, 0)) for name in KINDS])
    ax.barh(range(len(KINDS)), counts, height=0.65, color=faint_color(0.6))
    for place, count in enumerate(counts):
        ax.annotate(
            f"{count:,}",
            (count, place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=small(),
        )
    ax.set_yticks(range(len(KINDS)), KINDS)
    ax.invert_yaxis()
    ax.set_xticks([])
    ax.set_xlim(0, max(1, counts.max()) * 1.35)
    ax.set_title("features by kind", loc="left", fontsize=medium())
    ax.set_xlabel(f"{NONE}: {int(counted.get(NONE, 0)):,}", loc="left")
    tidy(ax)
    ax.tick_params(axis="y", length=0)
    ax.spines["bottom"].set_visible(False)


def _title(table: pd.DataFrame) -> str:
    return f"{shown(table['group'].iloc[0])} vs {shown(table['reference'].iloc[0])}" if len(table) else ""


def _entries() -> list[tuple[Any, object]]:
    grey = faint_color(0.75)
    directions: list[tuple[Any, object]] = [
        (dot(HIGHER), "higher"),
        (dot(LOWER), "lower"),
        (dot(grey), "without direction"),
        (dot(faint_color(0.5), filled=False, size=4.0), "not significant"),
    ]
    sizes = [(dot(grey, size=float(np.sqrt(_area(value)))), f"adjusted p {text}") for text, value in SHOWN]
    return [*directions, *sizes]
