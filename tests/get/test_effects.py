from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import stats

import diffnb as dn


def test_every_feature_has_all_effects_with_their_intervals(adata):
    dn.tl.scorecard(adata, "condition")
    table = dn.get.effects(adata)
    assert table.index.tolist() == adata.var_names.tolist()
    for name in ("mean", "spread", "distribution"):
        assert (table[f"{name}_low"] <= table[name]).all()
        assert (table[name] <= table[f"{name}_high"]).all()
    x = np.asarray(adata.X)
    expected = stats.ttest_ind(x[60:], x[:60], equal_var=False).confidence_interval()
    np.testing.assert_allclose(table["mean_low"], expected.low)


def test_the_sign_agrees_with_that_of_the_scorecard(adata):
    dn.tl.scorecard(adata, "condition")
    table, tests = dn.get.effects(adata), dn.get.scorecard(adata)
    assert (np.sign(table["mean"]) == np.sign(tests["mean_stat"])).all()
    swapped = dn.get.effects(adata, group="ctrl", reference="stim")
    np.testing.assert_allclose(swapped["mean"], -table["mean"])
    np.testing.assert_allclose(swapped["spread"], 1 / table["spread"])


def test_samples_covariates_and_masks_of_the_call_are_used(adata):
    dn.tl.scorecard(adata, "condition", sample_key="donor", mask_var="chosen")
    by_donor = dn.get.effects(adata)
    assert by_donor["mean"].notna().tolist() == adata.var["chosen"].tolist()
    dn.tl.scorecard(adata, "condition", covariates=["age"])
    assert dn.get.effects(adata)["mean_low"].notna().all()
    widths = [t["mean_high"] - t["mean_low"] for t in (by_donor, dn.get.effects(adata))]
    assert np.nanmedian(widths[0]) > 0


def test_fold_changes_follow_the_scale_that_scanpy_notes(adata):
    adata.X = np.random.default_rng(0).poisson(3.0, size=adata.shape).astype(float)
    dn.tl.scorecard(adata, "condition")
    linear = dn.get.effects(adata)["log2_fold_change"]
    adata.X = np.log1p(adata.X)
    adata.uns["log1p"] = {"base": None}
    dn.tl.scorecard(adata, "condition")
    np.testing.assert_allclose(dn.get.effects(adata)["log2_fold_change"], linear)


def test_sparse_data_gives_the_same(adata):
    adata.X = np.random.default_rng(0).poisson(1.0, size=adata.shape).astype(float)
    dn.tl.scorecard(adata, "condition")
    expected = dn.get.effects(adata)
    adata.X = sp.csr_matrix(adata.X)
    pd.testing.assert_frame_equal(dn.get.effects(adata), expected)


def test_an_unknown_condition_is_explained(adata):
    dn.tl.scorecard(adata, "condition")
    with pytest.raises(ValueError, match="condition='treated'"):
        dn.get.effects(adata, group="treated")
