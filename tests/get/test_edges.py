from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import diffnb as dn


@pytest.fixture(scope="module")
def toy():
    adata = dn.datasets.newly_connected(n_obs=120)
    dn.tl.disc(adata, "condition", n_clusters=3)
    return adata


@pytest.fixture(scope="module")
def three():
    adata = dn.datasets.three_conditions(n_obs=60)
    dn.tl.disc(adata, "condition", n_clusters=2)
    return adata


def test_the_table_has_correlations_with_intervals_and_what_happened(toy):
    table = dn.get.edges(toy, group="A1", max_pval_adj=1)
    members = toy.var_names[toy.var["disc_A"] == "A1"]
    assert len(table) == len(members) * (len(members) - 1) // 2 == table.attrs["n_tested"]
    row = table.iloc[0]
    x = pd.DataFrame(np.asarray(toy.X), columns=toy.var_names, index=toy.obs["condition"])
    pair = [row["feature_1"], row["feature_2"]]
    assert row["r"] == pytest.approx(x.loc["B", pair].corr().iloc[0, 1])
    assert row["r_reference"] == pytest.approx(x.loc["A", pair].corr().iloc[0, 1])
    for name in ("r", "r_reference", "difference"):
        assert (table[f"{name}_low"] <= table[name]).all()
        assert (table[name] <= table[f"{name}_high"]).all()
    assert set(table["class"]) <= {"lost", "reversed", "unchanged"}


def test_a_group_takes_part_with_its_features_only(toy):
    members = set(toy.var_names[toy.var["disc_B"] == "B1"])
    table = dn.get.edges(toy, group="B1")
    assert set(table["feature_1"]) | set(table["feature_2"]) <= members
    assert (table["class"] == "gained").mean() > 0.9


def test_conditions_can_be_exchanged(toy):
    there, back = dn.get.edges(toy), dn.get.edges(toy, condition="A")
    assert there["condition"].unique().tolist() == ["B"]
    assert back["condition"].unique().tolist() == ["A"]
    np.testing.assert_allclose(there["difference"], -back["difference"])
    swapped = {"gained": "lost", "lost": "gained", "reversed": "reversed"}
    assert [swapped[name] for name in there["class"]] == back["class"].tolist()


def test_of_three_conditions_each_is_compared_with_those_before(three):
    found = dn.get.edges(three)[["condition", "reference"]].drop_duplicates().to_numpy().tolist()
    assert found == [["B", "A"], ["C", "A"], ["C", "B"]]
    one = dn.get.edges(three, condition="A", reference="C")
    assert one[["condition", "reference"]].drop_duplicates().to_numpy().tolist() == [["A", "C"]]


def test_results_of_the_scorecard_will_do(toy):
    dn.tl.scorecard(toy, "condition", mask_var=(np.arange(toy.n_vars) > 150), key_added="card")
    table = dn.get.edges(toy, key="card")
    assert table.attrs["n_tested"] == 99 * 98 // 2
    with pytest.raises(ValueError, match=r"tl\.scorecard makes none"):
        dn.get.edges(toy, group="A1", key="card")


def test_samples_of_the_call_are_the_units(adata):
    dn.tl.scorecard(adata, "condition", sample_key="donor")
    by_donor = dn.get.edges(adata, key="scorecard", max_pval_adj=1).set_index(["feature_1", "feature_2"])
    z = [np.arctanh(np.corrcoef(adata.X[start : start + 20, [0, 1]].T)[0, 1]) for start in (60, 80, 100)]
    assert by_donor.loc[("gene0", "gene1"), "r"] == pytest.approx(np.tanh(np.mean(z)))
    dn.tl.scorecard(adata, "condition", sample_key="subject")
    assert len(dn.get.edges(adata, key="scorecard", max_pval_adj=1)) == 780


def test_covariates_of_the_call_are_taken_out(adata):
    adata.X[:, :10] += adata.obs["age"].to_numpy()[:, None]
    dn.tl.scorecard(adata, "condition", covariates=["age"])
    adjusted = dn.get.edges(adata, key="scorecard", max_pval_adj=1).set_index(["feature_1", "feature_2"])
    residuals = [
        x - np.column_stack([np.ones(60), age]) @ np.linalg.lstsq(np.column_stack([np.ones(60), age]), x)[0]
        for x, age in ((adata.X[rows], adata.obs["age"].to_numpy()[rows]) for rows in (slice(60), slice(60, 120)))
    ]
    expected = np.corrcoef(residuals[1][:, [0, 30]].T)[0, 1]
    assert adjusted.loc[("gene0", "gene30"), "r"] == pytest.approx(expected)


def test_counts_are_refused_with_a_remedy(adata):
    adata.layers["counts"] = np.random.default_rng(0).poisson(20.0, size=adata.shape)
    dn.tl.scorecard(adata, "condition", counts="counts")
    with pytest.raises(ValueError, match="layer='X'"):
        dn.get.edges(adata, key="scorecard")
    assert dn.get.edges(adata, key="scorecard", layer="X").attrs["n_tested"] == 780


def test_sparse_and_chunked_data_give_the_same(toy):
    from streams import sparse_chunks

    expected = dn.get.edges(toy, group="A1")
    for make in (sp.csr_matrix, lambda x: sparse_chunks(x, 50)):
        other = toy.copy()
        other.X = make(np.asarray(toy.X))
        pd.testing.assert_frame_equal(dn.get.edges(other, group="A1"), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"group": "A9"}, "group='A9' is not a feature group"),
        ({"condition": "X"}, "condition='X'"),
        ({"condition": "A", "reference": "A"}, "is the reference"),
        ({"max_pval_adj": 2}, "must be 1 at most"),
        ({"max_edges": 0}, "max_edges=0"),
        ({"min_difference": -1}, "min_difference=-1"),
    ],
)
def test_arguments_that_make_no_sense_are_explained(toy, given, message):
    with pytest.raises(ValueError, match=message):
        dn.get.edges(toy, **given)


def test_too_few_samples_are_explained(adata):
    adata.obs["batch"] = np.repeat(["a", "b", "c"], [60, 30, 30])
    dn.tl.disc(adata, "condition", n_clusters=2)
    adata.uns["disc"]["params"]["sample_key"] = "batch"
    with pytest.raises(ValueError, match="at least 2 are needed"):
        dn.get.edges(adata)


def test_edges_are_rare_where_nothing_differs():
    rng = np.random.default_rng(1)
    adata = dn.datasets.newly_connected(n_obs=200)
    x = np.log1p(rng.poisson(rng.gamma(0.3, 1.0, size=150), size=(400, 150)) * (1 + rng.poisson(0.5, size=(400, 1))))
    null = adata[:, :150].copy()
    null.X = x
    dn.tl.scorecard(null, "condition", mask_var=x.std(axis=0) > 0)
    assert len(dn.get.edges(null, key="scorecard")) <= 1
