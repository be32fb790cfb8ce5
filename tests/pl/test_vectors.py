from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import diffnb as dn
from diffnb.pl import _track

MOST_ARTISTS = 60


def drawn_values(ax):
    """Values of the lines that show features: those from 0 to 1 on the axis, without auxiliary lines."""
    lines = [line for line in ax.lines if line.get_transform() == ax.transData and len(line.get_xdata()) > 2]
    return np.concatenate([line.get_ydata() for line in lines])


def grouped(table):
    order = sorted(table["feature_group"].cat.categories, key=lambda g: g == "background")
    return pd.concat([table[table["feature_group"] == g] for g in order])


@pytest.mark.parametrize("group", ["A", "B"])
def test_lines_are_the_vectors_group_by_group(toy, group):
    figure = dn.pl.disc_vectors(toy, group=group, n_vectors=3, kind="lines")
    table = grouped(dn.get.disc(toy, group=group))
    for i, ax in enumerate(figure.axes):
        np.testing.assert_array_equal(drawn_values(ax), table[f"vector_{i + 1}"])


def test_leading_vectors_are_drawn_by_default(toy):
    figure = dn.pl.disc_vectors(toy, kind="lines")
    assert len(figure.axes) == int(toy.uns["disc"]["n_leading"].sum())


def test_excluded_features_are_not_drawn(toy):
    adata = toy.copy()
    adata.var["some"] = np.arange(adata.n_vars) >= 50
    dn.tl.disc(adata, "condition", mask_var="some", n_components=2)
    figure = dn.pl.disc_vectors(adata, group="A", n_vectors=1, kind="lines")
    assert len(drawn_values(figure.axes[0])) == 200


def test_names_and_sizes_of_groups_are_written_below_the_axis(toy):
    figure = dn.pl.disc_vectors(toy, group="A", n_vectors=1, kind="lines")
    sizes = dn.get.disc(toy, group="A")["feature_group"].value_counts()
    written = [t.get_text().split("\n") for t in figure.axes[0].get_xticklabels()]
    assert {name: int(size) for name, size in written} == sizes.to_dict()


def test_a_heatmap_shows_the_largest_value_of_each_column():
    values = np.arange(1, 11, dtype=float)[:, None] * [1, -1]
    segments = _track.track(None, 10)
    np.testing.assert_array_equal(_track.image_of(segments, values, 5)[0], [2, 4, 6, 8, 10])
    np.testing.assert_array_equal(_track.image_of(segments, values, 5)[1], [-2, -4, -6, -8, -10])


def test_a_heatmap_of_few_features_shows_each(toy):
    figure = dn.pl.disc_vectors(toy, group="A", n_vectors=2, kind="heatmap")
    table = grouped(dn.get.disc(toy, group="A"))
    image = figure.axes[0].images[0].get_array()
    for i in range(2):
        row = image[i]
        np.testing.assert_array_equal(row[np.r_[True, row[1:] != row[:-1]]], table[f"vector_{i + 1}"])


@pytest.mark.filterwarnings("ignore::diffnb.StaleResultsWarning")
def test_many_features_become_a_heatmap_and_few_artists(wide):
    figure = dn.pl.disc_vectors(wide)
    assert all(ax.images for ax in figure.axes[:2])
    assert len(figure.findobj(lambda a: a.axes is not None and a.get_visible())) < 12 * MOST_ARTISTS
    assert figure.axes[0].images[0].get_array().shape[1] <= _track.MAX_IMAGE_COLUMNS


@pytest.mark.filterwarnings("ignore::diffnb.StaleResultsWarning")
def test_lines_of_many_features_are_pixels(wide):
    figure = dn.pl.disc_vectors(wide, kind="lines", n_vectors=1)
    long = [line for ax in figure.axes for line in ax.lines if len(line.get_xdata()) > 10]
    assert long
    assert len(long) < MOST_ARTISTS
    assert all(line.get_rasterized() for line in long)


def test_a_small_group_is_visible_next_to_a_large_background():
    labels = pd.Series(pd.Categorical(["background"] * 29_990 + ["A1"] * 5 + ["A2"] * 5))
    segments = _track.track(labels, 30_000)
    assert [s.name for s in segments] == ["A1", "A2", "background"]
    assert min(s.stop - s.start for s in segments) > 0.15
    assert segments[-1].stop == pytest.approx(1)


def test_more_vectors_than_there_are_is_explained(toy):
    with pytest.raises(ValueError, match="4 were computed"):
        dn.pl.disc_vectors(toy, n_vectors=9)
    with pytest.raises(ValueError, match=r"kind='line'.*Did you mean 'lines'"):
        dn.pl.disc_vectors(toy, kind="line")


def test_diffusion_vectors_are_drawn_next_to_differential_ones(toy):
    figure = dn.pl.feature_diffmap(toy, group="A", n_vectors=2)
    assert len(figure.axes) == 4
    disc = dn.get.disc(toy, group="A")
    maps = dn.get.feature_diffmap(toy).query("group == 'A'").assign(feature_group=disc["feature_group"])
    for i in range(2):
        left, right = figure.axes[2 * i], figure.axes[2 * i + 1]
        np.testing.assert_array_equal(drawn_values(left), grouped(maps)[f"vector_{i + 1}"])
        np.testing.assert_array_equal(drawn_values(right), grouped(disc)[f"vector_{i + 1}"])


def test_diffusion_maps_are_drawn_alone_in_the_order_of_features(toy):
    figure = dn.pl.feature_diffmap(toy, group="B", n_vectors=1, disc_key=None)
    maps = dn.get.feature_diffmap(toy).query("group == 'B'")
    np.testing.assert_array_equal(drawn_values(figure.axes[0]), maps["vector_1"])


@pytest.mark.filterwarnings("ignore::diffnb.StaleResultsWarning")
def test_diffusion_maps_of_features_with_equal_names(toy):
    adata = toy.copy()
    adata.var_names = ["same"] * adata.n_vars
    assert len(dn.pl.feature_diffmap(adata, n_vectors=1).axes) == 4
