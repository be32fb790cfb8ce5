"""Figures of the informed metric: its diffusion map, the covariance it inverts, and the choice of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.colors import FuncNorm
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from .. import _validate as validate
from .. import get
from ..core.typing import Bools, Floats, Ints
from ..get._annotations import feature_matrix
from ._canvas import axes_or_new, color_bar, new_figure, scatter_points, tidy
from ._docs import documented_figure
from ._page import figure_width
from ._style import (
    MAX_LEGEND_ENTRIES,
    PALETTE,
    Entry,
    colors_of,
    diverging,
    dot,
    label_text,
    legend_right,
    markers_of,
    medium,
    plural,
    sequential,
    signed_number,
    text_color,
)

#: areas of markers in square points, of few and of many observations
OBSERVATION_SIZES = (16, 4)
#: rows and columns of a covariance that are drawn, evenly spaced ones of a larger matrix
MAX_DRAWN_FEATURES = 1000
#: distances from the median, in ranges between quartiles, up to which observations are drawn in place, unless more
#: than this share is beyond
MAX_REACH, MAX_OUTSIDE_SHARE = 6.0, 0.02
ROW_HEIGHT_INCHES = 1.9
TRUTH_TITLE = "truth"
DASHES = (0, (4, 2))


@documented_figure
def informed_embedding(
    adata: AnnData,
    *,
    color: str | None = None,
    components: tuple[int, int] = (1, 2),
    key: str = "informed",
    title: str | None = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the diffusion map of the metric.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.informed_distance`.
    color
        Column of `adata.obs`; or `None` for one colour.
    components
        Numbers of the two components, from 1.
    key
    title
    width
    ax

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=60)
    >>> dn.tl.informed_distance(adata, n_clusters=18)
    >>> ax = dn.pl.informed_embedding(adata, color="condition")
    >>> ax.get_xlabel()
    'diffusion component 1'
    """
    table = get.informed_embedding(adata, key=key)
    for number in components:
        validate.count("components", number, at_most=table.shape[1], why=f"{table.shape[1]} were computed")
    points = table[[f"component_{i}" for i in components]].to_numpy(dtype=float)
    ax = axes_or_new(ax, 6.0, 4.2)
    points, outside = _within_reach(points)
    if color is None:
        _scatter_observations(ax, points, color=PALETTE[0])
    else:
        _color_observations(ax, points, _obs_column(adata, color), color)
    _mark_outside(ax, points[outside])
    tidy(ax)
    for axis, number in zip((ax.xaxis, ax.yaxis), components, strict=True):
        axis.set_label_text(f"diffusion component {number}", fontsize=medium())
        axis.set_major_locator(MaxNLocator(4))
        axis.set_major_formatter(signed_number)
    return ax


@documented_figure
def informed_gap(
    adata: AnnData,
    *,
    key: str = "informed",
    title: str | None = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the gap statistic against the number of clusters of features, and the number that was chosen.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.informed_distance` with `n_clusters="auto"`.
    key
    title
    width
    ax

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=60)
    >>> dn.tl.informed_distance(adata)
    >>> ax = dn.pl.informed_gap(adata)
    >>> ax.get_ylabel()
    'gap statistic'
    """
    table = get.informed_gap(adata, key=key)
    ax = axes_or_new(ax, 6.0, 3.4)
    ax.errorbar(table["k"], table["gap"], yerr=table["error"], color=PALETTE[0], lw=1.3, marker="o", ms=3.5)
    chosen = int(table.loc[table["chosen"], "k"].iloc[0])
    ax.axvline(chosen, color=text_color(), lw=1.0, ls=DASHES, zorder=0)
    tidy(ax)
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_formatter(signed_number)
    ax.set_xlabel("clusters of features", fontsize=medium())
    ax.set_ylabel("gap statistic", fontsize=medium())
    legend_right(
        ax,
        [
            (Line2D([], [], color=PALETTE[0], marker="o", ms=3.5), "gap ± error"),
            (Line2D([], [], color=text_color(), lw=1.0, ls=DASHES), f"chosen: {chosen}"),
        ],
    )
    return ax


@documented_figure
def informed_covariance(
    adata: AnnData,
    *,
    keys: str | Sequence[str] = "informed",
    truth: str | None = None,
    feature: str | None = None,
    title: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw the covariance of features that a metric is the inverse of, next to others, and one row of each.

    Features are sorted by the clusters of the last key that has them, so that clusters appear as blocks. With a
    conventional and an informed metric and the true covariance of a simulation this is Figure 7 of the paper.
    There is no `ax`: the figure has a panel for each covariance and one for the row.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.informed_distance`.
    keys
        The `key_added` of one or more calls, each a panel.
    truth
        Key of `adata.varp` with the true covariance, drawn first.
    feature
        The feature whose row is drawn below the matrices; by default the last in the order drawn.
    title
    width

    Returns
    -------
    The figure.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=100)
    >>> dn.tl.informed_distance(adata, informed=False, n_components=18, key_added="pca")
    >>> dn.tl.informed_distance(adata, n_clusters=18)
    >>> figure = dn.pl.informed_covariance(adata, keys=["pca", "informed"], truth="covariance")
    >>> [ax.get_title(loc="left") for ax in figure.axes[:3]]
    ['truth', 'pca', 'informed']
    """
    listed = [keys] if isinstance(keys, str) else list(keys)
    matrices = {key: get.informed_covariance(adata, key=key) for key in listed}
    if truth is not None:
        matrices = {TRUTH_TITLE: feature_matrix(adata, truth), **matrices}
    order = _by_cluster(adata, listed, matrices)
    row = _row_of(order, feature)
    drawn = {name: m.loc[order, order].to_numpy() for name, m in matrices.items()}
    wide = figure_width(2.5 * len(drawn) + 0.9)
    side = min(3.2, (wide - 0.9) / len(drawn))
    figure = new_figure(wide, side + 0.5 + ROW_HEIGHT_INCHES)
    top, bottom = figure.subfigures(2, 1, squeeze=False, height_ratios=[side + 0.5, ROW_HEIGHT_INCHES])[:, 0]
    _draw_covariances(top, drawn)
    _draw_covariance_row(bottom.subplots(), drawn, row, order[row])
    return figure


def _draw_covariances(figure: SubFigure, drawn: dict[str, Floats]) -> None:
    axes = list(figure.subplots(1, len(drawn), squeeze=False)[0])
    cells = _evenly_spaced(len(next(iter(drawn.values()))))
    reach = max(float(np.quantile(np.abs(m), 0.999)) for m in drawn.values()) or 1.0
    # covariances of clusters differ by orders of magnitude: by a linear scale most of the matrix would be blank
    norm = FuncNorm((_signed_root, _signed_square), vmin=-reach, vmax=reach, clip=True)
    for ax, (name, matrix) in zip(axes, drawn.items(), strict=True):
        image = ax.imshow(matrix[np.ix_(cells, cells)], cmap=diverging(), norm=norm, interpolation="nearest")
        ax.set_title(label_text(name), fontsize=medium(), loc="left")
        ax.set_xticks([])
        ax.set_yticks([])
    ticks = [share * reach for share in (-1, -0.25, 0, 0.25, 1)]
    color_bar(image, axes, "covariance", shrink=0.8, ticks=ticks, format=signed_number)


def _signed_root(values: Floats) -> Floats:
    return np.asarray(np.sign(values) * np.sqrt(np.abs(values)))


def _signed_square(values: Floats) -> Floats:
    return np.asarray(np.sign(values) * np.square(values))


def _draw_covariance_row(ax: Axes, drawn: dict[str, Floats], row: int, feature: str) -> None:
    entries: list[Entry] = []
    for i, (name, matrix) in enumerate(drawn.items()):
        color = text_color() if name == TRUTH_TITLE else PALETTE[i % len(PALETTE)]
        # smooth rows are drawn above rough ones, which would hide them
        roughness = float(np.abs(np.diff(matrix[row])).sum())
        ax.plot(matrix[row], color=color, lw=1.1, zorder=3 - roughness / (1 + roughness))
        entries.append((Line2D([], [], color=color, lw=1.4), name))
    tidy(ax)
    ax.set_xlim(0, len(next(iter(drawn.values()))) - 1)
    ax.yaxis.set_major_locator(MaxNLocator(4))
    ax.yaxis.set_major_formatter(signed_number)
    ax.set_xlabel("feature, sorted by cluster", fontsize=medium())
    ax.set_ylabel(f"covariance with\n{label_text(feature, 20)}", fontsize=medium())
    legend_right(ax, entries)


def _by_cluster(adata: AnnData, keys: Sequence[str], matrices: dict[str, pd.DataFrame]) -> list[str]:
    """Features that all matrices have, sorted by cluster."""
    common = [name for name in adata.var_names if all(name in m.index for m in matrices.values())]
    for key in reversed(keys):
        table = get.informed_clusters(adata, key=key)
        if "cluster" in table:
            codes = table.loc[common, "cluster"].cat.codes.to_numpy()
            return [common[i] for i in np.argsort(codes, kind="stable")]
    return common


def _row_of(order: Sequence[str], feature: str | None) -> int:
    if feature is None:
        return len(order) - 1
    if feature not in order:
        raise ValueError(f"feature={feature!r} is not a feature of the metric.{validate.nearest(feature, order)}")
    return list(order).index(feature)


def _evenly_spaced(n: int) -> Ints:
    return np.unique(np.linspace(0, n - 1, min(n, MAX_DRAWN_FEATURES)).astype(int))


def _obs_column(adata: AnnData, color: str) -> pd.Series[Any]:
    if color not in adata.obs.columns:
        raise ValueError(f"color={color!r} is not a column of adata.obs.{validate.nearest(color, adata.obs.columns)}")
    return adata.obs[color]


def _color_observations(ax: Axes, points: Floats, values: pd.Series[Any], name: str) -> None:
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        numbers = values.to_numpy(dtype=float)
        drawn = _scatter_observations(ax, points, c=numbers, cmap=sequential(), plotnonfinite=False)
        color_bar(drawn, ax, label_text(name))
        return
    names = values.astype("category").cat.rename_categories(str).astype(str)
    present = [str(c) for c in values.astype("category").cat.categories if (names == str(c)).any()]
    colors, markers = colors_of(present), markers_of(present)
    for category in present:
        chosen = (names == category).to_numpy()
        _scatter_observations(ax, points[chosen], color=colors[category], marker=markers[category])
    legend_right(ax, [(dot(colors[c], markers[c]), c) for c in present[:MAX_LEGEND_ENTRIES]])


def _within_reach(points: Floats) -> tuple[Floats, Bools]:
    """Move what lies far outside to the edge, and say which; a few such observations would leave a line of the rest."""
    quartiles = np.nanquantile(points, [0.25, 0.5, 0.75], axis=0)
    low, middle, high = quartiles
    reach = MAX_REACH * np.maximum(high - low, 1e-300)
    near = np.clip(points, middle - reach, middle + reach)
    outside = (near != points).any(axis=1) & np.isfinite(points).all(axis=1)
    # many observations outside are no outliers but the shape of the data
    few = outside.sum() <= MAX_OUTSIDE_SHARE * len(points)
    return (near, outside) if few else (points, np.zeros(len(points), dtype=bool))


def _mark_outside(ax: Axes, points: Floats) -> None:
    """Ring the observations that lie beyond the edge, and count them."""
    if len(points):
        ax.scatter(points[:, 0], points[:, 1], s=46, facecolors="none", edgecolors=text_color(), lw=0.9, zorder=4)
        ax.set_title(f"{plural(len(points), 'observation')} farther out, ringed", loc="left", fontsize=medium())


def _scatter_observations(ax: Axes, points: Floats, **look: Any) -> Any:
    return scatter_points(ax, points, sizes=OBSERVATION_SIZES, lw=0, alpha=0.8, **look)
