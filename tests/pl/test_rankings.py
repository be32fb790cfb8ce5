from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import diffnb as dn


def names_of(ax):
    return [t.get_text() for t in ax.get_yticklabels()]


def test_each_group_lists_its_highest_scores(toy):
    figure = dn.pl.disc_groups(toy, n_features=6)
    table = dn.get.disc(toy)
    assert len(figure.axes) == sum(g != "background" for g in table["feature_group"].cat.categories)
    for ax in figure.axes:
        group = ax.get_title().split(" ")[0]
        members = table[table["feature_group"] == group].sort_values("score", ascending=False, kind="stable")
        assert names_of(ax) == list(members.index[:6])
        np.testing.assert_array_equal(ax.lines[0].get_xdata(), members["score"].iloc[:6])
        assert f"{len(members)} features" in ax.get_title()


def test_the_background_has_no_panel(toy):
    assert not any("background" in ax.get_title() for ax in dn.pl.disc_groups(toy).axes)


def test_a_message_explains_that_there_is_only_background(toy):
    adata = toy.copy()
    for name in ("disc_A", "disc_B"):
        adata.var[name] = "background"
        adata.var[name] = adata.var[name].astype("category")
    figure = dn.pl.disc_groups(adata)
    assert "no feature groups" in figure.axes[0].texts[0].get_text()


def test_the_table_lists_features_by_score(toy):
    figure = dn.pl.disc_features(toy, group="B", n_features=12)
    top = dn.get.disc(toy, group="B").sort_values("score", ascending=False, kind="stable").iloc[:12]
    ax = figure.axes[0]
    assert names_of(ax) == list(top.index)
    np.testing.assert_array_equal([bar.get_width() for bar in ax.patches], top["score"])


def test_the_table_names_groups_and_stability(toy):
    ax = dn.pl.disc_features(toy, group="A", n_features=5).axes[0]
    top = dn.get.disc(toy, group="A").sort_values("score", ascending=False, kind="stable").iloc[:5]
    written = [t.get_text() for t in ax.texts]
    assert written[:6] == ["group", *top["feature_group"]]
    assert written[6:] == ["stability", *(f"{v:.2f}" for v in top["stability"])]


def test_the_table_is_drawn_without_stability_too(toy):
    ax = dn.pl.disc_features(toy, group="A", n_features=5, key="untested").axes[0]
    assert "stability" not in [t.get_text() for t in ax.texts]


def test_bars_of_a_group_have_its_colour_in_every_figure(toy):
    table = dn.pl.disc_features(toy, group="A", n_features=3).axes[0]
    first = dn.get.disc(toy, group="A").sort_values("score", ascending=False)["feature_group"].iloc[0]
    groups = dn.pl.disc_groups(toy)
    panel = next(ax for ax in groups.axes if ax.get_title().startswith(first))
    from matplotlib.colors import to_rgba

    assert to_rgba(panel.lines[0].get_color()) == table.patches[0].get_facecolor()


@pytest.mark.filterwarnings("ignore::diffnb.StaleResultsWarning")
def test_the_table_of_many_features_has_the_requested_length(wide):
    assert len(dn.pl.disc_features(wide, group="A").axes[0].patches) == 30


@pytest.mark.parametrize("function", [dn.pl.disc_groups, dn.pl.disc_features])
def test_no_features_at_all_is_refused(toy, function):
    with pytest.raises(ValueError, match="n_features=0"):
        function(toy, n_features=0)


def test_the_table_of_one_condition_is_drawn_into_given_axes(toy):
    _, ax = plt.subplots()
    assert dn.pl.disc_features(toy, group="A", n_features=6, ax=ax) is ax
    best = dn.get.disc(toy, group="A").nlargest(6, "score").index
    assert [t.get_text() for t in ax.get_yticklabels()] == list(best)
    with pytest.raises(ValueError, match="ax takes one condition, got 2"):
        dn.pl.disc_features(toy, ax=ax)
