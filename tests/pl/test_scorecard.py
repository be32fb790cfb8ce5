"""`pl.scorecard`: contents of the figure, and that no texts overlap."""

from __future__ import annotations

import anndata as ad
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from diffnb.get._scorecard import scorecard as read
from diffnb.pl._scorecard import MAX_SCORECARD_PANELS, leading_rows, scorecard
from diffnb.tl._scorecard import scorecard as compute

pytestmark = pytest.mark.slow

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def make(p=60, conditions=("control", "treated"), name="gene{}"):
    rng = np.random.default_rng(1)
    n = 120
    x = rng.normal(size=(n * len(conditions), p))
    last = slice(-n, None)
    x[last, : p // 6] += 0.8 * rng.normal(size=(n, 1))
    x[last, p // 6 : p // 3] += 1.0
    x[last, p // 3 : p // 2] *= 2.0
    obs = pd.DataFrame(
        {"condition": pd.Categorical(np.repeat(conditions, n), categories=conditions)},
        index=[str(i) for i in range(len(x))],
    )
    adata = ad.AnnData(x, obs=obs, var=pd.DataFrame(index=[name.format(j) for j in range(p)]))
    compute(adata, "condition")
    return adata


@pytest.fixture(scope="module")
def adata():
    return make()


def boxes(figure):
    figure.draw_without_rendering()
    texts = [
        t
        for t in figure.findobj(mpl.text.Text)
        if t.get_visible() and t.get_text().strip() and t.figure is not None and t.get_rotation() == 0
    ]
    return [t.get_window_extent() for t in texts]


@pytest.mark.parametrize("p", [8, 60, 1500])
@pytest.mark.parametrize("name", ["g{}", "a-name-far-longer-than-anyone-would-want-to-read-{}"])
def test_no_text_overlaps_another_or_leaves_the_page(p, name):
    figure = scorecard(make(p, name=name))
    found = boxes(figure)
    width, height = figure.get_size_inches() * figure.dpi
    for i, box in enumerate(found):
        assert box.x0 >= -1
        assert box.y0 >= -1
        assert box.x1 <= width + 1
        assert box.y1 <= height + 1
        for other in found[i + 1 :]:
            across = min(box.x1, other.x1) - max(box.x0, other.x0)
            along = min(box.y1, other.y1) - max(box.y0, other.y0)
            assert not (across > 1 and along > 1)


def test_the_requested_number_of_features_includes_every_kind(adata):
    shown = read(adata).iloc[leading_rows(read(adata), 9)]
    assert len(shown) == 9
    assert set(shown["kind"]) >= {"mean", "spread", "connectivity"}
    figure = scorecard(adata, n_features=9)
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == shown.index.tolist()


def test_bars_count_the_kinds(adata):
    bars = scorecard(adata).axes[1].patches
    counts = read(adata)["kind"].value_counts()
    assert [b.get_width() for b in bars] == [counts[k] for k in ("mean", "spread", "distribution", "connectivity")]


def test_draws_on_given_axes(adata):
    _, ax = plt.subplots()
    assert scorecard(adata, ax=ax) is ax
    assert plt.get_fignums() == [ax.figure.number]


def test_several_pairs_are_stacked():
    many = make(conditions=("a", "b", "c"))
    titles = [ax.get_title(loc="left") for ax in scorecard(many).axes]
    assert [t for t in titles if " vs " in t] == ["b vs a", "c vs a", "c vs b"]
    with pytest.raises(ValueError, match="ax takes one pair"):
        scorecard(many, ax=plt.figure().add_subplot())


def test_more_pairs_than_a_page_holds_are_refused():
    many = make(p=8, conditions=tuple("abcde"))
    with pytest.raises(
        ValueError, match=f"10 pairs of conditions, more than a figure holds \\({MAX_SCORECARD_PANELS}\\)"
    ):
        scorecard(many)


def test_follows_a_dark_theme(adata):
    with plt.style.context("dark_background"):
        figure = scorecard(adata, n_features=6)
        names = figure.axes[0].get_yticklabels()
        assert mpl.colors.to_rgb(names[0].get_color()) == (1.0, 1.0, 1.0)


def test_names_are_never_read_as_mathematics():
    figure = scorecard(make(p=12, name="$x_{}^2$"))
    figure.draw_without_rendering()


def test_excluded_features_are_not_shown(adata):
    part = adata.copy()
    compute(part, "condition", mask_var=np.arange(60) < 10)
    labels = [t.get_text() for t in scorecard(part).axes[0].get_yticklabels()]
    assert sorted(labels) == sorted(f"gene{j}" for j in range(10))


def test_does_not_touch_adata(adata):
    before = adata.varm["scorecard"].copy()
    scorecard(adata)
    pd.testing.assert_frame_equal(adata.varm["scorecard"], before)


def test_a_number_of_features_that_makes_no_sense_is_refused(adata):
    with pytest.raises(ValueError, match="n_features=0"):
        scorecard(adata, n_features=0)
