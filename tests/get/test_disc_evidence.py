import anndata
import numpy as np
import pandas as pd
import pytest

import diffnb as dn


@pytest.fixture
def found(adata):
    """Ten features are connected in the second condition only."""
    dn.tl.disc(adata, "condition")
    return adata


def test_there_is_a_row_for_every_condition(found):
    table = dn.get.disc_evidence(found)
    assert table.index.tolist() == ["ctrl", "stim"]
    assert table["n_groups"].tolist() == [0, 1]
    assert table["tested"].all()
    assert table["accepted"].tolist() == [False, True]
    assert table.loc["stim", "pval"] <= 0.01 < table.loc["ctrl", "pval"]


def test_the_range_is_that_of_the_permutations(found):
    table, naming = dn.get.disc_evidence(found), found.uns["disc"]["naming"]
    np.testing.assert_array_equal(table["null_high"], naming["sigma_null"].max(axis=0))
    np.testing.assert_array_equal(table["null_low"], naming["sigma_null"].min(axis=0))
    assert (table["n_permutations"] == len(naming["sigma_null"])).all()
    assert table.loc["stim", "sigma"] > table.loc["stim", "null_high"]


def test_notes_give_the_reason(found):
    notes = dn.get.disc_evidence(found)["note"]
    assert notes["stim"].startswith("1 group is named, p = ")
    assert notes["ctrl"].startswith("no group is named: σ is not larger than chance explains, p = ")


def test_a_given_number_of_groups_is_not_tested(adata):
    dn.tl.disc(adata, "condition", n_clusters=3)
    table = dn.get.disc_evidence(adata)
    assert not table["tested"].any()
    assert table["pval"].isna().all()
    assert table["note"].tolist() == ["2 groups are named without a test, since their number was given"] * 2


def test_too_few_samples_are_the_reason(adata):
    adata.obs["donor"] = np.repeat([f"d{i}" for i in range(4)], 30)
    with pytest.warns(UserWarning, match="no group can be named"):
        dn.tl.disc(adata, "condition", sample_key="donor")
    notes = dn.get.disc_evidence(adata)["note"].tolist()
    assert notes == ["no group is named: the samples are too few to permute their labels"] * 2


def test_a_factor_of_most_features_is_named_with_a_warning(rng):
    """A factor connects more than half of the features: vectors point to the others, which are no group."""
    x = rng.normal(size=(240, 120))
    x[120:, :70] += 2 * rng.normal(size=(120, 1))
    adata = anndata.AnnData(x)
    adata.obs["condition"] = np.repeat(["ctrl", "stim"], 120)
    with pytest.warns(UserWarning, match="% of all features: a global factor"):
        dn.tl.disc(adata, "condition")
    row = dn.get.disc_evidence(adata).loc["stim"]
    assert row["accepted"]
    assert row["n_groups"] == 1
    found = dn.get.disc_groups(adata).loc["stim1"]
    assert found["global_factor"]
    assert (adata.var["disc_stim"] == "stim1").tolist() == [True] * 70 + [False] * 50


def test_it_survives_saving(found, tmp_path):
    found.write_h5ad(tmp_path / "saved.h5ad")
    back = anndata.read_h5ad(tmp_path / "saved.h5ad")
    pd.testing.assert_frame_equal(dn.get.disc_evidence(back), dn.get.disc_evidence(found))


def test_a_number_of_vectors_that_all_lead_is_reported():
    adata = dn.datasets.newly_connected(n_obs=500)
    dn.tl.disc(adata, "condition", n_components=1)
    notes = dn.get.disc_evidence(adata)["note"]
    assert notes.str.contains("every one of 1 vectors leads").all()
    dn.tl.disc(adata, "condition")
    assert not dn.get.disc_evidence(adata)["note"].str.contains("vectors leads").any()
