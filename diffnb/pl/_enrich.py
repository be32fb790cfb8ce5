"""Sets that are over-represented among the features that were found, as dots."""

from __future__ import annotations

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.axes import Axes

from .. import _validate as validate
from .. import get
from ..core.scorecard import ALPHA
from ..core.typing import Floats
from ._canvas import ROW_INCHES, axes_or_new, color_bar, show_message
from ._docs import documented_figure
from ._style import dot, faint_color, label_text, legend, sequential, small, text_inches

COLUMN_INCHES, ABOVE_INCHES, BESIDE_INCHES, BELOW_INCHES = 0.42, 1.0, 1.2, 1.0
#: −log₁₀ of adjusted p-values: dots grow up to this value
MAX_NEG_LOG10_PVAL = 20.0
LEGEND_PVALS = (("0.05", -np.log10(ALPHA)), ("10⁻⁵", 5.0), ("≤ 10⁻²⁰", MAX_NEG_LOG10_PVAL))
MAX_LIST_LETTERS, MAX_SET_LETTERS = 22, 34


@documented_figure
def enrich(
    adata: AnnData,
    *,
    n_sets: int = 8,
    key: str = "enrich",
    title: str | None = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the sets that are most over-represented in each list of features.

    Dots grow with the evidence (adjusted p-value) and are coloured by the log odds ratio; open ones are not
    significant.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.enrich`.
    n_sets
        Sets to show for each list, the most significant.
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
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition")
    >>> dn.tl.enrich(adata, {"late": adata.var_names[150:], "early": adata.var_names[:100]})
    >>> dn.pl.enrich(adata).get_yticklabels()[0].get_text()
    'late'
    """
    validate.count("n_sets", n_sets)
    table = get.enrich(adata, key=key)
    lists = list(dict.fromkeys(sorted(table["list"])))
    leading = table[table["n_overlap"] > 0].groupby("list", sort=False).head(n_sets)
    sets = list(dict.fromkeys(leading.sort_values(["list", "pval"], kind="stable")["set"]))
    names = [label_text(name, MAX_SET_LETTERS) for name in sets]
    width = text_inches(names, small()) + COLUMN_INCHES * len(lists) + BESIDE_INCHES
    ax = axes_or_new(ax, max(width, 3.6), ROW_INCHES * 1.2 * max(len(sets), 3) + ABOVE_INCHES + BELOW_INCHES)
    if not sets:
        show_message(ax, "no set shares a feature with a list")
        return ax
    _draw_dots(ax, table[table["set"].isin(sets) & (table["n_overlap"] > 0)], lists, sets)
    ax.set_xticks(range(len(lists)), [label_text(name, MAX_LIST_LETTERS) for name in lists])
    ax.tick_params(axis="x", rotation=40)
    for label in ax.get_xticklabels():
        label.set(ha="left", rotation_mode="anchor")
    ax.set_yticks(range(len(sets)), names)
    ax.set_xlim(-0.6, len(lists) - 0.4)
    ax.set_ylim(len(sets) - 0.4, -0.6)
    ax.tick_params(length=0, labelsize=small(), top=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    return ax


def _draw_dots(ax: Axes, table: pd.DataFrame, lists: list[str], sets: list[str]) -> None:
    x = pd.Categorical(table["list"], categories=lists).codes
    y = pd.Categorical(table["set"], categories=sets).codes
    pval_adj, odds = table["pval_adj"].to_numpy(dtype=float), table["log_odds"].to_numpy(dtype=float)
    area = _area(-np.log10(pval_adj))
    kept = pval_adj < ALPHA
    ax.scatter(x[~kept], y[~kept], s=area[~kept], facecolors="none", edgecolors=faint_color(0.5), lw=0.6)
    if kept.any():
        most = max(float(odds[kept].max()), 1e-3)
        drawn = ax.scatter(x[kept], y[kept], s=area[kept], c=odds[kept], cmap=sequential(), lw=0, vmin=0.0, vmax=most)
        color_bar(drawn, ax, "log odds ratio", shrink=0.8, aspect=14)
    grey = faint_color(0.75)
    entries = [(dot(grey, size=float(np.sqrt(_area(np.asarray(v))))), f"adjusted p {text}") for text, v in LEGEND_PVALS]
    entries.append((dot(faint_color(0.5), filled=False, size=4.0), "not significant"))
    legend(ax, entries, loc="upper left", bbox_to_anchor=(0.0, 0.0), ncols=1)


def _area(neg_log10_pval: Floats) -> Floats:
    return np.asarray(9 + 81 * np.sqrt(np.clip(neg_log10_pval, 0, MAX_NEG_LOG10_PVAL) / MAX_NEG_LOG10_PVAL))
