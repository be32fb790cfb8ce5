"""Where two populations differ most: the weights of a projection, how many of them, and what it shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from .. import _validate as validate
from .. import get
from ..core.typing import Floats
from ._style import (
    PALETTE,
    beside,
    faint_color,
    is_dark,
    medium,
    new_figure,
    say,
    shown,
    signed_number,
    small,
    text_color,
    text_inches,
    tidy,
)

ROW = 0.19
MOST_COLUMNS = 3
MOST_PAIRS = 12
HIGHER, LOWER = PALETTE[1], PALETTE[0]
#: quantiles that are joined, and the gap between the histograms as a share of the higher one
QUANTILES = np.arange(0.05, 0.96, 0.05)
GAP = 0.35
FEWEST_BINS, MOST_BINS = 12, 60
#: letters of a title that fit on one line
TITLE = 28


@dataclass(frozen=True, slots=True)
class Pair:
    """What is said of one projection between a group and its reference."""

    group: str
    reference: str
    projection: int
    n_features: int
    objective: float
    pval: float

    @property
    def name(self) -> str:
        """Name both sides, and the projection where it is not the first."""
        later = f" · projection {self.projection}" if self.projection > 1 else ""
        group, reference = shown(self.group), shown(self.reference) + later
        # a long title would reach over the edge of its panel
        return f"{group}{' ' if len(group) + len(reference) <= TITLE else chr(10)}vs {reference}"

    @property
    def tested(self) -> str:
        """Objective, and the p-value where there is one."""
        p = "" if np.isnan(self.pval) else f" · p = {self.pval:.2g}"
        return f"objective {self.objective:.3g}{p}"


def sparda(
    adata: AnnData,
    *,
    group: str | None = None,
    projection: int = 1,
    n_features: int = 30,
    key: str = "sparda",
    ax: Any = None,
) -> Any:
    """Draw the signed weights of the features that make up a projection.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.sparda` or :func:`diffnb.tl.pda`.
    group
        A condition that was compared; all by default.
    projection
        Which projection, from 1.
    n_features
        Features to show at most, the largest weights first; features without weight are never shown.
    key
        The `key_added` of the call.
    ax
        Axes to draw a single comparison on.

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
    pairs = _pairs(adata, group, projection, key)
    table = get.sparda(adata, key=key)
    weights = [_weights(_of_pair(table, pair)) for pair in pairs]
    tops = [w.iloc[:n_features] for w in weights]
    longest = max(1, *(len(top) for top in tops))
    names = [shown(name) for top in tops for name in top.index]

    def draw(axes: Any, i: int) -> None:
        _bars(axes, pairs[i], weights[i], tops[i], longest)

    return _panels(draw, pairs, ax, text_inches(names, small()) + 2.6, ROW * longest + 1.0)


def sparda_path(adata: AnnData, *, group: str | None = None, key: str = "sparda", ax: Any = None) -> Any:
    """Draw objective and held-out divergence against the number of features, and the number that was chosen.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.sparda`.
    group
        A condition that was compared; all by default.
    key
        The `key_added` of the call.
    ax
        Axes to draw a single comparison on.

    Returns
    -------
    The figure, a panel for each comparison; or `ax`. The band is one standard deviation over the folds to
    either side. The objective rises with the number of features by itself; what is held out tells when
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
    pairs = _pairs(adata, group, 1, key)
    table = get.sparda_path(adata, key=key)
    tables = [_of_pair(table, pair) for pair in pairs]

    def draw(axes: Any, i: int) -> None:
        _path(axes, pairs[i], tables[i])

    return _panels(draw, pairs, ax, 5.0, 3.0)


def sparda_projection(
    adata: AnnData, *, group: str | None = None, projection: int = 1, key: str = "sparda", ax: Any = None
) -> Any:
    """Draw what both sides look like along a projection, and how quantiles move from one to the other.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.sparda` or :func:`diffnb.tl.pda`.
    group
        A condition that was compared; all by default.
    projection
        Which projection, from 1.
    key
        The `key_added` of the call.
    ax
        Axes to draw a single comparison on.

    Returns
    -------
    The figure, a panel for each comparison; or `ax`. The group stands up, its reference hangs down; lines
    join the same quantile of both, the median drawn thick. Parallel lines that lean are a shift, lines that
    fan out a difference in spread.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nuisance_factor(n_obs=200, n_features=60)
    >>> dn.tl.sparda(adata, "condition", n_features=10)
    >>> figure = dn.pl.sparda_projection(adata)
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()][:2]
    ['B', 'A']
    """
    pairs = _pairs(adata, group, projection, key)
    sides = []
    for pair in pairs:
        table = get.sparda_projection(adata, group=pair.group, projection=pair.projection, key=key)
        values, side = table["value"].to_numpy(dtype=float), table["side"].astype(object)
        sides.append([values[(side == name).to_numpy()] for name in ("group", "reference")])

    def draw(axes: Any, i: int) -> None:
        _densities(axes, pairs[i], *sides[i])

    return _panels(draw, pairs, ax, 5.4, 2.9)


def _pairs(adata: AnnData, group: str | None, projection: int, key: str) -> list[Pair]:
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
        Pair(
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


def _of_pair(table: pd.DataFrame, pair: Pair) -> pd.DataFrame:
    chosen = (table["group"].astype(str) == pair.group) & (table["projection"] == pair.projection)
    return table[chosen.to_numpy()]


def _panels(draw: Callable[[Any, int], None], pairs: Sequence[Pair], ax: Any, width: float, height: float) -> Any:
    """Draw every pair into a panel of a new figure, or the only one into `ax`."""
    if ax is not None:
        if len(pairs) > 1:
            raise ValueError(f"ax takes one comparison, got {len(pairs)}; choose one with group=.")
        draw(ax, 0)
        return ax
    if len(pairs) > MOST_PAIRS:
        raise ValueError(
            f"group=None leaves {len(pairs)} comparisons, more than a figure holds ({MOST_PAIRS}); choose with group=."
        )
    n_rows = -(-len(pairs) // MOST_COLUMNS)
    n_columns = -(-len(pairs) // n_rows)
    figure = new_figure(width * n_columns, height * n_rows)
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for i in range(len(pairs)):
        draw(axes[i], i)
    for unused in axes[len(pairs) :]:
        unused.remove()
    return figure


def _veil() -> float:
    """How much an area covers: on a dark page more, or it would vanish."""
    return 0.42 if is_dark() else 0.24


def _title(ax: Any, *lines: str) -> None:
    ax.set_title("\n".join(lines), fontsize=medium(), loc="left")


def _weights(table: pd.DataFrame) -> pd.Series[Any]:
    """Weights that are not zero, the largest first."""
    weights = table["weight"]
    weights = weights[(weights.notna() & (weights != 0)).to_numpy()]
    return weights.iloc[np.argsort(-np.abs(weights.to_numpy()), kind="stable")]


def _bars(ax: Any, pair: Pair, weights: pd.Series[Any], top: pd.Series[Any], longest: int) -> None:
    _title(ax, pair.name, pair.tested)
    if not len(top):
        say(ax, "no feature has weight")
        return
    y, values = np.arange(len(top)), top.to_numpy(dtype=float)
    ax.barh(y, values, height=0.72, color=[HIGHER if v > 0 else LOWER for v in values], lw=0)
    tidy(ax)
    ax.set_yticks(y, [shown(name) for name in top.index], fontsize=small())
    ax.set_ylim(longest - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.axvline(0, color=faint_color(), lw=0.8)
    reach = 1.05 * float(np.abs(values).max())
    ax.set_xlim(-reach if values.min() < 0 else 0, reach if values.max() > 0 else 0)
    ax.xaxis.set_major_locator(MaxNLocator(3))
    ax.xaxis.set_major_formatter(signed_number)
    ax.set_xlabel(_how_many(weights, top), fontsize=small())


def _how_many(weights: pd.Series[Any], top: pd.Series[Any]) -> str:
    if len(top) == len(weights):
        return f"weight, {len(weights):,} feature{'s' * (len(weights) != 1)}"
    share = float(np.square(top.to_numpy()).sum() / np.square(weights.to_numpy()).sum())
    # rounded down, or most would read as all
    return f"weight, {len(top):,} of {len(weights):,} features,\n{int(100 * share)} % of all squared weight"


def _path(ax: Any, pair: Pair, rows: pd.DataFrame) -> None:
    _title(ax, pair.name)
    if not len(rows):
        say(ax, "no path over numbers of features")
        return
    rows = rows.sort_values("k")
    k = rows["k"].to_numpy(dtype=float)
    inner, outer = PALETTE[0], PALETTE[1]
    ax.plot(k, rows["objective"], color=inner, lw=1.4, marker="o", ms=3.5)
    entries: list[tuple[Any, object]] = [(Line2D([], [], color=inner, marker="o", ms=3.5), "objective")]
    if rows["held_out"].notna().any():
        held, spread = (rows[c].to_numpy(dtype=float) for c in ("held_out", "held_out_sd"))
        ax.fill_between(k, held - spread, held + spread, color=outer, alpha=_veil(), lw=0)
        ax.plot(k, held, color=outer, lw=1.4, marker="o", ms=3.5)
        entries += [
            (Line2D([], [], color=outer, marker="o", ms=3.5), "held out"),
            (Patch(color=outer, alpha=_veil(), lw=0), "one sd of folds"),
        ]
    chosen = rows[rows["chosen"].astype(bool).to_numpy()]
    for _, row in chosen.iterrows():
        ax.axvline(row["k"], color=text_color(), lw=1.0, ls=(0, (4, 2)), zorder=0)
        number = int(row["k"])
        entries.append((Line2D([], [], color=text_color(), lw=1.0, ls=(0, (4, 2))), f"chosen: {number:,}"))
    ax.set_xscale("log")
    low, high = float(k.min()), float(k.max())
    ax.set_xlim(low / 1.12, high * 1.12)
    ax.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0) if high < 300 * low else (1.0,)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.set_ylim(bottom=min(0.0, float(np.nanmin(rows[["objective", "held_out"]].to_numpy(dtype=float)))))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.set_xlabel("number of features")
    ax.set_ylabel("divergence")
    tidy(ax)
    beside(ax, entries)


def _densities(ax: Any, pair: Pair, group: Floats, reference: Floats) -> None:
    _title(ax, pair.name, pair.tested)
    if not group.size or not reference.size:
        say(ax, "no observations on one side")
        return
    edges = _bins(group, reference)
    heights = [np.histogram(x, bins=edges, density=True)[0] for x in (group, reference)]
    highest = float(max(h.max() for h in heights))
    half = GAP * highest / 2
    for height, sign, color in zip(heights, (1, -1), (HIGHER, LOWER), strict=True):
        base = sign * half
        ax.stairs(base + sign * height, edges, baseline=base, fill=True, color=color, alpha=1.5 * _veil(), lw=0)
        ax.stairs(base + sign * height, edges, baseline=base, color=color, lw=1.2)
    for share, above, below in zip(
        QUANTILES, np.quantile(group, QUANTILES), np.quantile(reference, QUANTILES), strict=True
    ):
        median = np.isclose(share, 0.5)
        ax.plot(
            [above, below],
            [half, -half],
            color=text_color() if median else faint_color(0.6),
            lw=1.8 if median else 0.8,
            solid_capstyle="round",
        )
    tidy(ax)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_ylim(-highest - 1.3 * half, highest + 1.3 * half)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.set_xlabel(f"projection on {pair.n_features:,} feature{'s' * (pair.n_features != 1)}")
    beside(
        ax,
        [
            (Patch(facecolor=HIGHER, alpha=1.5 * _veil(), lw=0), pair.group),
            (Patch(facecolor=LOWER, alpha=1.5 * _veil(), lw=0), pair.reference),
            (Line2D([], [], color=faint_color(0.6), lw=0.8), "quantiles, 5–95 %"),
            (Line2D([], [], color=text_color(), lw=1.8), "median"),
        ],
    )


def _bins(group: Floats, reference: Floats) -> Floats:
    """Return bins for both, as wide as the narrower of the two needs."""
    both = np.concatenate([group, reference])
    low, high = float(both.min()), float(both.max())
    if high <= low:
        return np.linspace(low - 0.5, low + 0.5, FEWEST_BINS + 1)
    spreads = [float(np.subtract(*np.quantile(x, [0.75, 0.25]))) for x in (group, reference)]
    widths = [2 * s / x.size ** (1 / 3) for s, x in zip(spreads, (group, reference), strict=True) if s > 0]
    count = int(np.ceil((high - low) / min(widths))) if widths else FEWEST_BINS
    return np.linspace(low, high, min(max(count, FEWEST_BINS), MOST_BINS) + 1)
