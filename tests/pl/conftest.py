from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")

import anndata as ad
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

import diffnb as dn


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="package")
def toy():
    """Two conditions, 250 features, tested, with stability and diffusion maps."""
    adata = dn.datasets.newly_connected(n_obs=200)
    dn.tl.disc(adata, "condition", n_components=4, n_permutations=29, n_bootstraps=3, n_jobs=1)
    dn.tl.disc(adata, "condition", n_components=3, key_added="untested")
    dn.tl.feature_diffmap(adata, "condition", n_components=3)
    return adata


@pytest.fixture(scope="package")
def three():
    adata = dn.datasets.three_conditions(n_obs=150)
    dn.tl.disc(adata, "condition", n_components=4)
    return adata


@pytest.fixture(scope="package")
def pixels():
    """An image without one of its corners."""
    adata = dn.datasets.hyperspectral_tarp(size=20, n_bands=40)
    adata = adata[:, ~((adata.var["row"] < 4) & (adata.var["col"] < 5))].copy()
    dn.tl.disc(adata, "condition", n_components=3)
    return adata


@pytest.fixture(scope="package")
def parcels():
    adata = dn.datasets.nback_fmri(n_subjects=1, n_blocks=1)
    # frames of a single subject; factors that both of its blocks share make no group any more
    with pytest.warns(UserWarning, match="neighbouring rows are alike"):
        dn.tl.disc(adata, "condition", n_components=3)
    return adata


@pytest.fixture(scope="package")
def hostile():
    """Names that are long, look like mathematics, begin with an underscore or break lines."""
    adata = dn.datasets.newly_connected(n_obs=100)
    odd = ["$x_1$", "a_b$", "_hidden", "two\nlines", r"\frac{", "100 %", "{}$^"]
    long = [f"extremely_long_name_of_one_feature_no_{i:04d}" for i in range(adata.n_vars)]
    adata.var_names = pd.Index([f"{odd[i % len(odd)]}{i}" if i % 2 else name for i, name in enumerate(long)])
    adata.obs["condition"] = adata.obs["condition"].cat.rename_categories(
        {"A": "_$\\alpha$ and b$", "B": "stimulated for a very long time with 20 µM of it"}
    )
    dn.tl.disc(adata, "condition", n_components=3, n_clusters=3)
    dn.tl.feature_diffmap(adata, "condition", n_components=2)
    return adata


@pytest.fixture
def texts_of(monkeypatch):
    """Texts that a figure draws: titles, labels, legends and visible ticks."""

    def find(figure):
        drawn, usual = [], Text.draw

        def note(text, renderer):
            if text.get_visible() and text.get_text().strip():
                drawn.append(text)
            usual(text, renderer)

        with monkeypatch.context() as patch:
            patch.setattr(Text, "draw", note)
            figure.canvas.draw()
        return list(dict.fromkeys(drawn))

    return find


@pytest.fixture
def overlaps():
    """Pairs of texts that overlap."""

    def find(texts):
        # half a pixel is rounding, not overlap
        boxes = [Text.get_window_extent(t).padded(-0.5) for t in texts]
        return [
            (texts[i].get_text(), texts[j].get_text())
            for i in range(len(boxes))
            for j in range(i)
            if boxes[i].overlaps(boxes[j])
        ]

    return find


@pytest.fixture(scope="package")
def wide():
    """Results of 30,000 features in the form that `tl.disc` stores, copied from those of 250."""
    small = dn.datasets.newly_connected(n_obs=20)
    dn.tl.disc(small, "condition", n_components=2, n_clusters=3)
    table, n = small.varm["disc"], 30_000
    copies = np.resize(np.arange(250), n)
    names = [f"feature_{i}" for i in range(n)]
    adata = ad.AnnData(np.resize(small.X, (small.n_obs, n)), obs=small.obs, var=small.var.iloc[copies].set_axis(names))
    adata.varm["disc"] = table.iloc[copies].set_axis(names)
    adata.uns["disc"] = small.uns["disc"]
    return adata
