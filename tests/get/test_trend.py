"""`get.trend`: means and spreads at the levels of a dose."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import diffnb as dn


@pytest.fixture(scope="module")
def adata():
    rng = np.random.default_rng(0)
    obs = pd.DataFrame({"dose": np.repeat([0.0, 2.0, 4.0], 40), "donor": np.resize(list("abcd"), 120)})
    obs.index = [f"cell{i}" for i in range(120)]
    data = ad.AnnData(rng.normal(size=(120, 5)), obs=obs, var=pd.DataFrame(index=list("vwxyz")))
    dn.tl.scorecard(data, "dose", trend=True)
    dn.tl.scorecard(data, "dose", trend=True, sample_key="donor", key_added="donors")
    return data


def test_rows_are_features_in_the_order_asked_for_and_levels(adata):
    table = dn.get.trend(adata, features=["z", "v"])
    assert table["feature"].tolist() == ["z"] * 3 + ["v"] * 3
    assert table["dose"].tolist() == [0.0, 2.0, 4.0] * 2
    x = np.asarray(adata.X)[:40, 4]
    row = table.iloc[0]
    low, high = stats.t.interval(0.95, 39, x.mean(), stats.sem(x))
    np.testing.assert_allclose(row[["mean", "mean_low", "mean_high"]].astype(float), [x.mean(), low, high])
    np.testing.assert_allclose(row["spread"], np.abs(x - np.median(x)).mean())
    assert row["n_units"] == 40


def test_intervals_are_those_of_samples_where_they_were_the_units(adata):
    row = dn.get.trend(adata, features="v", key="donors").iloc[1]
    means = np.asarray(adata.X)[40:80, 0].reshape(10, 4).mean(axis=0)
    low, high = stats.t.interval(0.95, 3, means.mean(), stats.sem(means))
    np.testing.assert_allclose(row[["mean", "mean_low", "mean_high"]].astype(float), [means.mean(), low, high])
    assert row["n_units"] == 4


def test_unknown_features_and_results_without_a_trend_are_refused(adata):
    with pytest.raises(ValueError, match=r"features names 'q', which is not in adata\.var_names"):
        dn.get.trend(adata, features=["v", "q"])
    data = adata.copy()
    data.obs["half"] = np.resize(["a", "b"], 120)
    dn.tl.scorecard(data, "half", key_added="two")
    with pytest.raises(ValueError, match=r"holds no trend; run dn.tl.scorecard\(adata, groupby, trend=True\)"):
        dn.get.trend(data, features="v", key="two")
