"""`get.scorecard`: the table and its errors."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest

from diffnb.get._scorecard import scorecard
from diffnb.tl._scorecard import scorecard as compute


@pytest.fixture(scope="module")
def adata():
    rng = np.random.default_rng(0)
    obs = pd.DataFrame({"condition": np.repeat(["a", "b", "c"], 20)}, index=[str(i) for i in range(60)])
    data = ad.AnnData(rng.normal(size=(60, 5)), obs=obs, var=pd.DataFrame(index=list("vwxyz")))
    compute(data, "condition")
    return data


def test_columns_are_those_promised(adata):
    table = scorecard(adata, group="b")
    kinds = ("mean", "spread", "distribution", "connectivity")
    numbers = [f"{kind}_{name}" for kind in kinds for name in ("stat", "pval", "pval_adj")]
    assert table.columns.tolist() == ["group", "reference", *numbers, "kind"]
    assert table.index.tolist() == list("vwxyz")
    assert isinstance(table["kind"].dtype, pd.CategoricalDtype)


def test_pairs_are_stacked_and_chosen_by_name(adata):
    assert len(scorecard(adata)) == 15
    assert scorecard(adata, group="c")["reference"].unique().tolist() == ["a", "b"]
    assert len(scorecard(adata, group="c", reference="b")) == 5
    assert isinstance(scorecard(adata)["kind"].dtype, pd.CategoricalDtype)


def test_the_table_is_a_copy(adata):
    for group in (None, "b"):
        table = scorecard(adata, group=group)
        table["mean_stat"] = 0.0
    assert (scorecard(adata)["mean_stat"] != 0).any()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"key": "other"}, KeyError, "run dn.tl.scorecard"),
        ({"group": "a"}, ValueError, "group='a' was not compared as such; there are 'b', 'c'"),
        ({"reference": "c"}, ValueError, "reference='c'"),
        ({"group": "b", "reference": "b"}, ValueError, "'b vs a', 'c vs a', 'c vs b'"),
    ],
)
def test_errors_say_what_there_is(arguments, error, message, adata):
    with pytest.raises(error, match=message):
        scorecard(adata, **arguments)
