"""Figures of SPARDA and PDA: the weights of a projection, their number, and both populations along it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import _validate as validate
from .. import get
from ._canvas import ROW_INCHES, draw_panels, require_one_panel
from ._docs import documented_figure
from ._sparda_panels import SpardaComparison, draw_densities, draw_path, draw_weights, nonzero_weights
from ._style import label_text, small, text_inches

MAX_SPARDA_COLUMNS = 3
MAX_SPARDA_PANELS = 12


@documented_figure
def sparda(
    adata: AnnData,
    *,
    group: str | None = None,
    projection: int = 1,
    n_features: int = 30,
    key: str = "sparda",
    title: str | None = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """Draw the signed weights of the features that make up a projection.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.sparda` or :func:`diffnb.tl.pda`.
    group
    projection
    n_features
        Features to show at most, the largest weights first; features without weight are never shown.
    key
    title
    width
    ax
        ... Given axes take a single comparison.

    Returns
    -------
    The figure, a panel for each comparison; or `ax`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nuisance_factor(n_obs=200, n_features=60)
    >>> dn.tl.sparda(adata, "condition", n_features=10)
    >>> figure = dn.pl.sparda(adata)
    >>> len(figure.axes[0].patches)
    10
    """
    validate.count("n_features", n_features)
    compared = _read_comparisons(adata, group, projection, key)
    table = get.sparda(adata, key=key)
    weights = [nonzero_weights(_rows_of(table, each)) for each in compared]
    tops = [w.iloc[:n_features] for w in weights]
    longest = max(1, *(len(top) for top in tops))
    names = [label_text(name) for top in tops for name in top.index]

    def draw(axes: Axes, i: int) -> None:
        draw_weights(axes, compared[i], weights[i], tops[i], longest)

    return _draw_comparisons(draw, compared, ax, text_inches(names, small()) + 2.6, ROW_INCHES * longest + 1.0)


@documented_figure
def sparda_path(
    adata: AnnData,
    *,
    group: str | None = None,
    key: str = "sparda",
    title: str | None = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """Draw objective and held-out divergence against the number of features, and the number that was chosen.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.sparda`.
    group
    key
    title
    width
    ax
        ... Given axes take a single comparison.

    Returns
    -------
    The figure, a panel for each comparison; or `ax`. The band is one standard deviation over the folds to
    either side. The objective always increases with the number of features; the held-out divergence shows when
    further features only fit the sample.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nuisance_factor(n_obs=200, n_features=60)
    >>> dn.tl.sparda(adata, "condition")
    >>> figure = dn.pl.sparda_path(adata)
    >>> figure.axes[0].get_xlabel()
    'number of features'
    """
    compared = _read_comparisons(adata, group, 1, key)
    table = get.sparda_path(adata, key=key)
    tables = [_rows_of(table, each) for each in compared]

    def draw(axes: Axes, i: int) -> None:
        draw_path(axes, compared[i], tables[i])

    return _draw_comparisons(draw, compared, ax, 5.0, 3.0)


@documented_figure
def sparda_projection(
    adata: AnnData,
    *,
    group: str | None = None,
    projection: int = 1,
    key: str = "sparda",
    title: str | None = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """Draw the distributions of both conditions along a projection, and how quantiles move between them.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.sparda` or :func:`diffnb.tl.pda`.
    group
    projection
    key
    title
    width
    ax
        ... Given axes take a single comparison.

    Returns
    -------
    The figure, a panel for each comparison; or `ax`. The histogram of the group points up, that of its reference
    down; lines connect equal quantiles of both, the median as a thick line. Parallel oblique lines are a shift,
    diverging lines a difference in spread.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nuisance_factor(n_obs=200, n_features=60)
    >>> dn.tl.sparda(adata, "condition", n_features=10)
    >>> figure = dn.pl.sparda_projection(adata)
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()][:2]
    ['B', 'A']
    """
    compared = _read_comparisons(adata, group, projection, key)
    sides = []
    for each in compared:
        table = get.sparda_projection(adata, group=each.group, projection=each.projection, key=key)
        values, side = table["value"].to_numpy(dtype=float), table["side"].astype(object)
        sides.append([values[(side == name).to_numpy()] for name in ("group", "reference")])

    def draw(axes: Axes, i: int) -> None:
        draw_densities(axes, compared[i], *sides[i])

    return _draw_comparisons(draw, compared, ax, 5.4, 2.9)


def _read_comparisons(adata: AnnData, group: str | None, projection: int, key: str) -> list[SpardaComparison]:
    """Read what was compared, one projection each."""
    summary = get.sparda_summary(adata, key=key)
    most = int(summary["projection"].max())
    validate.count("projection", projection, at_most=most, why=f"{most} found")
    groups = list(dict.fromkeys(summary["group"].astype(str)))
    if group is not None and str(group) not in groups:
        raise ValueError(
            f"group={group!r} was not compared; there are {validate.quoted(groups)}.{validate.nearest(group, groups)}"
        )
    return [
        SpardaComparison(
            str(row["group"]),
            str(row["reference"]),
            projection,
            int(row["n_features"]),
            float(row["objective"]),
            float(row["pval"]),
        )
        for _, row in summary[summary["projection"] == projection].iterrows()
        if group is None or str(row["group"]) == str(group)
    ]


def _rows_of(table: pd.DataFrame, compared: SpardaComparison) -> pd.DataFrame:
    chosen = (table["group"].astype(str) == compared.group) & (table["projection"] == compared.projection)
    return table[chosen.to_numpy()]


def _draw_comparisons(
    draw: Callable[[Axes, int], None],
    compared: Sequence[SpardaComparison],
    ax: Axes | None,
    width: float,
    height: float,
) -> Figure | Axes:
    require_one_panel(ax, len(compared), "comparison", "group=")
    if len(compared) > MAX_SPARDA_PANELS:
        raise ValueError(
            f"group=None leaves {len(compared)} comparisons, more than a figure holds ({MAX_SPARDA_PANELS});"
            " choose with group=."
        )
    return draw_panels(draw, len(compared), ax, width=width, height=height, max_columns=MAX_SPARDA_COLUMNS)
