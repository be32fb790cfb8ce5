"""Panels of one comparison of SPARDA or PDA: weights, path, distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from ..core.typing import Floats
from ._canvas import show_message, tidy
from ._style import (
    HIGHER_COLOR,
    LOWER_COLOR,
    PALETTE,
    Entry,
    area_alpha,
    faint_color,
    integer_tick,
    label_text,
    legend_right,
    medium,
    plural,
    signed_number,
    small,
    text_color,
)

#: quantiles that lines connect
QUANTILES = np.arange(0.05, 0.96, 0.05)
#: gap between the histograms relative to the height of the higher one
HISTOGRAM_GAP = 0.35
MIN_BINS, MAX_BINS = 12, 60
#: letters of a title that fit on one line
MAX_TITLE_LETTERS = 28
#: markers of curves, and opacities of areas on light and dark pages
CURVE_STYLE: dict[str, Any] = {"marker": "o", "ms": 3.5}
AREA_ALPHAS = (0.24, 0.42)


@dataclass(frozen=True, slots=True)
class SpardaComparison:
    """Summary of one projection between a group and its reference."""

    group: str
    reference: str
    projection: int
    n_features: int
    objective: float
    pval: float

    @property
    def title(self) -> str:
        """Both conditions, and the projection where it is not the first."""
        later = f" · projection {self.projection}" if self.projection > 1 else ""
        group, reference = label_text(self.group), label_text(self.reference) + later
        # a long title would extend beyond its panel
        return f"{group}{' ' if len(group) + len(reference) <= MAX_TITLE_LETTERS else chr(10)}vs {reference}"

    @property
    def tested(self) -> str:
        """Objective, and the p-value where there is one."""
        p = "" if np.isnan(self.pval) else f" · p = {self.pval:.2g}"
        return f"objective {self.objective:.3g}{p}"


def nonzero_weights(table: pd.DataFrame) -> pd.Series[Any]:
    """Weights that are not zero, the largest first."""
    weights = table["weight"]
    weights = weights[(weights.notna() & (weights != 0)).to_numpy()]
    return weights.iloc[np.argsort(-np.abs(weights.to_numpy()), kind="stable")]


def draw_weights(
    ax: Axes, compared: SpardaComparison, weights: pd.Series[Any], top: pd.Series[Any], longest: int
) -> None:
    """Draw the largest weights as bars; all panels have the height of `longest` rows."""
    _set_title(ax, compared.title, compared.tested)
    if not len(top):
        show_message(ax, "no feature has weight")
        return
    y, values = np.arange(len(top)), top.to_numpy(dtype=float)
    ax.barh(y, values, height=0.72, color=[HIGHER_COLOR if v > 0 else LOWER_COLOR for v in values], lw=0)
    tidy(ax)
    ax.set_yticks(y, [label_text(name) for name in top.index], fontsize=small())
    ax.set_ylim(longest - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.axvline(0, color=faint_color(), lw=0.8)
    reach = 1.05 * float(np.abs(values).max())
    ax.set_xlim(-reach if values.min() < 0 else 0, reach if values.max() > 0 else 0)
    ax.xaxis.set_major_locator(MaxNLocator(3))
    ax.xaxis.set_major_formatter(signed_number)
    ax.set_xlabel(_weight_label(weights, top), fontsize=small())


def _weight_label(weights: pd.Series[Any], top: pd.Series[Any]) -> str:
    if len(top) == len(weights):
        return f"weight, {plural(len(weights))}"
    share = float(np.square(top.to_numpy()).sum() / np.square(weights.to_numpy()).sum())
    # rounded down, or nearly all would read as all
    return f"weight, {len(top):,} of {plural(len(weights))},\n{int(100 * share)} % of the squared weight"


def draw_path(ax: Axes, compared: SpardaComparison, rows: pd.DataFrame) -> None:
    """Draw objective and held-out divergence against the number of features."""
    _set_title(ax, compared.title)
    if not len(rows):
        show_message(ax, "no path over numbers of features")
        return
    rows = rows.sort_values("k")
    k = rows["k"].to_numpy(dtype=float)
    entries = [*_draw_curves(ax, k, rows), *_mark_chosen(ax, rows)]
    ax.set_xscale("log")
    low, high = float(k.min()), float(k.max())
    ax.set_xlim(low / 1.12, high * 1.12)
    ax.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0) if high < 300 * low else (1.0,)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(integer_tick))
    ax.set_ylim(bottom=min(0.0, float(np.nanmin(rows[["objective", "held_out"]].to_numpy(dtype=float)))))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.set_xlabel("number of features")
    ax.set_ylabel("divergence")
    tidy(ax)
    legend_right(ax, entries)


def _draw_curves(ax: Axes, k: Floats, rows: pd.DataFrame) -> list[Entry]:
    inner, outer = PALETTE[0], PALETTE[1]
    ax.plot(k, rows["objective"], color=inner, lw=1.4, **CURVE_STYLE)
    entries: list[Entry] = [(Line2D([], [], color=inner, **CURVE_STYLE), "objective")]
    if rows["held_out"].notna().any():
        alpha = area_alpha(*AREA_ALPHAS)
        held_out, sd = (rows[c].to_numpy(dtype=float) for c in ("held_out", "held_out_sd"))
        ax.fill_between(k, held_out - sd, held_out + sd, color=outer, alpha=alpha, lw=0)
        ax.plot(k, held_out, color=outer, lw=1.4, **CURVE_STYLE)
        entries += [
            (Line2D([], [], color=outer, **CURVE_STYLE), "held out"),
            (Patch(color=outer, alpha=alpha, lw=0), "± 1 sd over folds"),
        ]
    return entries


def _mark_chosen(ax: Axes, rows: pd.DataFrame) -> list[Entry]:
    look: dict[str, Any] = {"color": text_color(), "lw": 1.0, "ls": (0, (4, 2))}
    chosen = [int(k) for k in rows.loc[rows["chosen"].astype(bool).to_numpy(), "k"]]
    for k in chosen:
        ax.axvline(k, zorder=0, **look)
    return [(Line2D([], [], **look), f"chosen: {k:,}") for k in chosen]


def draw_densities(ax: Axes, compared: SpardaComparison, group: Floats, reference: Floats) -> None:
    """Draw the histograms of both conditions, and lines between their quantiles."""
    _set_title(ax, compared.title, compared.tested)
    if not group.size or not reference.size:
        show_message(ax, "no observations on one side")
        return
    alpha = 1.5 * area_alpha(*AREA_ALPHAS)
    edges = _bins(group, reference)
    heights = [np.histogram(x, bins=edges, density=True)[0] for x in (group, reference)]
    highest = float(max(h.max() for h in heights))
    half = HISTOGRAM_GAP * highest / 2
    for height, sign, color in zip(heights, (1, -1), (HIGHER_COLOR, LOWER_COLOR), strict=True):
        base = sign * half
        ax.stairs(base + sign * height, edges, baseline=base, fill=True, color=color, alpha=alpha, lw=0)
        ax.stairs(base + sign * height, edges, baseline=base, color=color, lw=1.2)
    _connect_quantiles(ax, group, reference, half)
    tidy(ax)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_ylim(-highest - 1.3 * half, highest + 1.3 * half)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.set_xlabel(f"projection on {plural(compared.n_features)}")
    legend_right(
        ax,
        [
            (Patch(facecolor=HIGHER_COLOR, alpha=alpha, lw=0), compared.group),
            (Patch(facecolor=LOWER_COLOR, alpha=alpha, lw=0), compared.reference),
            (Line2D([], [], color=faint_color(0.6), lw=0.8), "quantiles, 5–95 %"),
            (Line2D([], [], color=text_color(), lw=1.8), "median"),
        ],
    )


def _connect_quantiles(ax: Axes, group: Floats, reference: Floats, half: float) -> None:
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


def _bins(group: Floats, reference: Floats) -> Floats:
    """Bins for both distributions, narrow enough for the narrower of the two (Freedman–Diaconis)."""
    both = np.concatenate([group, reference])
    low, high = float(both.min()), float(both.max())
    if high <= low:
        return np.linspace(low - 0.5, low + 0.5, MIN_BINS + 1)
    spreads = [float(np.subtract(*np.quantile(x, [0.75, 0.25]))) for x in (group, reference)]
    widths = [2 * s / x.size ** (1 / 3) for s, x in zip(spreads, (group, reference), strict=True) if s > 0]
    count = int(np.ceil((high - low) / min(widths))) if widths else MIN_BINS
    return np.linspace(low, high, min(max(count, MIN_BINS), MAX_BINS) + 1)


def _set_title(ax: Axes, *lines: str) -> None:
    ax.set_title("\n".join(lines), fontsize=medium(), loc="left")
