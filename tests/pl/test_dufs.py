from __future__ import annotations

import io

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import diffnb as dn
from diffnb.pl._dufs import DUFS_PANELS, SELECTED_COLOR

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def moons():
    adata = dn.datasets.two_moons(10)
    dn.tl.dufs(adata)
    return adata


def with_features(n, rng, n_features=7):
    x = rng.normal(size=(40, n))
    adata = dn.datasets.two_moons(n - 2, n_obs=40)
    adata.X = x
    dn.tl.dufs(adata, n_features=n_features, n_steps=5)
    return adata


@pytest.fixture(scope="module")
def odd_names():
    adata = dn.datasets.two_moons(15)
    odd = ["$x_1$", "a_b$", "_hidden", "two\nlines", r"\frac{", "100 %", "{}$^"]
    long = [f"extremely_long_name_of_one_feature_no_{i:04d}" for i in range(adata.n_vars)]
    adata.var_names = pd.Index([f"{odd[i % len(odd)]}{i}" if i % 2 else name for i, name in enumerate(long)])
    dn.tl.dufs(adata, n_steps=5)
    return adata


def test_all_panels_or_one_of_them(moons):
    assert isinstance(dn.pl.dufs(moons), Figure)
    assert [ax.get_ylabel() for ax in dn.pl.dufs(moons).axes] == ["gate", "loss", "share of open gates"]
    for panel in DUFS_PANELS:
        assert len(dn.pl.dufs(moons, panel=panel).axes) == 1
        _, ax = plt.subplots()
        assert dn.pl.dufs(moons, panel=panel, ax=ax) is ax


def test_gates_are_drawn_at_their_ranks_in_the_colour_of_the_selection(moons):
    ax = dn.pl.dufs(moons, panel="gates").axes[0]
    table = dn.get.dufs(moons)
    closed, opened = ax.lines[:2]
    np.testing.assert_array_equal(opened.get_xdata(), table.loc[table["selected"], "rank"].astype(int))
    np.testing.assert_array_equal(opened.get_ydata(), table.loc[table["selected"], "gate"])
    np.testing.assert_array_equal(closed.get_ydata(), table.loc[~table["selected"], "gate"])
    assert to_rgb(opened.get_color()) == to_rgb(SELECTED_COLOR)
    assert [t.get_text() for t in ax.get_xticklabels()] == list(table.index)
    assert "2 of 12 features" in ax.get_title(loc="left")


def test_curves_are_those_of_training(moons):
    training = dn.get.dufs_training(moons)
    for panel in ("loss", "open"):
        line = dn.pl.dufs(moons, panel=panel).axes[0].lines[0]
        np.testing.assert_array_equal(line.get_xdata(), training.index)
        np.testing.assert_array_equal(line.get_ydata(), training[panel])


@pytest.mark.parametrize(("n", "spacing"), [(60, "linear"), (400, "log")])
def test_many_features_are_numbered(n, spacing, rng):
    ax = dn.pl.dufs(with_features(n, rng), panel="gates").axes[0]
    assert ax.get_xlabel() == "rank"
    assert ax.get_xscale() == spacing


def test_excluded_features_are_not_drawn(rng):
    adata = dn.datasets.two_moons(10)
    dn.tl.dufs(adata, mask_var=np.arange(12) < 8, n_steps=3)
    ax = dn.pl.dufs(adata, panel="gates").axes[0]
    assert sum(len(line.get_xdata()) for line in ax.lines[:2]) == 8


def test_pixels_are_drawn_as_an_image(rng):
    adata = dn.datasets.two_moons(4)
    adata.var["row"], adata.var["col"] = np.divmod(np.arange(6), 3)
    dn.tl.dufs(adata, n_features=2, n_steps=3)
    assert dn.pl.feature_image(adata, "dufs").images[0].get_array().shape == (2, 3)
    gates = dn.pl.feature_image(adata, adata.varm["dufs"]["gate"])
    assert gates.images[0].get_array().shape == (2, 3)


def test_arguments_that_do_not_fit_are_explained(moons):
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match="ax takes one panel; choose with panel= one of 'gates'"):
        dn.pl.dufs(moons, ax=ax)
    with pytest.raises(ValueError, match="panel='gate' is not an option"):
        dn.pl.dufs(moons, panel="gate")
    with pytest.raises(KeyError, match=r"run dn\.tl\.dufs\(adata\) first"):
        dn.pl.dufs(dn.datasets.two_moons(2))


def test_names_stay_text_and_nothing_overlaps_or_is_cut(moons, odd_names, texts_of, overlaps):
    for adata in (moons, odd_names):
        figure = dn.pl.dufs(adata)
        figure.savefig(io.BytesIO(), format="svg")
        assert overlaps(texts_of(figure)) == []
        page = figure.bbox.padded(1)
        for text in texts_of(figure):
            box = mpl.text.Text.get_window_extent(text)
            assert page.x0 <= box.x0, text.get_text()
            assert box.x1 <= page.x1, text.get_text()
            assert page.y0 <= box.y0, text.get_text()
            assert box.y1 <= page.y1, text.get_text()


def test_text_is_legible_on_a_dark_page(moons, texts_of):
    with plt.style.context("dark_background"):
        figure = dn.pl.dufs(moons)
        page = np.array(to_rgb(figure.get_facecolor()))
        for text in texts_of(figure):
            assert np.abs(np.array(to_rgb(text.get_color())) - page).max() > 0.5, text.get_text()
