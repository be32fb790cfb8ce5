"""Correlations of features in each condition, and how they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from anndata import AnnData
from matplotlib.lines import Line2D

from .. import _validate as validate
from .._anndata import pull
from ..core.arrays.gram_stats import correlations
from ..core.typing import Bools, Floats, Ints
from ._read import Condition, conditions, described, group_colors
from ._style import (
    BACKGROUND,
    BACKGROUND_COLOR,
    diverging,
    faint_color,
    medium,
    new_figure,
    shown,
    signed_number,
    small,
)

#: side of a panel, in inches
SIDE = 2.7
#: least distance between names of groups, over the size of their letters
SPACING = 1.25


def disc_graph(
    adata: AnnData,
    *,
    group: str | None = None,
    n_features: int = 200,
    layer: str | None = None,
    key: str = "disc",
) -> Any:
    """Draw correlations between features in each condition, and their difference.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
        A condition to set against the mean of the others. By default two conditions are set against each
        other, and of more each against the mean of the others.
    n_features
        At most this many features, those with the highest scores of each condition.
    layer
        Layer to use instead of that of :func:`diffnb.tl.disc`.
    key
        The `key_added` of the call.

    Returns
    -------
    The figure. Features stand group by group, the groups of the first condition first, the background last;
    a feature with groups in several conditions stands in that of the first.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> dn.tl.disc(adata, "condition")
    >>> figure = dn.pl.disc_graph(adata, n_features=100)
    >>> [ax.get_title() for ax in figure.axes][:3]
    ['A', 'B', 'A − B']
    """
    validate.count("n_features", n_features, at_least=2)
    every = conditions(adata, None, key)
    about = every if group is None else conditions(adata, group, key)
    chosen = _highest(about, n_features)
    labels = _first_group(about, chosen)
    params = described(adata, key)["params"]
    names = [c.name for c in every]
    data = pull(
        adata,
        params["groupby"],
        groups=names,
        layer=params.get("layer") if layer is None else layer,
        mask_var=chosen,
    )
    order = _order(labels[data.kept[chosen]], about)
    found = [each[np.ix_(order, order)] for each in correlations(data.matrices)]
    bounds = _bounds(labels[data.kept[chosen]][order])
    rows = _differences(names, found, group)
    return _draw(names, found, rows, bounds, group_colors(adata, key))


def _highest(about: Sequence[Condition], n_features: int) -> Bools:
    """Choose features by their best rank in any condition, so that no condition crowds out the others."""
    ranks = np.full(about[0].part.size, np.inf)
    for condition in about:
        rank = np.empty(len(condition.table))
        rank[np.argsort(-condition.table["score"].to_numpy(), kind="stable")] = np.arange(len(rank))
        ranks[condition.part] = np.minimum(ranks[condition.part], rank)
    n_features = min(n_features, int(np.isfinite(ranks).sum()))
    chosen = np.zeros(ranks.size, dtype=bool)
    chosen[np.argsort(ranks, kind="stable")[:n_features]] = True
    return chosen


def _first_group(about: Sequence[Condition], chosen: Bools) -> Any:
    """Name the group of each chosen feature, of the first condition that has it in one."""
    labels = np.full(chosen.size, BACKGROUND, dtype=object)
    for condition in about[::-1]:
        own = condition.table["feature_group"].astype(str).to_numpy()
        labels[np.flatnonzero(condition.part)[own != BACKGROUND]] = own[own != BACKGROUND]
    return labels[chosen]


def _order(labels: Any, about: Sequence[Condition]) -> Ints:
    ranks = {name: i for i, name in enumerate([g for c in about for g in c.groups] + [BACKGROUND])}
    return np.argsort([ranks[name] for name in labels], kind="stable")


def _bounds(labels: Any) -> list[tuple[str, int, int]]:
    """List the groups with the rows where they begin and end."""
    starts = np.flatnonzero(np.r_[True, labels[1:] != labels[:-1]])
    stops = np.r_[starts[1:], labels.size]
    return [(str(labels[a]), int(a), int(b)) for a, b in zip(starts, stops, strict=True)]


def _differences(names: list[str], correlations: list[Floats], group: str | None) -> dict[str, Floats]:
    if len(names) == 2:
        first = 0 if group is None else names.index(str(group))
        pair = (names[first], names[1 - first])
        return {f"{shown(pair[0], 14)} − {shown(pair[1], 14)}": correlations[first] - correlations[1 - first]}
    drawn = names if group is None else [str(group)]
    found = {}
    for name in drawn:
        m = names.index(name)
        others = [c for i, c in enumerate(correlations) if i != m]
        found[f"{shown(name, 14)} − mean of others"] = correlations[m] - np.mean(others, axis=0)
    return found


def _draw(
    names: list[str],
    correlations: list[Floats],
    differences: dict[str, Floats],
    bounds: list[tuple[str, int, int]],
    colors: Mapping[str, str],
) -> Any:
    one_row = len(names) == 2
    n_columns = 3 if one_row else max(len(names), len(differences))
    n_rows = 1 if one_row else 2
    side = _side(bounds)
    figure = new_figure(side * n_columns + 0.8, (side + 0.55) * n_rows + 0.1)
    axes = figure.subplots(n_rows, n_columns, squeeze=False)
    above = axes[0, :2] if one_row else axes[0, : len(names)]
    below = axes[0, 2:] if one_row else axes[1, : len(differences)]
    panels = list(zip([shown(n, 26) for n in names], correlations, above, strict=True))
    _panels(figure, panels, 1.0, "correlation", bounds, colors)
    # the few largest differences must not wash out all others
    reach = float(np.quantile(np.abs(np.stack(list(differences.values()))), 0.998)) or 1.0
    panels = [(title, values, ax) for (title, values), ax in zip(differences.items(), below, strict=True)]
    _panels(figure, panels, reach, "difference of correlations", bounds, colors)
    for ax in axes.ravel():
        if not ax.images:
            ax.remove()
    for row in [axes[0, 0]] if one_row else axes[:, 0]:
        _name_groups(row, bounds)
    return figure


def _panels(
    figure: Any,
    panels: list[tuple[str, Floats, Any]],
    reach: float,
    label: str,
    bounds: list[tuple[str, int, int]],
    colors: Mapping[str, str],
) -> None:
    drawn = None
    for title, values, ax in panels:
        drawn = ax.imshow(values, cmap=diverging(), vmin=-reach, vmax=reach, interpolation="nearest")
        ax.set_title(title, fontsize=medium())
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
        _strip(ax, bounds, colors)
    beyond = "neither" if reach == 1.0 else "both"
    width = 0.5 / len(panels) if len(panels) > 1 else 0.7
    bar = figure.colorbar(
        drawn,
        ax=[ax for _, _, ax in panels],
        location="bottom",
        shrink=max(width, 0.3),
        aspect=22,
        pad=0.04,
        extend=beyond,
        ticks=[-reach, 0, reach],
        format=signed_number,
    )
    bar.set_label(label, fontsize=small())
    bar.ax.tick_params(labelsize=small())
    bar.outline.set_visible(False)


def _strip(ax: Any, bounds: list[tuple[str, int, int]], colors: Mapping[str, str]) -> None:
    """Draw the groups' colours along the left side."""
    for name, start, stop in bounds:
        ax.axhspan(
            start - 0.5,
            stop - 0.5,
            xmin=-0.035,
            xmax=-0.012,
            color=colors.get(name, BACKGROUND_COLOR),
            lw=0,
            clip_on=False,
        )


def _side(bounds: list[tuple[str, int, int]]) -> float:
    """Return a side of a panel in inches, long enough for the names of all groups."""
    return max(SIDE, 1.2 * SPACING * small() / 72 * len(bounds))


def _name_groups(ax: Any, bounds: list[tuple[str, int, int]]) -> None:
    """Write the groups' names at the left; where groups are small, moved apart and with lines to them."""
    n_features = bounds[-1][2]
    middles = [(start + stop - 1) / 2 for _, start, stop in bounds]
    places = spread(middles, SPACING * small() / (72 * _side(bounds)) * n_features, n_features - 1)
    moved = any(abs(y - middle) > 0.01 * n_features for y, middle in zip(places, middles, strict=True))
    across = ax.get_yaxis_transform()
    for (name, _, _), middle, y in zip(bounds, middles, places, strict=True):
        if moved:
            path = [-0.045, -0.065, -0.1, -0.115], [middle, middle, y, y]
            ax.add_line(Line2D(*path, color=faint_color(0.6), lw=0.6, transform=across, clip_on=False))
        where = -0.125 if moved else -0.055
        text = shown(name, 14)
        ax.text(where, y, text, transform=across, ha="right", va="center", fontsize=small())


def spread(places: Sequence[float], least: float, length: float) -> list[float]:
    """Move rising places apart to a least distance, as little as needed, and from 0 to length if they fit."""
    crowds: list[list[float]] = []
    for i, place in enumerate(places):
        crowds.append([place - i * least])
        while len(crowds) > 1 and np.mean(crowds[-2]) > np.mean(crowds[-1]):
            last = crowds.pop()
            crowds[-1] += last
    room = max(length - (len(places) - 1) * least, 0.0)
    level = [float(np.clip(np.mean(crowd), 0.0, room)) for crowd in crowds for _ in crowd]
    return [value + i * least for i, value in enumerate(level)]
