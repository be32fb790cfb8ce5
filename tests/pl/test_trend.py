"""`pl.trend`: what is drawn is what is read."""

from __future__ import annotations

import numpy as np
import pytest

import diffnb as dn


@pytest.fixture(scope="module")
def dosed(toy):
    adata = toy[:, :20].copy()
    dose = np.resize([0.0, 1.0, 5.0], adata.n_obs)
    adata.X = np.asarray(adata.X).copy()
    adata.X[:, 3] += dose
    adata.obs["dose"] = dose
    dn.tl.scorecard(adata, "dose", trend=True)
    return adata


def test_points_are_the_means_of_the_table(dosed, texts_of, overlaps):
    name = str(dosed.var_names[3])
    figure = dn.pl.trend(dosed, features=name)
    (ax,) = figure.axes
    table = dn.get.trend(dosed, features=name)
    np.testing.assert_allclose(ax.containers[0].lines[0].get_xydata(), table[["dose", "mean"]])
    assert ax.get_title(loc="right") == "mean"
    assert overlaps(texts_of(figure)) == []


def test_leading_features_are_drawn_first(dosed):
    figure = dn.pl.trend(dosed, n_features=5)
    assert len(figure.axes) == 5
    assert figure.axes[0].get_title(loc="left") == str(dosed.var_names[3])


def test_given_axes_take_one_feature(dosed):
    import matplotlib.pyplot as plt

    ax = plt.figure().subplots()
    assert dn.pl.trend(dosed, features=str(dosed.var_names[0]), ax=ax) is ax
    with pytest.raises(ValueError, match="ax takes one feature, got 2"):
        dn.pl.trend(dosed, features=list(dosed.var_names[:2]), ax=ax)


def test_a_scorecard_of_a_trend_says_so(dosed):
    assert dn.pl.scorecard(dosed, n_features=5).axes[0].get_title(loc="left") == "trend with dose"
