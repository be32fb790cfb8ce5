"""Comparison of methods: rank against rank, and the overlap of their leading features."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from .. import get
from ..core.typing import Floats, Ints
from ._canvas import axes_or_new, grid_of_axes, scatter_points, tidy
from ._docs import documented_figure
from ._labels import Labels
from ._page import MIN_FIGURE_INCHES, is_narrow
from ._style import (
    PALETTE,
    Color,
    dot,
    faint_color,
    is_dark,
    label_text,
    legend,
    luminance,
    medium,
    sequential,
    small,
)

MAX_COMPARE_COLUMNS = 3
#: where features without a rank are drawn, relative to the number of features
UNRANKED = 1.6


@documented_figure
def compare_ranks(
    adata: AnnData,
    *,
    group: str | None = None,
    n_top: int = 50,
    n_labels: int = 4,
    prefix: str = "",
    title: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw rank against rank for each pair of methods.

    There is no `ax`: the figure has a panel for each pair of methods.

    Parameters
    ----------
    adata
        Annotated data, as for :func:`diffnb.get.compare`.
    group
        ... A feature then has the best of its ranks.
    n_top
        Number of leading features of each method, marked by lines.
    n_labels
        Features to label in each panel: those among the leading features of one method that the other ranks
        lowest.
    prefix
    title
    width

    Returns
    -------
    The figure. Both axes are logarithmic, the best ranks at the lower left; "none" are features that a method does
    not rank.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> dn.tl.disc(adata, "condition")
    >>> dn.tl.scorecard(adata, "condition")
    >>> figure = dn.pl.compare_ranks(adata, n_top=20)
    >>> figure.axes[0].get_xlabel()
    'rank by DiSC'
    """
    table = get.compare(adata, group=group, n_top=n_top, prefix=prefix)
    methods = [c for c in table.columns if c not in ("n_methods", "found_by")]
    pairs = list(combinations(methods, 2)) or [(methods[0], methods[0])]
    figure, axes = grid_of_axes(len(pairs), 3.3, 3.2, max_columns=MAX_COMPARE_COLUMNS)
    # features that a method does not rank come after all others, at a distance
    last = round(UNRANKED * len(table))
    for ax, (left, right) in zip(axes, pairs, strict=True):
        points = table[[left, right]].fillna(last).to_numpy()
        _draw_ranks(ax, points, n_top)
        for axis, ranks in zip((ax.xaxis, ax.yaxis), points.T, strict=True):
            _name_ranks(axis, len(table), last if (ranks == last).any() else None)
        ax.set_xlabel(f"rank by {left}")
        ax.set_ylabel(f"rank by {right}")
        tidy(ax)
        labelled = _found_by_one(points, n_top)[:n_labels]
        Labels(ax, points[labelled], [label_text(n, 18) for n in table.index[labelled]], points)
    names = (f"first {n_top} of both", f"first {n_top} of one", "of neither")
    entries = [(dot(color), name) for name, color in zip(names, _colors(), strict=True)]
    legend(figure, entries, loc="outside lower center", ncols=2 if is_narrow(MIN_FIGURE_INCHES) else 3)
    return figure


@documented_figure
def compare_overlap(
    adata: AnnData,
    *,
    group: str | None = None,
    n_top: int = 50,
    prefix: str = "",
    title: str | None = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how many of their leading features each pair of methods shares.

    Parameters
    ----------
    adata
        Annotated data, as for :func:`diffnb.get.compare`.
    group
        ... A feature then has the best of its ranks.
    n_top
        Number of leading features of each method.
    prefix
    title
    width
    ax

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> dn.tl.disc(adata, "condition")
    >>> dn.tl.scorecard(adata, "condition")
    >>> ax = dn.pl.compare_overlap(adata, n_top=20)
    >>> ax.get_title()
    'shared among the first 20'
    """
    table = get.compare_overlap(adata, group=group, n_top=n_top, prefix=prefix)
    counts = table.to_numpy()
    axes = axes_or_new(ax, max(1.6 + 0.75 * len(table), 4.4), 1.0 + 0.6 * len(table))
    cmap = sequential()
    axes.imshow(counts, cmap=cmap, vmin=0, vmax=max(1, int(counts.max())), aspect="auto")
    for i, j in np.ndindex(counts.shape):
        ink = "white" if luminance(cmap(counts[i, j] / max(1, counts.max()))) < 0.5 else "black"
        axes.text(j, i, str(counts[i, j]), ha="center", va="center", color=ink, fontsize=small())
    axes.set_xticks(range(len(table)), table.columns, rotation=30, ha="right")
    axes.set_yticks(range(len(table)), table.index)
    axes.tick_params(length=0, labelsize=small())
    axes.spines[:].set_visible(False)
    axes.set_title(f"shared among the first {n_top}", fontsize=medium())
    return axes


def _colors() -> tuple[Color, Color, Color]:
    """Colours of features among the first of both methods, of one and of neither."""
    return PALETTE[1], PALETTE[5] if is_dark() else PALETTE[0], faint_color(0.25)


def _name_ranks(axis: Axis, n_features: int, unranked: int | None) -> None:
    """Write ranks as integers, and where features without one are."""
    powers = [10**i for i in range(8) if 10**i <= n_features]
    texts = [f"{power:,}" for power in powers]
    if unranked is not None:
        # the last power of ten would touch the words
        kept = [i for i, power in enumerate(powers) if power < n_features / 3] or [0]
        powers, texts = [*(powers[i] for i in kept), unranked], [*(texts[i] for i in kept), "none"]
    axis.set_major_locator(FixedLocator(powers))
    axis.set_major_formatter(FixedFormatter(texts))
    axis.set_minor_locator(NullLocator())


def _draw_ranks(ax: Axes, points: Floats, n_top: int) -> None:
    leading = points <= n_top
    both, one, neither = _colors()
    looks = (
        (~leading.any(axis=1), neither, 5),
        (leading.any(axis=1) & ~leading.all(axis=1), one, 12),
        (leading.all(axis=1), both, 14),
    )
    for chosen, color, size in looks:
        scatter_points(ax, points[chosen], sizes=(size, size), n_points=len(points), color=color, lw=0)
    for line in (ax.axhline, ax.axvline):
        line(n_top + 0.5, color=faint_color(), lw=0.7)
    ax.set_xscale("log")
    ax.set_yscale("log")


def _found_by_one(points: Floats, n_top: int) -> Ints:
    """Features among the first of exactly one method, those with the most different ranks first."""
    gap = np.abs(np.log(points[:, 0]) - np.log(points[:, 1]))
    gap[(points <= n_top).sum(axis=1) != 1] = -1.0
    order = np.argsort(-gap, kind="stable")
    return np.asarray(order[gap[order] > 0])
