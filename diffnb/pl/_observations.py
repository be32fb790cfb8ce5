"""Observations on an embedding, coloured by condition and by a meta-feature."""

from __future__ import annotations

from typing import Any

import numpy as np
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from .. import _validate as validate
from .. import get
from ..core.typing import Floats
from ..get._annotations import embedding, embedding_names
from ..get._conditions import compared_conditions, disc_conditions, disc_params
from ._canvas import color_bar, grid_of_axes, scatter_points, tidy
from ._docs import documented_figure
from ._style import colors_of, diverging, dot, faint_color, label_text, legend, medium

#: embeddings by priority
BASES = ("X_umap", "X_tsne", "spatial", "X_pca")
MAX_LISTED_CONDITIONS = 12


@documented_figure
def disc_observations(
    adata: AnnData,
    *,
    group: str | None = None,
    component: int = 1,
    basis: str | None = None,
    key: str = "disc",
    title: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw observations coloured by condition and by a meta-feature.

    There is no `ax`: the figure has one panel for the conditions and one for the meta-feature.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.meta_features`.
    group
        The condition that the vector belongs to; the first by default.
    component
        Number of the vector.
    basis
        Key of `adata.obsm` with at least two columns; by default the first that exists of `X_umap`, `X_tsne`,
        `spatial` and `X_pca`, else the plane of the condition's first two meta-features.
    key
        The `key_added` of :func:`diffnb.tl.disc`.
    title
    width

    Returns
    -------
    The figure: conditions, and the meta-feature in standard deviations.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition", n_components=3)
    >>> dn.tl.meta_features(adata)
    >>> figure = dn.pl.disc_observations(adata, group="B")
    >>> [ax.get_xlabel() for ax in figure.axes][:2]
    ['B: meta-feature 1', 'B: meta-feature 1']
    """
    condition = disc_conditions(adata, group, key)[0]
    most = condition.n_vectors
    validate.count("component", component, at_most=most, why=f"{most} vectors were computed")
    values = get.meta_features(adata, key=key)
    start = compared_conditions(adata, key).index(condition.name) * most
    own = values.to_numpy()[:, start : start + most]
    points, names = _observation_plane(adata, basis, own, condition.name)
    figure, (left, right) = grid_of_axes(2, 4.3, 3.6, max_columns=2)
    _draw_conditions(left, adata, points, str(disc_params(adata, key)["groupby"]))
    _draw_meta_feature(right, points, own[:, component - 1])
    right.set_title(f"{label_text(condition.name, 26)}: meta-feature {component}", fontsize=medium())
    for ax in (left, right):
        ax.set_xlabel(names[0])
        ax.set_ylabel(names[1])
        ax.locator_params(nbins=5)
        tidy(ax)
        if basis == "spatial" or names[0].startswith("spatial"):
            ax.set_aspect("equal")
            ax.invert_yaxis()
    return figure


def _observation_plane(adata: AnnData, basis: str | None, own: Floats, name: str) -> tuple[Floats, tuple[str, str]]:
    """Coordinates of observations and labels of the two axes."""
    if basis is None:
        there = embedding_names(adata, min_columns=2)
        basis = next((b for b in BASES if b in there), None)
    if basis is None:
        second = min(1, own.shape[1] - 1)
        label = f"{label_text(name, 18)}: meta-feature"
        return own[:, [0, second]], (f"{label} 1", f"{label} {second + 1}")
    label = label_text(basis.removeprefix("X_"), 18)
    return embedding(adata, basis), (f"{label} 1", f"{label} 2")


def _draw_conditions(ax: Axes, adata: AnnData, points: Floats, groupby: str) -> None:
    categories = validate.conditions(adata, groupby)
    names = [str(c) for c in categories.categories]
    colors = colors_of(names)
    # in the order of rows, so that no condition systematically covers another
    face = [colors[names[code]] if code >= 0 else faint_color() for code in categories.codes]
    _scatter_plane(ax, points, c=face, alpha=0.7, linewidths=0)
    ax.set_title(label_text(groupby, 40), fontsize=medium())
    legend(ax, [(dot(colors[n]), n) for n in names[:MAX_LISTED_CONDITIONS]], loc="best")


def _draw_meta_feature(ax: Axes, points: Floats, values: Floats) -> None:
    centred = (values - values.mean()) / (values.std() or 1.0)
    reach = float(np.quantile(np.abs(centred), 0.99)) or 1.0
    order = np.argsort(np.abs(centred), kind="stable")  # the largest on top
    look = {"cmap": diverging(), "edgecolors": faint_color(0.3), "linewidths": 0.2}
    drawn = _scatter_plane(ax, points[order], c=centred[order], vmin=-reach, vmax=reach, **look)
    color_bar(drawn, ax, "standard deviations", pad=0.02, shrink=0.8, aspect=25)


def _scatter_plane(ax: Axes, points: Floats, **look: Any) -> PathCollection:
    return scatter_points(ax, points, sizes=(14, 6), **look)
