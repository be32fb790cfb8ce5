"""Trends of groups of features with a dose."""

import numpy as np
import pandas as pd
import pytest

import diffnb as dn


@pytest.fixture(scope="module")
def found():
    adata = dn.datasets.newly_connected(n_obs=200)
    dn.tl.disc(adata, "condition", n_components=2)
    return adata


@pytest.fixture
def other():
    adata = dn.datasets.newly_connected(n_obs=200, random_state=1)
    steps = np.where(adata.obs["condition"] == "B", 3, 0) + np.arange(400) % 3
    adata.obs["dose"] = steps.astype(float)
    return adata


def test_groups_follow_the_dose_in_data_that_did_not_find_them(found, other):
    table = dn.get.disc_trend(other, dose="dose", found_in=found, n_permutations=99)
    assert table["condition"].tolist() == ["A", "A", "B", "B"]
    assert (table["n_matched"] == table["n_features"]).all()
    assert np.sign(table["slope"]).tolist() == [-1, -1, 1, 1]
    assert (table["pval_adj"] <= 0.01).all()
    levels = table.attrs["levels"]
    assert levels.columns.tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(levels.iloc[:, 0], table["lowest"])
    assert (levels.loc["B1", [3.0, 4.0, 5.0]] > 0.7).all()
    assert table.attrs["units"] == "400 observations"


def test_where_the_dose_means_nothing_no_group_follows_it(found, other):
    other.obs["dose"] = np.random.default_rng(0).permutation(other.obs["dose"])
    assert dn.get.disc_trend(other, dose="dose", found_in=found, n_permutations=99)["pval_adj"].min() > 0.05


def test_groups_found_by_the_same_labels_have_no_p_value(found):
    adata = found.copy()
    adata.obs["condition"] = pd.Categorical(adata.obs["condition"], categories=["A", "B"], ordered=True)
    table = dn.get.disc_trend(adata, dose="condition", n_permutations=19)
    assert table["pval"].isna().all()
    assert np.sign(table["slope"]).tolist() == [-1, -1, 1, 1]


def test_groups_may_come_from_elsewhere_and_samples_be_the_units(other):
    other.var["module"] = np.where(np.arange(250) < 225, "background", "mine")
    other.obs["donor"] = np.tile(np.arange(5), 80)
    table = dn.get.disc_trend(other, dose="dose", sample_key="donor", key="module")
    assert table.index.tolist() == ["mine"]
    assert table.attrs["units"] == "0 samples with one dose and 5 with several"
    assert table.loc["mine", "pval"] < 0.05


def test_sparse_data_and_unmatched_features(found, other):
    from scipy import sparse

    part = other[:, 60:].copy()
    dense = dn.get.disc_trend(part, dose="dose", found_in=found, n_permutations=19)
    part.X = sparse.csr_matrix(part.X)
    pd.testing.assert_frame_equal(dn.get.disc_trend(part, dose="dose", found_in=found, n_permutations=19), dense)


def set_dose(adata, value):
    adata.obs["dose"] = value


@pytest.mark.parametrize(
    ("change", "given", "message"),
    [
        (lambda a: None, {"dose": "doze"}, "dose='doze'"),
        (lambda a: set_dose(a, "a"), {}, "dose='dose' holds names without an order"),
        (lambda a: set_dose(a, 1.0), {}, "a trend needs 2 levels"),
        (lambda a: setattr(a, "var_names", [f"x{i}" for i in range(250)]), {}, "same names"),
        (lambda a: setattr(a, "var_names", [*(f"x{i}" for i in range(249)), a.var_names[249]]), {}, "2 features that"),
        (lambda a: setattr(a, "var_names", ["x"] * 250), {}, "not unique"),
        (lambda a: None, {"n_permutations": 3}, "n_permutations"),
        (lambda a: None, {"key": "other"}, "other"),
    ],
)
def test_what_cannot_be_followed_is_refused(found, other, change, given, message):
    change(other)
    with pytest.raises((ValueError, KeyError), match=message):
        dn.get.disc_trend(other, **{"dose": "dose", "found_in": found, **given})


def test_data_without_a_group_are_refused(other):
    other.var["module"] = "background"
    with pytest.raises(ValueError, match="no group of features"):
        dn.get.disc_trend(other, dose="dose", key="module")
