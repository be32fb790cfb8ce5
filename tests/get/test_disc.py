import numpy as np
import pytest

import diffnb as dn


@pytest.fixture
def done(adata):
    dn.tl.disc(adata, "condition", n_neighbors=6, n_eigenvectors=4, n_components=3, n_clusters=3, n_permutations=9)
    return adata


def test_one_row_a_feature_in_the_order_of_the_data(done):
    table = dn.get.disc(done, group="ctrl")
    assert table.index.equals(done.var_names)
    assert table.columns.tolist() == ["group", "vector_1", "vector_2", "vector_3", "score", "feature_group"]


def test_all_conditions_are_stacked(done):
    table = dn.get.disc(done)
    assert table["group"].tolist() == ["ctrl"] * 40 + ["stim"] * 40
    assert set(table["feature_group"].cat.categories) >= {"background", "ctrl1", "stim1"}


def test_reading_changes_nothing(done):
    before = done.copy()
    table, significance = dn.get.disc(done), dn.get.disc_significance(done)
    table["vector_1"] = 0.0
    significance["sigma"] = 0.0
    assert done.varm["disc"].equals(before.varm["disc"])
    np.testing.assert_array_equal(done.uns["disc"]["sigma"], before.uns["disc"]["sigma"])


def test_significance_has_one_row_a_component(done):
    table = dn.get.disc_significance(done)
    assert len(table) == 6
    np.testing.assert_array_equal(table["sigma"], done.uns["disc"]["sigma"].ravel())
    assert (table["null_95"] >= table["null_median"]).all()


def test_without_permutations_p_values_are_missing(adata):
    dn.tl.disc(adata, "condition", n_clusters=2)
    assert dn.get.disc_significance(adata)["pval"].isna().all()


def test_an_unknown_condition_is_named(done):
    with pytest.raises(
        ValueError, match=r"group='stin' was not compared; there are 'ctrl', 'stim'. Did you mean 'stim'"
    ):
        dn.get.disc(done, group="stin")


def test_an_unknown_key_names_those_that_are_there(done):
    with pytest.raises(KeyError, match="There are results under 'disc'"):
        dn.get.disc(done, key="dics")
