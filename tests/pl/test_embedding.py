from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import diffnb as dn
from diffnb.pl._labels import Labels

pytestmark = pytest.mark.slow


def labels_of(ax):
    return next(child for child in ax.get_children() if isinstance(child, Labels)).texts


def drawn_points(ax):
    return np.concatenate([c.get_offsets() for c in ax.collections])


def test_points_are_the_two_vectors(toy):
    ax = dn.pl.disc_embedding(toy, group="A", components=(3, 1)).axes[0]
    table = dn.get.disc(toy, group="A")[["vector_3", "vector_1"]].to_numpy()
    drawn = drawn_points(ax)
    np.testing.assert_array_equal(drawn[np.lexsort(drawn.T)], table[np.lexsort(table.T)])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("vector 3", "vector 1")


def test_each_group_is_in_the_legend_once(toy):
    figure = dn.pl.disc_embedding(toy)
    written = [t.get_text() for t in figure.legends[0].get_texts()]
    groups = dn.get.disc(toy)["feature_group"].cat.categories
    assert written == [*(g for g in groups if g != "background"), "background"]


@pytest.mark.parametrize("color", ["score", "vector_2", "stability", "weight"])
def test_numbers_give_a_colour_bar(toy, color):
    adata = toy.copy()
    adata.var["weight"] = np.linspace(-1, 1, adata.n_vars)
    figure = dn.pl.disc_embedding(adata, color=color)
    assert len(figure.axes) == 3
    values = np.sort(figure.axes[0].collections[0].get_array())
    expected = adata.var[color] if color == "weight" else dn.get.disc(adata, group="A")[color]
    np.testing.assert_array_equal(values, np.sort(expected))


def test_other_categories_can_be_the_colour(toy):
    adata = toy.copy()
    adata.var["kind"] = np.resize(["x", "y", "z"], adata.n_vars)
    figure = dn.pl.disc_embedding(adata, group="A", color="kind")
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["x", "y", "z"]


def test_one_vector_is_drawn_against_the_score(toy):
    adata = toy.copy()
    dn.tl.disc(adata, "condition", n_components=1)
    assert dn.pl.disc_embedding(adata, group="A").axes[0].get_ylabel() == "score"


@pytest.mark.parametrize("n_labels", [0, 8, 40])
def test_labels_never_overlap_and_stay_inside(toy, hostile, overlaps, n_labels):
    for adata in (toy, hostile):
        figure = dn.pl.disc_embedding(adata, n_labels=n_labels)
        figure.canvas.draw()
        for ax in figure.axes:
            texts = labels_of(ax)
            visible = [t for t in texts if t.get_visible()]
            assert overlaps(visible) == []
            frame = ax.get_window_extent().padded(1)
            for text in visible:
                assert frame.containsx(text.get_window_extent().x1)
            assert len(texts) == n_labels
            assert bool(visible) == bool(n_labels)


def test_labels_are_placed_again_when_the_figure_is_resized(toy, overlaps):
    figure = dn.pl.disc_embedding(toy, n_labels=12)
    figure.canvas.draw()
    figure.set_size_inches(4.5, 2.4)
    figure.canvas.draw()
    for ax in figure.axes:
        visible = [t for t in labels_of(ax) if t.get_visible()]
        assert visible
        assert overlaps(visible) == []


def test_the_highest_score_of_each_group_is_labelled_first(toy):
    table = dn.get.disc(toy, group="A").sort_values("score", ascending=False)
    groups = [g for g in table["feature_group"].cat.categories if g != "background"]
    ax = dn.pl.disc_embedding(toy, group="A", n_labels=len(groups)).axes[0]
    highest = [table.index[table["feature_group"] == g][0] for g in groups]
    assert sorted(t.get_text() for t in labels_of(ax)) == sorted(highest)


# the features of the fixture are copies
@pytest.mark.filterwarnings("ignore::diffnb.StaleResultsWarning")
def test_many_points_are_pixels_in_few_collections(wide):
    figure = dn.pl.disc_embedding(wide)
    figure.canvas.draw()
    for ax in figure.axes:
        assert len(ax.collections) <= 5
        assert all(c.get_rasterized() for c in ax.collections)


def test_what_cannot_be_drawn_is_explained(toy):
    with pytest.raises(ValueError, match="between 1 and 4"):
        dn.pl.disc_embedding(toy, components=(1, 9))
    with pytest.raises(ValueError, match="two vectors"):
        dn.pl.disc_embedding(toy, components=(1,))
    with pytest.raises(ValueError, match="Did you mean 'score'"):
        dn.pl.disc_embedding(toy, color="scor")


def test_one_condition_is_drawn_into_given_axes(toy):
    _, ax = plt.subplots()
    assert dn.pl.disc_embedding(toy, group="B", ax=ax) is ax
    alone = dn.pl.disc_embedding(toy, group="B")
    np.testing.assert_array_equal(drawn_points(ax), drawn_points(alone.axes[0]))
    written = [t.get_text() for t in ax.get_legend().get_texts()]
    assert written == [t.get_text() for t in alone.legends[0].get_texts()]


def test_numbers_in_given_axes_have_a_colour_bar_next_to_them(toy):
    figure, ax = plt.subplots()
    dn.pl.disc_embedding(toy, group="B", color="score", ax=ax)
    assert len(figure.axes) == 2
    assert figure.axes[1].get_ylabel() == "score"


def test_axes_take_no_more_than_one_condition(toy):
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match="ax takes one condition, got 2; choose one with group="):
        dn.pl.disc_embedding(toy, ax=ax)
