"""Draw every function of `pl` on data that suits it: python docs/make_figure_sheets.py [folder] [function …].

`python docs/make_figure_sheets.py gallery [function …]` writes the small pictures of docs/reference/figures.md instead.

Each is drawn at its usual width, at that of a column of a journal, and so on a dark page. The folder (build/figures by
default) gets a picture of each, sheets that show all of them, and SVG and PDF files whose text is text.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import anndata as ad
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

import diffnb as dn

ROOT = Path(__file__).resolve().parents[1]
COLUMN_INCHES = 3.5
DPI = 100
#: width in inches and style of the page of every variant
VARIANTS: dict[str, tuple[float | None, str]] = {
    "usual": (None, "default"),
    "column": (COLUMN_INCHES, "default"),
    "dark": (COLUMN_INCHES, "dark_background"),
}
SHEET_PIXELS = (2400, 1800)
GAP, PAPER = 16, "#888888"
THUMBNAIL_PIXELS = (420, 340)


@cache
def cells() -> ad.AnnData:
    """Return cells of eight donors with the results of every method that compares two conditions."""
    adata = dn.datasets.scrna(n_cells=300, n_genes=400, n_donors=8, n_mean=40, n_spread=40, module_size=30)
    adata = adata[:, adata.X.getnnz(axis=0) >= 40].copy()
    dn.tl.scorecard(adata, "condition", sample_key="donor")
    dn.tl.disc(adata, "condition", n_permutations=29, n_bootstraps=3)
    dn.tl.sparda(adata, "condition", n_permutations=9)
    dn.tl.meta_features(adata)
    dn.tl.feature_diffmap(adata, "condition")
    found = [str(name) for name in dn.get.gene_sets(adata)["stimulated1"]]
    sets = {"interferon response": found[:20], "antigen presentation": found[14:24], "cell adhesion": found[:3]}
    others = list(adata.var_names.difference(found))
    padded = {name: [*own, *others[20 * i : 20 * i + 12]] for i, (name, own) in enumerate(sets.items())}
    dn.tl.enrich(adata, padded | {f"pathway {i}": [found[i], *others[30 * i : 30 * i + 25]] for i in range(1, 6)})
    dn.tl.power(adata, "condition", n_units=[20, 50, 100], n_simulations=5)
    return adata


@cache
def replicated() -> ad.AnnData:
    """Return data in which the groups of other data are looked for."""
    reference, query = (dn.datasets.newly_connected(n_obs=200, random_state=i) for i in range(2))
    dn.tl.disc(reference, "condition")
    dn.tl.preservation(reference, query, n_permutations=99)
    return query


@cache
def three() -> ad.AnnData:
    """Return three conditions, each with groups of its own."""
    adata = dn.datasets.three_conditions(n_obs=150)
    dn.tl.scorecard(adata, "condition")
    dn.tl.disc(adata, "condition", n_permutations=19)
    dn.tl.feature_diffmap(adata, "condition")
    return adata


@cache
def doses() -> ad.AnnData:
    """Return features of which some follow a dose."""
    adata = dn.datasets.newly_connected(n_obs=150)[:, :20].copy()
    dose = np.resize([0.0, 1.0, 5.0, 20.0], adata.n_obs)
    adata.X = np.array(adata.X)
    adata.X[:, :4] += 0.1 * dose[:, None] * [1, -1, 0.5, 2]
    adata.obs["dose"] = dose
    dn.tl.scorecard(adata, "dose", trend=True)
    return adata


@cache
def pixels() -> ad.AnnData:
    """Return an image in which a tarp appears."""
    adata = dn.datasets.hyperspectral_tarp(size=30, n_bands=60)
    dn.tl.disc(adata, "condition", n_components=3)
    return adata


@cache
def parcels() -> ad.AnnData:
    """Return frames of a brain in two tasks."""
    adata = dn.datasets.nback_fmri(n_subjects=6)
    dn.tl.disc(adata, "condition", sample_key="subject", n_components=3)
    return adata


@cache
def types() -> ad.AnnData:
    """Return two types of observations with informed distances, and how long they survive."""
    adata = dn.datasets.two_types(n_obs=120)
    dn.tl.informed_distance(adata)
    rng = np.random.default_rng(0)
    late = (adata.obs["condition"] == adata.obs["condition"].iloc[0]).to_numpy()
    adata.obs["time"] = rng.exponential(np.where(late, 60.0, 25.0)).round(1) + 0.1
    adata.obs["event"] = rng.random(adata.n_obs) < 0.8
    dn.tl.survival(adata, "condition")
    return adata


@cache
def moons() -> ad.AnnData:
    """Return two moons among features that mean nothing, with open gates."""
    adata = dn.datasets.two_moons()
    dn.tl.dufs(adata, n_steps=300)
    return adata


#: the data of every figure and what it is asked for; figures of `cells` without options are not listed
WANTED: dict[str, list[tuple[Callable[[], ad.AnnData], dict[str, object]]]] = {
    "disc_embedding": [(cells, {}), (three, {})],
    "disc_features": [(cells, {}), (three, {})],
    "disc_graph": [(cells, {}), (three, {})],
    "disc_significance": [(cells, {}), (three, {})],
    "disc_vectors": [(cells, {}), (three, {})],
    "dufs": [(moons, {})],
    "feature_brain": [(parcels, {"values": "network"}), (parcels, {"values": "vector_1", "group": "2-back"})],
    "feature_diffmap": [(cells, {}), (three, {})],
    "feature_image": [(pixels, {"values": "material"}), (pixels, {"values": "vector_1", "group": "oct-change"})],
    "informed_covariance": [(types, {})],
    "informed_embedding": [(types, {"color": "condition"})],
    "informed_gap": [(types, {})],
    "preservation": [(replicated, {})],
    "scorecard": [(cells, {}), (three, {})],
    "survival": [(types, {})],
    "trend": [(doses, {})],
    "volcano": [(cells, {}), (cells, {"effect": "spread"})],
}


def draw(name: str, adata: ad.AnnData, **options: object) -> Figure:
    """Draw one figure."""
    drawn = getattr(dn.pl, name)(adata, **options)
    return drawn.figure if isinstance(drawn, Axes) else drawn


def pictures(names: list[str], folder: Path, variant: str) -> Iterator[Path]:
    """Draw figures in one of the variants; return their files."""
    width, style = VARIANTS[variant]
    for name in names:
        for i, (data, needed) in enumerate(WANTED.get(name, [(cells, {})])):
            adata, path = data(), folder / f"{name}-{i}-{variant}.png"
            with plt.style.context(style), mpl.rc_context({"svg.fonttype": "none", "pdf.fonttype": 42}):
                figure = draw(name, adata, width=width, **needed)
                figure.savefig(path, dpi=DPI)  # the page as it is: what leaves it must be seen to be cut off
                if variant == "column":
                    figure.savefig(path.with_suffix(".svg"))
                    figure.savefig(path.with_suffix(".pdf"))
            plt.close("all")
            yield path


def sheets(paths: Iterable[Path], stem: Path) -> None:
    """Write pictures side by side, row by row, on as many sheets as they need."""
    sheet, number, x, y, row = Image.new("RGB", SHEET_PIXELS, PAPER), 1, GAP, GAP, 0
    for path in paths:
        with Image.open(path) as opened:
            picture = opened.convert("RGB")
        if x > GAP and x + picture.width > SHEET_PIXELS[0]:
            x, y, row = GAP, y + row + GAP, 0
        if y > GAP and y + picture.height > SHEET_PIXELS[1]:
            sheet.save(f"{stem}-{number}.png")
            sheet, number, x, y, row = Image.new("RGB", SHEET_PIXELS, PAPER), number + 1, GAP, GAP, 0
        sheet.paste(picture, (x, y))
        x, row = x + picture.width + GAP, max(row, picture.height)
    sheet.save(f"{stem}-{number}.png")


def thumbnails(paths: Iterable[Path]) -> None:
    """Write the first picture of every function, made small, into the images of the docs."""
    for path in paths:
        name, number, _ = path.stem.split("-")
        if number != "0":
            continue
        with Image.open(path) as opened:
            picture = opened.convert("RGB")
        picture.thumbnail(THUMBNAIL_PIXELS, Image.Resampling.LANCZOS)
        target = ROOT / "docs" / "images" / f"pl_{name}.png"
        picture.quantize(64, dither=Image.Dither.NONE).save(target, optimize=True)


def main(arguments: list[str]) -> None:
    """Draw all functions, or those that are named."""
    names = [a for a in arguments if a in dn.pl.__all__] or list(dn.pl.__all__)
    if "gallery" in arguments:
        with tempfile.TemporaryDirectory() as place:
            thumbnails(pictures(names, Path(place), "usual"))
        return
    warnings.simplefilter("ignore", UserWarning)
    folder = Path(next((a for a in arguments if a not in dn.pl.__all__), ROOT / "build" / "figures"))
    folder.mkdir(parents=True, exist_ok=True)
    for variant in VARIANTS:
        sheets(pictures(names, folder, variant), folder / f"sheet-{variant}")
    print(f"drawn into {folder}")


if __name__ == "__main__":
    main(sys.argv[1:])
