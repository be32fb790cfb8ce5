from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb

import diffnb as dn

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def edges(toy):
    return dn.get.edges(toy, max_edges=120)


def lines(ax):
    return [c for c in ax.collections if isinstance(c, LineCollection)]


def n_edges(ax):
    return sum(len(c.get_segments()) for c in lines(ax))


def test_every_pair_is_an_edge_of_each_panel(toy, edges):
    figure = dn.pl.network(toy, edges=edges)
    assert [n_edges(ax) for ax in figure.axes] == [120, 120, 120]
    assert figure.axes[2].get_title() == "B − A: 120 pairs differ"


def test_pairs_that_differ_after_the_scorecard_are_drawn_without_groups(toy):
    adata = toy.copy()
    dn.tl.scorecard(adata, "condition")
    figure = dn.pl.network(adata, max_edges=40, key="scorecard")
    assert [n_edges(ax) for ax in figure.axes] == [40, 40, 40]
    assert "feature" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_features_have_the_same_places_in_all_panels(toy, edges):
    figure = dn.pl.network(toy, edges=edges)
    places = [
        np.concatenate([c.get_offsets() for c in ax.collections if not isinstance(c, LineCollection)])
        for ax in figure.axes
    ]
    np.testing.assert_array_equal(places[0], places[2])
    assert len(np.unique(places[0].round(6), axis=0)) == len(places[0])


def test_lost_edges_are_dashed_and_blue(toy, edges):
    lost = edges[edges["class"] == "lost"]
    figure = dn.pl.network(toy, edges=lost)
    (drawn,) = lines(figure.axes[2])
    assert to_rgb(drawn.get_color()[0][:3]) == to_rgb("#0072B2")
    assert drawn.get_linestyle()[0][1] is not None


def test_no_text_overlaps_another(toy, edges, texts_of, overlaps):
    assert overlaps(texts_of(dn.pl.network(toy, edges=edges))) == []


def test_odd_names_are_drawn_as_text(hostile, texts_of, overlaps):
    assert overlaps(texts_of(dn.pl.network(hostile, max_edges=40))) == []


def test_text_is_legible_on_a_dark_page(toy, edges, texts_of):
    with plt.style.context("dark_background"):
        figure = dn.pl.network(toy, edges=edges)
        assert all(max(to_rgb(t.get_color())) > 0.5 for t in texts_of(figure))


def test_nothing_to_draw_is_said(toy, edges):
    figure = dn.pl.network(toy, edges=edges.iloc[:0])
    assert "no pair of features differs" in [t.get_text() for t in figure.axes[1].texts]


def test_a_group_by_itself(toy):
    figure = dn.pl.network(toy, group="A1", max_edges=30, n_labels=0)
    assert n_edges(figure.axes[0]) == 30
