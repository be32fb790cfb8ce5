"""Features as points in the plane of two vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from ..core.typing import Floats, Ints
from ._labels import Labels
from ._read import Condition, colors_for, conditions, feature_values, group_colors, is_categorical
from ._style import (
    BACKGROUND,
    LISTED,
    diverging,
    dot,
    faint_color,
    group_entries,
    legend,
    markers_of,
    medium,
    new_figure,
    sequential,
    shown,
    small,
    tidy,
)

#: points beyond which they are drawn as pixels
MANY = 2000


def disc_embedding(
    adata: AnnData,
    *,
    group: str | None = None,
    color: str = "feature_group",
    components: tuple[int, int] = (1, 2),
    n_labels: int = 8,
    key: str = "disc",
) -> Any:
    """Draw features in the plane of two differential vectors.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
        A condition; all by default.
    color
        `"feature_group"`, `"score"` or another column of :func:`diffnb.get.disc`, or a column of `adata.var`.
    components
        Numbers of the two vectors; where only one was computed, the score takes the place of the second.
    n_labels
        Features to name, those with the highest scores, of each group in turn; fewer where there is no room.
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
    >>> figure = dn.pl.disc_embedding(adata, group="A")
    >>> figure.axes[0].get_xlabel()
    'vector 1'
    """
    validate.count("n_labels", n_labels, at_least=0)
    found = conditions(adata, group, key)
    planes = [_plane(c, components) for c in found]
    values = [_values(adata, c, color, key) for c in found]
    figure = new_figure(3.5 * len(found) + 1.1, 3.4)
    axes = figure.subplots(1, len(found), squeeze=False)[0]
    if is_categorical(values[0]):
        entries = _draw_categories(adata, axes, planes, values, color, key)
        legend(figure, entries, loc="outside right upper")
    else:
        _draw_numbers(figure, axes, planes, values, shown(color.replace("_", " ")))
    for ax, condition, plane in zip(axes, found, planes, strict=True):
        _finish(ax, condition, plane, n_labels)
    return figure


def _plane(condition: Condition, components: tuple[int, int]) -> pd.DataFrame:
    if len(components) != 2:
        raise ValueError(f"components={components!r} must be the numbers of two vectors, for example (1, 2).")
    if condition.n_vectors == 1:
        return condition.table[["vector_1", "score"]]
    most = condition.n_vectors
    numbers = [validate.count("components", n, at_most=most, why=f"{most} vectors were computed") for n in components]
    return condition.table[[f"vector_{n}" for n in numbers]]


def _values(adata: AnnData, condition: Condition, color: str, key: str) -> pd.Series[Any]:
    if not isinstance(color, str):
        raise TypeError(f"color={color!r} must name a column of dn.get.disc or of adata.var.")
    return feature_values(adata, color, condition.name, key)[0].loc[condition.part]


def _draw_categories(
    adata: AnnData, axes: Any, planes: list[pd.DataFrame], values: list[pd.Series[Any]], color: str, key: str
) -> list[tuple[Any, object]]:
    of_groups = color == "feature_group"
    colors = group_colors(adata, key) if of_groups else colors_for(adata, values[0], key)
    markers = markers_of(list(colors))
    for ax, plane, labels in zip(axes, planes, values, strict=True):
        points, names = plane.to_numpy(), labels.astype(str).to_numpy()
        for name in sorted(colors, key=lambda n: n != BACKGROUND):
            chosen = names == name
            if chosen.any():
                # what lies under others must show through, what stands for itself must not
                alpha = 0.5 if name == BACKGROUND else 0.85
                _scatter(ax, points[chosen], len(points), color=colors[name], marker=markers[name], alpha=alpha)
    if of_groups:
        return group_entries(colors, [str(n) for labels in values for n in labels.unique()])
    return [(dot(colors[name], markers[name]), name) for name in list(colors)[:LISTED]]


def _draw_numbers(figure: Any, axes: Any, planes: list[pd.DataFrame], values: list[pd.Series[Any]], label: str) -> None:
    every = np.concatenate([v.to_numpy() for v in values])
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    signed = low < 0 < high
    low, high = (-max(-low, high), max(-low, high)) if signed else (low, high)
    drawn = None
    for ax, plane, numbers in zip(axes, planes, values, strict=True):
        order = np.argsort(np.abs(numbers.to_numpy()), kind="stable")  # the largest on top
        drawn = _scatter(
            ax,
            plane.to_numpy()[order],
            len(plane),
            c=numbers.to_numpy()[order],
            cmap=diverging() if signed else sequential(),
            vmin=low,
            vmax=high,
            edgecolor=faint_color(0.4) if signed else "none",
        )
    bar = figure.colorbar(drawn, ax=list(axes), pad=0.02, aspect=30, shrink=0.8)
    bar.set_label(label, fontsize=small())
    bar.ax.tick_params(labelsize=small())
    bar.outline.set_visible(False)


def _scatter(ax: Any, points: Floats, n_features: int, **look: Any) -> Any:
    many = n_features > MANY
    look = {"lw": 0.3 if "edgecolor" in look else 0} | look
    return ax.scatter(points[:, 0], points[:, 1], s=7 if many else 18, rasterized=many, **look)


def _finish(ax: Any, condition: Condition, plane: pd.DataFrame, n_labels: int) -> None:
    points = plane.to_numpy()
    for line in (ax.axhline, ax.axvline):
        line(0, color=faint_color(0.25), lw=0.6, zorder=0.5)
    ax.margins(0.12)
    ax.set_title(shown(condition.name, 30), fontsize=medium())
    ax.set_xlabel(plane.columns[0].replace("_", " "))
    ax.set_ylabel(plane.columns[1].replace("_", " "))
    ax.locator_params(nbins=5)
    tidy(ax)
    top = _foremost(condition)[:n_labels]
    Labels(ax, points[top], [shown(name, 20) for name in plane.index[top]], points)


def _foremost(condition: Condition) -> Ints:
    """Order features: the highest score of each group, then the second of each, the background last."""
    table = condition.table.assign(place=np.arange(len(condition.table)))
    table = table.sort_values("score", ascending=False, kind="stable")
    turn = table.groupby("feature_group", observed=True).cumcount().to_numpy()
    last = (table["feature_group"] == BACKGROUND).to_numpy()
    order = np.lexsort((turn, last))
    return np.asarray(table["place"].to_numpy()[order])
