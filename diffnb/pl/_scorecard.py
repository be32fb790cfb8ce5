"""The scorecard as a figure: how the leading features differ, and how many features differ in each way."""

from __future__ import annotations

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import _validate as validate
from .. import get
from ..core.scorecard import ALPHA, KINDS, NONE
from ..core.typing import Floats, Ints
from ._canvas import ROW_INCHES, new_figure, require_one_panel, show_message, tidy
from ._docs import documented_figure
from ._page import is_narrow
from ._style import (
    HIGHER_COLOR,
    LOWER_COLOR,
    Color,
    Entry,
    dot,
    faint_color,
    label_text,
    legend,
    medium,
    small,
    text_color,
    text_inches,
)

COLUMN_INCHES = 0.42
#: space above the rows for titles, beside them for the names of kinds, and for the overview
ABOVE_INCHES, BESIDE_INCHES, OVERVIEW_INCHES = 1.1, 1.0, 2.5
BARS_INCHES, LEGEND_INCHES = 1.5, 1.7
MAX_SCORECARD_PANELS = 6
#: kinds whose statistic has a direction
SIGNED_KINDS = ("mean", "spread")
#: −log₁₀ of adjusted p-values: dots grow up to this value, and the legend shows those sizes
MAX_NEG_LOG10_PVAL = 20.0
LEGEND_PVALS = (("0.05", -np.log10(ALPHA)), ("10⁻⁵", 5.0), ("≤ 10⁻²⁰", MAX_NEG_LOG10_PVAL))


@documented_figure
def scorecard(
    adata: AnnData,
    *,
    group: str | None = None,
    reference: str | None = None,
    n_features: int = 30,
    key: str = "scorecard",
    title: str | None = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """Draw how the leading features differ between conditions.

    Each row is a feature, each column a kind of difference. The size of a dot increases as the adjusted p-value
    decreases; dots are filled below 0.05, and their colour shows whether the group is higher or lower. Rows are
    chosen from each kind in turn, among the features that it dominates. Bars count the features of each kind.

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
    title
    width
    ax
        ... Given axes take the features of a single pair, without the bars.

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
    table = get.scorecard(adata, group=group, reference=reference, key=key)
    pairs = list(table.groupby(["group", "reference"], sort=False, observed=True))
    require_one_panel(ax, len(pairs), "pair of conditions", "group= and reference=")
    if ax is not None:
        _draw_dots(ax, pairs[0][1], n_features)
        legend(ax, _legend_entries(), loc="upper left", bbox_to_anchor=(0.0, 0.0), ncols=2)
        return ax
    if len(pairs) > MAX_SCORECARD_PANELS:
        raise ValueError(
            f"group=None leaves {len(pairs)} pairs of conditions, more than a figure holds ({MAX_SCORECARD_PANELS});"
            " choose with group= and reference=."
        )
    return _draw_pairs([rows for _, rows in pairs], n_features)


def _draw_pairs(tables: list[pd.DataFrame], n_features: int) -> Figure:
    """Lay out a row of panels for each pair: dots, then bars, and a legend below the first bars."""
    rows = [leading_rows(t, n_features) for t in tables]
    names = [label_text(name) for t, where in zip(tables, rows, strict=True) for name in t.index[where]]
    dots_inches = text_inches(names, small()) + COLUMN_INCHES * len(KINDS) + BESIDE_INCHES
    least = [BARS_INCHES + LEGEND_INCHES, *[BARS_INCHES] * (len(tables) - 1)]
    heights = [max(ROW_INCHES * len(where), low) + ABOVE_INCHES for where, low in zip(rows, least, strict=True)]
    if is_narrow(dots_inches + OVERVIEW_INCHES):
        return _draw_narrow_pairs(tables, n_features, [ROW_INCHES * len(where) + ABOVE_INCHES for where in rows])
    figure = new_figure(dots_inches + OVERVIEW_INCHES, sum(heights))
    subfigures = figure.subfigures(len(tables), 1, squeeze=False, height_ratios=heights)[:, 0]
    for number, (subfigure, table) in enumerate(zip(subfigures, tables, strict=True)):
        rest = heights[number] - BARS_INCHES
        below = (LEGEND_INCHES, max(0.01, rest - LEGEND_INCHES)) if number == 0 else (rest,)
        grid = subfigure.add_gridspec(
            1 + len(below), 2, width_ratios=(dots_inches, OVERVIEW_INCHES), height_ratios=(BARS_INCHES, *below)
        )
        _draw_dots(subfigure.add_subplot(grid[:, 0]), table, n_features)
        _draw_kind_counts(subfigure.add_subplot(grid[0, 1]), table)
        if number == 0:
            key = subfigure.add_subplot(grid[1, 1])
            key.set_axis_off()
            legend(key, _legend_entries(), loc="upper left", labelspacing=0.7, borderaxespad=0.0)
    return figure


def _draw_narrow_pairs(tables: list[pd.DataFrame], n_features: int, heights: list[float]) -> Figure:
    """Lay out bars and legend below the dots of each pair, as a narrow page has no space beside them."""
    figure = new_figure(0.0, sum(heights) + len(heights) * LEGEND_INCHES)
    above_and_below = [inches for height in heights for inches in (height, LEGEND_INCHES)]
    grid = figure.add_gridspec(len(above_and_below), 2, height_ratios=above_and_below, width_ratios=(1.1, 1))
    for number, table in enumerate(tables):
        _draw_dots(figure.add_subplot(grid[2 * number, :]), table, n_features)
        _draw_kind_counts(figure.add_subplot(grid[2 * number + 1, 0]), table)
        if number == 0:
            key = figure.add_subplot(grid[1, 1])
            key.set_axis_off()
            legend(key, _legend_entries(), loc="upper left", labelspacing=0.3, borderaxespad=0.0)
    return figure


def leading_rows(table: pd.DataFrame, n_features: int) -> Ints:
    """Positions of the features to show: the best of every kind in turn, then sorted by kind."""
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


def _draw_dots(ax: Axes, table: pd.DataFrame, n_features: int) -> None:
    rows = table.iloc[leading_rows(table, n_features)]
    ax.set_title(_pair_title(table), loc="left", fontsize=medium(), fontweight="bold")
    if not len(rows):
        show_message(ax, "no feature was tested")
        return
    for x, kind in enumerate(KINDS):
        stat, pval_adj = (rows[f"{kind}_{column}"].to_numpy() for column in ("stat", "pval_adj"))
        _draw_kind(ax, x, stat, pval_adj, signed=kind in SIGNED_KINDS)
    ax.set_xlim(-0.6, len(KINDS) - 0.4)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xticks(range(len(KINDS)), KINDS, rotation=40, ha="left", rotation_mode="anchor")
    ax.set_yticks(range(len(rows)), [label_text(name) for name in rows.index])
    ax.tick_params(length=0, labelsize=small(), top=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    _name_kinds(ax, rows["kind"].astype(str).to_numpy())


def _draw_kind(ax: Axes, x: int, stat: Floats, pval_adj: Floats, *, signed: bool) -> None:
    tested = np.flatnonzero(np.isfinite(pval_adj))
    sizes = _dot_area(-np.log10(np.maximum(pval_adj[tested], 1e-300)))
    colors = np.array([_direction_color(s, signed) for s in stat[tested]], dtype=object)
    filled = pval_adj[tested] < ALPHA
    ax.scatter(np.full(filled.sum(), x), tested[filled], s=sizes[filled], c=list(colors[filled]), lw=0, clip_on=False)
    ax.scatter(
        np.full((~filled).sum(), x),
        tested[~filled],
        s=sizes[~filled],
        facecolors="none",
        edgecolors=faint_color(0.5),
        lw=0.6,
        clip_on=False,
    )


def _dot_area(neg_log10_pval: Floats | float) -> Floats:
    """Area of a dot in square points."""
    return np.asarray(9 + 81 * np.sqrt(np.clip(neg_log10_pval, 0, MAX_NEG_LOG10_PVAL) / MAX_NEG_LOG10_PVAL))


def _direction_color(stat: float, signed: bool) -> Color:
    if not signed:
        return faint_color(0.75)
    return HIGHER_COLOR if stat > 0 else LOWER_COLOR


def _name_kinds(ax: Axes, kinds: np.ndarray) -> None:
    """Separate the rows by the dominating kind, and name it next to the first of them."""
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


def _draw_kind_counts(ax: Axes, table: pd.DataFrame) -> None:
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


def _pair_title(table: pd.DataFrame) -> str:
    if not len(table):
        return ""
    group, reference = (label_text(table[name].iloc[0]) for name in ("group", "reference"))
    return f"trend with {group}" if "slope" in table.columns else f"{group} vs {reference}"


def _legend_entries() -> list[Entry]:
    grey = faint_color(0.75)
    directions: list[Entry] = [
        (dot(HIGHER_COLOR), "higher"),
        (dot(LOWER_COLOR), "lower"),
        (dot(grey), "without direction"),
        (dot(faint_color(0.5), filled=False, size=4.0), "not significant"),
    ]
    sizes = [(dot(grey, size=float(np.sqrt(_dot_area(value)))), f"adjusted p {text}") for text, value in LEGEND_PVALS]
    return [*directions, *sizes]
