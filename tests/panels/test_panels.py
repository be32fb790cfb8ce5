"""Each panel: from settings to calls and tables."""

import numpy as np
import pytest

import diffnb as dn

pytestmark = pytest.mark.slow


def tab(panel, name):
    panel.tabs.selected_index = panel.tab_names.index(name)


def test_disc_has_the_tabs_of_the_method(toy):
    panel = dn.panels.disc(toy)
    names = ["Significance", "Linked views", "Features", "Groups", "Enrichment", "Observations", "Code"]
    assert panel.tab_names == names


def test_disc_asks_for_relations_first(fresh):
    panel = dn.panels.disc(fresh)
    assert next(iter(panel.controls)) == "question"
    assert panel.controls["question"].widget.label == "connected in one condition only (relations)"
    assert "connected in one condition only?" in panel.head.value
    assert panel.tool_call().line() == 'dn.tl.disc(adata, "condition")'


def test_disc_prints_the_question_that_its_results_answer(fresh, run):
    panel = dn.panels.disc(fresh)
    panel.set(question="any difference")
    assert "in levels, spreads or relations?" in panel.head.value
    run(panel, n_clusters=3, n_components=2)
    assert 'dn.tl.disc(adata, "condition", question="any difference", n_components=2, n_clusters=3)' in panel.code
    panel.set(question="relations")
    assert "in levels, spreads or relations?" in panel.head.value, "until the next run"
    run(panel)
    assert "connected in one condition only?" in panel.head.value


def test_disc_folds_away_what_follows_from_the_question(fresh):
    panel = dn.panels.disc(fresh)
    settings, folded = panel.children[1], panel.advanced
    for name in ("standardize", "null", "min_obs"):
        assert panel.controls[name].value == "auto"
        assert panel.controls[name].widget in folded.children[0].children
        assert panel.controls[name].widget not in settings.children


def test_disc_shows_the_evidence_for_groups(adata, run):
    panel = run(dn.panels.disc(adata, "condition", sample_key=None))
    assert "stim: 1 group is named, p = " in panel.evidence.value
    assert "ctrl: no group is named: σ is not larger than chance explains" in panel.evidence.value
    assert any(line.startswith("stim: 1 group is named") for line in panel.summary())
    assert "evidence = dn.get.disc_evidence(adata)" in panel.code
    assert "membership" in panel.features.frame.columns


def test_compare_passes_the_question_to_disc_only(fresh, run):
    panel = run(dn.panels.compare(fresh), methods=["DiSC", "scorecard"], question="any difference", n_top=10)
    assert 'dn.tl.disc(adata, "condition", question="any difference", key_added="compare_disc")' in panel.code
    assert 'dn.tl.scorecard(adata, "condition", key_added="compare_scorecard")' in panel.code


def test_disc_shows_the_selected_condition(toy):
    panel = dn.panels.disc(toy)
    assert [o[0] for o in panel.group.widget.options] == ["A", "B"]
    panel.group.put("B")
    assert 'features = dn.get.disc_features(adata, group="B")' in panel.code
    np.testing.assert_array_equal(panel.features.frame["score"], dn.get.disc(toy, group="B")["score"])


def test_disc_runs_the_scorecard_if_selected(fresh, run):
    panel = run(dn.panels.disc(fresh), scorecard=True, n_components=2)
    assert 'dn.tl.scorecard(adata, "condition")' in panel.code
    assert "kind" in panel.features.frame.columns
    run(panel, scorecard=False)
    assert 'dn.tl.scorecard(adata, "condition")' in panel.code, "its results are still on screen"


def test_what_the_map_shows_is_in_the_code(toy):
    panel = dn.panels.disc(toy)
    panel.group.put("A")
    panel.features.x.put(("result", "vector_3"))
    panel.features.color.put(("var", "truth_A"))
    assert 'dn.pl.disc_embedding(adata, group="A", components=(3, 2), color="truth_A")' in panel.code
    panel.features.x.put(("result", "score"))
    assert "components=(" not in panel.code
    assert panel.features.map.axes == ["score", "vector_2"]


def test_map_and_table_share_a_selection(toy):
    view = dn.panels.disc(toy).features
    view.map.selection = b"\x07" + view.map.selection[1:]
    assert view.selected == list(toy.var_names[:3])
    assert view.table.only_selected
    assert view.table.page["found"] == 3
    view.table._on_message(view.table, {"ask": "toggle", "index": 0}, [])
    assert view.map.selection[0] == 0b110
    view.table._on_message(view.table, {"ask": "clear"}, [])
    assert not any(view.map.selection)
    assert view.table.page["found"] == 250
    view.select(["feature_010"])
    assert view.map.selection[1] == 0b10


def test_a_selection_survives_a_change_of_theme_or_condition(toy):
    panel = dn.panels.disc(toy)
    panel.features.select(["feature_003"])
    panel.status.dark = True
    assert panel.features.selected == ["feature_003"]
    assert panel.features.dark
    panel.group.put("B")
    assert panel.features.selected == ["feature_003"]
    assert panel.features.map.selection[0] == 0b100


def test_a_selection_is_saved_with_its_line(toy):
    panel = dn.panels.disc(toy)
    panel.features.select(["feature_002", "feature_005"])
    panel.features.column.value = "my pick"
    panel.features.save_button.click()
    assert toy.var_names[toy.var["my pick"]].tolist() == ["feature_002", "feature_005"]
    assert 'adata.var["my pick"] = adata.var_names.isin(["feature_002", "feature_005"])' in panel.code
    assert panel.features.message.value == "2 features saved."
    panel.features.column.value = " "
    panel.features.save()
    assert panel.features.message.value == "Enter a name for the column."


def test_observations_are_drawn_on_the_selected_embedding(toy, rng):
    toy.obsm["X_umap"] = rng.normal(size=(toy.n_obs, 2))
    toy.obsm["flat"] = rng.normal(size=(toy.n_obs, 1))
    panel = dn.panels.disc(toy)
    assert [o[0] for o in panel.basis.widget.options] == ["automatic", "X_umap"]
    panel.basis.put("X_umap")
    panel.group.put("A")
    assert 'dn.pl.disc_observations(adata, group="A", basis="X_umap")' in panel.code


@pytest.mark.filterwarnings("ignore:neighbouring rows are alike")  # frames of a single subject
@pytest.mark.filterwarnings("ignore:group .* holds .* of all features")  # two blocks of frames differ in everything
@pytest.mark.parametrize(
    ("data", "line"),
    [
        (lambda: dn.datasets.hyperspectral_tarp(size=20, n_bands=30), "dn.pl.feature_image"),
        (lambda: dn.datasets.nback_fmri(n_subjects=1, n_blocks=1), "dn.pl.feature_brain"),
    ],
)
def test_features_with_positions_are_shown_there(data, line, run):
    panel = run(dn.panels.disc(data()), n_components=2)
    assert panel.status.state == "done", panel.status.message
    tab(panel, "Observations")
    assert f'{line}(adata, "vector_1", group=' in panel.code
    assert len(panel.pictures["Observations: features"].png) > 1000


def test_three_conditions_are_shown_one_by_one(run):
    panel = run(dn.panels.disc(dn.datasets.three_conditions(n_obs=60)), n_components=2, scorecard=True)
    assert len(panel.group.widget.options) == 3
    panel.group.put("A")
    assert {"kind_vs_B", "kind_vs_C"} <= set(panel.features.frame.columns)
    panel.group.put("C")
    assert {"kind_vs_A", "kind_vs_B"} <= set(panel.features.frame.columns)


def test_one_vector_is_drawn_against_the_score(run, fresh):
    panel = run(dn.panels.disc(fresh), n_components=1, n_clusters=2)
    assert panel.features.map.axes == ["vector_1", "score"]


def test_sparda_shows_weights_path_and_projection(run):
    adata = dn.datasets.nuisance_factor(n_obs=100, n_features=40)
    panel = run(dn.panels.sparda(adata), n_features=10, n_projections=2)
    assert panel.features.table.page["rows"][0]["cells"][2] == "1"
    assert panel.features.map.labels[0][0] == 0  # the first by rank is named first
    for name in ("Weights", "Projection", "Path"):
        tab(panel, name)
        assert len(panel.pictures[name].png) > 1000
    panel.projection.put(2)
    assert '.query("projection == 2")' in panel.code
    assert 'dn.pl.sparda_projection(adata, group="B", projection=2)' in panel.code


def test_sparda_offers_every_comparison(run):
    adata = dn.datasets.three_conditions(n_obs=50)
    panel = run(dn.panels.sparda(adata), n_features=5)
    assert [o[0] for o in panel.comparison.widget.options] == ["A vs rest", "B vs rest", "C vs rest"]
    panel.comparison.put("B")
    assert (panel.features.frame["selected"].sum()) == 5


@pytest.mark.filterwarnings("default:.*permuted labels:UserWarning")
def test_sparda_shows_what_is_undecided_beside_the_result(run):
    adata = dn.datasets.nuisance_factor(n_obs=60, n_features=30)
    adata.X = np.random.default_rng(1).normal(size=adata.shape)
    panel = run(dn.panels.sparda(adata))
    expected = dn.get.sparda_summary(adata)["note"].tolist()
    assert "no more than with permuted labels" in expected[0]
    assert panel.notes.notes == expected
    assert panel.summary()[1:] == expected
    assert panel.notes.layout.display is None
    again = dn.panels.sparda(adata)
    assert again.notes.notes == expected, "of stored results as well"
    run(panel, n_features=5)
    assert panel.notes.notes == []
    assert panel.notes.layout.display == "none"


def test_dufs_shows_gates_and_training(run):
    adata = dn.datasets.two_moons(10)
    panel = run(dn.panels.dufs(adata), laplacian_score=True, n_steps=60)
    assert panel.status.state == "done", panel.status.details
    assert "dn.tl.laplacian_score(adata)" in panel.code
    assert panel.features.map.axes == ["rank", "gate"]
    assert {c["label"] for c in panel.features.map.legend["items"]} == {"yes", "background"}
    assert len(panel.pictures["Gates"].png) > 1000
    panel.features.y.put(("var", "laplacian_score"))
    assert panel.features.map.axes == ["rank", "laplacian_score"]


@pytest.mark.filterwarnings("ignore:only 2 of 12 gates stay open")
def test_dufs_names_an_edge_and_offers_diverse_features(run):
    adata = dn.datasets.two_moons(10)
    panel = run(dn.panels.dufs(adata), diverse_features=True, min_features=5)
    assert panel.edge.value.startswith("Only 2 of 12 gates are open, fewer than 5")
    assert "dn.tl.diverse_features(adata)" in panel.code
    assert "dn.get.dufs_summary(adata)" in panel.code
    assert adata.var["diverse_features"].sum() == 6


def test_dufs_takes_a_number_of_features(run):
    adata = dn.datasets.two_moons(10)
    panel = run(dn.panels.dufs(adata), n_features=3, penalty="warm", n_steps=20)
    assert 'dn.tl.dufs(adata, n_features=3, penalty="warm", n_steps=20)' in panel.code
    assert panel.features.frame["selected"].sum() == 3


def test_informed_shows_embedding_clusters_and_covariance(run):
    adata = dn.datasets.two_types(n_obs=40)
    panel = run(dn.panels.informed(adata), n_clusters=18)
    assert panel.status.state == "done", panel.status.details
    for name in ("Embedding", "Covariance"):
        tab(panel, name)
        assert len(panel.pictures[name].png) > 1000
    tab(panel, "Clusters")
    assert panel.pictures["Clusters"].png == b""
    assert "number of clusters was given" in panel.pictures["Clusters"].empty
    assert panel.features.frame["cluster"].nunique() == 18
    panel.x_component.put(3)
    assert "components=(3, 2)" in panel.code


def test_informed_shows_what_is_undecided_beside_the_result(run):
    adata = dn.datasets.two_types(n_obs=40)
    panel = run(dn.panels.informed(adata))
    assert panel.notes.notes == [note for note in dn.get.informed_summary(adata)["note"] if note]
    assert "summary = dn.get.informed_summary(adata)" in panel.code
    run(panel, n_clusters=18, n_components=2)
    assert panel.notes.notes == []


def test_informed_without_clusters_or_directions_has_no_table(run):
    adata = dn.datasets.two_types(n_obs=40)
    panel = run(dn.panels.informed(adata), n_clusters=18)
    run(panel, local=True, informed=False, n_clusters="auto")
    assert panel.status.state == "done", panel.status.details
    assert "informed_clusters" not in panel.code
    assert "informed_covariance" not in panel.code


def test_informed_local_metrics_have_clusters_and_no_directions(run):
    adata = dn.datasets.two_types(n_obs=40)
    panel = run(dn.panels.informed(adata), n_clusters=18, local=True)
    assert panel.status.state == "done", panel.status.details
    assert panel.features.map.axes[0] == "position"


def test_compare_ranks_every_method(positive, run):
    panel = run(dn.panels.compare(positive), n_features=5, n_top=15)
    assert panel.status.state == "done", panel.status.details
    methods = ["DiSC", "SPARDA", "scorecard", "rank_genes_groups"]
    assert panel.features.frame.columns[:4].tolist() == methods
    assert {"compare_disc", "compare_sparda", "compare_scorecard", "compare_rank_genes_groups"} <= set(positive.uns)
    assert "disc" not in positive.uns
    for name in ("Ranks", "Overlap"):
        tab(panel, name)
        assert len(panel.pictures[name].png) > 1000
    panel.group.put("B")
    assert 'dn.get.compare(adata, group="B", n_top=15, prefix="compare_")' in panel.code
    panel.set(n_top=10)
    assert panel.features.frame["found_by"].str.contains("DiSC").sum() == 10


def test_compare_runs_only_the_selected_methods(fresh, run):
    panel = run(dn.panels.compare(fresh), methods=["DiSC"], n_top=10)
    assert "compare_sparda" not in fresh.uns
    assert panel.features.map.axes == ["DiSC", "DiSC"]
    tab(panel, "Ranks")
    assert len(panel.pictures["Ranks"].png) > 1000


@pytest.mark.parametrize("name", ["sparda", "dufs", "informed", "compare"])
def test_results_of_an_earlier_call_are_shown_in_a_dark_theme_too(name, positive):
    tools = {"sparda": lambda: dn.tl.sparda(positive, "condition", n_features=4)}
    tools["dufs"] = lambda: dn.tl.dufs(positive, n_steps=5)
    tools["informed"] = lambda: dn.tl.informed_distance(positive, n_clusters=4)
    tools["compare"] = lambda: dn.tl.disc(positive, "condition", n_components=2, key_added="compare_disc")
    tools[name]()
    panel = getattr(dn.panels, name)(positive)
    panel.status.dark = True
    assert panel.features.dark
    assert panel.features.table.page["all"] == 40
    made = {"compare": "disc", "informed": "informed_distance"}.get(name, name)
    assert f"dn.tl.{made}(adata" in panel.code, "what is stored is enough to repeat it"
    assert panel.changed_settings() == []
    panel.features.select(positive.var_names[:2])
    panel.features.save()
    assert 'adata.var["selected"] = adata.var_names.isin(' in panel.code


def test_columns_of_var_follow_the_order_of_the_table(positive, run):
    positive.var["place"] = np.arange(40)
    panel = run(dn.panels.sparda(positive), n_features=4)
    panel.features.y.put(("var", "place"))
    points = np.frombuffer(panel.features.map.points, dtype=np.float32).reshape(-1, 2)
    assert points[:, 1].tolist() == positive.var["place"][panel.features.frame.index].tolist()


def test_explore_has_a_picture(adata):
    lines = dn.panels.explore(adata).summary()
    assert any(line.startswith("obs['condition']: 2 levels") for line in lines)


def test_only_the_first_of_many_levels_are_listed(adata):
    adata.obs["plate"] = [f"p{i % 20}" for i in range(adata.n_obs)]
    panel = dn.panels.explore(adata)
    panel.controls["groupby"].put("plate")
    assert "and 8 more" in panel.levels.value


@pytest.mark.parametrize("name", ["scorecard", "disc", "sparda", "dufs", "informed", "compare"])
def test_every_control_has_a_label_and_a_tooltip(name, adata):
    panel = getattr(dn.panels, name)(adata)
    for control in panel.controls.values():
        assert control.widget.description, control.name
        others = ("scorecard", "laplacian_score", "diverse_features")
        assert control.widget.tooltip or control.name in others or name == "compare"


def test_the_condition_with_the_largest_sigma_is_shown_first(adata):
    dn.tl.disc(adata, "condition")
    sigma = dn.get.disc_significance(adata).query("component == 1").set_index("group")["sigma"]
    assert sigma["stim"] > sigma["ctrl"]
    panel = dn.panels.disc(adata, "condition")
    assert panel.group.value == "stim"
    panel.group.put("ctrl")
    panel.refresh()
    assert panel.group.value == "ctrl"


def test_a_layer_with_counts_is_offered_and_passed_on(adata):
    adata.layers["counts"] = np.random.default_rng(0).poisson(3.0, size=adata.shape)
    panel = dn.panels.disc(adata, "condition")
    panel.set(counts="counts", scorecard=True)
    disc, _, scorecard = panel.calls()
    assert disc.keywords["counts"] == scorecard.keywords["counts"] == "counts"
