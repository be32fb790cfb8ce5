"""`get.disc_groups`: size, evidence and what the groups follow."""

import numpy as np
import pandas as pd
import pytest

import diffnb as dn


@pytest.fixture(scope="module")
def found():
    adata = dn.datasets.newly_connected(n_obs=400)
    rng = np.random.default_rng(0)
    dn.tl.disc(adata, "condition")
    members = adata[:, adata.var["disc_A"] == "A1"].X
    adata.obs["driver"] = np.asarray(members).mean(axis=1)
    adata.obs["high"] = np.where(adata.obs["driver"] > np.median(adata.obs["driver"]), "yes", "no")
    adata.obs["noise"] = rng.normal(size=adata.n_obs)
    adata.obs["name"] = [f"cell {i}" for i in range(adata.n_obs)]
    dn.tl.disc(adata, "condition")
    return adata


def test_every_named_group_has_a_row_with_its_size_and_cohesion(found):
    table = dn.get.disc_groups(found)
    assert table.index.tolist() == ["A1", "A2", "B1", "B2"]
    assert table["n_features"].tolist() == [25] * 4
    np.testing.assert_allclose(table["share"], 25 / 250)
    assert (table["cohesion"] > 0.5).all()
    assert (table["cohesion_elsewhere"] < 0.1).all()
    assert (table["pval"] <= 0.01).all()
    assert table["tested"].all()
    assert not table["global_factor"].any()


def test_columns_that_a_group_follows_are_found_and_others_are_not(found):
    row = dn.get.disc_groups(found).loc["A1"]
    assert row["eta2_driver"] > 0.9
    assert row["eta2_noise"] < 0.05
    assert row["eta2_high"] > 0.4
    assert abs(row["auroc_high"] - 0.5) > 0.4
    assert "eta2_name" not in row.index
    assert "eta2_condition" not in row.index


def test_one_condition_can_be_read(found):
    assert dn.get.disc_groups(found, group="B").index.tolist() == ["B1", "B2"]


def test_the_table_survives_saving(found, tmp_path):
    import anndata

    found.write_h5ad(tmp_path / "x.h5ad")
    pd.testing.assert_frame_equal(
        dn.get.disc_groups(anndata.read_h5ad(tmp_path / "x.h5ad")), dn.get.disc_groups(found), check_dtype=False
    )


def test_where_nothing_differs_the_table_is_empty():
    adata = dn.datasets.planted_groups(n_features=200, n_obs=100, n_groups=0)
    dn.tl.disc(adata, "condition")
    table = dn.get.disc_groups(adata)
    assert table.empty
    assert "cohesion" in table


def test_a_given_number_of_groups_is_marked_as_untested():
    adata = dn.datasets.newly_connected(n_obs=100)
    dn.tl.disc(adata, "condition", n_clusters=3)
    table = dn.get.disc_groups(adata)
    assert not table["tested"].any()
    assert table["pval"].isna().all()
