from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import diffnb as dn


@pytest.fixture(scope="module")
def two():
    adata = dn.datasets.newly_connected(n_obs=150)
    dn.tl.disc(adata, "condition", n_components=3)
    return adata


@pytest.fixture(scope="module")
def three():
    adata = dn.datasets.three_conditions(n_obs=100)
    dn.tl.disc(adata, "condition", n_components=3)
    return adata


def plain_correlations(adata, condition, features):
    """Correlations of some features in one condition, from the definition."""
    x = np.asarray(adata[(adata.obs["condition"] == condition).to_numpy(), features].X, dtype=float)
    return np.corrcoef(x, rowvar=False)


def test_correlations_are_those_of_each_condition(two):
    table = dn.get.disc_graph(two, n_features=60)
    features = list(table["correlation"].columns)
    for condition in "AB":
        expected = plain_correlations(two, condition, features)
        np.testing.assert_allclose(table["correlation"].loc[condition], expected, atol=1e-12)


def test_rows_and_columns_are_the_same_features_in_every_condition(two):
    table = dn.get.disc_graph(two, n_features=60)
    columns = list(table["correlation"].columns)
    assert list(table["difference"].columns) == columns
    for condition in "AB":
        assert list(table.loc[condition].index.get_level_values("feature")) == columns
    assert len(set(columns)) == 60


def test_the_difference_of_two_conditions_has_opposite_signs(two):
    table = dn.get.disc_graph(two, n_features=30)
    a, b = (table["correlation"].loc[g].to_numpy() for g in "AB")
    np.testing.assert_array_equal(table["difference"].loc["A"], a - b)
    np.testing.assert_array_equal(table["difference"].loc["B"], b - a)


def test_the_difference_of_more_conditions_is_from_the_mean_of_the_others(three):
    table = dn.get.disc_graph(three, n_features=30)
    a, b, c = (table["correlation"].loc[g].to_numpy() for g in "ABC")
    np.testing.assert_allclose(table["difference"].loc["B"], b - (a + c) / 2, atol=1e-15)


def test_every_condition_has_its_leading_features_among_those_chosen(three):
    chosen = set(dn.get.disc_graph(three, n_features=30)["correlation"].columns)
    for condition in "ABC":
        best = dn.get.disc(three, group=condition).nlargest(5, "score").index
        assert set(best) <= chosen


def test_one_condition_chooses_features_by_its_scores(three):
    table = dn.get.disc_graph(three, group="C", n_features=10)
    best = dn.get.disc(three, group="C").nlargest(10, "score").index
    assert set(table["correlation"].columns) == set(best)
    assert list(table.index.unique("group")) == ["A", "B", "C"]


def test_features_are_sorted_by_group_with_the_background_last(two):
    table = dn.get.disc_graph(two, n_features=250)
    groups = table.loc["A"].index.get_level_values("feature_group")
    blocks = list(dict.fromkeys(groups))
    assert blocks[-1] == "background"
    assert list(groups) == [g for block in blocks for g in groups[groups == block]]
    own = dn.get.disc(two, group="A")["feature_group"].astype(str)
    listed = pd.Series(groups, index=table.loc["A"].index.get_level_values("feature"))
    in_group = own[own != "background"]
    assert (listed[in_group.index] == in_group).all()


def test_the_layer_of_the_call_is_used_unless_another_is_given(two):
    adata = two.copy()
    adata.layers["cubed"] = np.asarray(adata.X) ** 3
    dn.tl.disc(adata, "condition", layer="cubed", n_components=2, key_added="cubed")
    table = dn.get.disc_graph(adata, n_features=20, key="cubed")
    features = list(table["correlation"].columns)
    cubed = adata.copy()
    cubed.X = adata.layers["cubed"]
    np.testing.assert_allclose(table["correlation"].loc["A"], plain_correlations(cubed, "A", features), atol=1e-12)
    adata.layers["plain"] = adata.X
    table = dn.get.disc_graph(adata, n_features=20, layer="plain", key="cubed")
    np.testing.assert_allclose(table["correlation"].loc["A"], plain_correlations(adata, "A", features), atol=1e-12)


def test_features_that_were_excluded_from_the_analysis_are_not_chosen(two):
    adata = two.copy()
    adata.var["some"] = np.arange(adata.n_vars) % 2 == 0
    dn.tl.disc(adata, "condition", mask_var="some", n_components=2)
    features = dn.get.disc_graph(adata, n_features=1000)["correlation"].columns
    assert adata.var.loc[features, "some"].all()
    assert len(features) == adata.var["some"].sum()


@pytest.mark.filterwarnings("ignore::diffnb.StaleResultsWarning")
def test_names_of_features_may_repeat(two):
    adata = two.copy()
    adata.var_names = [f"gene{i // 2}" for i in range(adata.n_vars)]
    assert dn.get.disc_graph(adata, n_features=40)["correlation"].loc["A"].shape == (40, 40)


def test_fewer_than_two_features_are_refused(two):
    with pytest.raises(ValueError, match="n_features=1 must be at least 2"):
        dn.get.disc_graph(two, n_features=1)


def test_missing_results_and_unknown_conditions_are_explained(two):
    with pytest.raises(KeyError, match=r"run dn\.tl\.disc"):
        dn.get.disc_graph(two, key="nothing")
    with pytest.raises(ValueError, match="group='C' was not compared"):
        dn.get.disc_graph(two, group="C")
