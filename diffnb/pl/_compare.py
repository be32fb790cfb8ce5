"""Methods against each other: rank against rank, and what their first features share."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from anndata import AnnData

from .. import get
from ..core.typing import Floats
from ._labels import Labels
from ._style import PALETTE, faint_color, is_dark, medium, new_figure, own_axes, sequential, shown, small, tidy

MOST_COLUMNS = 3


def compare_ranks(
    adata: AnnData,
    *,
    group: str | None = None,
    n_top: int = 50,
    n_labels: int = 4,
    prefix: str = "",
) -> Any:
    """Draw rank against rank for each two methods.

    Parameters
    ----------
    adata
        Annotated data, as for :func:`diffnb.get.compare`.
    group
        A condition; the best rank over all by default.
    n_top
        Features that a method is said to find: the lines stand after them.
    n_labels
        Features to name in each panel: those that one method finds and the other ranks lowest.
    prefix
        What stands before the usual keys.

    Returns
    -------
    The figure. Both axes are logarithmic, the best in the corner at the lower left.

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
    columns = min(MOST_COLUMNS, len(pairs))
    rows = -(-len(pairs) // columns)
    figure = new_figure(3.3 * columns, 3.2 * rows)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    last = len(table) + 1
    for ax, (left, right) in zip(axes, pairs, strict=False):
        # a method that gives a feature no rank puts it behind all others
        points = table[[left, right]].fillna(last).to_numpy()
        _draw(ax, points, n_top)
        ax.set_xlabel(f"rank by {left}")
        ax.set_ylabel(f"rank by {right}")
        tidy(ax)
        apart = _apart(points, n_top)[:n_labels]
        Labels(ax, points[apart], [shown(n, 18) for n in table.index[apart]], points)
    for ax in axes[len(pairs) :]:
        ax.remove()
    return figure


def compare_overlap(
    adata: AnnData, *, group: str | None = None, n_top: int = 50, prefix: str = "", ax: Any = None
) -> Any:
    """Draw how many of their first features each two methods share.

    Parameters
    ----------
    adata
        Annotated data, as for :func:`diffnb.get.compare`.
    group
        A condition; the best rank over all by default.
    n_top
        Features of each method.
    prefix
        What stands before the usual keys.
    ax
        Axes to draw into; those of a new figure by default.

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
    axes = own_axes(ax, 1.6 + 0.75 * len(table), 1.0 + 0.6 * len(table))
    cmap = sequential()
    axes.imshow(counts, cmap=cmap, vmin=0, vmax=max(1, int(counts.max())), aspect="auto")
    for i, j in np.ndindex(counts.shape):
        red, green, blue, _ = cmap(counts[i, j] / max(1, counts.max()))
        ink = "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "black"
        axes.text(j, i, str(counts[i, j]), ha="center", va="center", color=ink, fontsize=small())
    axes.set_xticks(range(len(table)), table.columns, rotation=30, ha="right")
    axes.set_yticks(range(len(table)), table.index)
    axes.tick_params(length=0, labelsize=small())
    axes.spines[:].set_visible(False)
    axes.set_title(f"shared among the first {n_top}", fontsize=medium())
    return axes


def _draw(ax: Any, points: Floats, n_top: int) -> None:
    first = points <= n_top
    looks = (
        (~first.any(axis=1), faint_color(0.25), 5),
        (first.any(axis=1) & ~first.all(axis=1), PALETTE[5] if is_dark() else PALETTE[0], 12),
        (first.all(axis=1), PALETTE[1], 14),
    )
    for chosen, color, size in looks:
        ax.scatter(points[chosen, 0], points[chosen, 1], s=size, color=color, lw=0, rasterized=len(points) > 2000)
    for line in (ax.axhline, ax.axvline):
        line(n_top + 0.5, color=faint_color(), lw=0.7)
    ax.set_xscale("log")
    ax.set_yscale("log")


def _apart(points: Floats, n_top: int) -> Any:
    """Order features by how much more one method makes of them than the other; only those that one alone finds."""
    gap = np.abs(np.log(points[:, 0]) - np.log(points[:, 1]))
    gap[(points <= n_top).sum(axis=1) != 1] = -1.0
    order = np.argsort(-gap, kind="stable")
    return order[gap[order] > 0]
