"""Differential vectors of features, and the diffusion maps that they are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import _validate as validate
from .. import get
from ..core.typing import Floats
from ..get._conditions import DiscCondition, disc_conditions
from ._canvas import color_bar, new_figure, tidy
from ._docs import documented_figure
from ._page import columns_that_fit, figure_width, is_narrow
from ._read import group_colors, vector_count
from ._style import diverging, faint_color, label_text, medium, signed_number, small
from ._track import Segment, draw_lines, draw_strip, image_of, name_height, name_segments, track

#: features up to which vectors are drawn as lines by default
MAX_LINE_FEATURES = 1000
VECTOR_HEIGHT_INCHES, HEATMAP_ROW_INCHES = 1.05, 0.26
VECTOR_WIDTH_INCHES, HEATMAP_WIDTH_INCHES = 3.6, 6.4
#: what labels and colour bars take of the width of a panel
BESIDE_VECTOR_INCHES, BESIDE_HEATMAP_INCHES = 0.6, 1.8


@documented_figure
def disc_vectors(
    adata: AnnData,
    *,
    group: str | None = None,
    n_vectors: int | None = None,
    kind: Literal["lines", "heatmap"] | None = None,
    key: str = "disc",
    title: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw differential vectors, with features arranged by group.

    There is no `ax`: the figure has a panel for each vector, or a heat map and a colour bar for each condition.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
    n_vectors
        Vectors of each condition; the leading ones by default.
    kind
        `"lines"`, or `"heatmap"`, where each column of pixels shows the largest of the values it covers; by
        default lines up to 1000 features.
    key
    title
    width

    Returns
    -------
    The figure. Names and numbers of features are written below the groups; the widths of groups are not
    proportional to their numbers of features, so that a small group is visible next to a large background.

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
    found = disc_conditions(adata, group, key)
    counts = [vector_count(n_vectors, c) for c in found]
    colors = group_colors(adata, key)
    many = max(len(c.table) for c in found) > MAX_LINE_FEATURES
    if kind == "heatmap" or (kind is None and many):
        return _draw_heatmaps(found, counts, colors)
    return _draw_vectors(found, counts, colors)


@documented_figure
def feature_diffmap(
    adata: AnnData,
    *,
    group: str | None = None,
    n_vectors: int = 2,
    key: str = "feature_diffmap",
    disc_key: str | None = "disc",
    title: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw diffusion maps of features next to differential vectors.

    Diffusion maps show all structure of a condition, differential vectors only what is particular to it. There is
    no `ax`: the figure has a panel for each vector of each method.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.feature_diffmap` and :func:`diffnb.tl.disc`.
    group
    n_vectors
        Vectors of each condition.
    key
        The `key_added` of :func:`diffnb.tl.feature_diffmap`.
    disc_key
        The `key_added` of :func:`diffnb.tl.disc`, whose groups order the features; `None` draws only the
        diffusion maps, with features in the order of `adata.var_names`.
    title
    width

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
    pairs = [_both_maps(adata, maps[maps["group"] == name], name, n_vectors, disc_key) for name in names]
    return _draw_both_maps(names, pairs, {} if disc_key is None else group_colors(adata, disc_key))


def _both_maps(
    adata: AnnData, maps: pd.DataFrame, name: str, n_vectors: int, disc_key: str | None
) -> tuple[list[Segment], list[Floats]]:
    """Return the segments of the axis, and diffusion and (unless `disc_key` is `None`) differential vectors."""
    columns = [f"vector_{i + 1}" for i in range(n_vectors)]
    values = maps[columns].to_numpy()
    mapped = np.isfinite(values).all(axis=1)
    if disc_key is None:
        return track(None, int(mapped.sum())), [values[mapped]]
    condition = disc_conditions(adata, name, disc_key)[0]
    # features that either of the analyses excluded are drawn in neither
    both = mapped & condition.analysed
    table = condition.table.loc[both[condition.analysed]]
    differential = table[columns[: condition.n_vectors]].to_numpy()
    return track(table["feature_group"], len(table)), [values[both], differential]


def _draw_both_maps(
    names: list[str], pairs: list[tuple[list[Segment], list[Floats]]], colors: Mapping[str, str]
) -> Figure:
    """Draw methods in columns and conditions in rows."""
    n_methods, n_vectors = len(pairs[0][1]), pairs[0][1][0].shape[1]
    wide = figure_width(VECTOR_WIDTH_INCHES * n_methods + 0.6)
    inches = (wide - 0.6) / n_methods - BESIDE_VECTOR_INCHES
    under = name_height([segments for segments, _ in pairs], inches)
    figure = new_figure(wide, len(names) * (VECTOR_HEIGHT_INCHES * n_vectors + under) + 0.25)
    axes = figure.subplots(n_vectors * len(names), n_methods, squeeze=False)
    ours = "DiSC" if is_narrow(2 * VECTOR_WIDTH_INCHES) else "differential vectors (DiSC)"
    for method, ax in zip(("diffusion map", ours), axes[0], strict=False):
        ax.set_title(method, fontsize=medium())
    for m, (name, (segments, drawn)) in enumerate(zip(names, pairs, strict=True)):
        here = axes[m * n_vectors : (m + 1) * n_vectors]
        for j, values in enumerate(drawn):
            column = list(here[: values.shape[1], j])
            _draw_vector_column(column, segments, values, colors, "" if j else label_text(name, 14), inches)
            for ax in here[values.shape[1] :, j]:
                ax.remove()
    return figure


def _draw_vectors(found: list[DiscCondition], counts: list[int], colors: Mapping[str, str]) -> Figure:
    rows, n_columns = max(counts), columns_that_fit(len(found), VECTOR_WIDTH_INCHES)
    n_blocks = -(-len(found) // n_columns)
    tracks = [track(c.table["feature_group"], len(c.table)) for c in found]
    wide = figure_width(VECTOR_WIDTH_INCHES * n_columns + 0.4)
    inches = wide / n_columns - BESIDE_VECTOR_INCHES
    height = VECTOR_HEIGHT_INCHES * rows + 0.25 + name_height(tracks, inches)
    figure = new_figure(wide, n_blocks * height)
    axes = figure.subplots(rows * n_blocks, n_columns, squeeze=False)
    # a column of panels for each condition, and further blocks of rows where the page is narrow
    columns = [axes[i * rows : (i + 1) * rows, j] for i in range(n_blocks) for j in range(n_columns)]
    for ax in [ax for column in columns[len(found) :] for ax in column]:
        ax.remove()
    for condition, segments, count, column in zip(found, tracks, counts, columns, strict=False):
        for ax in column[count:]:
            ax.remove()
        _draw_vector_column(list(column[:count]), segments, _leading_vectors(condition, count), colors, "", inches)
        column[0].set_title(label_text(condition.name, 40), fontsize=medium())
    return figure


def _leading_vectors(condition: DiscCondition, count: int) -> Floats:
    return np.asarray(condition.table[[f"vector_{i + 1}" for i in range(count)]])


def _draw_vector_column(
    axes: Sequence[Axes],
    segments: list[Segment],
    values: Floats,
    colors: Mapping[str, str],
    name: str,
    inches: float,
) -> None:
    """Draw vectors in a column of panels, on one scale."""
    reach = 1.08 * float(np.abs(values).max()) or 1.0
    for i, ax in enumerate(axes):
        draw_lines(ax, segments, values[:, i], colors)
        ax.set_ylim(-reach, reach)
        ax.locator_params(axis="y", nbins=4)
        tidy(ax)
        ax.spines["bottom"].set_visible(False)
        draw_strip(ax, segments, colors)
        ax.set_ylabel(f"{name}\nvector {i + 1}" if name else f"vector {i + 1}", fontsize=small())
    name_segments(axes[-1], segments, inches)


def _draw_heatmaps(found: list[DiscCondition], counts: list[int], colors: Mapping[str, str]) -> Figure:
    tracks = [track(c.table["feature_group"], len(c.table)) for c in found]
    wide = figure_width(HEATMAP_WIDTH_INCHES)
    inches = wide - BESIDE_HEATMAP_INCHES
    names = name_height(tracks, inches)
    heights = [max(n, 2) for n in counts]  # a single row would be too low for the ticks of its colour bar
    figure = new_figure(wide, sum(HEATMAP_ROW_INCHES * n + 0.35 + names for n in heights))
    axes = figure.subplots(len(found), 1, squeeze=False, height_ratios=heights)[:, 0]
    for ax, condition, segments, count in zip(axes, found, tracks, counts, strict=True):
        _draw_heatmap(ax, segments, _leading_vectors(condition, count), colors, inches)
        ax.set_title(label_text(condition.name, 60), fontsize=medium(), loc="left")
    return figure


def _draw_heatmap(ax: Axes, segments: list[Segment], values: Floats, colors: Mapping[str, str], inches: float) -> None:
    count = values.shape[1]
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
    name_segments(ax, segments, inches)
    color_bar(drawn, ax, pad=0.02, fraction=0.05, ticks=[-reach, 0, reach], format=signed_number)
