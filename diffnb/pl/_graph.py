"""Correlations between features in each condition, and how they differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .. import get
from ..core.typing import Floats
from ._canvas import color_bar, hide_frame, new_figure
from ._docs import documented_figure
from ._page import is_narrow, page_width
from ._read import group_colors
from ._style import (
    BACKGROUND_COLOR,
    LETTER_ASPECT,
    diverging,
    faint_color,
    label_text,
    medium,
    signed_number,
    small,
    text_inches,
)

MIN_MATRIX_INCHES = 2.7
#: width of the names of groups
BESIDE_INCHES = 0.8
#: between two conditions in a title
MINUS = " − "
#: distance between names of groups, relative to the font size
MIN_NAME_SPACING = 1.25


@dataclass(frozen=True, slots=True)
class GroupSpan:
    """A feature group and the rows that it occupies in a matrix."""

    name: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class MatrixPanel:
    """A matrix of features and its title."""

    title: str
    values: Floats


@documented_figure
def disc_graph(
    adata: AnnData,
    *,
    group: str | None = None,
    n_features: int = 200,
    layer: str | None = None,
    key: str = "disc",
    title: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw correlations between features in each condition, and their difference.

    There is no `ax`: the figure has a panel for each condition and each difference.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
        A condition to compare with the mean of the others. By default two conditions are compared with each
        other, and of more each with the mean of the others.
    n_features
        At most this many features, those with the highest scores of each condition.
    layer
        Layer to use instead of that of :func:`diffnb.tl.disc`.
    key
    title
    width

    Returns
    -------
    The figure. It shows what :func:`diffnb.get.disc_graph` returns, features sorted by group and the background
    last.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> dn.tl.disc(adata, "condition")
    >>> figure = dn.pl.disc_graph(adata, n_features=100)
    >>> [ax.get_title() for ax in figure.axes][:3]
    ['A', 'B', 'A − B']
    """
    table = get.disc_graph(adata, group=group, n_features=n_features, layer=layer, key=key)
    names = [str(name) for name in table.index.unique("group")]
    panels = [MatrixPanel(label_text(n, 26), table["correlation"].loc[n].to_numpy()) for n in names]
    differences = _difference_panels(table["difference"], names, group)
    spans = _group_spans(table.loc[names[0]].index.get_level_values("feature_group").to_numpy())
    return _draw_matrices(panels, differences, spans, group_colors(adata, key))


def _group_spans(labels: np.ndarray) -> list[GroupSpan]:
    starts = np.flatnonzero(np.r_[True, labels[1:] != labels[:-1]])
    stops = np.r_[starts[1:], labels.size]
    return [GroupSpan(str(labels[a]), int(a), int(b)) for a, b in zip(starts, stops, strict=True)]


def _difference_panels(table: pd.DataFrame, names: list[str], group: str | None) -> list[MatrixPanel]:
    if len(names) == 2:
        first = names[0] if group is None else str(group)
        (second,) = (name for name in names if name != first)
        return [MatrixPanel(f"{label_text(first, 14)}{MINUS}{label_text(second, 14)}", table.loc[first].to_numpy())]
    drawn = names if group is None else [str(group)]
    return [MatrixPanel(f"{label_text(name, 14)}{MINUS}mean of others", table.loc[name].to_numpy()) for name in drawn]


def _draw_matrices(
    panels: list[MatrixPanel], differences: list[MatrixPanel], spans: list[GroupSpan], colors: Mapping[str, str]
) -> Figure:
    side = _side_inches(spans)
    one_row = len(panels) == 2 and not is_narrow(3 * side)
    n_columns = 3 if one_row else max(len(panels), len(differences))
    n_rows = 1 if one_row else 2
    height = min(side, (page_width() or side * n_columns) / n_columns)
    title_inches = min(side, ((page_width() or math.inf) - BESIDE_INCHES) / n_columns)
    figure = new_figure(side * n_columns + BESIDE_INCHES, (height + 0.55) * n_rows + 0.1)
    axes = figure.subplots(n_rows, n_columns, squeeze=False)
    above = list(axes[0, :2] if one_row else axes[0, : len(panels)])
    below = list(axes[0, 2:] if one_row else axes[1, : len(differences)])
    panels, differences = (fitted_titles(row, title_inches) for row in (panels, differences))
    _draw_row(above, panels, 1.0, "correlation", spans, colors)
    # a few extreme differences must not make all others look like zero
    reach = float(np.quantile(np.abs(np.stack([panel.values for panel in differences])), 0.998)) or 1.0
    _draw_row(below, differences, reach, "difference of correlations", spans, colors)
    for ax in axes.ravel():
        if not ax.images:
            ax.remove()
    for first in [axes[0, 0]] if one_row else axes[:, 0]:
        _name_groups(first, spans)
    return figure


def fitted_titles(panels: list[MatrixPanel], inches: float) -> list[MatrixPanel]:
    """Shorten titles that are wider than a matrix; what is subtracted moves to a second line."""
    if text_inches([panel.title for panel in panels], medium()) <= inches:
        return panels
    most = max(3, int(72 * inches / (LETTER_ASPECT * medium())))
    fitted = []
    for panel in panels:
        first, minus, second = panel.title.partition(MINUS)
        below = f"\n{MINUS.strip()} {label_text(second.removeprefix('mean of '), most - 2)}" if minus else ""
        fitted.append(replace(panel, title=label_text(first, most) + below))
    return fitted


def _draw_row(
    axes: list[Axes],
    panels: list[MatrixPanel],
    reach: float,
    label: str,
    spans: list[GroupSpan],
    colors: Mapping[str, str],
) -> None:
    """Draw matrices on one colour scale."""
    for ax, panel in zip(axes, panels, strict=True):
        drawn = ax.imshow(panel.values, cmap=diverging(), vmin=-reach, vmax=reach, interpolation="nearest")
        ax.set_title(panel.title, fontsize=medium())
        hide_frame(ax)
        _draw_group_strip(ax, spans, colors)
    width = 0.5 / len(panels) if len(panels) > 1 else 0.7
    color_bar(
        drawn,
        axes,
        label,
        location="bottom",
        shrink=max(width, 0.3),
        aspect=22,
        pad=0.04,
        extend="neither" if reach == 1.0 else "both",
        ticks=[-reach, 0, reach],
        format=signed_number,
    )


def _draw_group_strip(ax: Axes, spans: list[GroupSpan], colors: Mapping[str, str]) -> None:
    """Draw the colours of the groups along the left side."""
    for span in spans:
        ax.axhspan(
            span.start - 0.5,
            span.stop - 0.5,
            xmin=-0.035,
            xmax=-0.012,
            color=colors.get(span.name, BACKGROUND_COLOR),
            lw=0,
            clip_on=False,
        )


def _side_inches(spans: list[GroupSpan]) -> float:
    """Side of a matrix, long enough for the names of all groups."""
    return max(MIN_MATRIX_INCHES, 1.2 * MIN_NAME_SPACING * small() / 72 * len(spans))


def _name_groups(ax: Axes, spans: list[GroupSpan]) -> None:
    """Write the names of groups at the left; names of small groups are moved apart and connected by lines."""
    n_features = spans[-1].stop
    middles = [(span.start + span.stop - 1) / 2 for span in spans]
    places = spread_apart(middles, MIN_NAME_SPACING * small() / (72 * _side_inches(spans)) * n_features, n_features - 1)
    moved = any(abs(y - middle) > 0.01 * n_features for y, middle in zip(places, middles, strict=True))
    across = ax.get_yaxis_transform()
    for span, middle, y in zip(spans, middles, places, strict=True):
        if moved:
            path = [-0.045, -0.065, -0.1, -0.115], [middle, middle, y, y]
            ax.add_line(Line2D(*path, color=faint_color(0.6), lw=0.6, transform=across, clip_on=False))
        x = -0.125 if moved else -0.055
        ax.text(x, y, label_text(span.name, 14), transform=across, ha="right", va="center", fontsize=small())


def spread_apart(places: Sequence[float], min_distance: float, length: float) -> list[float]:
    """Move increasing places apart to a minimal distance, as little as needed, and within 0 to `length` if they fit."""
    crowds: list[list[float]] = []
    for i, place in enumerate(places):
        crowds.append([place - i * min_distance])
        while len(crowds) > 1 and np.mean(crowds[-2]) > np.mean(crowds[-1]):
            last = crowds.pop()
            crowds[-1] += last
    slack = max(length - (len(places) - 1) * min_distance, 0.0)
    level = [float(np.clip(np.mean(crowd), 0.0, slack)) for crowd in crowds for _ in crowd]
    return [value + i * min_distance for i, value in enumerate(level)]
