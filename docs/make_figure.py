"""Draw the picture of the README: `python docs/make_figure.py` writes docs/overview.png."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import diffnb as dn
from diffnb.get._conditions import disc_conditions
from diffnb.pl import _style
from diffnb.pl._read import group_colors

WIDTH, HEIGHT, DPI = 1600, 500, 160
INK = "#222222"
LOOK = {
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
}
#: top and bottom of all panels, so that they line up
TOP, BOTTOM = 0.8, 0.2


def correlations(ax, adata, group):
    """Draw the correlations of one condition, features in their own order."""
    values = np.asarray(adata.X[(adata.obs["condition"] == group).to_numpy()], dtype=float)
    drawn = ax.imshow(np.corrcoef(values, rowvar=False), cmap=_style.diverging(), vmin=-1, vmax=1)
    ax.set(title=f"condition {group}", xticks=[], yticks=[])
    ax.spines[:].set(color="#BBBBBB", lw=0.5)
    return drawn


def draw_correlations(part, adata):
    """Draw both conditions and a colour bar."""
    axes = part.subplots(1, 2, gridspec_kw={"left": 0.05, "right": 0.95, "bottom": BOTTOM, "top": TOP, "wspace": 0.1})
    drawn = [correlations(ax, adata, group) for ax, group in zip(axes, "AB", strict=True)]
    bar = part.colorbar(
        drawn[0], cax=part.add_axes((0.44, 0.105, 0.3, 0.025)), orientation="horizontal", ticks=[-1, 0, 1]
    )
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, pad=2)
    part.text(0.42, 0.117, "correlation of features", ha="right", va="center")


def vectors(axes, condition, colors):
    """Draw the two leading vectors of one condition, coloured by feature group."""
    table = condition.table
    values, groups = table[["vector_1", "vector_2"]].to_numpy(), table["feature_group"].astype(str).to_numpy()
    x, reach = np.arange(1, len(values) + 1), 1.35 * np.abs(values).max()
    for i, ax in enumerate(axes):
        ax.plot(x, values[:, i], color="#DADADA", lw=0.6, zorder=1)
        for name in ["background", *condition.groups]:
            chosen = groups == name
            ax.scatter(x[chosen], values[chosen, i], s=4, color=colors[name], lw=0, zorder=2)
            if i == 0 and name != "background":
                y = values[chosen, 0]
                edge = y.max() + 0.15 * reach if y.mean() > 0 else y.min() - 0.15 * reach
                ax.text(
                    np.median(x[chosen]),
                    edge,
                    name,
                    ha="center",
                    va="center",
                    color=colors[name],
                    weight="bold",
                )
        ax.axhline(0, color="#999999", lw=0.5, zorder=0)
        ax.set(
            xlim=(0, len(values) + 1),
            ylim=(-reach, reach),
            yticks=[],
            xticks=[1, 125, 250],
            ylabel=f"vector {i + 1}",
        )
        ax.tick_params(axis="x", length=0, labelbottom=i == 1)
        ax.spines[["top", "right", "bottom"]].set_visible(False)
    axes[0].set_title(f"in {condition.name}, not in the other")
    axes[1].set_xlabel("feature")


def draw_vectors(part, adata):
    """Draw the vectors of both conditions."""
    place = {"left": 0.07, "right": 0.97, "bottom": BOTTOM, "top": TOP, "wspace": 0.18, "hspace": 0.08}
    axes = part.subplots(2, 2, gridspec_kw=place)
    colors = group_colors(adata, "disc")
    for column, condition in zip(axes.T, disc_conditions(adata, None, "disc"), strict=True):
        vectors(column, condition, colors)


def draw_significance(part, adata):
    """Draw σ and its permutations."""
    ax = part.subplots(gridspec_kw={"left": 0.17, "right": 0.96, "bottom": BOTTOM, "top": TOP})
    dn.pl.disc_significance(adata, ax=ax)
    ax.get_legend().remove()
    for line in ax.lines:
        line.set_markersize(4)
    ax.set_title("99 permutations of the labels")
    colors = _style.colors_of(["A", "B"])
    entries = [(_style.dot(colors[name], size=4), f"condition {name}") for name in "AB"]
    entries.append((plt.Rectangle((0, 0), 1, 1, color=INK, alpha=0.2, lw=0), "permutations, 50–95 %"))
    _style.legend(ax, entries, loc="upper right", borderaxespad=0)


def main():
    """Compute as the paper does, draw, save with few colours."""
    adata = dn.datasets.newly_connected()
    dn.tl.disc(adata, "condition", question="any difference", n_permutations=99)
    with plt.rc_context(LOOK):
        figure = plt.figure(figsize=(WIDTH / DPI, HEIGHT / DPI))
        left, middle, right = figure.subfigures(1, 3, width_ratios=[1.32, 1.25, 0.85])
        draw_correlations(left, adata)
        draw_vectors(middle, adata)
        draw_significance(right, adata)
        headings = (
            "1   Two conditions, the same features",
            "2   What is connected in only one of them",
            "3   Is it more than chance?",
        )
        for part, heading in zip((left, middle, right), headings, strict=True):
            part.suptitle(heading, x=0.05, ha="left", y=0.97, fontsize=9.5, fontweight="bold")
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=DPI, facecolor="white")
    image = Image.open(drawn).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    image.save(Path(__file__).with_name("overview.png"), optimize=True)


if __name__ == "__main__":
    main()
