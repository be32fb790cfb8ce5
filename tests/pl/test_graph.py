from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import diffnb as dn
from diffnb.pl._graph import spread_apart

pytestmark = pytest.mark.slow


def chosen(adata, n_features, groups):
    """Features by their best rank, then sorted by group: a plain reference implementation."""
    tables = [dn.get.disc(adata, group=g) for g in groups]
    rank = np.min([(-t["score"]).rank(method="first").to_numpy() for t in tables], axis=0)
    keep = np.sort(np.argsort(rank, kind="stable")[:n_features])
    order = [c for t in tables for c in t["feature_group"].cat.categories if c != "background"] + ["background"]
    label = []
    for j in keep:
        own = [t["feature_group"].iloc[j] for t in tables if t["feature_group"].iloc[j] != "background"]
        label.append(order.index(own[0] if own else "background"))
    return keep[np.argsort(label, kind="stable")]


def test_panels_are_correlations_and_their_difference(toy):
    figure = dn.pl.disc_graph(toy, n_features=80)
    features = chosen(toy, 80, ["A", "B"])
    expected = [np.corrcoef(toy.X[toy.obs["condition"] == g][:, features].astype(float), rowvar=False) for g in "AB"]
    expected.append(expected[0] - expected[1])
    for ax, matrix in zip(figure.axes[:3], expected, strict=True):
        np.testing.assert_allclose(ax.images[0].get_array(), matrix, atol=1e-6)


def test_colours_are_centred_at_zero(toy, three):
    for adata in (toy, three):
        for ax in dn.pl.disc_graph(adata, n_features=30).axes:
            for image in ax.images:
                low, high = image.get_clim()
                assert low == -high


def test_each_of_three_conditions_is_compared_with_the_others(three):
    figure = dn.pl.disc_graph(three, n_features=30)
    drawn = [ax for ax in figure.axes if ax.images]
    assert [ax.get_title() for ax in drawn] == ["A", "B", "C", *(f"{g} − mean of others" for g in "ABC")]
    a, b, c, first, *_ = [ax.images[0].get_array() for ax in drawn]
    np.testing.assert_allclose(first, a - (b + c) / 2, atol=1e-12)


def test_the_given_condition_is_compared_with_the_other(toy):
    titles = [ax.get_title() for ax in dn.pl.disc_graph(toy, group="B", n_features=30).axes]
    assert titles[:3] == ["A", "B", "B − A"]


def test_the_layer_and_the_mask_of_the_call_are_used(toy):
    adata = toy.copy()
    adata.layers["scaled"] = sp.csr_matrix(np.asarray(adata.X) ** 3)
    adata.var["some"] = np.arange(adata.n_vars) % 2 == 0
    dn.tl.disc(adata, "condition", layer="scaled", mask_var="some", n_components=2)
    features = chosen(adata, 20, ["A", "B"])
    assert adata.var["some"].iloc[features].all()
    rows = (adata.obs["condition"] == "A").to_numpy()
    for layer, x in ((None, adata.layers["scaled"].toarray()), ("plain", adata.X)):
        if layer is not None:
            adata.layers[layer] = x
        drawn = dn.pl.disc_graph(adata, n_features=20, layer=layer).axes[0].images[0].get_array()
        expected = np.corrcoef(np.asarray(x)[rows][:, features].astype(float), rowvar=False)
        np.testing.assert_allclose(drawn, expected, atol=1e-5)


def test_colour_bars_overlap_nothing_else(toy, three):
    for adata in (toy, three):
        figure = dn.pl.disc_graph(adata, n_features=30)
        figure.canvas.draw()
        boxes = [ax.get_tightbbox().padded(-1) for ax in figure.axes]
        for i, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[:i])


def test_names_of_small_groups_are_moved_apart():
    assert spread_apart([21, 22, 23, 50], 5, 60) == pytest.approx([17, 22, 27, 50])
    assert spread_apart([1, 2, 3, 59], 5, 60) == pytest.approx([0, 5, 10, 59])
    assert spread_apart([50, 59, 60], 5, 60) == pytest.approx([50, 55, 60])
    assert spread_apart([0, 10, 20], 5, 60) == pytest.approx([0, 10, 20])


def test_more_features_than_there_are_draws_all(toy):
    assert dn.pl.disc_graph(toy, n_features=1000).axes[0].images[0].get_array().shape == (250, 250)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_data_on_disk_is_drawn_as_data_in_memory(toy, kind):
    dask = pytest.importorskip("dask.array")
    lazy = toy.copy()
    lazy.X = dask.from_array(toy.X, chunks=(37, -1))
    if kind == "sparse":
        lazy.X = lazy.X.map_blocks(sp.csr_matrix)
    for drawn, expected in zip(*(dn.pl.disc_graph(a, n_features=40).axes[:3] for a in (lazy, toy)), strict=True):
        np.testing.assert_allclose(drawn.images[0].get_array(), expected.images[0].get_array(), atol=1e-8)
