import anndata as ad
import numpy as np
import pandas as pd
import pytest

import diffnb as dn

FIXED = {"n_neighbors": 6, "n_eigenvectors": 4, "n_components": 3}


def subjects(rng, n_subjects=8, *, planted=True):
    """Subjects with both conditions; features 10–19 are correlated under the second one of each."""
    n = 40 * n_subjects
    x = rng.normal(size=(2 * n, 40))
    if planted:
        x[n:, 10:20] += 1.5 * rng.normal(size=(n, 1))
    obs = pd.DataFrame(
        {
            "condition": np.repeat(["ctrl", "stim"], n),
            "subject": np.tile(np.repeat([f"s{i}" for i in range(n_subjects)], 40), 2),
        },
        index=[f"row_{i}" for i in range(2 * n)],
    )
    return ad.AnnData(x, obs=obs)


@pytest.fixture
def done(rng):
    adata = subjects(rng)
    dn.tl.disc(adata, "condition", sample_key="subject", **FIXED)
    return adata


def test_vectors_partitions_and_groups_have_their_rows(done):
    table = dn.get.disc_replication(done)
    stim = table[table["group"] == "stim"]
    assert stim["kind"].tolist() == ["vector"] * 3 + ["partition", "feature_group"]
    assert stim["component"].tolist()[:3] == [1, 2, 3]
    assert stim["feature_group"].iloc[-1] == "stim1"
    assert set(table["n_splits"]) == {20}
    assert set(table["n_samples"]) == {8}


def test_a_finding_stands_beside_chance(done):
    table = dn.get.disc_replication(done)
    found = table[(table["group"] == "stim") & (table["kind"] != "vector")]
    assert found["replicates"].all()
    assert (found["replication"] > found["chance"]).all()
    assert (table["chance_95"] >= table["chance"]).all()


def test_the_table_survives_a_file(done, tmp_path):
    done.write_h5ad(tmp_path / "done.h5ad")
    again = dn.get.disc_replication(ad.read_h5ad(tmp_path / "done.h5ad"))
    pd.testing.assert_frame_equal(again, dn.get.disc_replication(done))


def test_without_samples_the_table_is_empty(done):
    dn.tl.disc(done, "condition", **FIXED)
    table = dn.get.disc_replication(done)
    assert table.empty
    assert "replicates" in table.columns


def test_three_subjects_are_too_few(rng, caplog):
    adata = subjects(rng, 3)
    with caplog.at_level("INFO", logger="diffnb"):
        dn.tl.disc(adata, "condition", sample_key="subject", **FIXED)
    assert dn.get.disc_replication(adata).empty
    assert "it needs 4 samples" in caplog.text


def test_a_group_that_does_not_replicate_is_reported(rng):
    adata = subjects(rng, planted=False)
    with pytest.warns(
        UserWarning, match=r"groups? 'ctrl1' \(0\.\d\d, by chance 0\.\d\d\).* not replicate in halves of the 8"
    ):
        dn.tl.disc(adata, "condition", sample_key="subject", n_clusters=2, **FIXED)


def test_samples_of_one_condition_each_are_split_within_it(rng):
    adata = subjects(rng, 4)
    adata.obs["donor"] = adata.obs["condition"] + adata.obs["subject"]
    dn.tl.disc(adata, "condition", sample_key="donor", **FIXED)
    table = dn.get.disc_replication(adata)
    assert set(table["n_samples"]) == {8}
    assert table.set_index("feature_group").loc["stim1", "replicates"]
