from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import diffnb as dn

pytestmark = pytest.mark.slow


def plain(adata, values):
    image = np.full(tuple(adata.uns["features"]["shape"]), np.nan)
    for row, col, value in zip(adata.var["row"], adata.var["col"], values, strict=True):
        image[row, col] = value
    return image


def shown_in(ax):
    return np.ma.filled(ax.images[0].get_array().astype(float), np.nan)


@pytest.mark.parametrize("column", ["vector_1", "vector_3", "score"])
def test_values_are_drawn_at_their_pixels(pixels, column):
    ax = dn.pl.feature_image(pixels, column, group="oct-change")
    expected = plain(pixels, dn.get.disc(pixels, group="oct-change")[column])
    np.testing.assert_array_equal(shown_in(ax), expected)
    assert np.isnan(expected[:4, :5]).all()


def test_arrays_and_columns_of_var_are_drawn(pixels):
    values = np.arange(pixels.n_vars, dtype=float)
    np.testing.assert_array_equal(shown_in(dn.pl.feature_image(pixels, values)), plain(pixels, values))
    np.testing.assert_array_equal(shown_in(dn.pl.feature_image(pixels, pd.Series(values))), plain(pixels, values))
    np.testing.assert_array_equal(shown_in(dn.pl.feature_image(pixels, "row")), plain(pixels, pixels.var["row"]))


def test_categories_have_a_colour_and_an_entry_each(pixels):
    ax = dn.pl.feature_image(pixels, "material")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == list(pixels.var["material"].cat.categories)
    np.testing.assert_array_equal(shown_in(ax), plain(pixels, pixels.var["material"].cat.codes))
    assert len(pixels.var["material"].cat.categories) == ax.images[0].cmap.N


def test_truth_and_strings_are_categories(pixels):
    for values in (pixels.var["row"] > 5, np.where(pixels.var["row"] > 5, "low", "high")):
        assert len(dn.pl.feature_image(pixels, values).get_legend().get_texts()) == 2


def test_the_background_comes_last_in_the_legend(pixels):
    legend = dn.pl.feature_image(pixels, "feature_group", group="oct-change").get_legend()
    assert legend.get_texts()[-1].get_text() == "background"


def test_missing_pixels_are_transparent(pixels):
    for values in ("material", "row"):
        ax = dn.pl.feature_image(pixels, values)
        image = ax.images[0]
        assert image.to_rgba(image.get_array())[0, 0, 3] == 0


def test_negative_values_are_centred_at_zero(pixels):
    low, high = dn.pl.feature_image(pixels, "vector_1", group="oct").images[0].get_clim()
    assert low == -high


def test_an_image_is_drawn_into_given_axes_and_colours(pixels):
    _, ax = plt.subplots()
    assert dn.pl.feature_image(pixels, "row", ax=ax, cmap="magma") is ax
    assert ax.images[0].cmap.name == "magma"


def test_a_shape_can_be_given(pixels):
    assert shown_in(dn.pl.feature_image(pixels, "row", shape=(25, 30))).shape == (25, 30)
    with pytest.raises(ValueError, match="too small"):
        dn.pl.feature_image(pixels, "row", shape=(5, 5))
    with pytest.raises(ValueError, match="rows and columns"):
        dn.pl.feature_image(pixels, "row", shape=(5, 5, 5))


def test_what_cannot_be_drawn_is_explained(pixels, parcels, toy):
    with pytest.raises(ValueError, match=r"not pixels.*from_image_pair"):
        dn.pl.feature_image(parcels, "network")
    with pytest.raises(ValueError, match=r"not parcels.*from_parcels"):
        dn.pl.feature_brain(toy, "score", group="A")
    with pytest.raises(ValueError, match="give group= one of 'oct', 'oct-change'"):
        dn.pl.feature_image(pixels, "vector_1")
    with pytest.raises(ValueError, match="Did you mean 'material'"):
        dn.pl.feature_image(pixels, "materials")
    with pytest.raises(ValueError, match=r"vector_99.*was not computed"):
        dn.pl.feature_image(pixels, "vector_99", group="oct")
    with pytest.raises(ValueError, match=r"shape \(3,\).*one value for each feature"):
        dn.pl.feature_image(pixels, [1, 2, 3])


@pytest.mark.parametrize(("values", "group"), [("network", None), ("feature_group", "2-back"), ("vector_1", "0-back")])
def test_a_brain_is_drawn(parcels, values, group):
    figure = dn.pl.feature_brain(parcels, values, group=group, display_mode="z")
    assert isinstance(figure, Figure)
    figure.canvas.draw()


def test_each_network_is_in_the_legend_of_the_brain(parcels, texts_of, overlaps):
    figure = dn.pl.feature_brain(parcels, "network", display_mode="z")
    written = [t.get_text() for t in figure.legends[0].get_texts()]
    assert written == list(parcels.var["network"].cat.categories)
    assert overlaps(texts_of(figure)) == []


def test_parcels_without_a_value_are_left_out_of_the_brain(parcels):
    values = np.where(np.arange(parcels.n_vars) < 10, np.nan, 1.0)
    values[10] = -1
    figure = dn.pl.feature_brain(parcels, values, display_mode="z")
    drawn = [len(c.get_offsets()) for ax in figure.axes for c in ax.collections if hasattr(c, "get_offsets")]
    assert parcels.n_vars - 10 in drawn
    assert parcels.n_vars not in drawn


def test_a_brain_is_dark_on_a_dark_page(parcels):
    with plt.style.context("dark_background"):
        figure = dn.pl.feature_brain(parcels, "score", group="2-back", display_mode="z")
        assert figure.get_facecolor()[:3] == (0, 0, 0)
