"""Linked views of a group of features: selections in one are followed by all."""

import anndata as ad
import numpy as np
import pandas as pd
import pytest

import diffnb as dn
from diffnb.panels._disc import LINKED
from diffnb.panels._linked import NO_GROUPS
from diffnb.panels._marks import packed, unpacked
from diffnb.panels._network_map import CONNECTIONS, NetworkMap
from diffnb.panels._pair_map import PairMap


def opened(adata):
    panel = dn.panels.disc(adata)
    panel.tabs.selected_index = panel.tab_names.index(LINKED)
    return panel


@pytest.fixture
def panel(toy, rng):
    toy.obsm["X_umap"] = rng.normal(size=(toy.n_obs, 2))
    return opened(toy)


@pytest.fixture
def views(panel):
    return panel.linked


def notes(views):
    return " ".join(views.notes.notes)


def test_nothing_is_computed_before_the_tab_is_opened(toy):
    panel = dn.panels.disc(toy)
    assert not panel.linked.is_open
    assert len(panel.linked.network.points) == 0
    assert "group_scores" not in panel.code


def test_a_group_colours_the_observations_by_its_score_and_shows_its_pairs_in_both_conditions(views, toy):
    group = views.group.value
    assert views.observations.map.legend["title"] == f"score of {group}"
    n = len(dn.get.group_features(toy, group=group))
    assert views.pairs.size == n
    assert len(views.pairs.codes) == 2 * n * n
    assert [title.split(",")[0] for title in views.pairs.titles] == ["A", "B"]
    assert views.table.page["all"] == n
    assert len(views.network.points) == 8 * n
    other = views.group.widget.options[-1][1]
    views.group.put(other)
    assert views.observations.map.legend["title"] == f"score of {other}"
    assert views.table.found.index.tolist()[0] in dn.get.gene_sets(toy)[other]


def test_edges_are_those_of_the_code(views, toy):
    edges = dn.get.edges(toy, group=views.group.value, condition="A", reference="B", max_edges=1500)
    ends = np.frombuffer(views.network.edges, dtype=np.uint32).reshape(-1, 2)
    names = np.array(views.frame.index)
    assert [set(pair) for pair in names[ends]] == [set(p) for p in edges[["feature_1", "feature_2"]].to_numpy()]
    assert sum(look["count"] for look in views.network.edge_looks) == len(edges)
    assert f"{len(edges):,} of" in notes(views)


def test_selected_features_are_followed_by_all_views(views):
    mask = np.zeros(len(views.frame), dtype=bool)
    mask[[1, 3]] = True
    views.network.selection = packed(mask)
    assert views.selected_names == [str(name) for name in views.frame.index[[1, 3]]]
    assert views.table.page["rows"][0]["on"]
    assert views.pairs.selection == packed(mask)
    assert views.observations.map.legend["title"] == "score of 2 selected features"
    views.table._on_message(None, {"ask": "clear"}, [])
    assert not unpacked(views.network.selection, len(mask)).any()
    assert views.observations.map.legend["title"] == f"score of {views.group.value}"
    views.pairs._on_message(None, {"ask": "select", "row": 0, "column": 2}, [])
    assert views.selected_names == [str(name) for name in views.frame.index[[0, 2]]]


def test_selected_observations_restrict_pairs_and_table(views, toy):
    chosen = np.arange(toy.n_obs) % 2 == 0
    before = views.pairs.codes
    views.observations.map.selection = packed(chosen)
    expected = dn.get.group_features(toy, group=views.group.value, observations=chosen)
    found = views.table.found
    assert found.index[0] == expected["difference"].idxmax()
    assert found["mean"].tolist() == expected.loc[found.index, "mean"].tolist()
    assert views.pairs.codes != before
    assert "100 of 200 observations are selected" in notes(views)
    assert views.network.legend["title"] == "difference of the selected"
    views.observations.map.selection = packed(np.zeros(toy.n_obs, dtype=bool))
    assert views.pairs.codes == before
    assert "difference" not in views.table.found


def test_the_code_computes_what_is_on_screen(panel, views, toy):
    chosen = np.arange(toy.n_obs) < 60
    views.observations.map.selection = packed(chosen)
    block = panel.code[panel.code.index("chosen = ") :]
    scope = {"dn": dn, "adata": toy}
    exec(block, scope)
    pd.testing.assert_frame_equal(scope["members"], dn.get.group_features(toy, group="A1", observations=chosen))
    assert scope["scores"].columns.tolist() == [views.group.value]
    assert len(scope["edges"]) == len(views.edges)
    assert scope["pairs"].attrs["n_obs"] == {"A": 60, "B": 0}


def test_a_selection_that_was_saved_has_a_name_in_the_code(panel, views, toy, monkeypatch):
    monkeypatch.setattr("diffnb.panels._linked.MAX_NAMES_IN_CODE", 10)
    views.observations.map.selection = packed(np.arange(toy.n_obs) < 60)
    assert "# for the 60 selected observations, save the selection" in panel.code
    assert "observations=" not in panel.code
    views.observations.save()
    assert 'chosen = adata.obs["picked"] == "selected"' in panel.code
    assert "observations=chosen" in panel.code


def test_without_groups_the_tab_says_why(fresh, rng):
    fresh.X = rng.normal(size=fresh.shape)
    dn.tl.disc(fresh, "condition")
    dn.tl.meta_features(fresh)
    views = opened(fresh).linked
    assert views.notes.notes == [NO_GROUPS]
    assert not views.is_open


def test_what_cannot_be_computed_is_said(views, monkeypatch):
    def fail(*_, **__):
        raise ValueError("out of luck")

    monkeypatch.setattr("diffnb.get.group_features", fail)
    views.observations.map.selection = packed(np.arange(views.adata.n_obs) < 60)
    assert views.notes.notes == ["This cannot be shown: out of luck"]


def test_too_few_samples_leave_the_network_without_edges(toy):
    toy.obs["donor"] = np.where(toy.obs["condition"] == "A", "one", "two")
    toy.uns["disc"]["params"]["sample_key"] = "donor"
    views = opened(toy).linked
    assert "No edges are known" in notes(views)
    assert len(views.network.edges) == 0
    assert len(views.network.points) > 0


def test_pixels_are_a_layer_at_their_place():
    adata = dn.datasets.hyperspectral_tarp(size=20, n_bands=20)
    shown = NetworkMap()
    assert shown.layouts(adata) == [CONNECTIONS, "image"]
    names = list(adata.var_names[[5, 17]])
    edges = pd.DataFrame({"feature_1": names[:1], "feature_2": names[1:], "class": ["gained"], "difference": [0.5]})
    shown.show(adata, names, edges, "image", [1.0, 0.5])
    points = np.frombuffer(shown.points, dtype=np.float32).reshape(-1, 2)
    assert len(points) == adata.n_vars
    np.testing.assert_array_equal(points[:2], adata.var.loc[names, ["col", "row"]] * [1, -1])
    assert shown.equal
    assert shown.bare, "pixels are counted by nobody"
    assert [name for _, name in shown.labels] == names


def test_parcels_are_layers_of_a_brain():
    adata = dn.datasets.nback_fmri(n_subjects=2)
    shown = NetworkMap()
    assert shown.layouts(adata)[1:] == ["brain from above", "brain from the left", "brain from behind"]
    none = pd.DataFrame(columns=["feature_1", "feature_2", "class", "difference"])
    shown.show(adata, list(adata.var_names[:3]), none, "brain from the left", [3.0, 2.0, 1.0])
    points = np.frombuffer(shown.points, dtype=np.float32).reshape(-1, 2)
    np.testing.assert_allclose(points[:3], adata.var[["y", "z"]].to_numpy()[:3], rtol=1e-6)
    assert shown.axes == ["y", "z"]
    assert not shown.bare


def test_features_without_an_edge_are_beside_the_others(toy):
    names = [str(name) for name in toy.var_names[:6]]
    edges = dn.get.edges(toy, group="A1", max_pval_adj=1.0).head(1)
    edges = edges.assign(feature_1=names[:1], feature_2=names[1:2], difference=-0.4)
    edges["class"] = "lost"
    shown = NetworkMap()
    shown.show(toy, names, edges, CONNECTIONS, range(6))
    points = np.frombuffer(shown.points, dtype=np.float32).reshape(-1, 2)
    assert np.isfinite(points).all()
    assert points[2:, 1].max() < points[:2, 1].min()
    assert len(np.unique(points, axis=0)) == 6
    assert shown.edge_looks[0]["label"] == "lost"
    assert shown.edge_looks[0]["dash"]


class TestPairs:
    def test_colours_span_the_correlations_and_the_diagonal_has_none(self):
        table = pd.DataFrame([[1.0, -0.3], [-0.3, 1.0]], index=["a", "b"], columns=["a", "b"])
        pairs = PairMap()
        pairs.show([table, -table], ["one", "two"])
        assert (pairs.low, pairs.high) == (-0.3, 0.3)
        assert list(pairs.codes) == [255, 0, 0, 255, 255, 239, 239, 255]
        assert pairs.text_of(0, 0, 1) == "a – b: r = −0.30"
        assert pairs.text_of(1, 0, 0) == "a"

    def test_a_pair_without_a_value_is_said(self):
        table = pd.DataFrame([[1.0, np.nan], [np.nan, 1.0]], index=["a", "b"], columns=["a", "b"])
        pairs = PairMap()
        pairs.show([table], ["one"])
        assert list(pairs.codes) == [255] * 4
        assert pairs.text_of(0, 0, 1) == "a – b: r is not known"

    def test_messages_outside_of_the_map_are_ignored(self):
        pairs = PairMap()
        sent = []
        pairs.send = sent.append
        for content in (
            {"ask": "pair", "map": 0, "row": 5, "column": 0},
            {"ask": "select", "row": -1, "column": 0},
            {},
        ):
            pairs._on_message(None, content, [])
        assert sent == []
        assert pairs.selection == b""


def test_every_control_of_the_views_has_a_tooltip(panel):
    lacking = [control.name for control in panel.linked.controls if not control.widget.tooltip]
    assert lacking == []


def test_without_an_embedding_the_network_is_shown_all_the_same(computed):
    toy = ad.AnnData(computed.X, obs=computed.obs, var=computed.var[["block"]])
    dn.tl.disc(toy, "condition", n_clusters=3)
    views = opened(toy).linked
    assert views.observations.basis.value is None
    assert len(views.network.points) > 0
