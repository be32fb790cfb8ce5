from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import diffnb as dn


def long_lines(ax, color_index):
    from diffnb.pl._style import PALETTE

    return [line for line in ax.lines if line.get_color() == PALETTE[color_index] and line.get_linestyle() == "-"]


@pytest.mark.parametrize(("m", "group"), [(0, "A"), (1, "B")])
def test_lines_are_sigma(toy, m, group):
    ax = dn.pl.disc_significance(toy, key="untested")
    table = dn.get.disc_significance(toy, key="untested").query("group == @group")
    line = long_lines(ax, m)[0]
    np.testing.assert_array_equal(line.get_ydata(), table["sigma"])
    np.testing.assert_array_equal(line.get_xdata(), table["component"])


def test_the_tested_sigma_is_drawn_when_connectivity_was_tested():
    adata = dn.datasets.newly_connected(n_obs=100)
    dn.tl.disc(adata, "condition", question="any difference", null="connectivity", n_components=3, n_permutations=9)
    ax = dn.pl.disc_significance(adata, group="A")
    table = dn.get.disc_significance(adata).query("group == 'A'")
    assert not np.allclose(table["sigma"], table["sigma_tested"])
    np.testing.assert_array_equal(long_lines(ax, 0)[0].get_ydata(), table["sigma_tested"])
    assert "within" in ax.get_ylabel()


def test_the_band_reaches_from_the_median_to_95_percent(toy):
    ax = dn.pl.disc_significance(toy, group="A")
    table = dn.get.disc_significance(toy).query("group == 'A'")
    corners = ax.collections[0].get_paths()[0].vertices
    for column in ("null_median", "null_95"):
        assert np.isin(table[column].round(9), corners[:, 1].round(9)).all()


def test_markers_are_filled_where_p_is_small(toy):
    ax = dn.pl.disc_significance(toy)
    table = dn.get.disc_significance(toy)
    markers = [line for line in ax.lines if line.get_marker() == "o"]
    filled = [line for line in markers if line.get_markerfacecolor() == line.get_markeredgecolor()]
    assert sum(len(line.get_xdata()) for line in filled) == int((table["pval"] < 0.05).sum())
    assert sum(len(line.get_xdata()) for line in markers) == len(table)


def test_the_legend_names_conditions_and_what_was_tested(toy):
    names = [t.get_text() for t in dn.pl.disc_significance(toy).get_legend().get_texts()]
    assert names[:2] == ["A", "B"]
    assert len(names) == 5
    untested = dn.pl.disc_significance(toy, key="untested").get_legend().get_texts()
    assert [t.get_text() for t in untested] == ["A", "B"]


def test_the_legend_covers_no_data(toy):
    ax = dn.pl.disc_significance(toy)
    ax.figure.canvas.draw()
    assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())


def test_ticks_are_integers(toy):
    ax = dn.pl.disc_significance(toy)
    ax.figure.canvas.draw()
    assert all(tick == int(tick) for tick in ax.get_xticks())


def test_draws_into_given_axes(toy):
    _, ax = plt.subplots()
    assert dn.pl.disc_significance(toy, ax=ax) is ax
