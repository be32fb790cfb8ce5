"""Properties of every figure."""

from __future__ import annotations

import inspect
import io
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure

import diffnb as dn
from diffnb.pl import _style

pytestmark = pytest.mark.slow

OF_DISC = {
    "disc_significance": (dn.pl.disc_significance, Axes),
    "disc_vectors": (dn.pl.disc_vectors, Figure),
    "disc_vectors_heatmap": (lambda adata, **kw: dn.pl.disc_vectors(adata, kind="heatmap", **kw), Figure),
    "disc_groups": (lambda adata, **kw: dn.pl.disc_groups(adata, n_features=5, **kw), Figure),
    "disc_features": (lambda adata, **kw: dn.pl.disc_features(adata, n_features=8, **kw), Figure),
    "disc_embedding": (dn.pl.disc_embedding, Figure),
    "disc_graph": (lambda adata, **kw: dn.pl.disc_graph(adata, n_features=40, **kw), Figure),
    "feature_diffmap": (dn.pl.feature_diffmap, Figure),
}


def figure_of(drawn):
    return drawn.figure if isinstance(drawn, Axes) else drawn


@pytest.fixture(params=OF_DISC)
def draw(request):
    return OF_DISC[request.param]


def test_every_figure_returns_the_documented_type(draw, toy):
    function, kind = draw
    assert isinstance(function(toy), kind)


def test_every_figure_draws_one_condition(draw, toy):
    function, _ = draw
    figure_of(function(toy, group="B")).canvas.draw()


def test_no_figure_changes_the_data(draw, toy):
    function, _ = draw
    before = toy.copy()
    function(toy)
    assert list(before.uns) == list(toy.uns)
    assert list(before.var.columns) == list(toy.var.columns)
    np.testing.assert_array_equal(before.X, toy.X)


def test_names_that_look_like_mathematics_are_drawn_as_text(draw, hostile):
    function, _ = draw
    figure_of(function(hostile)).savefig(io.BytesIO(), format="svg")


def test_no_text_overlaps_another(draw, toy, texts_of, overlaps):
    function, _ = draw
    assert overlaps(texts_of(figure_of(function(toy)))) == []


@pytest.mark.parametrize("name", ["disc_significance", "disc_vectors", "disc_embedding", "disc_graph"])
def test_no_text_overlaps_another_with_three_conditions(name, three, texts_of, overlaps):
    function, _ = OF_DISC[name]
    assert overlaps(texts_of(figure_of(function(three)))) == []


@pytest.mark.parametrize("name", ["disc_vectors", "disc_vectors_heatmap", "disc_embedding", "disc_graph"])
def test_no_text_overlaps_another_with_twenty_groups(name, toy, texts_of, overlaps):
    adata = toy.copy()
    for condition, n_groups in (("A", 20), ("B", 3)):
        names = ["background", *(f"{condition}{i}" for i in range(1, n_groups + 1))]
        codes = np.where(np.arange(adata.n_vars) % 3, 0, np.arange(adata.n_vars) % (n_groups + 1))
        adata.var[f"disc_{condition}"] = pd.Categorical.from_codes(codes, names)
    function, _ = OF_DISC[name]
    assert overlaps(texts_of(figure_of(function(adata)))) == []


def test_no_text_overlaps_another_where_names_are_long(draw, hostile, texts_of, overlaps):
    function, _ = draw
    assert overlaps(texts_of(figure_of(function(hostile)))) == []


def test_no_text_is_cut_off_by_the_page(draw, hostile, texts_of):
    function, _ = draw
    figure = figure_of(function(hostile))
    texts = texts_of(figure)
    page = figure.bbox.padded(1)
    for text in texts:
        box = mpl.text.Text.get_window_extent(text)
        assert page.x0 <= box.x0, text.get_text()
        assert box.x1 <= page.x1, text.get_text()
        assert page.y0 <= box.y0, text.get_text()
        assert box.y1 <= page.y1, text.get_text()


def test_text_is_large_enough_to_read(draw, toy, texts_of):
    function, _ = draw
    assert min(t.get_fontsize() for t in texts_of(figure_of(function(toy)))) >= 7


def test_text_is_legible_on_a_dark_page(draw, toy, texts_of):
    function, _ = draw
    with plt.style.context("dark_background"):
        figure = figure_of(function(toy))
        page = np.array(to_rgb(figure.get_facecolor()))
        for text in texts_of(figure):
            assert np.abs(np.array(to_rgb(text.get_color())) - page).max() > 0.5, text.get_text()


def test_missing_results_are_explained(draw):
    function, _ = draw
    with pytest.raises(KeyError, match=r"run dn\.tl\."):
        function(dn.datasets.newly_connected(n_obs=10))


def test_an_unknown_condition_is_explained(draw, toy):
    function, _ = draw
    with pytest.raises(ValueError, match="group='C'"):
        function(toy, group="C")


@pytest.mark.parametrize("name", [n for n in dn.pl.__all__ if n != "scorecard"])
def test_options_are_given_by_name(name):
    parameters = list(inspect.signature(getattr(dn.pl, name)).parameters.values())
    assert parameters[0].name == "adata"
    allowed = {"adata", "values"}
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY or p.name in allowed for p in parameters)


def test_figures_do_not_need_nilearn_until_a_brain_is_drawn(parcels, monkeypatch):
    monkeypatch.setitem(sys.modules, "nilearn", None)
    with pytest.raises(ImportError, match=r"pip install diffnb\[brain\]"):
        dn.pl.feature_brain(parcels, "network")


def test_a_notebook_shows_a_figure_once(toy, monkeypatch):
    figure = dn.pl.disc_vectors(toy)
    monkeypatch.setattr(mpl, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    assert plt.fignum_exists(figure.number)
    with pytest.raises(NotImplementedError):  # which sends IPython on to its usual way with figures
        figure._ipython_display_()
    assert not plt.fignum_exists(figure.number)


def test_colours_are_enough_for_twenty_groups():
    names = ["background", *(f"A{i}" for i in range(20))]
    colors = _style.colors_of(names)
    assert len(set(colors.values())) == 21
    for page in ("white", "black"):
        contrast = [np.abs(np.array(to_rgb(c)) - np.array(to_rgb(page))).max() for c in colors.values()]
        assert min(contrast) > 0.3


def test_more_groups_than_colours_differ_by_marker():
    names = [f"A{i}" for i in range(24)]
    looks = set(zip(_style.colors_of(names).values(), _style.markers_of(names).values(), strict=True))
    assert len(looks) == 24


def test_a_long_name_is_shortened_in_the_middle():
    cut = _style.label_text("a_very_long_name_of_a_gene_number_0017", 20)
    assert len(cut) == 20
    assert cut.startswith("a_very")
    assert cut.endswith("0017")
    assert "…" in cut


def test_dollars_are_escaped_and_lines_joined():
    assert _style.label_text("$x$\n y") == r"\$x\$ y"


def test_zero_has_the_colour_of_the_page():
    for style, page in (("default", 1.0), ("dark_background", 0.0)):
        with plt.style.context(style):
            middle = np.array(_style.diverging()(0.5)[:3])
            assert np.abs(middle - page).max() < 0.15
            assert to_rgba(_style.page_color())[:3] == (page, page, page)
