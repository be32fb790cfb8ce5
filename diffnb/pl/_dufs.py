"""Gates of features against their rank, and how they were trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from .. import _validate as validate
from .. import get
from ._canvas import new_figure, tidy
from ._docs import documented_figure
from ._page import figure_width, is_narrow
from ._style import (
    BACKGROUND_COLOR,
    PALETTE,
    Entry,
    dot,
    faint_color,
    integer_tick,
    label_text,
    legend,
    medium,
    signed_number,
    small,
    text_inches,
)

#: features up to which each is named, and up to which the axis of ranks is linear
MAX_NAMED_FEATURES = 40
MAX_LINEAR_RANKS = 300
SELECTED_COLOR = PALETTE[1]


@documented_figure
def dufs(
    adata: AnnData,
    *,
    panel: str | None = None,
    key: str = "dufs",
    title: str | None = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """Draw gates against their rank, and loss and share of open gates during training.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.dufs`.
    panel
        One of `"gates"`, `"loss"` and `"open"`; all of them by default.
    key
    title
    width
    ax
        ... Given axes take a single panel.

    Returns
    -------
    The figure, or `ax`. Where open and closed gates are clearly separated, the number of selected features is
    determined by the data; where gates decrease gradually, it is a choice. Features that are pixels can be drawn
    with `dn.pl.feature_image(adata, "dufs")`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_moons(10)
    >>> dn.tl.dufs(adata)
    >>> figure = dn.pl.dufs(adata)
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['gate', 'loss', 'share of open gates']
    """
    if panel is not None:
        validate.choice("panel", panel, tuple(DUFS_PANELS))
    elif ax is not None:
        raise ValueError(f"ax takes one panel; choose with panel= one of {validate.quoted(DUFS_PANELS)}.")
    wanted = list(DUFS_PANELS) if panel is None else [panel]
    table, training = get.dufs(adata, key=key), get.dufs_training(adata, key=key)
    if ax is not None:
        DUFS_PANELS[wanted[0]](ax, table, training)
        return ax
    named = [label_text(name) for name in table.index[: MAX_NAMED_FEATURES + 1]]
    below = text_inches(named, small()) if len(table) <= MAX_NAMED_FEATURES else 0.0
    figure, axes = _dufs_axes(wanted, below)
    for axis, name in zip(axes, wanted, strict=True):
        DUFS_PANELS[name](axis, table, training)
    return figure


def _dufs_axes(wanted: list[str], below: float) -> tuple[Figure, list[Axes]]:
    """Axes next to each other, the gates wider than the others; on a narrow page the others are below the gates."""
    usual = 4.6 + 3.1 * (len(wanted) - 1)
    if len(wanted) == 1 or not is_narrow(usual):
        figure = new_figure(figure_width(usual), 2.9 + below)
        widths = [1.5 if name == "gates" else 1.0 for name in wanted]
        return figure, list(figure.subplots(1, len(wanted), squeeze=False, width_ratios=widths)[0])
    figure = new_figure(usual, 4.2 + below)
    grid = figure.add_gridspec(2, len(wanted) - 1, height_ratios=(2.4 + below, 1.8))
    return figure, [figure.add_subplot(grid[0, :]), *(figure.add_subplot(grid[1, i]) for i in range(len(wanted) - 1))]


def _draw_gates(ax: Axes, table: pd.DataFrame, _: pd.DataFrame) -> None:
    table = table[table["gate"].notna().to_numpy()]
    rank, gate = np.arange(1, len(table) + 1), table["gate"].to_numpy(dtype=float)
    selected = table["selected"].to_numpy(dtype=bool)
    size = 5.0 if len(table) <= MAX_NAMED_FEATURES else 3.0
    for chosen, color, above in ((~selected, BACKGROUND_COLOR, 2), (selected, SELECTED_COLOR, 3)):
        ax.plot(rank[chosen], gate[chosen], ls="none", marker="o", ms=size, color=color, mec="none", zorder=above)
    ax.axhline(0.5, color=faint_color(), lw=0.8, ls=(0, (4, 2)), zorder=1)
    ax.set_ylim(-0.05, 1.05)
    ax.set_ylabel("gate")
    tidy(ax)
    _scale_ranks(ax, [label_text(name) for name in table.index])
    count = int(selected.sum())
    ax.set_title(f"{count:,} of {len(table):,} features selected", fontsize=medium(), loc="left")
    entries: list[Entry] = [(dot(SELECTED_COLOR), "selected"), (dot(BACKGROUND_COLOR), "not selected")]
    legend(ax, entries, loc="upper right", bbox_to_anchor=(1.0, 0.97))


def _scale_ranks(ax: Axes, names: list[str]) -> None:
    """Name few features; space many by the logarithm of their rank."""
    if len(names) <= MAX_NAMED_FEATURES:
        ax.set_xticks(np.arange(1, len(names) + 1), names, rotation=90, fontsize=small())
        ax.set_xlim(0.3, len(names) + 0.7)
        return
    ax.set_xlabel("rank")
    if len(names) > MAX_LINEAR_RANKS:
        ax.set_xscale("log")
        ax.set_xlim(0.9, len(names) * 1.1)
        ax.xaxis.set_major_locator(LogLocator(base=10))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(integer_tick))


def _draw_loss(ax: Axes, _: pd.DataFrame, training: pd.DataFrame) -> None:
    _draw_training(ax, training["loss"], "loss", PALETTE[0])
    ax.yaxis.set_major_formatter(signed_number)


def _draw_open(ax: Axes, _: pd.DataFrame, training: pd.DataFrame) -> None:
    _draw_training(ax, training["open"], "share of open gates", PALETTE[2])
    ax.set_ylim(0, 1.05 * max(1e-3, float(training["open"].max())))


def _draw_training(ax: Axes, values: pd.Series[Any], label: str, color: str) -> None:
    ax.plot(values.index, values.to_numpy(dtype=float), color=color, lw=1.4)
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.set_xlabel("step")
    ax.set_ylabel(label)
    tidy(ax)


DUFS_PANELS: dict[str, Callable[[Axes, pd.DataFrame, pd.DataFrame], None]] = {
    "gates": _draw_gates,
    "loss": _draw_loss,
    "open": _draw_open,
}
