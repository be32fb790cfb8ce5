"""The pairs of features that differ between two conditions, as networks beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .. import _validate as validate
from .. import get
from .._keys import BACKGROUND_GROUP
from ..core.typing import Floats
from ._canvas import hide_frame, new_figure, show_message
from ._docs import documented_figure
from ._labels import Labels
from ._page import is_narrow, page_width
from ._read import group_colors
from ._style import (
    BACKGROUND_COLOR,
    HIGHER_COLOR,
    LOWER_COLOR,
    PALETTE,
    Entry,
    colors_of,
    dot,
    group_entries,
    label_text,
    legend,
    markers_of,
    medium,
    plural,
)

PANEL_INCHES = 3.6
LEGEND_INCHES = 1.0
#: width of an edge with |r| or |difference| of 1, in points
EDGE_POINTS = 3.0
MIN_EDGE_POINTS = 0.4
#: what happened to an edge, by colour and by dashes, so that neither is needed alone
CLASS_LOOKS: dict[str, tuple[str, Any]] = {
    "gained": (HIGHER_COLOR, "solid"),
    "lost": (LOWER_COLOR, (0, (4, 1.5))),
    "reversed": (PALETTE[2], (0, (1, 1))),
    "unchanged": (BACKGROUND_COLOR, "solid"),
}
LAYOUT_SEED = 0
#: space around the disc of a connected part, whose radius is √(number of features)
DISC_GAP = 0.6


@dataclass(frozen=True, slots=True)
class NetworkLayout:
    """Places of the features of a network, and their groups."""

    names: list[str]
    places: Floats
    groups: list[str]
    degrees: Floats

    def segments(self, table: pd.DataFrame) -> Floats:
        """Return the ends of the edges of a table."""
        index = {name: i for i, name in enumerate(self.names)}
        ends = [[index[str(name)] for name in table[column]] for column in ("feature_1", "feature_2")]
        return np.asarray(self.places[np.array(ends).T])


@documented_figure
def network(
    adata: AnnData,
    *,
    edges: pd.DataFrame | None = None,
    group: str | None = None,
    condition: str | None = None,
    reference: str | None = None,
    max_edges: int = 150,
    n_labels: int = 20,
    key: str = "disc",
    title: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw the pairs of features whose correlation differs: in the condition, in the reference, and the difference.

    Features have the same places in all three panels. In those of the conditions, orange edges are positive and blue
    dashed ones negative correlations, the wider the stronger; in that of the difference, colours and dashes say what
    happened to a pair. There is no `ax`: the figure has three panels.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc` or :func:`diffnb.tl.scorecard`.
    edges
        A table of :func:`diffnb.get.edges`, or some of its rows; by default it is computed.
    group
        A feature group, such as `"A1"`; all features by default.
    condition
        A condition; needed, with `reference`, where more than two were compared.
    reference
        The condition it was compared with; all by default.
    max_edges
        At most this many pairs, the most significant ones.
    n_labels
        Features to name, those with most edges. Names that would cover others are left out.
    key
    title
    width

    Returns
    -------
    The figure.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition")
    >>> figure = dn.pl.network(adata, group="A1", max_edges=60)
    >>> [ax.get_title() for ax in figure.axes][:3]
    ['B', 'A', 'B − A: 60 pairs differ']
    """
    n_labels = validate.count("n_labels", n_labels, at_least=0)
    if edges is None:
        edges = get.edges(adata, group=group, condition=condition, reference=reference, max_edges=max_edges, key=key)
    graph = get.network(adata, edges=edges, condition=condition, reference=reference, max_edges=max_edges, key=key)
    table = _table(graph)
    figure, axes = _panels()
    if table.empty:
        for ax in axes:
            show_message(ax, "")
        show_message(axes[1], "no pair of features differs")
        return figure
    layout = network_layout(graph)
    ours, theirs = (label_text(graph.graph[name], 20) for name in ("condition", "reference"))
    for ax, column, name in ((axes[0], "r", ours), (axes[1], "r_reference", theirs)):
        _draw_signed(ax, layout, table, column)
        ax.set_title(name, fontsize=medium())
    _draw_classes(axes[2], layout, table)
    differ = f"{plural(len(table), 'pair')} differ{'s' * (len(table) == 1)}"
    axes[2].set_title(f"{ours} − {theirs}: {differ}", fontsize=medium())
    colors = _colors(adata, layout, key)
    for ax in axes:
        # on a narrow page the two conditions are small, and the difference has the names
        named = n_labels if ax is axes[2] or not is_narrow(3 * PANEL_INCHES) else 0
        _draw_features(ax, layout, colors, named)
    _add_legends(figure, colors, table)
    return figure


def _panels() -> tuple[Figure, list[Axes]]:
    """Make panels next to each other, or the difference below both conditions on a narrow page."""
    if not is_narrow(3 * PANEL_INCHES):
        figure = new_figure(3 * PANEL_INCHES, PANEL_INCHES + LEGEND_INCHES)
        return figure, list(figure.subplots(1, 3))
    wide = page_width() or PANEL_INCHES
    figure = new_figure(wide, 0.5 * wide + 0.9 * wide + LEGEND_INCHES)
    grid = figure.add_gridspec(2, 2, height_ratios=(1, 1.8))
    return figure, [figure.add_subplot(place) for place in (grid[0, 0], grid[0, 1], grid[1, :])]


def _table(graph: Any) -> pd.DataFrame:
    """Return the edges of a graph as a table, the strongest last so that they are drawn on top."""
    rows = [{"feature_1": a, "feature_2": b, **attributes} for a, b, attributes in graph.edges(data=True)]
    return pd.DataFrame(rows).sort_values("weight") if rows else pd.DataFrame()


def network_layout(graph: Any) -> NetworkLayout:
    """Place the features of every connected part in a disc of its own, and the discs in rows, the largest first."""
    import networkx as nx

    parts = sorted(nx.connected_components(graph), key=lambda part: (-len(part), min(part)))
    names = [sorted(part) for part in parts]
    radii = np.array([np.sqrt(len(own)) for own in names])
    places = [
        centre + radius * _in_disc(graph.subgraph(own), own)
        for centre, radius, own in zip(_shelves(radii), radii, names, strict=True)
    ]
    listed = [name for own in names for name in own]
    degrees = np.array([graph.degree(name) for name in listed], dtype=float)
    groups = [str(graph.nodes[name]["feature_group"]) for name in listed]
    return NetworkLayout(listed, np.concatenate(places), groups, degrees)


def _in_disc(graph: Any, names: list[str]) -> Floats:
    """Place the features of one connected part within a disc of radius 1."""
    import networkx as nx

    # neither distances nor strengths change places: strong edges would pull their features onto each other
    found = nx.spring_layout(graph, weight=None, seed=LAYOUT_SEED, k=2.5 / np.sqrt(len(names)), iterations=100)
    points = np.array([found[name] for name in names])
    points -= np.median(points, axis=0)
    lengths = np.maximum(np.linalg.norm(points, axis=1), 1e-9)
    # hubs crowd in the middle and a few features lie far out: lengths are evened out, directions kept
    return np.asarray(points / lengths[:, None] * np.sqrt(lengths / lengths.max())[:, None])


def _shelves(radii: Floats) -> Floats:
    """Centres of discs of decreasing radius in rows, about as wide as high."""
    padded = radii + DISC_GAP
    width = max(2 * padded.max(), 2.2 * float(np.sqrt(np.sum(padded**2))))
    centres, x, y, height = [], 0.0, 0.0, 0.0
    for radius in padded:
        if x > 0 and x + 2 * radius > width:
            x, y, height = 0.0, y - height, 0.0
        height = max(height, 2 * radius)
        centres.append((x + radius, y - radius))
        x += 2 * radius
    return np.array(centres)


def _draw_signed(ax: Axes, layout: NetworkLayout, table: pd.DataFrame, column: str) -> None:
    values = table[column].to_numpy(dtype=float)
    for positive, color, dashes in ((True, HIGHER_COLOR, "solid"), (False, LOWER_COLOR, (0, (4, 1.5)))):
        _draw_edges(ax, layout, table[(values > 0) == positive], column, color, dashes)


def _draw_classes(ax: Axes, layout: NetworkLayout, table: pd.DataFrame) -> None:
    for name, (color, dashes) in CLASS_LOOKS.items():
        _draw_edges(ax, layout, table[table["class"] == name], "difference", color, dashes)


def _draw_edges(ax: Axes, layout: NetworkLayout, table: pd.DataFrame, column: str, color: str, dashes: Any) -> None:
    if table.empty:
        return
    strength = np.clip(np.abs(table[column].to_numpy(dtype=float)), 0, 1)
    lines = LineCollection(
        list(layout.segments(table)),
        colors=color,
        linewidths=np.maximum(EDGE_POINTS * strength, MIN_EDGE_POINTS),
        linestyles=[dashes],
        alpha=0.25 + 0.6 * strength,
        zorder=1,
    )
    ax.add_collection(lines)


def _draw_features(ax: Axes, layout: NetworkLayout, colors: dict[str, str], n_labels: int) -> None:
    markers = markers_of(list(colors))
    sizes = 14 + 46 * layout.degrees / layout.degrees.max()
    groups = np.array(layout.groups, dtype=object)
    for name, color in colors.items():
        own = groups == name
        if own.any():
            points = layout.places[own]
            ax.scatter(points[:, 0], points[:, 1], s=sizes[own], color=color, marker=markers[name], lw=0, zorder=3)
    ax.margins(0.12)
    ax.set_aspect("equal", adjustable="datalim")
    hide_frame(ax)
    leading = np.argsort(-layout.degrees, kind="stable")[:n_labels]
    Labels(ax, layout.places[leading], [label_text(layout.names[i], 14) for i in leading], layout.places)


def _colors(adata: AnnData, layout: NetworkLayout, key: str) -> dict[str, str]:
    """Colour of each group that is drawn, as in all other figures of these results."""
    names = sorted(set(layout.groups), key=lambda name: (name == BACKGROUND_GROUP, name))
    if names == [BACKGROUND_GROUP]:  # results of the scorecard have no groups
        return {BACKGROUND_GROUP: BACKGROUND_COLOR}
    known = group_colors(adata, key)
    return {name: known[name] for name in names} if set(names) <= set(known) else colors_of(names)


def _add_legends(figure: Figure, colors: dict[str, str], table: pd.DataFrame) -> None:
    def line(color: str, dashes: Any) -> Line2D:
        return Line2D([], [], color=color, ls=dashes, lw=2)

    present = [name for name in CLASS_LOOKS if (table["class"] == name).any()]
    entries: list[Entry] = [
        (line(HIGHER_COLOR, "solid"), "positive r, or gained"),
        (line(LOWER_COLOR, (0, (4, 1.5))), "negative r, or lost"),
    ]
    entries += [(line(*CLASS_LOOKS[name]), name) for name in present if name not in ("gained", "lost")]
    if set(colors) != {BACKGROUND_GROUP}:
        entries += group_entries(colors, list(colors))
    else:
        entries.append((dot(BACKGROUND_COLOR), "feature"))
    n_columns = 2 if is_narrow(3 * PANEL_INCHES) else 5
    legend(figure, entries, loc="outside lower center", ncols=min(n_columns, len(entries)))
