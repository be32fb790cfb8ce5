"""Gates of features against their rank, and how they were trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from .. import _validate as validate
from .. import get
from ._style import (
    BACKGROUND_COLOR,
    PALETTE,
    dot,
    faint_color,
    legend,
    medium,
    new_figure,
    shown,
    signed_number,
    small,
    text_inches,
    tidy,
)

#: features up to which each is named
NAMED = 40
#: features beyond which ranks are spaced by their logarithm
MANY = 300
SELECTED = PALETTE[1]


def dufs(adata: AnnData, *, panel: str | None = None, key: str = "dufs", ax: Any = None) -> Any:
    """Draw gates against their rank, and loss and share of open gates during training.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.dufs`.
    panel
        One of `"gates"`, `"loss"` and `"open"`; all of them by default.
    key
        The `key_added` of the call.
    ax
        Axes to draw a single panel on.

    Returns
    -------
    The figure, or `ax`. A sharp edge between open and closed gates says that the number of features is that of
    the data; where gates fall slowly, the number is a choice. Features that are pixels can be drawn with
    `dn.pl.feature_image(adata, "dufs")`.

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
        validate.choice("panel", panel, tuple(PANELS))
    elif ax is not None:
        raise ValueError(f"ax takes one panel; choose with panel= one of {validate.quoted(PANELS)}.")
    wanted = list(PANELS) if panel is None else [panel]
    table, training = get.dufs(adata, key=key), get.dufs_training(adata, key=key)
    if ax is not None:
        PANELS[wanted[0]](ax, table, training)
        return ax
    named = [shown(name) for name in table.index[: NAMED + 1]]
    below = text_inches(named, small()) if len(table) <= NAMED else 0.0
    figure = new_figure(4.6 + 3.1 * (len(wanted) - 1), 2.9 + below)
    widths = [1.5 if name == "gates" else 1.0 for name in wanted]
    axes = figure.subplots(1, len(wanted), squeeze=False, width_ratios=widths)[0]
    for axis, name in zip(axes, wanted, strict=True):
        PANELS[name](axis, table, training)
    return figure


def _gates(ax: Any, table: pd.DataFrame, _: pd.DataFrame) -> None:
    table = table[table["gate"].notna().to_numpy()]
    rank, gate = np.arange(1, len(table) + 1), table["gate"].to_numpy(dtype=float)
    selected = table["selected"].to_numpy(dtype=bool)
    size = 5.0 if len(table) <= NAMED else 3.0
    for part, color, above in ((~selected, BACKGROUND_COLOR, 2), (selected, SELECTED, 3)):
        ax.plot(rank[part], gate[part], ls="none", marker="o", ms=size, color=color, mec="none", zorder=above)
    ax.axhline(0.5, color=faint_color(), lw=0.8, ls=(0, (4, 2)), zorder=1)
    ax.set_ylim(-0.05, 1.05)
    ax.set_ylabel("gate")
    tidy(ax)
    if len(table) <= NAMED:
        ax.set_xticks(rank, [shown(name) for name in table.index], rotation=90, fontsize=small())
        ax.set_xlim(0.3, len(table) + 0.7)
    elif len(table) > MANY:
        ax.set_xscale("log")
        ax.set_xlim(0.9, len(table) * 1.1)
        ax.xaxis.set_major_locator(LogLocator(base=10))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    if len(table) > NAMED:
        ax.set_xlabel("rank")
    count = int(selected.sum())
    ax.set_title(f"{count:,} of {len(table):,} features selected", fontsize=medium(), loc="left")
    entries: list[tuple[Any, object]] = [(dot(SELECTED), "selected"), (dot(BACKGROUND_COLOR), "not selected")]
    legend(ax, entries, loc="upper right", bbox_to_anchor=(1.0, 0.97))


def _loss(ax: Any, _: pd.DataFrame, training: pd.DataFrame) -> None:
    _curve(ax, training["loss"], "loss", PALETTE[0])
    ax.yaxis.set_major_formatter(signed_number)


def _open(ax: Any, _: pd.DataFrame, training: pd.DataFrame) -> None:
    _curve(ax, training["open"], "share of open gates", PALETTE[2])
    ax.set_ylim(0, 1.05 * max(1e-3, float(training["open"].max())))


def _curve(ax: Any, values: pd.Series[Any], label: str, color: str) -> None:
    ax.plot(values.index, values.to_numpy(dtype=float), color=color, lw=1.4)
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.set_xlabel("step")
    ax.set_ylabel(label)
    tidy(ax)


PANELS: dict[str, Callable[[Any, pd.DataFrame, pd.DataFrame], None]] = {"gates": _gates, "loss": _loss, "open": _open}
