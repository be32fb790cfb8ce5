from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import diffnb as dn
from diffnb.pl._effects import show_ratios

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tested(toy):
    adata = toy.copy()
    dn.tl.scorecard(adata, "condition")
    return adata


@pytest.mark.parametrize("effect", ["mean", "spread", "distribution", "connectivity"])
def test_every_feature_with_an_effect_is_a_point(tested, effect, texts_of, overlaps):
    ax = dn.pl.volcano(tested, effect=effect)
    table = dn.get.effects(tested)
    assert sum(len(c.get_offsets()) for c in ax.collections) == table[effect].notna().sum()
    assert overlaps(texts_of(ax.figure)) == []


def test_called_features_are_counted_in_the_title(tested):
    called = (dn.get.scorecard(tested)["connectivity_pval_adj"] < 0.05).to_numpy()
    n = (called & dn.get.effects(tested)["connectivity"].notna().to_numpy()).sum()
    assert dn.pl.volcano(tested, effect="connectivity").get_title(loc="left").startswith(f"{n} ")


def test_a_missing_effect_is_said(tested):
    ax = dn.pl.volcano(tested, effect="log2_fold_change")
    assert "no feature has a" in ax.texts[0].get_text()


def test_intervals_are_drawn_for_the_features_asked_for(tested, texts_of, overlaps):
    names = list(tested.var_names[[3, 160, 210]])
    figure = dn.pl.forest(tested, features=names)
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == names
    table = dn.get.effects(tested).loc[names]
    drawn = np.array([s[:, 0] for s in figure.axes[0].collections[0].get_segments()])
    np.testing.assert_allclose(drawn, table[["mean_low", "mean_high"]])
    assert overlaps(texts_of(figure)) == []


def test_unknown_features_and_several_pairs_are_explained(tested, three):
    with pytest.raises(ValueError, match="'nothing', which is not a feature"):
        dn.pl.forest(tested, features=["nothing"])
    adata = three.copy()
    dn.tl.scorecard(adata, "condition")
    with pytest.raises(ValueError, match="one pair of conditions"):
        dn.pl.volcano(adata)
    assert dn.pl.forest(adata, group="B", n_features=3).axes


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [(0.4, 2.4, [0.5, 1, 2]), (0.01, 200, [0.01, 0.1, 1, 10, 100]), (0.6, 1.5, [0.7, 1, 1.4]), (0.95, 1.05, [1])],
)
def test_ratios_have_plain_ticks(low, high, shown):
    _, ax = plt.subplots()
    ax.plot([low, high], [0, 1])
    ax.set_xlim(low, high)
    show_ratios(ax)
    assert [t for t in ax.get_xticks() if low <= t <= high] == shown
    assert ax.xaxis.get_major_formatter()(0.5) == "0.5"
