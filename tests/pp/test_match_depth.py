import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from streams import dense_chunks, sparse_chunks

import diffnb as dn


@pytest.fixture
def counts(rng):
    """Two conditions of three donors each, the second condition sequenced three times as deep."""
    depth = rng.lognormal(0, 0.4, size=240) * np.repeat([1.0, 3.0], 120)
    x = rng.poisson(depth[:, None] * rng.gamma(2.0, 1.0, size=50)).astype(np.float32)
    obs = pd.DataFrame(
        {
            "condition": pd.Categorical(np.repeat(["ctrl", "stim"], 120)),
            "donor": np.repeat([f"d{i}" for i in range(6)], 40),
        },
        index=[f"cell{i}" for i in range(240)],
    )
    return anndata.AnnData(np.log1p(x), obs=obs, layers={"counts": x})


def depths(adata):
    totals = np.asarray(adata.X.sum(axis=1)).ravel()
    return [totals[(adata.obs["condition"] == c).to_numpy()] for c in ("ctrl", "stim")]


def test_conditions_have_one_distribution_of_depth(counts):
    dn.pp.match_depth(counts, "condition")
    levels = np.linspace(0.1, 0.9, 9)
    first, second = (np.quantile(d, levels) for d in depths(counts))
    np.testing.assert_allclose(first, second, rtol=0.15)


def test_counts_stay_counts_and_never_grow(counts):
    dn.pp.match_depth(counts, "condition")
    assert (np.floor(counts.X) == counts.X).all()
    assert (counts.layers["counts"] >= counts.X).all()
    shallow = (counts.obs["condition"] == "ctrl").to_numpy()
    assert counts.obs["match_depth"][shallow].mean() > 0.9
    assert counts.obs["match_depth"][~shallow].mean() == pytest.approx(1 / 3, rel=0.2)


def test_samples_are_matched_where_they_are_given(counts):
    deep = (counts.obs["donor"] == "d1").to_numpy()
    counts.layers["counts"][deep] *= 4
    dn.pp.match_depth(counts, "condition", sample_key="donor")
    means = pd.Series(counts.X.sum(axis=1)).groupby(counts.obs["donor"].to_numpy()).mean()
    assert means.max() / means.min() < 1.15


@pytest.mark.parametrize(
    "make", [sp.csr_matrix, sp.csc_matrix, lambda x: dense_chunks(x, 37), lambda x: sparse_chunks(x, 37)]
)
def test_every_kind_of_matrix_gives_the_same_counts(counts, make):
    expected = dn.pp.match_depth(counts, "condition", copy=True)
    rows = (37,) if make in (dense_chunks, sparse_chunks) else ()
    counts.layers["counts"] = make(counts.layers["counts"], *rows)
    dn.pp.match_depth(counts, "condition")
    found = counts.X.compute() if hasattr(counts.X, "compute") else counts.X
    np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, expected.X)


def test_a_copy_leaves_the_original_alone(counts):
    before = counts.X.copy()
    found = dn.pp.match_depth(counts, "condition", copy=True)
    np.testing.assert_array_equal(counts.X, before)
    assert "match_depth" not in counts.obs
    assert found.X.sum() < counts.layers["counts"].sum()


def test_observations_without_a_condition_are_not_thinned(counts):
    counts.obs.loc["cell3", "condition"] = np.nan
    dn.pp.match_depth(counts, "condition")
    np.testing.assert_array_equal(counts.X[3], counts.layers["counts"][3])
    assert np.isnan(counts.obs["match_depth"]["cell3"])


def test_values_that_are_no_counts_are_refused(counts):
    with pytest.raises(ValueError, match=r"adata\.X does not hold raw counts"):
        dn.pp.match_depth(counts, "condition", layer=None)


def test_a_missing_layer_is_explained(counts):
    del counts.layers["counts"]
    with pytest.raises(ValueError, match=r"layer='counts' is not in adata\.layers .*adata\.layers\['counts'\]"):
        dn.pp.match_depth(counts, "condition")


def test_a_single_condition_has_no_depth_to_match(counts):
    with pytest.raises(ValueError, match="single condition"):
        dn.pp.match_depth(counts[:120].copy(), "condition")


class TestWarning:
    """Tools that compare conditions warn of a difference in depth before the user believes what it looks like."""

    @pytest.mark.parametrize("tool", [dn.tl.scorecard, dn.tl.disc])
    def test_tools_warn_with_numbers_and_the_remedy(self, counts, tool):
        with pytest.warns(UserWarning, match=r"factor of 2\.79.*dn\.pp\.match_depth\(adata, 'condition'\)"):
            tool(counts, "condition")

    def test_matched_counts_do_not_warn_although_the_layer_is_as_it_was(self, counts):
        dn.pp.match_depth(counts, "condition")
        counts.X = np.log1p(counts.X)
        dn.tl.scorecard(counts, "condition")

    def test_counts_that_were_replaced_after_matching_are_looked_at_again(self, counts):
        dn.pp.match_depth(counts, "condition")
        counts.X, counts.layers["counts"] = np.log1p(counts.X), 2 * counts.layers["counts"]
        with pytest.warns(UserWarning, match="differ in depth"):
            dn.tl.scorecard(counts, "condition")

    def test_totals_of_obs_are_enough(self, counts):
        counts.obs["total_counts"] = counts.layers.pop("counts").sum(axis=1)
        with pytest.warns(UserWarning, match="differ in depth"):
            dn.tl.scorecard(counts, "condition")

    def test_raw_counts_in_a_sparse_matrix_are_enough(self, counts):
        counts.X = sp.csr_matrix(counts.layers.pop("counts"))
        with (
            pytest.warns(UserWarning, match="adata.X holds raw counts"),
            pytest.warns(UserWarning, match="differ in depth"),
        ):
            dn.tl.scorecard(counts, "condition")

    def test_nothing_is_said_of_data_that_are_no_counts(self, adata, counts):
        dn.tl.scorecard(adata, "condition")
        counts.X = counts.layers.pop("counts")  # dense integers may be pixels
        dn.tl.scorecard(counts, "condition")
