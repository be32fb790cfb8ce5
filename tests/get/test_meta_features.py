import numpy as np
import pytest

import diffnb as dn


@pytest.fixture
def found(adata):
    dn.tl.disc(adata, "condition", n_components=2, n_clusters=2)
    return adata


def test_reads_a_column_for_each_vector_of_each_condition(found):
    dn.tl.meta_features(found)
    table = dn.get.meta_features(found)
    assert table.columns.tolist() == ["ctrl_1", "ctrl_2", "stim_1", "stim_2"]
    np.testing.assert_array_equal(table.to_numpy(), found.obsm["X_disc"])
    assert table.index.equals(found.obs_names)


def test_the_error_names_the_call_to_make(found):
    with pytest.raises(KeyError, match=r"run dn.tl.meta_features\(adata, key='disc'\) first"):
        dn.get.meta_features(found)


def test_features_of_a_condition_hold_all_that_is_known(found):
    assert dn.get.disc_features(found).columns.tolist() == ["feature_group", "score", "vector_1", "vector_2"]
    dn.tl.disc(found, "condition", n_components=2, n_clusters=2, n_bootstraps=2)
    dn.tl.scorecard(found, "condition")
    table = dn.get.disc_features(found, group="stim")
    assert table.columns.tolist() == ["feature_group", "score", "stability", "kind", "vector_1", "vector_2"]
    assert table["kind"].tolist() == dn.get.scorecard(found)["kind"].tolist()
    assert table.index.equals(found.var_names)
    np.testing.assert_array_equal(table["score"], dn.get.disc(found, group="stim")["score"])


def test_kinds_stand_beside_the_condition_they_are_against():
    adata = dn.datasets.three_conditions(n_obs=40)
    dn.tl.disc(adata, "condition", n_components=2, n_clusters=2)
    dn.tl.scorecard(adata, "condition")
    table = dn.get.disc_features(adata, group="B")
    cards = dn.get.scorecard(adata, group="C", reference="B")
    assert table["kind_vs_C"].tolist() == cards["kind"].tolist()
    assert "kind_vs_A" in table.columns
