from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

import diffnb as dn
from diffnb.pl import _informed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found():
    adata = dn.datasets.two_types(n_obs=60, n_features=60, n_clusters=5)
    adata.obs["depth"] = np.linspace(0, 1, 60)
    adata.obs["flag"] = np.arange(60) % 2 == 0
    dn.tl.informed_distance(adata, informed=False, n_components=5, key_added="pca")
    dn.tl.informed_distance(adata)
    dn.tl.informed_distance(adata, local=True, n_clusters=5, key_added="local")
    rng = np.random.default_rng(0)
    adata.obs["time"] = rng.exponential(np.where(adata.obs["condition"] == "A", 30, 10))
    adata.obs["event"] = rng.random(60) < 0.7
    dn.tl.survival(adata)
    return adata


@pytest.fixture(scope="module")
def odd_names():
    adata = dn.datasets.two_types(n_obs=40, n_features=40, n_clusters=4)
    adata.var_names = pd.Index([f"$extremely_long_name_of_feature_{i}" for i in range(40)])
    adata.obs["condition"] = adata.obs["condition"].cat.rename_categories(
        {"A": "_$\\alpha$ and b$", "B": "stimulated for a very long time with 20 µM of it"}
    )
    dn.tl.informed_distance(adata)
    adata.obs["time"], adata.obs["event"] = np.arange(1, 41), True
    dn.tl.survival(adata, "condition")
    return adata


FIGURES = {
    "embedding": lambda adata: dn.pl.informed_embedding(adata, color="condition").figure,
    "gap": lambda adata: dn.pl.informed_gap(adata).figure,
    "covariance": lambda adata: dn.pl.informed_covariance(adata, truth="covariance"),
    "survival": lambda adata: dn.pl.survival(adata).figure,
}


@pytest.fixture(params=FIGURES)
def draw(request):
    return FIGURES[request.param]


def test_no_text_overlaps_another(draw, found, odd_names, texts_of, overlaps):
    for adata in (found, odd_names):
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


def test_drawing_changes_nothing(draw, found):
    before = found.copy()
    draw(found)
    assert list(before.uns) == list(found.uns)
    assert list(before.obsm) == list(found.obsm)


def test_missing_results_are_explained(draw):
    with pytest.raises(KeyError, match=r"run dn\.tl\."):
        draw(dn.datasets.two_types(n_obs=30, n_features=40, n_clusters=4))


class TestEmbedding:
    def test_points_are_those_of_the_map(self, found):
        _, given = plt.subplots()
        ax = dn.pl.informed_embedding(found, components=(2, 1), key="local", ax=given)
        assert ax is given
        table = dn.get.informed_embedding(found, key="local")
        np.testing.assert_array_equal(ax.collections[0].get_offsets(), table[["component_2", "component_1"]])
        assert ax.get_xlabel() == "diffusion component 2"

    @pytest.mark.parametrize(("color", "n"), [("condition", 2), ("flag", 2), ("depth", 1)])
    def test_colours_are_categories_or_numbers(self, found, color, n):
        assert len(dn.pl.informed_embedding(found, color=color).collections) == n

    def test_numbers_have_a_scale(self, found):
        figure = dn.pl.informed_embedding(found, color="depth").figure
        assert figure.axes[1].get_ylabel() == "depth"

    def test_unknown_names_are_explained(self, found):
        with pytest.raises(ValueError, match=r"color='depht'.*Did you mean 'depth'"):
            dn.pl.informed_embedding(found, color="depht")
        with pytest.raises(ValueError, match="components=11 must be between 1 and 10"):
            dn.pl.informed_embedding(found, components=(1, 11))


def test_the_gap_shows_the_choice(found):
    ax = dn.pl.informed_gap(found)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), dn.get.informed_gap(found)["gap"])
    assert "chosen: 5" in [t.get_text() for t in ax.get_legend().get_texts()]


class TestCovariance:
    def test_matrices_and_their_row_are_those_of_get(self, found):
        figure = dn.pl.informed_covariance(found, keys=["pca", "informed"], truth="covariance", feature="feature_03")
        titles = [ax.get_title(loc="left") for ax in figure.axes[:3]]
        assert titles == ["truth", "pca", "informed"]
        np.testing.assert_allclose(figure.axes[0].images[0].get_array(), found.varp["covariance"])
        cut = figure.axes[-1]
        np.testing.assert_allclose(cut.lines[2].get_ydata(), dn.get.informed_covariance(found).loc["feature_03"])

    def test_features_are_sorted_by_cluster(self, found):
        mixed = found[:, np.random.default_rng(0).permutation(60)].copy()
        rows = dn.pl.informed_covariance(mixed).axes[-1].lines[0].get_ydata()
        assert (np.abs(np.diff(rows)) > 1e-9).sum() <= 4

    def test_without_clusters_the_order_is_that_of_the_data(self, found):
        figure = dn.pl.informed_covariance(found, keys="pca")
        np.testing.assert_allclose(figure.axes[0].images[0].get_array(), dn.get.informed_covariance(found, key="pca"))

    def test_many_features_are_thinned(self, found, monkeypatch):
        monkeypatch.setattr("diffnb.pl._informed.MAX_DRAWN_FEATURES", 20)
        assert dn.pl.informed_covariance(found).axes[0].images[0].get_array().shape == (20, 20)

    def test_a_sparse_truth_is_read(self, found):
        import scipy.sparse as sp

        other = found.copy()
        other.varp["thin"] = sp.csr_matrix(other.varp["covariance"])
        drawn = dn.pl.informed_covariance(other, truth="thin").axes[0].images[0].get_array()
        np.testing.assert_allclose(drawn, other.varp["covariance"])

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"keys": "local"}, "local metrics"),
            ({"truth": "covarianc"}, "truth='covarianc'.*Did you mean 'covariance'"),
            ({"feature": "feature_0"}, "feature='feature_0' is not a feature of the metric.*Did you mean"),
        ],
    )
    def test_what_cannot_be_drawn_is_explained(self, found, options, words):
        with pytest.raises(ValueError, match=words):
            dn.pl.informed_covariance(found, **options)


class TestSurvival:
    def test_steps_are_the_curves_and_the_title_is_the_test(self, found):
        ax = dn.pl.survival(found, interval=False)
        curves = dn.get.survival(found)
        low = curves[curves["group"] == "low"]
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), low["survival"])
        assert not ax.collections
        pval = dn.get.survival_tests(found)["pval"].iloc[0]
        assert ax.get_title(loc="left") == f"log-rank p = {pval:.2g}"

    def test_the_censored_are_ticks(self, found):
        ax = dn.pl.survival(found)
        ticks = sum(len(line.get_xdata()) for line in ax.lines if line.get_marker() == "|")
        assert ticks == (dn.get.survival(found)["censored"] > 0).sum() > 0
        assert len(ax.collections) == 2


def test_a_few_observations_far_outside_are_drawn_at_the_edge_and_counted(rng):
    points = np.vstack([rng.normal(size=(300, 2)), [[400.0, 0.0], [0.0, -900.0]]])
    drawn, outside = _informed._within_reach(points)
    assert outside.sum() == 2
    assert np.abs(drawn).max() < 15
    np.testing.assert_array_equal(drawn[:300], points[:300])


def test_many_observations_outside_are_the_shape_of_the_data(rng):
    points = np.vstack([rng.normal(size=(300, 2)), 400 + rng.normal(size=(30, 2))])
    drawn, outside = _informed._within_reach(points)
    assert not outside.any()
    np.testing.assert_array_equal(drawn, points)
