from __future__ import annotations

import inspect
import io

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import diffnb as dn
from diffnb.pl import _sparda, _sparda_panels
from diffnb.pl._sparda_panels import SpardaComparison
from diffnb.pl._style import PALETTE

pytestmark = pytest.mark.slow

FIGURES = {
    "sparda": dn.pl.sparda,
    "sparda_path": dn.pl.sparda_path,
    "sparda_projection": dn.pl.sparda_projection,
}


@pytest.fixture(scope="module")
def found():
    """Two conditions, the number of features chosen, tested, two projections; and all features."""
    adata = dn.datasets.nuisance_factor(n_obs=150, n_features=40, n_nuisance=10, rho=0.6)
    dn.tl.sparda(adata, "condition", group="B", reference="A", n_projections=2, n_permutations=19)
    dn.tl.pda(adata, "condition", group="B", reference="A")
    return adata


@pytest.fixture(scope="module")
def three_groups():
    adata = dn.datasets.three_conditions(n_obs=60)[:, 95:130].copy()
    dn.tl.sparda(adata, "condition", n_features=6)
    return adata


@pytest.fixture(scope="module")
def odd_names():
    adata = dn.datasets.nuisance_factor(n_obs=150, n_features=36, n_nuisance=0)
    odd = ["$x_1$", "a_b$", "_hidden", "two\nlines", r"\frac{", "100 %", "{}$^"]
    long = [f"extremely_long_name_of_one_feature_no_{i:04d}" for i in range(adata.n_vars)]
    adata.var_names = pd.Index([f"{odd[i % len(odd)]}{i}" if i % 2 else name for i, name in enumerate(long)])
    adata.obs["condition"] = adata.obs["condition"].cat.rename_categories(
        {"A": "_$\\alpha$ and b$", "B": "stimulated for a very long time with 20 µM of it"}
    )
    dn.tl.sparda(adata, "condition")
    return adata


@pytest.fixture(params=FIGURES)
def draw(request):
    return FIGURES[request.param]


def names_of(ax):
    return [t.get_text() for t in ax.get_yticklabels()]


# --- what holds for each of them ---


def test_a_figure_has_a_panel_for_each_comparison(draw, found, three_groups):
    assert isinstance(draw(found), Figure)
    assert len(draw(found).axes) == 1
    n_groups = dn.get.sparda_summary(three_groups)["group"].nunique()
    assert n_groups == 3
    assert len(draw(three_groups).axes) == 3


def test_one_comparison_is_drawn_into_given_axes(draw, three_groups):
    _, ax = plt.subplots()
    assert draw(three_groups, group="B", ax=ax) is ax
    assert "B vs" in ax.get_title(loc="left")


def test_axes_take_no_more_than_one_comparison(draw, three_groups):
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match="ax takes one comparison, got 3"):
        draw(three_groups, ax=ax)


def test_missing_results_are_explained(draw):
    with pytest.raises(KeyError, match=r"run dn\.tl\."):
        draw(dn.datasets.nuisance_factor(n_obs=5, n_features=30))


def test_an_unknown_condition_is_explained(draw, found):
    with pytest.raises(ValueError, match="group='unknown'"):
        draw(found, group="unknown")


@pytest.mark.parametrize("name", ["sparda", "sparda_projection"])
def test_an_unknown_projection_is_explained(name, found):
    with pytest.raises(ValueError, match="projection=3 must be between 1 and 2"):
        FIGURES[name](found, projection=3)


@pytest.mark.parametrize("name", ["sparda", "sparda_projection"])
def test_the_title_names_later_projections(name, found):
    ax = FIGURES[name](found, projection=2).axes[0]
    assert "projection 2" in ax.get_title(loc="left")


def test_options_are_given_by_name(draw):
    parameters = list(inspect.signature(draw).parameters.values())
    assert parameters[0].name == "adata"
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters[1:])


def test_the_data_are_not_changed(draw, found):
    before = found.copy()
    draw(found)
    assert list(before.uns) == list(found.uns)
    assert list(before.obsm) == list(found.obsm)
    np.testing.assert_array_equal(before.X, found.X)


def test_names_that_look_like_mathematics_are_drawn_as_text(draw, odd_names):
    draw(odd_names).savefig(io.BytesIO(), format="svg")


def test_no_text_overlaps_another(draw, found, three_groups, odd_names, texts_of, overlaps):
    for adata in (found, three_groups, odd_names):
        assert overlaps(texts_of(draw(adata))) == []


def test_no_text_is_cut_off_by_the_page(draw, odd_names, texts_of):
    figure = draw(odd_names)
    page = figure.bbox.padded(1)
    for text in texts_of(figure):
        box = mpl.text.Text.get_window_extent(text)
        assert page.x0 <= box.x0, text.get_text()
        assert box.x1 <= page.x1, text.get_text()
        assert page.y0 <= box.y0, text.get_text()
        assert box.y1 <= page.y1, text.get_text()


def test_text_is_legible_on_a_dark_page_and_is_large_enough(draw, found, texts_of):
    with plt.style.context("dark_background"):
        figure = draw(found)
        page = np.array(to_rgb(figure.get_facecolor()))
        for text in texts_of(figure):
            assert np.abs(np.array(to_rgb(text.get_color())) - page).max() > 0.5, text.get_text()
            assert text.get_fontsize() >= 7


# --- weights ---


def test_bars_are_the_largest_weights_with_their_signs(found):
    ax = dn.pl.sparda(found, n_features=5).axes[0]
    table = dn.get.sparda(found).query("projection == 1")
    top = table.iloc[np.argsort(-table["weight"].abs(), kind="stable")[:5]]
    assert names_of(ax) == list(top.index)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], top["weight"])


def test_features_without_weight_are_not_shown(found):
    ax = dn.pl.sparda(found, n_features=40).axes[0]
    chosen = int(dn.get.sparda_summary(found).query("projection == 1")["n_features"].iloc[0])
    assert len(ax.patches) == chosen < 40
    assert f"{chosen} features" in ax.get_xlabel()


def test_colours_show_the_sign(found):
    ax = dn.pl.sparda(found, key="pda").axes[0]
    for bar in ax.patches:
        expected = PALETTE[1] if bar.get_width() > 0 else PALETTE[0]
        assert bar.get_facecolor()[:3] == pytest.approx(to_rgb(expected))


def test_omitted_features_are_counted(found):
    label = dn.pl.sparda(found, n_features=10, key="pda").axes[0].get_xlabel()
    assert "10 of 40 features" in label
    assert " % of the squared weight" in label


def test_the_title_has_the_p_value_if_there_is_one(found):
    assert "p = " in dn.pl.sparda(found).axes[0].get_title(loc="left")
    assert "p = " not in dn.pl.sparda(found, key="pda").axes[0].get_title(loc="left")


def test_no_features_at_all_is_refused(found):
    with pytest.raises(ValueError, match="n_features=0"):
        dn.pl.sparda(found, n_features=0)


def test_a_message_explains_that_no_feature_has_weight():
    pair = SpardaComparison("B", "A", 1, 0, 0.0, 1.0)
    nothing = pd.Series([], dtype=float)
    _, ax = plt.subplots()
    _sparda_panels.draw_weights(ax, pair, nothing, nothing, 1)
    assert ax.texts[0].get_text() == "no feature has weight"


# --- path ---


def test_lines_are_the_objective_and_the_held_out_divergence(found):
    ax = dn.pl.sparda_path(found).axes[0]
    table = dn.get.sparda_path(found).query("projection == 1").sort_values("k")
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), table["k"])
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), table["objective"])
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), table["held_out"])
    corners = ax.collections[0].get_paths()[0].vertices[:, 1].round(9)
    assert np.isin((table["held_out"] + table["held_out_sd"]).round(9), corners).all()
    assert ax.get_xscale() == "log"


def test_the_chosen_number_is_marked_and_named(found):
    ax = dn.pl.sparda_path(found).axes[0]
    table = dn.get.sparda_path(found).query("projection == 1")
    k = int(table.loc[table["chosen"], "k"].iloc[0])
    assert ax.lines[-1].get_xdata()[0] == k
    assert f"chosen: {k}" in [t.get_text() for t in ax.get_legend().get_texts()]


def test_a_path_without_folds_has_the_objective_only():
    rows = pd.DataFrame({"k": [1, 5, 400], "objective": [0.1, 0.5, 0.9], "held_out": np.nan, "held_out_sd": np.nan})
    rows["chosen"] = rows["k"] == 5
    _, ax = plt.subplots()
    _sparda_panels.draw_path(ax, SpardaComparison("B", "A", 1, 5, 0.5, np.nan), rows)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["objective", "chosen: 5"]
    assert ax.get_ylim()[0] == 0


def test_a_message_explains_that_there_is_no_path():
    _, ax = plt.subplots()
    _sparda_panels.draw_path(ax, SpardaComparison("B", "A", 1, 5, 0.5, np.nan), pd.DataFrame({"k": []}))
    assert "no path" in ax.texts[0].get_text()


# --- projection ---


def test_both_sides_have_a_density_of_unit_area(found):
    ax = dn.pl.sparda_projection(found).axes[0]
    for patch in ax.patches[::2]:
        values, edges, baseline = patch.get_data()
        assert np.abs((values - baseline) * np.diff(edges)).sum() == pytest.approx(1)


def test_lines_connect_equal_quantiles(found):
    ax = dn.pl.sparda_projection(found).axes[0]
    table = dn.get.sparda_projection(found, group="B")
    ends = np.array([line.get_xdata() for line in ax.lines])
    for column, side in enumerate(("group", "reference")):
        values = table.loc[table["side"] == side, "value"]
        np.testing.assert_allclose(ends[:, column], np.quantile(values, np.arange(0.05, 0.96, 0.05)))


def test_the_median_stands_out(found):
    widths = [line.get_linewidth() for line in dn.pl.sparda_projection(found).axes[0].lines]
    assert int(np.argmax(widths)) == len(widths) // 2
    assert sorted(widths)[-2] < max(widths)


def test_the_legend_names_both_sides_and_covers_no_data(found):
    ax = dn.pl.sparda_projection(found).axes[0]
    ax.figure.canvas.draw()
    assert [t.get_text() for t in ax.get_legend().get_texts()][:2] == ["B", "A"]
    assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())


@pytest.mark.parametrize("values", [np.ones(5), np.array([0.0, 0, 0, 0, 1]), np.arange(3.0)])
def test_few_or_equal_values_are_drawn(values):
    _, ax = plt.subplots()
    _sparda_panels.draw_densities(ax, SpardaComparison("B", "A", 1, 2, 0.0, 1.0), values, values + 0.0)
    ax.figure.canvas.draw()
    assert len(ax.patches) == 4


def test_a_message_explains_that_one_side_has_no_observations():
    _, ax = plt.subplots()
    _sparda_panels.draw_densities(ax, SpardaComparison("B", "A", 1, 2, 0.0, 1.0), np.ones(3), np.empty(0))
    assert "no observations" in ax.texts[0].get_text()


def test_more_comparisons_than_a_figure_holds_are_refused():
    pairs = [SpardaComparison(str(i), "rest", 1, 2, 0.0, 1.0) for i in range(13)]
    with pytest.raises(ValueError, match="13 comparisons, more than a figure holds"):
        _sparda._draw_comparisons(lambda ax, i: None, pairs, None, 3, 3)
