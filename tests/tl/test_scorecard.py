"""`tl.scorecard` on an AnnData: what it takes, stores and refuses."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from diffnb.core.scorecard import KINDS, fit_scorecard
from diffnb.get._scorecard import scorecard as read
from diffnb.tl._scorecard import scorecard


def make(rng, n=40, p=12, conditions=("a", "b"), convert=lambda x: x):
    x = np.round(rng.gamma(1.0, size=(n * len(conditions), p)), 2)
    x[x < 0.5] = 0
    obs = pd.DataFrame(
        {
            "condition": pd.Categorical(np.repeat(conditions, n)),
            "donor": np.tile(np.arange(4), n * len(conditions) // 4),
        },
        index=[f"cell{i}" for i in range(n * len(conditions))],
    )
    obs["sample"] = obs["condition"].astype(str) + obs["donor"].astype(str)
    return ad.AnnData(convert(x), obs=obs, var=pd.DataFrame(index=[f"gene{j}" for j in range(p)]))


def assert_unchanged(adata, before):
    assert list(adata.varm) == list(before.varm)
    assert list(adata.uns) == list(before.uns)
    pd.testing.assert_frame_equal(adata.var, before.var)


def test_stores_what_the_numerics_give_the_later_condition_against_the_earlier(rng):
    adata = make(rng)
    assert scorecard(adata, "condition") is None
    expected = fit_scorecard(adata.X[40:], adata.X[:40])
    table = read(adata)
    assert set(table["group"]) == {"b"}
    assert set(table["reference"]) == {"a"}
    for k, kind in enumerate(KINDS):
        for name in ("stat", "pval", "pval_adj"):
            np.testing.assert_array_equal(table[f"{kind}_{name}"], getattr(expected, name)[:, k])
    assert table["kind"].tolist() == expected.kind.tolist()


def test_is_the_same_for_every_kind_of_array(array_type, rng):
    adata = make(rng)
    scorecard(adata, "condition")
    other = adata.copy()
    other.X = array_type(adata.X)
    scorecard(other, "condition")
    pd.testing.assert_frame_equal(read(other), read(adata), rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_takes_other_numbers(dtype, rng):
    adata = make(rng)
    adata.X = np.round(adata.X)
    scorecard(adata, "condition")
    other = adata.copy()
    other.X = adata.X.astype(dtype)
    scorecard(other, "condition")
    pd.testing.assert_frame_equal(read(other), read(adata), rtol=1e-4)


def test_reads_layers_views_and_read_only_data(rng):
    adata = make(rng)
    adata.layers["raw"] = adata.X.copy()
    adata.X = np.zeros_like(adata.X)
    adata.layers["raw"].flags.writeable = False
    whole = scorecard(adata, "condition", layer="raw", copy=True)
    view = adata[:, :]
    scorecard(view, "condition", layer="raw")
    pd.testing.assert_frame_equal(read(view), read(whole))
    assert "scorecard" not in adata.varm


def test_reads_a_backed_file(rng, tmp_path):
    adata = make(rng)
    adata.write_h5ad(tmp_path / "a.h5ad")
    scorecard(adata, "condition")
    backed = ad.read_h5ad(tmp_path / "a.h5ad", backed="r")
    scorecard(backed, "condition")
    pd.testing.assert_frame_equal(read(backed), read(adata))
    backed.file.close()


def test_masked_and_constant_features_keep_their_place_as_missing(rng):
    adata = make(rng)
    adata.X[:, 2] = 7.0
    mask = np.arange(12) != 5
    with pytest.warns(UserWarning, match="1 constant feature"):
        scorecard(adata, "condition", mask_var=mask)
    table = read(adata)
    left_out = table.drop(columns=["group", "reference"]).isna().all(axis=1)
    assert left_out.index[left_out].tolist() == ["gene2", "gene5"]
    kept = adata[:, [0, 1, 3, 4, *range(6, 12)]].copy()
    del kept.varm["scorecard"]
    scorecard(kept, "condition")
    pd.testing.assert_frame_equal(read(kept), table[~left_out.to_numpy()])


def test_three_conditions_are_compared_in_pairs(rng):
    adata = make(rng, conditions=("a", "b", "c"))
    scorecard(adata, "condition")
    pairs = read(adata)[["group", "reference"]].drop_duplicates().to_numpy().tolist()
    assert pairs == [["b", "a"], ["c", "a"], ["c", "b"]]


def test_a_reference_is_compared_with_all_others_named_in_groups_or_not(rng):
    adata = make(rng, conditions=("a", "b", "c"))
    scorecard(adata, "condition", reference="b")
    assert read(adata)[["group", "reference"]].drop_duplicates().to_numpy().tolist() == [
        ["a", "b"],
        ["c", "b"],
    ]
    scorecard(adata, "condition", groups=["c"], reference="a")
    assert read(adata)[["group", "reference"]].drop_duplicates().to_numpy().tolist() == [["c", "a"]]


def test_samples_become_the_unit(rng):
    adata = make(rng)
    scorecard(adata, "condition", sample_key="sample")
    codes = pd.factorize(adata.obs["sample"], sort=True)[0]
    expected = fit_scorecard(adata.X[40:], adata.X[:40], samples=(codes[40:], codes[:40]))
    np.testing.assert_array_equal(read(adata)["mean_pval"], expected.pval[:, 0])
    scorecard(adata, "condition", sample_key="donor", key_added="paired")
    codes = adata.obs["donor"].to_numpy()
    expected = fit_scorecard(adata.X[40:], adata.X[:40], samples=(codes[40:], codes[:40]))
    np.testing.assert_array_equal(read(adata, key="paired")["connectivity_pval"], expected.pval[:, 3])


def test_excluded_samples_are_counted_in_a_warning(rng):
    adata = make(rng)
    adata.obs.loc[adata.obs.index[:2], "sample"] = "tiny"
    with pytest.warns(UserWarning, match="1 of 9 samples have fewer than 5 observations"):
        scorecard(adata, "condition", sample_key="sample")


@pytest.mark.parametrize("write", ["h5ad", "zarr"])
@pytest.mark.filterwarnings("ignore:Writing zarr v2:UserWarning")
def test_survives_a_file(write, rng, tmp_path):
    adata = make(rng, conditions=("a/1", "b", "c"))
    scorecard(adata, "condition", mask_var=np.arange(12) > 0)
    path = tmp_path / f"a.{write}"
    getattr(adata, f"write_{write}")(path)
    back = ad.read_h5ad(path) if write == "h5ad" else ad.read_zarr(path)
    pd.testing.assert_frame_equal(read(back), read(adata))
    assert set(read(back)["reference"]) == {"a/1", "b"}


def test_duplicated_feature_names_do_no_harm(rng):
    adata = make(rng)
    expected = scorecard(adata, "condition", copy=True)
    adata.var_names = ["same"] * adata.n_vars
    scorecard(adata, "condition")
    np.testing.assert_array_equal(read(adata)["mean_stat"].to_numpy(), read(expected)["mean_stat"].to_numpy())


def test_jobs_change_nothing(rng):
    adata = make(rng)
    one, two = (scorecard(adata, "condition", n_jobs=n, copy=True) for n in (1, 2))
    pd.testing.assert_frame_equal(read(one), read(two), rtol=1e-10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groupby": "cond"}, "Did you mean 'condition'"),
        ({"groupby": "condition", "reference": "B"}, "reference='B' is not a category"),
        ({"groupby": "condition", "groups": ["a", "x"]}, "groups names 'x'"),
        ({"groupby": "condition", "groups": ["a"]}, "single condition"),
        ({"groupby": "condition", "layer": "counts"}, "layer='counts'"),
        (
            {"groupby": "condition", "sample_key": "condition"},
            "leaves 1 sample with 5 or more observations in condition",
        ),
        ({"groupby": "condition", "random_state": -1}, "random_state=-1"),
    ],
)
def test_refuses_what_it_cannot_use_and_leaves_adata_as_it_was(arguments, message, rng):
    adata = make(rng)
    before = adata.copy()
    with pytest.raises(ValueError, match=message):
        scorecard(adata, **arguments)
    assert_unchanged(adata, before)


def test_few_observations_leave_connectivity_missing(rng):
    adata = make(rng, n=4, p=6)
    adata = adata[:, np.ptp(adata.X, axis=0) > 0].copy()
    scorecard(adata, "condition")
    table = read(adata)
    assert table["connectivity_pval"].isna().all()
    assert table["mean_pval"].notna().all()


class TestCounts:
    @pytest.fixture
    def cells(self, rng):
        """One module shared by both conditions, the second of which was sequenced four times as deep."""
        log_z = 0.6 * rng.normal(size=(600, 60))
        log_z[:, :15] += rng.normal(size=(600, 1))
        depth = np.repeat([1.0, 4.0], 300) * rng.lognormal(0, 0.2, size=600)
        counts = rng.poisson(depth[:, None] * np.exp(log_z)).astype(np.float32)
        obs = pd.DataFrame(
            {"condition": np.repeat(["A", "B"], 300), "donor": np.tile(np.arange(6), 100).astype(str)},
            index=[f"cell{i}" for i in range(600)],
        )
        obs["donor"] = obs["condition"] + obs["donor"]
        logged = np.log1p(1e2 * counts / counts.sum(axis=1, keepdims=True))
        return ad.AnnData(logged, obs=obs, layers={"counts": counts, "sparse": sp.csr_matrix(counts)})

    @pytest.mark.filterwarnings("ignore:conditions differ in depth")
    @pytest.mark.parametrize("sample_key", [None, "donor"])
    def test_depth_is_no_shift_in_connectivity(self, cells, sample_key):
        scorecard(cells, "condition", sample_key=sample_key)
        plain = read(cells)
        scorecard(cells, "condition", sample_key=sample_key, counts="counts")
        ours = read(cells)
        assert (plain["connectivity_pval_adj"].iloc[:15] < 0.05).mean() > 0.5
        assert (ours["connectivity_pval_adj"] < 0.05).sum() == 0
        marginal = [c for c in ours if c.startswith(("mean", "spread", "distribution"))]
        pd.testing.assert_frame_equal(ours[marginal], plain[marginal])

    @pytest.mark.filterwarnings("ignore:conditions differ in depth")
    def test_the_kind_of_the_layer_changes_nothing(self, cells):
        scorecard(cells, "condition", counts="counts")
        dense = read(cells)["connectivity_stat"]
        scorecard(cells, "condition", counts="sparse")
        np.testing.assert_allclose(read(cells)["connectivity_stat"], dense, rtol=1e-8)

    @pytest.mark.filterwarnings("ignore:conditions differ in depth")
    def test_masked_features_are_counted_in_the_log(self, cells, caplog):
        cells.layers["counts"][:, 7] = 1.0
        with caplog.at_level("INFO", logger="diffnb"):
            scorecard(cells, "condition", counts="counts")
        assert "no connectivity for 1 of 60 features" in caplog.text
        assert read(cells)["connectivity_pval"].isna().sum() == 1

    def test_a_layer_without_counts_is_refused(self, cells):
        cells.layers["logged"] = cells.X
        with pytest.raises(ValueError, match="counts='logged' needs raw counts"):
            scorecard(cells, "condition", counts="logged")
