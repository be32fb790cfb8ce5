"""Covariates are read from `obs`, or refused with the reason and the remedy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reference import covariates as plain

from diffnb._anndata import pull, pull_all
from diffnb._anndata.covariates import read_covariates
from diffnb.core.arrays.residuals import covariate_designs, residuals


@pytest.fixture
def batches(adata, rng):
    adata.obs["batch"] = pd.Categorical(np.resize(["x", "y", "z"], 120))
    adata.obs["depth"] = rng.normal(size=120)
    adata.obs["code"] = np.resize([1, 2, 3, 4], 120)
    adata.obs["good"] = rng.random(120) < 0.5
    return adata


def test_residuals_are_those_of_plain_regressions_within_conditions(batches):
    data = pull(batches, "condition", covariates=["batch", "depth"])
    columns = np.column_stack([batches.obs["batch"] == "y", batches.obs["batch"] == "z", batches.obs["depth"]])
    x, z = ([values[:60], values[60:]] for values in (batches.X, columns.astype(float)))
    expected = residuals(x, covariate_designs(z))
    for ours, theirs, by_formula in zip(data.matrices, expected, plain.residuals(x, z), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-10)
        np.testing.assert_allclose(ours - ours.mean(axis=0), by_formula - by_formula.mean(axis=0), atol=1e-10)
    assert data.covariates == []


def test_covariates_can_be_returned_beside_the_data(batches):
    data = pull(batches, "condition", covariates="depth", residuals=False)
    np.testing.assert_array_equal(data.matrices[1], batches.X[60:])
    np.testing.assert_array_equal(data.covariates[1][:, 0], batches.obs["depth"].to_numpy()[60:])


def test_without_conditions_covariates_are_taken_out_over_all_observations(batches):
    matrix = pull_all(batches, covariates=["batch"]).matrix
    for level in "xyz":
        rows = (batches.obs["batch"] == level).to_numpy()
        np.testing.assert_allclose(matrix[rows].mean(axis=0), batches.X.mean(axis=0), atol=1e-10)


def test_booleans_and_texts_are_categories_and_integers_are_numbers(batches):
    batches.obs["text"] = batches.obs["batch"].astype(str)
    found = read_covariates(batches, ["good", "text", "code"], rows=[np.arange(120)])
    assert [covariate.n_columns for covariate in found] == [1, 2, 1]
    assert [covariate.levels is None for covariate in found] == [False, False, True]


def test_levels_of_other_conditions_do_not_count(batches):
    batches.obs["three"] = pd.Categorical(np.repeat(["a", "b", "c"], 40))
    batches.obs["site"] = np.where(batches.obs["three"] == "c", "elsewhere", batches.obs["batch"].astype(str))
    data = pull(batches, "three", groups=["a", "b"], covariates="site", residuals=False)
    assert data.covariates[0].shape == (40, 2)


@pytest.mark.parametrize(
    ("covariates", "message"),
    [
        ("bacth", "covariates names 'bacth', which is not a column of adata.obs .*Did you mean 'batch'"),
        (["depth", "depth"], "names 'depth' twice"),
        ("condition", "'condition', which is what is compared"),
        ("same", "'same', which is the same for all observations; leave it out"),
        ("one", "'one', which is the same for all observations; leave it out"),
        ("arm", "'arm', which is the same for all observations of condition 'ctrl': its effect cannot be told"),
        ("shift", "'shift', which is the same for all observations of condition 'ctrl'"),
        ("missing", "'missing', which is missing for 3 of 120 observations"),
        ("infinite", "'infinite', which has infinite values"),
        ("partly", "condition 'ctrl' has no observation of 'w': .*merge the levels"),
        (["depth", "batch", "twice"], "'twice', which follows from the covariates before it in condition 'ctrl'"),
        ("cell", "covariates take 39 columns, and condition 'ctrl' has 40 observations: at least 42 are needed"),
    ],
)
def test_what_cannot_be_taken_out_is_refused(batches, covariates, message):
    obs = batches.obs
    obs["same"], obs["one"] = 3.0, "x"
    obs["arm"] = np.where(obs["condition"] == "ctrl", "left", "right")
    obs["shift"] = np.where(obs["condition"] == "ctrl", 1.0, obs["depth"])
    obs["missing"] = obs["batch"].where(np.arange(120) > 2)
    obs["infinite"] = obs["depth"].where(np.arange(120) > 2, np.inf)
    obs["partly"] = np.where((obs["condition"] == "stim") & (obs["batch"] == "x"), "w", obs["batch"].astype(str))
    obs["twice"] = 2 * obs["depth"] + 1
    obs["cell"] = np.resize([f"c{i}" for i in range(40)], 120)
    data = batches if covariates != "cell" else batches[np.r_[:40, 80:120]].copy()
    with pytest.raises(ValueError, match=message):
        pull(data, "condition", covariates=covariates)


def test_a_feature_that_follows_from_covariates_is_left_out(batches):
    batches.X[:, 3] = 5 + 2 * batches.obs["depth"]
    with pytest.warns(UserWarning, match="1 feature left out that the covariates explain .'gene3'"):
        data = pull(batches, "condition", covariates=["depth"])
    assert data.n_features == 39
    assert not data.kept[3]
    assert data.n_constant == 1


def test_slopes_are_those_within_samples(batches):
    batches.obs["depth"] += 2.0 * pd.factorize(batches.obs["donor"])[0]
    data = pull(batches, "condition", covariates="depth", sample_key="donor")
    for matrix, rows, codes in zip(data.matrices, data.rows, data.samples, strict=True):
        z = batches.obs["depth"].to_numpy()[rows]
        centered = np.concatenate([z[codes == code] - z[codes == code].mean() for code in np.unique(codes)])
        np.testing.assert_allclose(centered @ matrix, 0, atol=1e-8)


def test_a_covariate_of_samples_is_refused_where_whole_samples_are_permuted(batches):
    batches.obs["years"] = batches.obs["donor"].map({f"d{i}": i**2 for i in range(6)}).astype(float)
    with pytest.raises(ValueError, match=r"'years', which is the same .* of every sample .*scorecard"):
        pull(batches, "condition", covariates="years", sample_key="donor")
    assert len(pull(batches, "condition", covariates="years", sample_key="donor", residuals=False).covariates) == 2


def test_strata_are_read_by_condition(batches):
    strata = pull(batches, "condition", permute_within="batch").strata
    np.testing.assert_array_equal(np.concatenate(strata), np.resize([0, 1, 2], 120))


@pytest.mark.parametrize(
    ("permute_within", "sample_key", "message"),
    [
        ("bacth", None, "permute_within='bacth' is not a column"),
        ("depth", None, "permute_within='depth' has 120 different values for 120 observations"),
        ("arm", None, "permute_within='arm' has no category with observations of two conditions"),
        ("missing", None, "permute_within='missing' is missing for 3 observations"),
        ("batch", "donor", "permute_within='batch' differs between observations of one sample"),
        ("batch", "subject", "permute_within='batch' is for samples of one condition each"),
    ],
)
def test_strata_in_which_nothing_can_be_permuted_are_refused(batches, permute_within, sample_key, message):
    batches.obs["arm"] = np.where(batches.obs["condition"] == "ctrl", "left", "right")
    batches.obs["missing"] = batches.obs["batch"].where(np.arange(120) > 2)
    with pytest.raises(ValueError, match=message):
        pull(batches, "condition", permute_within=permute_within, sample_key=sample_key)
