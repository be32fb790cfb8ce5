import numpy as np
import pytest

import diffnb as dn


@pytest.fixture(scope="module")
def found():
    adata = dn.datasets.two_moons(6, random_state=2)
    adata.var["used"] = np.arange(8) != 5
    dn.tl.dufs(adata, mask_var="used", n_features=3)
    dn.tl.laplacian_score(adata, mask_var="used")
    return adata


def test_gates_are_ranked_and_missing_ones_come_last(found):
    table = dn.get.dufs(found)
    assert table.columns.tolist() == ["gate", "rank", "selected"]
    assert table["rank"].tolist()[:7] == list(range(1, 8))
    assert table.index[-1] == "nuisance_3"
    assert table["rank"].isna().tolist() == [False] * 7 + [True]
    assert table["selected"].tolist() == [True] * 3 + [False] * 5
    assert (np.diff(table["gate"].iloc[:7]) <= 0).all()
    mu = found.varm["dufs"]["mu"].loc[table.index[:7]]
    assert (np.diff(mu) <= 0).all()


def test_selected_belongs_to_the_same_feature_as_in_var(found):
    table = dn.get.dufs(found)
    assert set(table.index[table["selected"]]) == set(found.var_names[found.var["dufs"]])


def test_training_has_a_row_a_step(found):
    training = dn.get.dufs_training(found)
    assert training.index.name == "step"
    assert training.index[0] == 1
    assert len(training) == len(found.uns["dufs"]["training"]["loss"])
    assert training.columns.tolist() == ["loss", "smoothness", "open"]
    np.testing.assert_allclose(training["loss"], -training["smoothness"] / training["open"])


def test_scores_are_ranked_and_missing_ones_come_last(found):
    table = dn.get.laplacian_score(found)
    assert table.columns.tolist() == ["score", "rank"]
    assert (np.diff(table["score"].iloc[:7]) >= 0).all()
    assert table.index[-1] == "nuisance_3"
    assert table["rank"].isna().sum() == 1


@pytest.mark.parametrize("read", [dn.get.dufs, dn.get.dufs_training, dn.get.laplacian_score])
def test_missing_results_are_explained(read):
    with pytest.raises(KeyError, match=r"run dn\.tl\.\w+\(adata\) first"):
        read(dn.datasets.two_moons(2))
