"""Observations on an embedding, coloured by what a differential vector says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from anndata import AnnData

from .. import _validate as validate
from .. import get
from ._read import conditions, described
from ._style import colors_of, diverging, dot, faint_color, legend, medium, new_figure, shown, small, tidy

#: embeddings in the order in which one is looked for
BASES = ("X_umap", "X_tsne", "spatial", "X_pca")
MANY = 2000


def disc_observations(
    adata: AnnData, *, group: str | None = None, component: int = 1, basis: str | None = None, key: str = "disc"
) -> Any:
    """Draw observations coloured by condition and by a meta-feature.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.meta_features`.
    group
        The condition whose vector it is; the first by default.
    component
        Number of the vector.
    basis
        Key of `adata.obsm` with two columns or more; by default the first there is of `X_umap`, `X_tsne`,
        `spatial` and `X_pca`, else the plane of the condition's first two meta-features.
    key
        The `key_added` of :func:`diffnb.tl.disc`.

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
    condition = conditions(adata, group, key)[0]
    most = condition.n_vectors
    validate.count("component", component, at_most=most, why=f"{most} vectors were computed")
    values = get.meta_features(adata, key=key)
    start = [str(g) for g in described(adata, key)["groups"]].index(condition.name) * most
    mine = values.to_numpy()[:, start : start + most]
    points, names = _points(adata, basis, mine, condition.name)
    figure = new_figure(8.6, 3.6)
    left, right = figure.subplots(1, 2)
    _draw_conditions(left, adata, points, str(described(adata, key)["params"]["groupby"]))
    _draw_values(figure, right, points, mine[:, component - 1])
    right.set_title(f"{shown(condition.name, 26)}: meta-feature {component}", fontsize=medium())
    for ax in (left, right):
        ax.set_xlabel(names[0])
        ax.set_ylabel(names[1])
        ax.locator_params(nbins=5)
        tidy(ax)
        if basis == "spatial" or names[0].startswith("spatial"):
            ax.set_aspect("equal")
            ax.invert_yaxis()
    return figure


def _points(adata: AnnData, basis: str | None, mine: Any, name: str) -> tuple[Any, tuple[str, str]]:
    if basis is None:
        basis = next((b for b in BASES if b in adata.obsm and np.shape(adata.obsm[b])[1] >= 2), None)
    if basis is None:
        second = mine[:, 1] if mine.shape[1] > 1 else mine[:, 0]
        label = shown(name, 18)
        return np.column_stack([mine[:, 0], second]), (
            f"{label}: meta-feature 1",
            f"{label}: meta-feature {min(2, mine.shape[1])}",
        )
    if basis not in adata.obsm:
        there = validate.quoted(adata.obsm) or "it has none"
        raise ValueError(f"basis={basis!r} is not in adata.obsm ({there}).{validate.nearest(basis, list(adata.obsm))}")
    values = np.asarray(adata.obsm[basis], dtype=float)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(f"basis={basis!r} has shape {values.shape}; two columns are needed to draw.")
    label = shown(basis.removeprefix("X_"), 18)
    return values[:, :2], (f"{label} 1", f"{label} 2")


def _draw_conditions(ax: Any, adata: AnnData, points: Any, groupby: str) -> None:
    categories = validate.conditions(adata, groupby)
    names = [str(c) for c in categories.categories]
    colors = colors_of(names)
    # in the order of rows, so that no condition hides the other
    face = [colors[names[code]] if code >= 0 else faint_color() for code in categories.codes]
    _scatter(ax, points, c=face, alpha=0.7)
    ax.set_title(shown(groupby, 40), fontsize=medium())
    legend(ax, [(dot(colors[n]), n) for n in names[:12]], loc="best")


def _draw_values(figure: Any, ax: Any, points: Any, values: Any) -> None:
    centred = (values - values.mean()) / (values.std() or 1.0)
    reach = float(np.quantile(np.abs(centred), 0.99)) or 1.0
    order = np.argsort(np.abs(centred), kind="stable")  # the largest on top
    drawn = _scatter(ax, points[order], c=centred[order], cmap=diverging(), vmin=-reach, vmax=reach)
    bar = figure.colorbar(drawn, ax=ax, pad=0.02, shrink=0.8, aspect=25)
    bar.set_label("standard deviations", fontsize=small())
    bar.ax.tick_params(labelsize=small())
    bar.outline.set_visible(False)


def _scatter(ax: Any, points: Any, **look: Any) -> Any:
    many = len(points) > MANY
    look |= {"edgecolors": faint_color(0.3), "linewidths": 0.2} if "cmap" in look else {"linewidths": 0}
    return ax.scatter(points[:, 0], points[:, 1], s=6 if many else 14, rasterized=many, **look)
