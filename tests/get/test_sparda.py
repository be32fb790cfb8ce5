import anndata
import numpy as np
import pandas as pd
import pytest

import diffnb as dn


@pytest.fixture(scope="module")
def found():
    """Ten of 40 features are correlated in the second condition only."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 40))
    x[60:, 10:20] += 1.5 * rng.normal(size=(60, 1))
    names = {"index": [f"cell{i}" for i in range(120)]}
    obs = pd.DataFrame({"condition": pd.Categorical(np.repeat(["ctrl", "stim"], 60))}, **names)
    adata = anndata.AnnData(x, obs=obs, var=pd.DataFrame(index=[f"gene{i}" for i in range(40)]))
    dn.tl.sparda(adata, "condition", n_projections=2, n_permutations=9, certificate=True)
    return adata


@pytest.fixture
def done(found):
    return found.copy()


@pytest.fixture(scope="module")
def three():
    adata = dn.datasets.three_conditions(n_obs=40)[:, 90:130].copy()
    dn.tl.sparda(adata, "condition", n_features=4)
    return adata


class TestWeights:
    def test_the_largest_weights_come_first(self, done):
        table = dn.get.sparda(done)
        assert table.columns.tolist() == ["group", "reference", "projection", "weight", "rank", "selected"]
        assert len(table) == 80
        for _, part in table.groupby("projection"):
            assert part["weight"].abs().is_monotonic_decreasing
            assert part["rank"].tolist() == list(range(1, 41))
            assert (part["selected"] == (part["weight"] != 0)).all()
        first = table[table["projection"] == 1]
        assert set(first.index[first["selected"]]) <= {f"gene{i}" for i in range(10, 20)}

    def test_weights_have_unit_length_and_stand_beside_their_feature(self, done):
        table = dn.get.sparda(done).query("projection == 1")
        assert np.linalg.norm(table["weight"]) == pytest.approx(1)
        np.testing.assert_array_equal(table["weight"].reindex(done.var_names), done.varm["sparda"]["stim_vs_ctrl_1"])

    def test_excluded_features_come_last_and_are_missing(self, adata):
        dn.tl.sparda(adata, "condition", n_features=3, mask_var="chosen")
        table = dn.get.sparda(adata)
        assert set(table.index[-10:]) == {f"gene{i}" for i in range(30, 40)}
        assert table["weight"].iloc[-10:].isna().all()
        assert table["rank"].iloc[-10:].isna().all()
        assert table["selected"].sum() == 3

    def test_every_condition_against_the_rest(self, three):
        table = dn.get.sparda(three)
        assert table["group"].unique().tolist() == ["A", "B", "C"]
        assert (table["reference"] == "rest").all()
        pd.testing.assert_frame_equal(dn.get.sparda(three, group="B"), table[table["group"] == "B"])


class TestSummary:
    def test_has_one_row_a_projection(self, done):
        table = dn.get.sparda_summary(done)
        assert table.columns.tolist() == [
            *("group", "reference", "projection", "objective", "share", "n_features", "pval", "certificate"),
            *("at_edge", "flat_from", "flat_to", "held_out_pval", "note"),
        ]
        assert table["projection"].tolist() == [1, 2]
        assert table["share"].sum() == pytest.approx(1)
        assert table["objective"].is_monotonic_decreasing
        assert table.loc[0, "pval"] == pytest.approx(0.1)
        assert (table["certificate"] >= 1).all()

    def test_what_was_not_asked_for_is_missing(self, three):
        table = dn.get.sparda_summary(three)
        assert table["pval"].isna().all()
        assert table["certificate"].isna().all()
        assert table["share"].tolist() == [1, 1, 1]
        assert table["n_features"].tolist() == [4, 4, 4]
        assert table[["flat_from", "flat_to", "held_out_pval"]].isna().all(axis=None)
        assert (table[["at_edge", "note"]] == "").all(axis=None)

    def test_tells_how_decided_the_number_of_features_is(self, done):
        table = dn.get.sparda_summary(done)
        assert table.loc[0, "held_out_pval"] <= 0.05
        assert (table["flat_from"] <= table["flat_to"]).all()
        path = dn.get.sparda_path(done).query("projection == 1 and chosen")
        assert table.loc[0, "flat_from"] <= path["k"].item() <= table.loc[0, "flat_to"]

    def test_reads_results_of_versions_that_stored_no_choice(self, done):
        del done.uns["sparda"]["choice"]
        del done.uns["sparda"]["path"]["chance"]
        assert dn.get.sparda_summary(done)["held_out_pval"].isna().all()
        assert "chance" not in dn.get.sparda_path(done)


class TestPath:
    def test_rises_with_k_and_marks_the_choice(self, done):
        table = dn.get.sparda_path(done).query("projection == 1")
        assert table.columns.tolist() == [
            *("group", "reference", "projection", "k", "objective", "held_out", "held_out_sd", "chance", "chosen"),
        ]
        assert table["k"].iloc[[0, -1]].tolist() == [1, 40]
        assert (table["objective"].diff().dropna() >= 0).all()
        assert table["chosen"].sum() == 1
        assert (table["held_out"] - table["chance"]).idxmax() == table.index[table["chosen"]][0]
        assert table.loc[table["chosen"], "objective"].item() == dn.get.sparda_summary(done)["objective"][0]

    def test_a_given_number_is_on_the_path_and_nothing_was_held_out(self, three):
        table = dn.get.sparda_path(three)
        assert table.loc[table["chosen"], "k"].tolist() == [4, 4, 4]
        assert table["held_out"].isna().all()


class TestProjection:
    def test_every_observation_has_a_value_and_a_side(self, done):
        table = dn.get.sparda_projection(done)
        assert table.index.equals(done.obs_names)
        assert table.columns.tolist() == ["value", "condition", "side"]
        assert (table["side"] == np.repeat(["reference", "group"], 60)).all()
        np.testing.assert_array_equal(table["value"], done.obsm["X_sparda"][:, 0])
        second = dn.get.sparda_projection(done, projection=2)
        np.testing.assert_array_equal(second["value"], done.obsm["X_sparda"][:, 1])

    def test_the_objective_is_the_distance_of_its_sides(self, done):
        from diffnb.core.sparda.coupling import wasserstein

        for i in (1, 2):
            table = dn.get.sparda_projection(done, projection=i)
            sides = [table.loc[table["side"] == side, "value"].to_numpy() for side in ("group", "reference")]
            assert wasserstein(*sides) == pytest.approx(dn.get.sparda_summary(done)["objective"][i - 1])

    def test_comparisons_are_stacked_with_their_names(self, three):
        table = dn.get.sparda_projection(three)
        assert table["group"].value_counts(sort=False).to_dict() == {"A": 120, "B": 120, "C": 120}
        one = dn.get.sparda_projection(three, group="B")
        assert (one["side"] == "group").sum() == 40
        assert (one["side"] == "reference").sum() == 80

    def test_observations_of_neither_side_have_a_value_and_no_side(self):
        adata = dn.datasets.three_conditions(n_obs=40)[:, 90:130].copy()
        dn.tl.sparda(adata, "condition", n_features=4, group="A", reference="C")
        table = dn.get.sparda_projection(adata)
        assert table["side"].isna().sum() == 40
        assert table["value"].notna().all()
        z = (adata.X - adata.X[adata.obs["condition"] != "B"].mean(axis=0)) / adata.X[
            adata.obs["condition"] != "B"
        ].std(axis=0)
        np.testing.assert_allclose(table["value"], z @ adata.varm["sparda"].to_numpy()[:, 0], atol=1e-10)
        dn.tl.sparda(adata, "condition", n_features=4, group="A", reference="C", standardize="within")
        assert dn.get.sparda_projection(adata)["value"].isna().sum() == 40


def test_all_readers_read_pda_too(adata):
    dn.tl.pda(adata, "condition")
    assert dn.get.sparda(adata, key="pda")["selected"].all()
    assert dn.get.sparda_summary(adata, key="pda")["n_features"].tolist() == [40]
    assert dn.get.sparda_path(adata, key="pda")["chosen"].iloc[-1]
    assert len(dn.get.sparda_projection(adata, key="pda")) == 120


def test_reading_changes_nothing(done):
    before = done.copy()
    for read in (dn.get.sparda, dn.get.sparda_summary, dn.get.sparda_path, dn.get.sparda_projection):
        table = read(done)
        table[table.select_dtypes("number").columns[-1]] = 0
    assert done.varm["sparda"].equals(before.varm["sparda"])
    np.testing.assert_array_equal(done.obsm["X_sparda"], before.obsm["X_sparda"])
    np.testing.assert_array_equal(done.uns["sparda"]["objective"], before.uns["sparda"]["objective"])


def test_an_unknown_condition_is_named(done):
    for read in (dn.get.sparda, dn.get.sparda_projection):
        with pytest.raises(ValueError, match=r"group='stin' was not compared; there are 'stim'. Did you mean 'stim'"):
            read(done, group="stin")


def test_a_projection_that_was_not_found_is_refused(done):
    with pytest.raises(ValueError, match="projection=3 must be between 1 and 2"):
        dn.get.sparda_projection(done, projection=3)


def test_an_unknown_key_names_those_that_are_there(done):
    with pytest.raises(KeyError, match="There are results under 'sparda'"):
        dn.get.sparda(done, key="spadra")
