"""Effects of single features: against their p-values, and with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from .. import _validate as validate
from .. import get
from ..core.scorecard import ALPHA, KINDS
from ._canvas import ROW_INCHES, axes_or_new, grid_of_axes, scatter_points, show_message, tidy
from ._docs import documented_figure
from ._labels import Labels
from ._page import MIN_FIGURE_INCHES, is_narrow
from ._style import BACKGROUND_COLOR, HIGHER_COLOR, LOWER_COLOR, faint_color, label_text, medium, plural, text_color

Effect = Literal["mean", "log2_fold_change", "spread", "distribution", "connectivity"]
#: ticks of ratios, from coarse to fine; the first row of which enough are in view is used
RATIO_TICKS = (
    (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
    (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
    (0.5, 0.7, 1.0, 1.4, 2.0),
    (0.8, 0.9, 1.0, 1.1, 1.25),
)
MIN_TICKS = 3
#: label of each effect, the value that means no difference, and the test that it belongs to
AXES = {
    "mean": ("difference of means", 0.0, "mean"),
    "log2_fold_change": ("log₂ fold change", 0.0, "mean"),
    "spread": ("ratio of spreads", 1.0, "spread"),
    "distribution": ("distance, in sd", 0.0, "distribution"),
    "connectivity": ("mean |Δr| with partners", 0.0, "connectivity"),
}
MAX_NEG_LOG10_PVAL = 300.0
FOREST = ("mean", "spread", "distribution", "connectivity")


@documented_figure
def volcano(
    adata: AnnData,
    *,
    effect: Effect = "mean",
    group: str | None = None,
    reference: str | None = None,
    n_labels: int = 12,
    key: str = "scorecard",
    title: str | None = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the effect of every feature against its p-value.

    Features with an adjusted p-value below .05 are orange where the effect is larger in the group, and blue squares
    where it is smaller.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.scorecard`.
    effect
        Column of :func:`diffnb.get.effects`.
    group
        A condition that was compared with another; needed where there are several pairs.
    reference
        The condition it was compared with; all by default.
    n_labels
        Features to name, the most significant.
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
    >>> adata = dn.datasets.pbmc()
    >>> adata.obs["half"] = ["A", "B"] * (adata.n_obs // 2)
    >>> dn.tl.scorecard(adata, "half")
    >>> dn.pl.volcano(adata).get_xlabel()
    'difference of means (B − A)'
    """
    validate.choice("effect", effect, tuple(AXES))
    validate.count("n_labels", n_labels, at_least=0)
    label, zero, kind = AXES[effect]
    tests, sizes = _one_pair(adata, group, reference, key)
    x, pval_adj = sizes[effect].to_numpy(dtype=float), tests[f"{kind}_pval_adj"].to_numpy(dtype=float)
    y = np.minimum(-np.log10(tests[f"{kind}_pval"].to_numpy(dtype=float)), MAX_NEG_LOG10_PVAL)
    known = np.isfinite(x) & np.isfinite(y)
    ax = axes_or_new(ax, 6.0, 4.2)
    if not known.any():
        show_message(ax, f"no feature has a {label}")
        return ax
    called = known & (pval_adj < ALPHA)
    points = np.column_stack([x, y])
    looks = (
        (known & ~called, BACKGROUND_COLOR, "o"),
        (called & (x > zero), HIGHER_COLOR, "o"),
        (called & (x <= zero), LOWER_COLOR, "s"),
    )
    for own, color, marker in looks:
        scatter_points(ax, points[own], sizes=(16, 6), n_points=int(known.sum()), color=color, marker=marker, lw=0)
    ax.axvline(zero, color=faint_color(), lw=0.8)
    if effect == "spread":
        show_ratios(ax)
    leading = np.flatnonzero(called)[np.argsort(-y[called], kind="stable")][:n_labels]
    Labels(ax, points[leading], [label_text(n, 18) for n in sizes.index[leading]], points[known])
    ours, theirs = (label_text(sizes[name].iloc[0], 16) for name in ("group", "reference"))
    ax.set_xlabel(f"{label} ({ours} {'/' if effect == 'spread' else '−'} {theirs})")
    ax.set_ylabel("−log₁₀ p")
    ax.set_title(f"{plural(int(called.sum()))} with adjusted p < .05", loc="left", fontsize=medium())
    tidy(ax)
    return ax


@documented_figure
def forest(
    adata: AnnData,
    *,
    features: Sequence[str] | None = None,
    n_features: int = 15,
    group: str | None = None,
    reference: str | None = None,
    key: str = "scorecard",
    title: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw effects of some features with their 95 % intervals.

    There is no `ax`: the figure has a panel for each of the four kinds of difference.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.scorecard`.
    features
        Names of features; by default those with the smallest adjusted p-value of any kind.
    n_features
        How many of them.
    group
        A condition that was compared with another; needed where there are several pairs.
    reference
        The condition it was compared with; all by default.
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
    >>> dn.tl.scorecard(adata, "condition")
    >>> len(dn.pl.forest(adata, n_features=5).axes)
    4
    """
    validate.count("n_features", n_features)
    tests, sizes = _one_pair(adata, group, reference, key)
    chosen = _chosen(tests, features, n_features)
    rows = sizes.loc[chosen]
    height = 0.9 + 1.25 * ROW_INCHES * max(len(rows), 3)
    figure, axes = grid_of_axes(len(FOREST), 2.3, height, max_columns=len(FOREST))
    for ax, effect in zip(axes, FOREST, strict=True):
        _draw_intervals(ax, rows, effect, tests.loc[chosen, f"{AXES[effect][2]}_pval_adj"].to_numpy(dtype=float))
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.set_yticks(range(len(rows)), [label_text(name, 22) for name in chosen] if _is_first(ax) else [])
    ours, theirs = (label_text(sizes[name].iloc[0], 26) for name in ("group", "reference"))
    figure.suptitle(f"{ours} vs {theirs}", x=0.01, ha="left", fontsize=medium())
    return figure


def show_ratios(ax: Axes) -> None:
    """Space ratios by their logarithm, with a few ticks that are plain numbers."""
    ax.set_xscale("log", base=2)
    low, high = ax.get_xlim()
    ticks = next((row for row in RATIO_TICKS if sum(low <= tick <= high for tick in row) >= MIN_TICKS), RATIO_TICKS[-1])
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter("{x:g}")


def _is_first(ax: Axes) -> bool:
    """Whether axes are the first of their row."""
    place = ax.get_subplotspec()
    return place is None or place.is_first_col()


def _one_pair(adata: AnnData, group: str | None, reference: str | None, key: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read tests and effects of one pair of conditions."""
    tests = get.scorecard(adata, group=group, reference=reference, key=key)
    pairs = tests[["group", "reference"]].drop_duplicates().to_numpy().tolist()
    if len(pairs) > 1:
        shown = [f"{a} vs {b}" for a, b in pairs]
        raise ValueError(f"a figure holds one pair of conditions; choose {validate.quoted(shown)} with group=.")
    sizes = get.effects(adata, group=str(pairs[0][0]), reference=str(pairs[0][1]), key=key)
    return tests, sizes


def _chosen(tests: pd.DataFrame, features: Sequence[str] | None, n_features: int) -> list[str]:
    if features is None:
        smallest = tests[[f"{kind}_pval_adj" for kind in KINDS]].min(axis=1)
        return [str(name) for name in smallest.dropna().sort_values(kind="stable").index[:n_features]]
    missing = [name for name in features if name not in tests.index]
    if missing:
        raise ValueError(
            f"features names {missing[0]!r}, which is not a feature.{validate.nearest(missing[0], tests.index)}"
        )
    return [str(name) for name in features]


def _draw_intervals(ax: Axes, rows: pd.DataFrame, effect: str, pval_adj: np.ndarray) -> None:
    label, zero, _ = AXES[effect]
    places = np.arange(len(rows))
    estimate, low, high = (rows[f"{effect}{e}"].to_numpy(dtype=float) for e in ("", "_low", "_high"))
    called = pval_adj < ALPHA
    colors = np.where(~called, BACKGROUND_COLOR, np.where(estimate > zero, HIGHER_COLOR, LOWER_COLOR))
    known = np.isfinite(estimate)
    ax.hlines(places[known], low[known], high[known], colors=list(colors[known]), lw=1.6)
    ax.scatter(estimate[known], places[known], c=list(colors[known]), s=18, zorder=3)
    ax.axvline(zero, color=text_color(), lw=0.7)
    if effect == "spread":
        show_ratios(ax)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(3))
    ax.set_xlabel(label.replace(" with ", "\nwith ") if is_narrow(MIN_FIGURE_INCHES) else label)
    tidy(ax)
    ax.tick_params(axis="y", length=0)
