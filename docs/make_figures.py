"""Draw the pictures of the method pages: `python docs/make_figures.py [name …]` writes docs/images/*.svg.

Every picture but the first is drawn from what the package returns, or from tables that a benchmark wrote.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.patches import FancyBboxPatch
from scipy.spatial.distance import pdist, squareform
from scipy.stats import pearsonr

import diffnb as dn
from diffnb.core.disc import FeatureGraphOptions, feature_walks
from diffnb.core.spectral.eigen import complement, walk_eigenvectors
from diffnb.pl import _style
from diffnb.pl._read import group_colors

FOLDER = Path(__file__).resolve().parent
INK, FAINT = "#222222", "#8A8A8A"
BLUE, ORANGE, GREEN, PINK, GOLD = _style.PALETTE[:5]
LOOK = {
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.edgecolor": FAINT,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "legend.fontsize": 7,
    "svg.hashsalt": "diffnb",
}
INKS = LinearSegmentedColormap.from_list("inks", ["#FFFFFF", "#9CC3DE", "#1F6FA8", "#06263F"])


def save(figure, name):
    """Write a picture on white, the same bytes for the same picture."""
    figure.savefig(FOLDER / "images" / f"{name}.svg", facecolor="white", dpi=160, metadata={"Date": None})
    plt.close(figure)


def step(ax, number, title):
    """Say which step a panel shows."""
    ax.set_title(f"$\\bf{{{number}}}$   {title}", loc="left")


def bare(ax):
    """Keep the left and lower line only."""
    ax.spines[["top", "right"]].set_visible(False)


# ---- which method ----

#: text, place of its box, width; a method's box has the colour of its family
QUESTIONS = {
    "start": ("Are there conditions\nto compare?", 0.3, 3.3, 1.9),
    "together": ("One feature at a time,\nor features together?", 3.0, 4.75, 1.9),
    "what": ("Relations among features,\nor whole distributions?", 5.6, 3.85, 2.3),
    "without": ("About features,\nor about observations?", 3.0, 1.1, 1.9),
}
METHODS = {
    "scorecard": (
        "tl.scorecard",
        "how each feature differs: mean,\nspread, distribution, connectivity",
        9.1,
        5.6,
        GOLD,
    ),
    "disc": ("tl.disc", "groups that are connected in one\ncondition and not in the others", 9.1, 4.4, BLUE),
    "sparda": ("tl.sparda, tl.pda", "the few features along which two\npopulations differ most", 9.1, 3.2, ORANGE),
    "dufs": ("tl.dufs, tl.laplacian_score", "the features that carry the\nstructure of the data", 9.1, 1.7, GREEN),
    "informed": (
        "tl.informed_distance",
        "how far apart observations are when\nfeatures come in groups",
        9.1,
        0.5,
        PINK,
    ),
}
ARROWS = [
    ("start", "together", "yes"),
    ("start", "without", "no"),
    ("together", "scorecard", "one at a time"),
    ("together", "what", "together"),
    ("what", "disc", "relations"),
    ("what", "sparda", "distributions"),
    ("without", "dufs", "features"),
    ("without", "informed", "observations"),
]


def which_method():
    """Draw the way from a question to a method."""
    figure, ax = plt.subplots(figsize=(9.6, 4.9))
    figure.subplots_adjust(0.005, 0.01, 0.995, 0.99)
    ax.set(xlim=(0, 12.9), ylim=(-0.2, 6.4), xticks=[], yticks=[])
    ax.axis("off")
    height, places = 0.86, {}
    for name, (text, x, y, width) in QUESTIONS.items():
        box = FancyBboxPatch((x, y - height / 2), width, height, boxstyle="round,pad=0.02,rounding_size=0.14")
        ax.add_patch(box)
        box.set(facecolor="#F3F3F3", edgecolor="#BBBBBB", linewidth=0.8)
        ax.text(x + width / 2, y, text, ha="center", va="center", fontsize=8.5)
        places[name] = (x, x + width, y)
    for name, (call, text, x, y, color) in METHODS.items():
        width = 3.7
        box = FancyBboxPatch((x, y - 0.5), width, 1.0, boxstyle="round,pad=0.02,rounding_size=0.14")
        ax.add_patch(box)
        box.set(facecolor=mpl.colors.to_rgba(color, 0.13), edgecolor=color, linewidth=1.2)
        ax.text(x + 0.15, y + 0.26, call, va="center", fontsize=8.5, family="monospace", weight="bold")
        ax.text(x + 0.15, y - 0.17, text, va="center", fontsize=7.5, linespacing=1.15)
        places[name] = (x, x + width, y)
    for source, target, answer in ARROWS:
        begin, end = places[source][1] + 0.06, places[target][0] - 0.08
        y0, y1 = places[source][2], places[target][2]
        ax.annotate("", (end, y1), (begin, y0), arrowprops={"arrowstyle": "-|>", "color": FAINT, "lw": 1})
        ax.text(
            (begin + end) / 2,
            (y0 + y1) / 2,
            answer,
            ha="center",
            va="center",
            fontsize=7.5,
            style="italic",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2},
        )
    save(figure, "which_method")


# ---- DiSC ----


def walks_of(adata):
    """Random walks of both conditions and their leading eigenvectors, by the settings that `tl.disc` chose."""
    chosen = adata.uns["disc"]
    counts = tuple(int(n) for n in chosen["n_eigenvectors"])
    options = FeatureGraphOptions(kind=chosen["graph"], n_neighbors=int(chosen["n_neighbors"]))
    matrices = [adata.X[(adata.obs["condition"] == group).to_numpy()] for group in "AB"]
    walks = feature_walks(matrices, options).walks
    return walks, [walk_eigenvectors(w, n)[1] for w, n in zip(walks, counts, strict=True)]


def block_lines(ax, blocks):
    """Mark where one block of the truth ends and the next begins."""
    for edge in np.flatnonzero(blocks[1:] != blocks[:-1]) + 0.5:
        ax.axhline(edge, color="white", lw=0.4, alpha=0.6)
        ax.axvline(edge, color="white", lw=0.4, alpha=0.6)


def how_disc():
    """Draw the four steps of DiSC on the paper's first toy."""
    adata = dn.datasets.newly_connected()
    dn.tl.disc(adata, "condition", question="any difference")
    walks, spans = walks_of(adata)
    p = adata.n_vars
    transitions = [walk.step(np.eye(p)) for walk in walks]
    off = complement([spans[1]])
    left = off(transitions[0].T).T  # P Q, row by row: Q is symmetric
    x = np.arange(1, p + 1)

    figure = plt.figure(figsize=(9.6, 5.6))
    grid = figure.add_gridspec(
        2, 4, left=0.045, right=0.985, top=0.93, bottom=0.085, wspace=0.28, hspace=0.42, width_ratios=[1, 1, 1, 1.1]
    )
    norm = LogNorm(1e-4, max(t.max() for t in transitions))
    for i, group in enumerate("AB"):
        ax = figure.add_subplot(grid[i, 0])
        drawn = ax.imshow(np.maximum(transitions[i], 1e-4), cmap=INKS, norm=norm, interpolation="none")
        ax.set(xticks=[0, 99, 199], xticklabels=[1, 100, 200], yticks=[])
        ax.set_ylabel(f"features, condition {group}")
        step(ax, "1", "a graph, and a walk on it") if i == 0 else ax.set_xlabel("features")
    bar = figure.colorbar(drawn, cax=figure.add_axes((0.05, 0.515, 0.19, 0.012)), orientation="horizontal")
    bar.outline.set_visible(False)
    bar.set_label("probability of a step", labelpad=1, fontsize=7)
    bar.ax.tick_params(length=0, pad=1, labelsize=6.5)

    for i, group in enumerate("AB"):
        ax = figure.add_subplot(grid[i, 1])
        for rank in range(1, 5):
            vector = spans[i][:, rank]
            ax.plot(x, vector / np.abs(vector).max() + 2.3 * (4 - rank), lw=0.8, color=INK if i == 0 else ORANGE)
            ax.axhline(2.3 * (4 - rank), color="#DDDDDD", lw=0.5, zorder=0)
        ax.set(yticks=[2.3 * k for k in range(4)], yticklabels=[5, 4, 3, 2], xticks=[1, 100, 200])
        ax.set_ylabel(f"eigenvector, condition {group}")
        bare(ax)
        step(ax, "2", "slow modes of the walk") if i == 0 else ax.set_xlabel("feature")

    reach = np.abs(left).max()
    for i, (values, title) in enumerate(
        [(transitions[0] - transitions[0].mean(), "walk of A, before"), (left, "after: what B has is gone")]
    ):
        ax = figure.add_subplot(grid[i, 2])
        ax.imshow(values, cmap=_style.diverging(), vmin=-0.6 * reach, vmax=0.6 * reach, interpolation="none")
        ax.set(xticks=[0, 99, 199], xticklabels=[1, 100, 200], yticks=[], ylabel=title)
        step(ax, "3", "project the other off") if i == 0 else ax.set_xlabel("features")

    table, colors = dn.get.disc(adata, group="A"), group_colors(adata, "disc")
    groups = table["feature_group"].astype(str).to_numpy()
    ax = figure.add_subplot(grid[0, 3])
    for i in range(2):
        values = table[f"vector_{i + 1}"].to_numpy()
        values = values / np.abs(values).max() + 2.4 * (1 - i)
        ax.axhline(2.4 * (1 - i), color="#DDDDDD", lw=0.5, zorder=0)
        for name in dict.fromkeys(["background", *sorted(set(groups))]):
            ax.scatter(x[groups == name], values[groups == name], s=4, lw=0, color=colors[name])
    for name in sorted(set(groups) - {"background"}):
        ax.text(np.median(x[groups == name]), 3.75, name, color=colors[name], ha="center", weight="bold", fontsize=7.5)
    ax.set(yticks=[2.4, 0], yticklabels=["v₁", "v₂"], xticks=[1, 100, 200], ylim=(-1.3, 4.1), xlabel="feature")
    bare(ax)
    step(ax, "4", "differential vectors of A")

    ax = figure.add_subplot(grid[1, 3])
    significance = dn.get.disc_significance(adata)
    for group, color in zip("AB", (BLUE, ORANGE), strict=True):
        part = significance[significance["group"] == group]
        ax.plot(part["component"], part["sigma"], "o-", ms=3.5, lw=0.8, color=color, label=f"condition {group}")
    ax.set(xlabel="vector", ylabel="σ", xticks=range(1, 11, 3), ylim=(0, None), title="how strongly they hold")
    ax.legend(frameon=False)
    bare(ax)
    save(figure, "how_disc")


# ---- SPARDA ----


def how_sparda():
    """Draw a difference that no single feature shows."""
    adata = dn.datasets.nuisance_factor()
    adata.var_names = [name.removeprefix("feature_").lstrip("0") for name in adata.var_names]
    dn.tl.sparda(adata, "condition")
    weights = dn.get.sparda(adata)
    first = adata.var_names.get_loc(weights.index[0])

    figure, axes = plt.subplots(1, 4, figsize=(9.6, 2.75), width_ratios=[1, 1.25, 0.9, 1.1])
    figure.subplots_adjust(0.02, 0.17, 0.985, 0.87, wspace=0.34)
    bins = np.linspace(-4, 4, 33)
    for group, color in zip("AB", (BLUE, ORANGE), strict=True):
        values = np.asarray(adata.X[(adata.obs["condition"] == group).to_numpy(), first])
        axes[0].hist(values, bins, density=True, histtype="step", color=color, lw=1.2, label=f"condition {group}")
    axes[0].set(yticks=[], xlabel=f"feature {weights.index[0]}", ylim=(0, 0.66))
    axes[0].legend(frameon=False, loc="upper right", borderaxespad=0)
    step(axes[0], "1", "one feature: alike")
    dn.pl.sparda_projection(adata, ax=axes[1])
    step(axes[1], "2", "along β: not alike")
    dn.pl.sparda(adata, ax=axes[2])
    axes[2].set_ylabel("feature")
    step(axes[2], "3", "the weights of β")
    dn.pl.sparda_path(adata, ax=axes[3])
    step(axes[3], "4", "how many features")
    for ax in axes[1:]:
        if ax.get_legend():
            ax.get_legend().remove()
    axes[3].text(60, 2.12, "fitted", color=BLUE, ha="right")
    axes[3].text(45, 0.62, "held out", color=ORANGE, ha="left")
    for ax in axes:
        bare(ax)
    save(figure, "how_sparda")


# ---- DUFS ----


def kernel(values, scale):
    """Graph of observations by the width rule of DUFS: `scale` × median squared distance to the second nearest."""
    squared = squareform(pdist(values, "sqeuclidean"))
    weights = np.exp(-squared / (scale * np.median(np.sort(squared, axis=1)[:, 1])))
    np.fill_diagonal(weights, 0)
    return weights


def how_dufs():
    """Draw two moons among nuisance features."""
    adata = dn.datasets.two_moons(10)
    dn.tl.dufs(adata)
    gates = dn.get.dufs(adata)
    true = adata.var["truth"].to_numpy().astype(bool)
    moon = adata.obs["moon"].cat.codes.to_numpy()
    values = (adata.X - adata.X.mean(0)) / adata.X.std(0)
    open_ = values * gates.loc[adata.var_names, "gate"].to_numpy()
    scale = float(adata.uns["dufs"]["scale"])

    figure, axes = plt.subplots(1, 5, figsize=(9.6, 2.4), width_ratios=[1, 1, 0.85, 1, 1])
    figure.subplots_adjust(0.015, 0.17, 0.99, 0.86, wspace=0.3)
    axes[2].set_position(axes[2].get_position().translated(0.02, 0).shrunk(0.9, 1))
    colors = np.array([BLUE, ORANGE])[moon]
    axes[0].scatter(*values[:, np.flatnonzero(true)[:2]].T, s=7, color=colors, lw=0)
    axes[0].set(xlabel="two features carry it")
    step(axes[0], "1", "structure …")
    axes[1].scatter(*values[:, np.flatnonzero(~true)[:2]].T, s=7, color=colors, lw=0)
    axes[1].set(xlabel="ten do not")
    step(axes[1], "", "… among nuisance")
    for ax in axes[:2]:
        ax.set(xticks=[], yticks=[])
    names = [name.replace("_", " ") for name in gates.index]
    axes[2].barh(range(len(gates)), gates["gate"], color=np.where(gates["selected"], GREEN, "#BBBBBB"))
    axes[2].set(yticks=range(len(gates)), yticklabels=names, xlim=(0, 1), xlabel="gate")
    axes[2].invert_yaxis()
    axes[2].tick_params(axis="y", length=0, labelsize=6.5)
    bare(axes[2])
    step(axes[2], "2", "gates, trained")
    order = np.lexsort((values[:, np.flatnonzero(true)[0]], moon))
    for ax, shown, title in [(axes[3], values, "graph, all features"), (axes[4], open_, "graph, gated")]:
        weights = kernel(shown, scale)[np.ix_(order, order)]
        ax.imshow(weights / weights.max(), cmap=INKS, interpolation="none")
        ax.set(xticks=[], yticks=[], xlabel="observations, moon by moon")
        step(ax, "3" if ax is axes[3] else "4", title)
    save(figure, "how_dufs")


# ---- informed distance ----


def how_informed():
    """Draw clusters of features, the directions they give, and what becomes of distances."""
    adata = dn.datasets.curved_square(noise=1.0)
    hidden = pdist(adata.obsm["hidden"])
    dn.tl.informed_distance(adata, local=True, n_neighbors=20, full=True)
    informed = squareform(np.asarray(dn.get.informed_distances(adata)), checks=False)
    euclidean = pdist(adata.X)
    near = hidden <= np.quantile(hidden, 0.1)

    figure, axes = plt.subplots(1, 4, figsize=(9.6, 2.75), width_ratios=[1, 1.2, 1.1, 1.1])
    figure.subplots_adjust(0.035, 0.17, 0.985, 0.85, wspace=0.36)
    ax = axes[0]
    points = adata.obsm["hidden"]
    ax.scatter(*points.T, s=5, c=points[:, 0], cmap="viridis", lw=0)
    ax.set(xticks=[], yticks=[], aspect="equal", xlabel="500 points of a square")
    step(ax, "1", "what is hidden")
    ax = axes[1]
    clusters = dn.get.informed_clusters(adata)["cluster"].to_numpy()
    order = np.argsort(clusters, kind="stable")
    correlation = np.corrcoef(np.asarray(adata.X)[:, order], rowvar=False)
    ax.imshow(correlation, cmap=_style.diverging(), vmin=-1, vmax=1, interpolation="none")
    ax.set(xticks=[], yticks=[], xlabel=f"300 features, in the {len(set(clusters))} clusters found")
    step(ax, "2", "features come in clusters")
    shown = np.random.default_rng(0).choice(np.flatnonzero(near), 2500, replace=False)
    for ax, values, color, name in [
        (axes[2], euclidean, FAINT, "Euclidean"),
        (axes[3], informed, PINK, "informed, local"),
    ]:
        r = pearsonr(hidden[near], values[near])[0]
        ax.scatter(hidden[shown], values[shown], s=2, color=color, lw=0, rasterized=True)
        ax.set(xlabel="hidden distance, nearest tenth", ylabel=f"{name} distance", ylim=(0, None), xlim=(0, None))
        ax.text(
            0.04,
            0.5 if ax is axes[2] else 0.94,
            f"r = {r:.2f}",
            transform=ax.transAxes,
            va="top",
            weight="bold",
            bbox={"fc": "white", "ec": "none", "pad": 1},
        )
        bare(ax)
        step(ax, "3" if ax is axes[2] else "4", "before" if ax is axes[2] else "after")
    save(figure, "how_informed")


# ---- the sweep ----


def tables(text):
    """Return the grids of docs/validation/defaults.md: (graph, d) → (names of data, values of k, AUROC, ARI)."""
    found = {}
    for graph, d, body in re.findall(
        r"\*\*(\w+) graph, n_eigenvectors=(\d+):.*?\*\*\n\n(.*?)(?=\n\n|\n<!)", text, re.DOTALL
    ):
        head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines()]
        pairs = np.array([[cell.split(" / ") for cell in row[1:]] for row in rows], dtype=float)
        found[graph, int(d)] = (
            [row[0] for row in rows],
            [k.removeprefix("k=") for k in head[1:]],
            *np.moveaxis(pairs, 2, 0),
        )
    return found


def sweep():
    """Draw the sweep over graph, k and d that docs/validation/defaults.md tabulates."""
    grids = tables((FOLDER / "validation" / "defaults.md").read_text(encoding="utf-8"))
    figure, axes = plt.subplots(2, 4, figsize=(9.6, 4.9), sharex=True, sharey=True)
    figure.subplots_adjust(0.215, 0.1, 0.93, 0.88, wspace=0.06, hspace=0.2)
    for column, (graph, d) in enumerate(grids):
        names, ks, *measures = grids[graph, d]
        for row, (values, measure) in enumerate(zip(measures, ("AUROC", "ARI"), strict=True)):
            ax = axes[row, column]
            drawn = ax.imshow(values, cmap=INKS, vmin=0, vmax=1, aspect="auto")
            for (i, j), value in np.ndenumerate(values):
                ax.text(
                    j,
                    i,
                    f"{value:.2f}".lstrip("0"),
                    ha="center",
                    va="center",
                    fontsize=6.5,
                    color="white" if value > 0.55 else INK,
                )
            ax.set(xticks=range(len(ks)), xticklabels=ks, yticks=range(len(names)), yticklabels=names)
            ax.tick_params(length=0)
            ax.spines[:].set_visible(False)
            if row == 0:
                ax.set_title(f"{'nearest neighbours' if graph == 'knn' else graph}, d = {d}")
            else:
                ax.set_xlabel("k")
            if column == 0:
                ax.set_ylabel(f"worst {measure}", weight="bold", labelpad=8)
    bar = figure.colorbar(drawn, cax=figure.add_axes((0.945, 0.3, 0.012, 0.4)))
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    save(figure, "sweep")


FIGURES = {f.__name__: f for f in (which_method, how_disc, how_sparda, how_dufs, how_informed, sweep)}


def main(names):
    """Draw the named pictures, all by default."""
    with plt.rc_context(LOOK):
        for name in names or FIGURES:
            FIGURES[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
