"""Features as points in the plane of two vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import _validate as validate
from .._keys import BACKGROUND_GROUP
from ..core.typing import Ints
from ..get._conditions import DiscCondition, disc_conditions
from ._canvas import color_bar, grid_of_axes, require_one_panel, scatter_points, tidy
from ._docs import documented_figure
from ._labels import Labels
from ._read import colors_for, feature_values, group_colors, is_categorical, spaced
from ._style import (
    MAX_LEGEND_ENTRIES,
    Entry,
    color_limits,
    diverging,
    dot,
    faint_color,
    group_entries,
    label_text,
    legend_outside,
    legend_right,
    markers_of,
    medium,
    sequential,
)

#: areas of markers in square points, of few and of many features
FEATURE_SIZES = (18, 7)
PANEL_INCHES = 3.5


@documented_figure
def disc_embedding(
    adata: AnnData,
    *,
    group: str | None = None,
    color: str = "feature_group",
    components: tuple[int, int] = (1, 2),
    n_labels: int = 8,
    key: str = "disc",
    title: str | None = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """Draw features in the plane of two differential vectors.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
    color
        `"feature_group"`, `"score"` or another column of :func:`diffnb.get.disc`, or a column of `adata.var`.
    components
        Numbers of the two vectors; where only one was computed, the score replaces the second.
    n_labels
        Features to label, those with the highest scores, of each group in turn; fewer where labels would overlap.
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
    >>> figure = dn.pl.disc_embedding(adata, group="A")
    >>> figure.axes[0].get_xlabel()
    'vector 1'
    """
    validate.count("n_labels", n_labels, at_least=0)
    found = disc_conditions(adata, group, key)
    require_one_panel(ax, len(found), "condition", "group=")
    planes = [_plane(c, components) for c in found]
    values = [_color_values(adata, c, color, key) for c in found]
    if ax is None:
        figure, axes = grid_of_axes(len(found), PANEL_INCHES, 3.4, max_columns=len(found), beside=1.1)
    else:
        axes = [ax]
    if is_categorical(values[0]):
        entries = _scatter_groups(adata, axes, planes, values, color, key)
        if ax is None:
            legend_outside(figure, entries)
        else:
            legend_right(ax, entries)
    else:
        _scatter_numbers(axes, planes, values, label_text(spaced(color)))
    for panel, condition, plane in zip(axes, found, planes, strict=True):
        _label_plane(panel, condition, plane, n_labels)
    return figure if ax is None else ax


def _plane(condition: DiscCondition, components: tuple[int, int]) -> pd.DataFrame:
    if len(components) != 2:
        raise ValueError(f"components={components!r} must be the numbers of two vectors, for example (1, 2).")
    if condition.n_vectors == 1:
        return condition.table[["vector_1", "score"]]
    most = condition.n_vectors
    numbers = [validate.count("components", n, at_most=most, why=f"{most} vectors were computed") for n in components]
    return condition.table[[f"vector_{n}" for n in numbers]]


def _color_values(adata: AnnData, condition: DiscCondition, color: str, key: str) -> pd.Series[Any]:
    if not isinstance(color, str):
        raise TypeError(f"color={color!r} must name a column of dn.get.disc or of adata.var.")
    return feature_values(adata, color, condition.name, key)[0].loc[condition.analysed]


def _scatter_groups(
    adata: AnnData, axes: list[Axes], planes: list[pd.DataFrame], values: list[pd.Series[Any]], color: str, key: str
) -> list[Entry]:
    """Draw features in the colours of their categories; return the entries of the legend."""
    of_groups = color == "feature_group"
    colors = group_colors(adata, key) if of_groups else colors_for(adata, values[0], key)
    markers = markers_of(list(colors))
    for ax, plane, labels in zip(axes, planes, values, strict=True):
        points, names = plane.to_numpy(), labels.astype(str).to_numpy()
        for name in sorted(colors, key=lambda n: n != BACKGROUND_GROUP):
            chosen = names == name
            if chosen.any():
                look = {"color": colors[name], "marker": markers[name], "lw": 0}
                alpha = 0.5 if name == BACKGROUND_GROUP else 0.85
                scatter_points(ax, points[chosen], sizes=FEATURE_SIZES, n_points=len(points), alpha=alpha, **look)
    if of_groups:
        return group_entries(colors, [str(n) for labels in values for n in labels.unique()])
    return [(dot(colors[name], markers[name]), name) for name in list(colors)[:MAX_LEGEND_ENTRIES]]


def _scatter_numbers(axes: list[Axes], planes: list[pd.DataFrame], values: list[pd.Series[Any]], label: str) -> None:
    """Draw features on one colour scale."""
    low, high, signed = color_limits(np.concatenate([v.to_numpy() for v in values]))
    look = {"edgecolor": faint_color(0.4), "lw": 0.3} if signed else {"edgecolor": "none", "lw": 0.3}
    for ax, plane, numbers in zip(axes, planes, values, strict=True):
        order = np.argsort(np.abs(numbers.to_numpy()), kind="stable")  # the largest on top
        drawn = scatter_points(
            ax,
            plane.to_numpy()[order],
            sizes=FEATURE_SIZES,
            c=numbers.to_numpy()[order],
            cmap=diverging() if signed else sequential(),
            vmin=low,
            vmax=high,
            **look,
        )
    color_bar(drawn, axes, label, pad=0.02, aspect=30, shrink=0.8)


def _label_plane(ax: Axes, condition: DiscCondition, plane: pd.DataFrame, n_labels: int) -> None:
    points = plane.to_numpy()
    for line in (ax.axhline, ax.axvline):
        line(0, color=faint_color(0.25), lw=0.6, zorder=0.5)
    ax.margins(0.12)
    ax.set_title(label_text(condition.name, 30), fontsize=medium())
    ax.set_xlabel(spaced(plane.columns[0]))
    ax.set_ylabel(spaced(plane.columns[1]))
    ax.locator_params(nbins=5)
    tidy(ax)
    top = _leading_by_turns(condition)[:n_labels]
    Labels(ax, points[top], [label_text(name, 20) for name in plane.index[top]], points)


def _leading_by_turns(condition: DiscCondition) -> Ints:
    """Order features: the highest score of each group, then the second of each, the background last."""
    table = condition.table.assign(place=np.arange(len(condition.table)))
    table = table.sort_values("score", ascending=False, kind="stable")
    turn = table.groupby("feature_group", observed=True).cumcount().to_numpy()
    last = (table["feature_group"] == BACKGROUND_GROUP).to_numpy()
    order = np.lexsort((turn, last))
    return np.asarray(table["place"].to_numpy()[order])
