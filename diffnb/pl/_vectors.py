"""Differential vectors along features, and the diffusion maps that they are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .. import get
from ..core.typing import Floats
from ._read import Condition, conditions, group_colors, vector_count
from ._style import diverging, faint_color, medium, new_figure, shown, signed_number, small, tidy
from ._track import Segment, draw_lines, draw_strip, image_of, name_height, name_segments, track

#: features beyond which lines become a heat map unless told
LINES_UP_TO = 1000
ROW_HEIGHT = 1.05
HEAT_ROW = 0.26
PANEL_WIDTH = 3.6
#: width of the axes within a panel
TRACK_WIDTH = PANEL_WIDTH - 0.6


def disc_vectors(
    adata: AnnData,
    *,
    group: str | None = None,
    n_vectors: int | None = None,
    kind: Literal["lines", "heatmap"] | None = None,
    key: str = "disc",
) -> Any:
    """Draw differential vectors along features, which stand group by group.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
        A condition; all by default.
    n_vectors
        Vectors of each condition; the leading ones by default.
    kind
        `"lines"`, or `"heatmap"`, where each column of pixels shows the largest value that falls into it; by
        default lines up to 1000 features.
    key
        The `key_added` of the call.

    Returns
    -------
    The figure. Under the groups stand their names and numbers of features; their widths show neither, so
    that a small group is seen beside a large background.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition")
    >>> figure = dn.pl.disc_vectors(adata, group="A", n_vectors=2)
    >>> len(figure.axes)
    2
    """
    if kind is not None:
        validate.choice("kind", kind, ("lines", "heatmap"))
    found = conditions(adata, group, key)
    counts = [vector_count(n_vectors, c) for c in found]
    colors = group_colors(adata, key)
    many = max(len(c.table) for c in found) > LINES_UP_TO
    if kind == "heatmap" or (kind is None and many):
        return _heatmap(found, counts, colors)
    return _lines(found, counts, colors)


def feature_diffmap(
    adata: AnnData,
    *,
    group: str | None = None,
    n_vectors: int = 2,
    key: str = "feature_diffmap",
    disc_key: str | None = "disc",
) -> Any:
    """Draw diffusion maps of features beside differential vectors.

    Diffusion maps show all structure of a condition, differential vectors what it has alone.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.feature_diffmap` and :func:`diffnb.tl.disc`.
    group
        A condition; all by default.
    n_vectors
        Vectors of each condition.
    key
        The `key_added` of :func:`diffnb.tl.feature_diffmap`.
    disc_key
        The `key_added` of :func:`diffnb.tl.disc`, whose groups order the features; `None` draws the diffusion
        maps alone, features in their own order.

    Returns
    -------
    The figure, a row for each vector of each condition.

    References
    ----------
    Sristi, Mishne & Jaffe, *DiSC: Differential Spectral Clustering of Features*, NeurIPS 2022: Figs. 2(e),
    3(d).

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition")
    >>> dn.tl.feature_diffmap(adata, "condition")
    >>> figure = dn.pl.feature_diffmap(adata, n_vectors=2)
    >>> len(figure.axes)
    8
    """
    maps = get.feature_diffmap(adata, key=key)
    names = list(dict.fromkeys(maps["group"]))
    most = maps.shape[1] - 1
    validate.count("n_vectors", n_vectors, at_most=most, why=f"{most} were computed")
    if group is not None:
        if str(group) not in names:
            raise ValueError(
                f"group={group!r} has no diffusion map; there are {validate.quoted(names)}."
                f"{validate.nearest(group, names)}"
            )
        names = [str(group)]
    pairs = [_pair(adata, maps[maps["group"] == name], name, n_vectors, disc_key) for name in names]
    return _beside(names, pairs, {} if disc_key is None else group_colors(adata, disc_key))


def _pair(
    adata: AnnData, maps: pd.DataFrame, name: str, n_vectors: int, disc_key: str | None
) -> tuple[list[Segment], list[Floats]]:
    """Return where features stand, and their diffusion and (unless left out) differential vectors."""
    columns = [f"vector_{i + 1}" for i in range(n_vectors)]
    values = maps[columns].to_numpy()
    part = np.isfinite(values).all(axis=1)
    if disc_key is None:
        return track(None, int(part.sum())), [values[part]]
    condition = conditions(adata, name, disc_key)[0]
    # features that took part in one and not in the other have no place in both
    both = part & condition.part
    table = condition.table.loc[both[condition.part]]
    differential = table[columns[: condition.n_vectors]].to_numpy()
    return track(table["feature_group"], len(table)), [values[both], differential]


def _beside(names: list[str], pairs: list[tuple[list[Segment], list[Floats]]], colors: Mapping[str, str]) -> Any:
    """Draw the methods beside each other, the conditions under each other."""
    n_methods, n_vectors = len(pairs[0][1]), pairs[0][1][0].shape[1]
    under = name_height([segments for segments, _ in pairs], TRACK_WIDTH)
    height = len(names) * (ROW_HEIGHT * n_vectors + under) + 0.25
    figure = new_figure(PANEL_WIDTH * n_methods + 0.6, height)
    axes = figure.subplots(n_vectors * len(names), n_methods, squeeze=False)
    for title, ax in zip(("diffusion map", "differential vectors (DiSC)"), axes[0], strict=False):
        ax.set_title(title, fontsize=medium())
    for m, (name, (segments, drawn)) in enumerate(zip(names, pairs, strict=True)):
        here = axes[m * n_vectors : (m + 1) * n_vectors]
        for j, values in enumerate(drawn):
            _column(here[: values.shape[1], j], segments, values, colors, "" if j else shown(name, 14))
            for ax in here[values.shape[1] :, j]:
                ax.remove()
    return figure


def _lines(found: list[Condition], counts: list[int], colors: Mapping[str, str]) -> Any:
    rows = max(counts)
    tracks = [track(c.table["feature_group"], len(c.table)) for c in found]
    height = ROW_HEIGHT * rows + 0.25 + name_height(tracks, TRACK_WIDTH)
    figure = new_figure(PANEL_WIDTH * len(found) + 0.4, height)
    axes = figure.subplots(rows, len(found), squeeze=False)
    for condition, segments, count, column in zip(found, tracks, counts, axes.T, strict=True):
        for ax in column[count:]:
            ax.remove()
        values = condition.table[[f"vector_{i + 1}" for i in range(count)]].to_numpy()
        _column(column[:count], segments, values, colors, "")
        column[0].set_title(shown(condition.name, 40), fontsize=medium())
    return figure


def _column(axes: Any, segments: list[Segment], values: Floats, colors: Mapping[str, str], name: str) -> None:
    """Draw one vector under the other, on one scale."""
    reach = 1.08 * float(np.abs(values).max()) or 1.0
    for i, ax in enumerate(axes):
        draw_lines(ax, segments, values[:, i], colors)
        ax.set_ylim(-reach, reach)
        ax.locator_params(axis="y", nbins=4)
        tidy(ax)
        ax.spines["bottom"].set_visible(False)
        draw_strip(ax, segments, colors)
        ax.set_ylabel(f"{name}\nvector {i + 1}" if name else f"vector {i + 1}", fontsize=small())
    name_segments(axes[-1], segments, TRACK_WIDTH)


def _heatmap(found: list[Condition], counts: list[int], colors: Mapping[str, str]) -> Any:
    width = 6.4
    tracks = [track(c.table["feature_group"], len(c.table)) for c in found]
    names = name_height(tracks, width - 1.8)
    heights = [max(n, 2) for n in counts]  # a single row would be lower than its colour bar's numbers
    figure = new_figure(width, sum(HEAT_ROW * n + 0.35 + names for n in heights))
    axes = figure.subplots(len(found), 1, squeeze=False, height_ratios=heights)[:, 0]
    for ax, condition, segments, count in zip(axes, found, tracks, counts, strict=True):
        values = condition.table[[f"vector_{i + 1}" for i in range(count)]].to_numpy()
        reach = float(np.abs(values).max()) or 1.0
        drawn = ax.imshow(
            image_of(segments, values),
            cmap=diverging(),
            vmin=-reach,
            vmax=reach,
            extent=(0, 1, count, 0),
            aspect="auto",
            interpolation="nearest",
        )
        for segment in segments[1:]:
            ax.axvline(segment.start, color=faint_color(0.6), lw=0.6)
        draw_strip(ax, segments, colors)
        tidy(ax)
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.set_yticks(np.arange(count) + 0.5, [f"vector {i + 1}" for i in range(count)], fontsize=small())
        ax.tick_params(axis="y", length=0)
        name_segments(ax, segments, width - 1.8)
        ax.set_title(shown(condition.name, 60), fontsize=medium(), loc="left")
        bar = figure.colorbar(drawn, ax=ax, pad=0.02, fraction=0.05, ticks=[-reach, 0, reach], format=signed_number)
        bar.ax.tick_params(labelsize=small())
        bar.outline.set_visible(False)
    return figure
