"""`tl.scorecard(trend=True)` on an AnnData: which doses it reads, what it stores and what it refuses."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from streams import KINDS as STREAMS

import diffnb as dn
from diffnb.core.scorecard import KINDS, fit_trend

DOSES = np.array([0.0, 1.0, 2.0, 5.0])


@pytest.fixture
def adata(rng):
    n = 200
    dose = np.repeat(DOSES, n // 4)
    x = np.round(rng.gamma(1.0, size=(n, 10)), 2)
    x[x < 0.4] = 0
    x[:, 0] += dose
    obs = pd.DataFrame({"dose": dose, "age": rng.normal(size=n), "batch": np.resize(["p", "q"], n)})
    obs["donor"] = np.resize(np.arange(5), n).astype(str)
    obs["mouse"] = [f"{d:g}_{i % 3}" for i, d in enumerate(dose)]
    obs.index = [f"cell{i}" for i in range(n)]
    return ad.AnnData(x, obs=obs, var=pd.DataFrame(index=[f"gene{j}" for j in range(10)]))


def test_stores_what_the_numerics_give(adata):
    assert dn.tl.scorecard(adata, "dose", trend=True) is None
    expected = fit_trend(np.split(adata.X, 4), np.split(adata.obs["dose"].to_numpy(), 4))
    table = dn.get.scorecard(adata)
    assert table["group"].unique().tolist() == ["dose"]
    assert table["reference"].unique().tolist() == ["trend"]
    for k, kind in enumerate(KINDS):
        np.testing.assert_array_equal(table[f"{kind}_pval"], expected.pval[:, k])
    np.testing.assert_array_equal(table["slope"], expected.slope)
    assert table["slope_low"].iloc[0] < 1.0 < table["slope_high"].iloc[0]
    assert table["kind"].iloc[0] == "mean"


@pytest.mark.parametrize(
    "labels",
    [
        lambda dose: pd.Categorical(dose),
        lambda dose: dose.astype(int).astype(str),
        lambda dose: pd.Series(dose.astype(int), dtype="Int64").to_numpy(),
    ],
    ids=["categories", "texts", "integers"],
)
def test_labels_that_read_as_numbers_are_numbers(labels, adata):
    adata.obs["label"] = labels(adata.obs["dose"].to_numpy())
    dn.tl.scorecard(adata, "dose", trend=True, key_added="numbers")
    dn.tl.scorecard(adata, "label", trend=True, key_added="labels")
    first, second = (dn.get.scorecard(adata, key=key).drop(columns="group") for key in ("numbers", "labels"))
    pd.testing.assert_frame_equal(first, second)


def test_ordered_names_are_steps(adata):
    names = ["none", "low", "mid", "high"]
    adata.obs["step"] = np.repeat(np.arange(4.0), 50)
    adata.obs["name"] = pd.Categorical(np.repeat(names, 50), categories=names, ordered=True)
    dn.tl.scorecard(adata, "step", trend=True, key_added="steps")
    dn.tl.scorecard(adata, "name", trend=True, key_added="names")
    first, second = (dn.get.scorecard(adata, key=key)["mean_stat"] for key in ("steps", "names"))
    pd.testing.assert_series_equal(first, second)


def test_names_without_an_order_are_refused_with_a_remedy(adata):
    adata.obs["name"] = np.repeat(["none", "low", "mid", "high"], 50)
    with pytest.raises(ValueError, match=r"groupby='name' holds names without an order.*ordered=True"):
        dn.tl.scorecard(adata, "name", trend=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reference": "a"}, "reference='a' is a condition to compare with"),
        ({"counts": "X"}, "counts='X' corrects correlations of two conditions"),
        ({"trend": "yes"}, "trend='yes' must be True or False"),
        ({"groups": ["0", "9"]}, "groups names '9'"),
        ({"covariates": ["copy"]}, "covariates determine groupby='dose'"),
        ({"covariates": ["dose"]}, "covariates names 'dose', which is what is compared"),
        ({"sample_key": "all"}, "a trend over samples needs"),
    ],
)
def test_what_has_no_place_in_a_trend_is_refused(options, message, adata):
    adata.obs["copy"] = 2 * adata.obs["dose"] + 1
    adata.obs["all"] = "one"
    before = adata.copy()
    with pytest.raises((ValueError, TypeError), match=message):
        dn.tl.scorecard(adata, "dose", **{"trend": True, **options})
    assert list(adata.varm) == list(before.varm)
    assert list(adata.uns) == list(before.uns)


def test_one_dose_is_refused(adata):
    adata.obs["same"] = 3.0
    with pytest.raises(ValueError, match="groupby='same' has 1 different values"):
        dn.tl.scorecard(adata, "same", trend=True)


def test_infinite_doses_are_refused(adata):
    adata.obs.iloc[3, 0] = np.inf
    with pytest.raises(ValueError, match="infinite values"):
        dn.tl.scorecard(adata, "dose", trend=True)


def test_observations_without_a_dose_are_left_out(adata):
    adata.obs.iloc[:10, 0] = np.nan
    dn.tl.scorecard(adata, "dose", trend=True)
    kept = adata[10:].copy()
    dn.tl.scorecard(kept, "dose", trend=True)
    pd.testing.assert_frame_equal(dn.get.scorecard(adata), dn.get.scorecard(kept))


def test_groups_choose_levels(adata):
    dn.tl.scorecard(adata, "dose", trend=True, groups=["0", "1", "2"])
    kept = adata[adata.obs["dose"] < 5].copy()
    dn.tl.scorecard(kept, "dose", trend=True)
    pd.testing.assert_frame_equal(dn.get.scorecard(adata), dn.get.scorecard(kept))


@pytest.mark.parametrize("kind", list(STREAMS))
@pytest.mark.parametrize("options", [{}, {"sample_key": "donor"}, {"covariates": ["age", "batch"]}], ids=str)
def test_is_the_same_for_data_on_disk(kind, options, adata):
    lazy = ad.AnnData(STREAMS[kind](adata.X, 33), obs=adata.obs, var=adata.var)
    for data in (adata, lazy):
        dn.tl.scorecard(data, "dose", trend=True, **options)
    pd.testing.assert_frame_equal(dn.get.scorecard(lazy), dn.get.scorecard(adata), rtol=1e-6)


@pytest.mark.parametrize("sample_key", ["donor", "mouse"])
def test_samples_are_the_units(sample_key, adata, caplog):
    dn.tl.scorecard(adata, "dose", trend=True, sample_key=sample_key, covariates=["age"])
    table = dn.get.scorecard(adata)
    assert table["mean_pval"].iloc[0] < 0.01
    assert table["mean_pval"].iloc[1:].min() > 1e-4


def test_results_survive_a_file(adata, tmp_path):
    dn.tl.scorecard(adata, "dose", trend=True, sample_key="donor")
    adata.write_h5ad(tmp_path / "a.h5ad")
    back = ad.read_h5ad(tmp_path / "a.h5ad")
    pd.testing.assert_frame_equal(dn.get.scorecard(back), dn.get.scorecard(adata))
    pd.testing.assert_frame_equal(dn.get.trend(back, features="gene0"), dn.get.trend(adata, features="gene0"))


@pytest.mark.parametrize("read", ["effects", "edges"])
def test_readers_of_pairs_name_the_way_out(read, adata):
    dn.tl.scorecard(adata, "dose", trend=True)
    with pytest.raises(ValueError, match="holds a trend, which compares no pairs of conditions"):
        getattr(dn.get, read)(adata, key="scorecard")


def test_a_mixed_design_uses_all_donors(rng):
    from scipy import stats

    donors = (
        [("a", c) for c in "xyz"] + [("b", c) for c in "xyz"] + [("a", c) for c in "pqr"] + [("b", c) for c in "stu"]
    )
    x = np.concatenate([rng.normal(size=(20, 6)) + rng.normal(size=6) for _ in donors])
    obs = pd.DataFrame([d for d in donors for _ in range(20)], columns=["condition", "donor"])
    adata = ad.AnnData(x, obs=obs.set_index(obs.index.astype(str)))
    dn.tl.scorecard(adata, "condition", sample_key="donor")
    mean = {d: x[20 * i : 20 * i + 20].mean(axis=0) for i, d in enumerate(donors)}
    pairs = np.array([mean["b", c] - mean["a", c] for c in "xyz"])
    one, other = np.array([mean["b", c] for c in "stu"]), np.array([mean["a", c] for c in "pqr"])
    share = (2 / 3) / (1 / 3 + 2 / 3)
    effect = share * pairs.mean(axis=0) + (1 - share) * (one.mean(axis=0) - other.mean(axis=0))
    variances = [
        share**2 * pairs.var(axis=0, ddof=1) / 3,
        *((1 - share) ** 2 * o.var(axis=0, ddof=1) / 3 for o in (one, other)),
    ]
    df = np.sum(variances, axis=0) ** 2 / sum(v**2 / 2 for v in variances)
    t = effect / np.sqrt(np.sum(variances, axis=0))
    table = dn.get.scorecard(adata)
    np.testing.assert_allclose(table["mean_stat"], t, rtol=1e-9)
    np.testing.assert_allclose(table["mean_pval"], 2 * stats.t.sf(np.abs(t), df), rtol=1e-9)
