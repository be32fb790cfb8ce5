"""How features change with a dose: means with their intervals at every level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import _validate as validate
from .. import get
from ._canvas import grid_of_axes, new_figure, require_one_panel, show_message, tidy
from ._docs import documented_figure
from ._page import MIN_FIGURE_INCHES, is_narrow
from ._scorecard import leading_rows
from ._style import PALETTE, faint_color, label_text, medium, small

N_COLUMNS = 4
PANEL_INCHES = (2.1, 1.7)


@documented_figure
def trend(
    adata: AnnData,
    *,
    features: str | Sequence[str] | None = None,
    n_features: int = 8,
    layer: str | None = None,
    key: str = "scorecard",
    title: str | None = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """Draw how features change with a dose.

    Points are means at the levels of the dose, with 95 % intervals over the units of the call; the band around them is
    the mean distance of observations from their median. The title says in what the trend is significant.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.scorecard` with `trend=True`.
    features
        Names of the features; by default those that lead.
    n_features
        Number of features to show where none are named.
    layer
        Layer to draw instead of that of the call.
    key
    title
    width
    ax
        ... Given axes take a single feature.

    Returns
    -------
    The figure, or `ax`.

    Examples
    --------
    >>> import numpy as np
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> adata.obs["dose"] = np.repeat([0.0, 1.0, 2.0, 4.0], 100)
    >>> dn.tl.scorecard(adata, "dose", trend=True)
    >>> figure = dn.pl.trend(adata, n_features=4)
    >>> len(figure.axes)
    4
    """
    validate.count("n_features", n_features)
    tests = get.scorecard(adata, key=key)
    if features is None:
        names = [str(name) for name in tests.index[leading_rows(tests, n_features)]]
    else:
        names = [features] if isinstance(features, str) else [str(name) for name in features]
    require_one_panel(ax, len(names), "feature", "features=")
    groupby = str(get.params(adata, key=key)["groupby"])
    if not names:
        figure = new_figure(*PANEL_INCHES)
        show_message(figure.add_subplot(), "no feature was tested")
        return figure
    table = get.trend(adata, features=names, layer=layer, key=key)
    if ax is not None:
        _draw(ax, table, tests.loc[names[0]], groupby)
        return ax
    figure, axes = grid_of_axes(len(names), *PANEL_INCHES, max_columns=N_COLUMNS)
    for own, name in zip(axes, names, strict=True):
        _draw(own, table[table["feature"] == name], tests.loc[name], groupby)
    return figure


def _draw(ax: Axes, table: pd.DataFrame, test: pd.Series, groupby: str) -> None:
    dose, mean, spread = (table[name].to_numpy(dtype=float) for name in ("dose", "mean", "spread"))
    error = np.stack([mean - table["mean_low"], table["mean_high"] - mean])
    ax.fill_between(dose, mean - spread, mean + spread, color=faint_color(0.15), lw=0)
    ax.errorbar(dose, mean, yerr=np.nan_to_num(error), color=PALETTE[0], marker="o", ms=3.5, lw=1.2, capsize=2)
    kind = str(test["kind"])
    name, found = label_text(test.name, 18), "" if kind == "none" else kind
    if is_narrow(MIN_FIGURE_INCHES):  # both do not fit on a line
        name, found = f"{name}\n{found}".strip(), ""
    ax.set_title(name, loc="left", fontsize=medium(), fontweight="bold")
    ax.set_title(found, loc="right", fontsize=small(), fontstyle="italic")
    ax.set_xlabel(label_text(groupby, 24), fontsize=small())
    ax.tick_params(labelsize=small())
    tidy(ax)
