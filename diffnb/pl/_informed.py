"""What the informed metric shows: the diffusion map, the covariance it inverts, and how many clusters there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from .. import _validate as validate
from .. import get
from ..core.typing import Floats
from ._style import (
    LISTED,
    PALETTE,
    beside,
    colors_of,
    diverging,
    dot,
    markers_of,
    medium,
    new_figure,
    own_axes,
    sequential,
    shown,
    signed_number,
    small,
    text_color,
    tidy,
)

#: points beyond which they are drawn as pixels
MANY = 2000
#: rows and columns of a covariance that are drawn; of more, as many evenly spread ones
MOST_CELLS = 1000
TRUTH = "truth"


def informed_embedding(
    adata: AnnData,
    *,
    color: str | None = None,
    components: tuple[int, int] = (1, 2),
    key: str = "informed",
    ax: Any = None,
) -> Any:
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
        The `key_added` of the call.
    ax
        Axes to draw on.

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
    ax = own_axes(ax, 4.6, 3.4)
    if color is None:
        _scatter(ax, points, color=PALETTE[0])
    else:
        _colored(ax, points, _column(adata, color), color)
    tidy(ax)
    for axis, number in zip((ax.xaxis, ax.yaxis), components, strict=True):
        axis.set_label_text(f"diffusion component {number}", fontsize=medium())
        axis.set_major_locator(MaxNLocator(4))
        axis.set_major_formatter(signed_number)
    return ax


def informed_gap(adata: AnnData, *, key: str = "informed", ax: Any = None) -> Any:
    """Draw the gap statistic over the number of clusters of features, and the number it chooses.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.informed_distance` with `n_clusters="auto"`.
    key
        The `key_added` of the call.
    ax
        Axes to draw on.

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
    ax = own_axes(ax, 4.8, 3.0)
    ax.errorbar(table["k"], table["gap"], yerr=table["error"], color=PALETTE[0], lw=1.3, marker="o", ms=3.5)
    chosen = int(table.loc[table["chosen"], "k"].iloc[0])
    ax.axvline(chosen, color=text_color(), lw=1.0, ls=(0, (4, 2)), zorder=0)
    tidy(ax)
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_formatter(signed_number)
    ax.set_xlabel("clusters of features", fontsize=medium())
    ax.set_ylabel("gap statistic", fontsize=medium())
    beside(
        ax,
        [
            (Line2D([], [], color=PALETTE[0], marker="o", ms=3.5), "gap ± error"),
            (Line2D([], [], color=text_color(), lw=1.0, ls=(0, (4, 2))), f"chosen: {chosen}"),
        ],
    )
    return ax


def informed_covariance(
    adata: AnnData,
    *,
    keys: str | Sequence[str] = "informed",
    truth: str | None = None,
    feature: str | None = None,
) -> Any:
    """Draw the covariance of features that a metric is the inverse of, beside others and a cut through all.

    Features are sorted by the clusters of the last key that has them, so that clusters show as stairs. With a
    conventional and an informed metric and a simulation's true covariance this is Figure 7 of the paper.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.informed_distance`.
    keys
        The `key_added` of one or more calls, each a panel.
    truth
        Key of `adata.varp` with the true covariance, drawn first.
    feature
        The feature along whose row to cut; by default the last in the order drawn.

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
        matrices = {TRUTH: _truth(adata, truth), **matrices}
    order = _order(adata, listed, matrices)
    row = _row(order, feature)
    drawn = {name: m.loc[order, order].to_numpy() for name, m in matrices.items()}
    n = len(drawn)
    figure = new_figure(2.5 * n + 0.9, 4.4)
    top, bottom = figure.subfigures(2, 1, height_ratios=[1.35, 1])
    _panels(top, drawn)
    _cut(bottom.subplots(), drawn, row, order[row])
    return figure


def _panels(figure: Any, drawn: dict[str, Floats]) -> None:
    axes = figure.subplots(1, len(drawn), squeeze=False)[0]
    cells = _cells(len(next(iter(drawn.values()))))
    reach = max(float(np.quantile(np.abs(m), 0.999)) for m in drawn.values())
    image = None
    for ax, (name, matrix) in zip(axes, drawn.items(), strict=True):
        image = ax.imshow(
            matrix[np.ix_(cells, cells)], cmap=diverging(), vmin=-reach, vmax=reach, interpolation="nearest"
        )
        ax.set_title(shown(name), fontsize=medium(), loc="left")
        ax.set_xticks([])
        ax.set_yticks([])
    bar = figure.colorbar(image, ax=list(axes), shrink=0.8)
    bar.ax.tick_params(labelsize=small())
    bar.ax.yaxis.set_major_formatter(signed_number)
    bar.set_label("covariance", fontsize=medium())


def _cut(ax: Any, drawn: dict[str, Floats], row: int, feature: str) -> None:
    entries: list[tuple[Any, object]] = []
    for i, (name, matrix) in enumerate(drawn.items()):
        # what is smooth goes on top of what is not
        color = text_color() if name == TRUTH else PALETTE[i % len(PALETTE)]
        roughness = float(np.abs(np.diff(matrix[row])).sum())
        ax.plot(matrix[row], color=color, lw=1.1, zorder=3 - roughness / (1 + roughness))
        entries.append((Line2D([], [], color=color, lw=1.4), name))
    tidy(ax)
    ax.set_xlim(0, len(next(iter(drawn.values()))) - 1)
    ax.yaxis.set_major_locator(MaxNLocator(4))
    ax.yaxis.set_major_formatter(signed_number)
    ax.set_xlabel("feature, sorted by cluster", fontsize=medium())
    ax.set_ylabel(f"covariance with\n{shown(feature, 20)}", fontsize=medium())
    beside(ax, entries)


def _truth(adata: AnnData, truth: str) -> pd.DataFrame:
    if truth not in adata.varp:
        raise ValueError(
            f"truth={truth!r} is not a key of adata.varp ({validate.quoted(adata.varp) or 'it has none'})."
            f"{validate.nearest(truth, adata.varp)}"
        )
    found: Any = adata.varp[truth]
    values = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    return pd.DataFrame(values, index=adata.var_names, columns=adata.var_names)


def _order(adata: AnnData, keys: Sequence[str], matrices: dict[str, pd.DataFrame]) -> list[str]:
    """Features that all matrices have, cluster by cluster."""
    common = [name for name in adata.var_names if all(name in m.index for m in matrices.values())]
    for key in reversed(keys):
        table = get.informed_clusters(adata, key=key)
        if "cluster" in table:
            codes = table.loc[common, "cluster"].cat.codes.to_numpy()
            return [common[i] for i in np.argsort(codes, kind="stable")]
    return common


def _row(order: Sequence[str], feature: str | None) -> int:
    if feature is None:
        return len(order) - 1
    if feature not in order:
        raise ValueError(f"feature={feature!r} took no part.{validate.nearest(feature, order)}")
    return list(order).index(feature)


def _cells(n: int) -> Any:
    return np.unique(np.linspace(0, n - 1, min(n, MOST_CELLS)).astype(int))


def _column(adata: AnnData, color: str) -> pd.Series[Any]:
    if color not in adata.obs.columns:
        raise ValueError(f"color={color!r} is not a column of adata.obs.{validate.nearest(color, adata.obs.columns)}")
    return adata.obs[color]


def _colored(ax: Any, points: Floats, values: pd.Series[Any], name: str) -> None:
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        drawn = _scatter(ax, points, c=values.to_numpy(dtype=float), cmap=sequential(), plotnonfinite=False)
        bar = ax.figure.colorbar(drawn, ax=ax)
        bar.ax.tick_params(labelsize=small())
        bar.set_label(shown(name), fontsize=medium())
        return
    names = values.astype("category").cat.rename_categories(str).astype(str)
    present = [str(c) for c in values.astype("category").cat.categories if (names == str(c)).any()]
    colors, markers = colors_of(present), markers_of(present)
    for category in present:
        _scatter(ax, points[(names == category).to_numpy()], color=colors[category], marker=markers[category])
    beside(ax, [(dot(colors[c], markers[c]), c) for c in present[:LISTED]])


def _scatter(ax: Any, points: Floats, **look: Any) -> Any:
    many = len(points) > MANY
    return ax.scatter(points[:, 0], points[:, 1], s=4 if many else 16, lw=0, alpha=0.8, rasterized=many, **look)
