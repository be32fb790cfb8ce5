"""Matrices that must not be computed with as they are, each with what to do instead."""

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import diffnb as dn
from diffnb._anndata.numbers import real_numbers


def described(x):
    obs = pd.DataFrame({"condition": np.repeat(["A", "B"], 20)}, index=[f"o{i}" for i in range(40)])
    return anndata.AnnData(x, obs=obs, var=pd.DataFrame(index=[f"f{j}" for j in range(x.shape[1])]))


@pytest.fixture
def values(rng):
    return rng.normal(size=(40, 6))


#: a tool that reads conditions, and one that reads all observations
TOOLS = (lambda a: dn.tl.scorecard(a, "condition"), dn.tl.laplacian_score)


def hidden(x):
    return np.ma.masked_array(x, mask=x > 1.5)


def records(x):
    return np.zeros(x.shape, dtype=[("red", float)])


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (hidden, ValueError, r"adata\.X is a masked array with \d+ masked values.*numpy\.ma\.filled"),
        (lambda x: x + 1j, TypeError, r"adata\.X has dtype complex128: complex numbers.*real part"),
        (lambda x: sp.csr_matrix(x + 1j), TypeError, "complex numbers"),
        (lambda x: x.astype(object), TypeError, r"Python objects; convert them with \.astype\(float\)"),
        (lambda x: x.astype(str), TypeError, "texts; convert"),
        (records, TypeError, "records of several fields"),
        (lambda x: x * 1e300, ValueError, r"6 features \('f0'.*values above 1e\+70.*Divide the data by a unit"),
        (lambda x: x * 1e-160, ValueError, r"'f4', …\) have values that differ by less than 1e-70"),
        (lambda x: x * 1e-310, ValueError, "whose squares vanish"),
        (lambda x: np.hstack([x, x[:, :1] * 1e-200]), ValueError, r"1 feature \('f6'\) has values that differ"),
        (lambda x: (x * 9).astype(int) + 2**60, ValueError, r"integers above 2\*\*53.*subtract what they"),
        (lambda x: x[:, :0], ValueError, "there are 0 features; at least 1"),
    ],
)
def test_what_cannot_be_computed_with_is_refused_with_a_remedy(values, tool, change, error, words):
    adata = described(change(values))
    before = set(adata.var.columns)
    with pytest.raises(error, match=words):
        tool(adata)
    assert set(adata.var.columns) == before


@pytest.mark.parametrize("where", ["layer", "use_rep", "counts"])
def test_layers_representations_and_counts_are_checked_too(values, where):
    adata = described(values)
    adata.layers["bad"] = adata.obsm["bad"] = hidden(values)
    tool = (lambda a, **given: dn.tl.scorecard(a, "condition", **given)) if where == "counts" else dn.tl.laplacian_score
    with pytest.raises(ValueError, match=f"{where}='bad' is a masked array"):
        tool(adata, **{where: "bad"})


def test_a_masked_array_that_masks_nothing_is_an_array(values):
    np.testing.assert_array_equal(real_numbers(np.ma.masked_array(values, mask=False), "x"), values)


@pytest.mark.filterwarnings("ignore:adata.X holds raw counts")
@pytest.mark.parametrize(
    "kind", [bool, np.int8, np.uint8, np.int64, np.float16, np.longdouble, "sparse bool", "sparse int8"]
)
def test_every_kind_of_number_gives_the_answer_for_float64(values, kind):
    x = values > 0 if kind in (bool, "sparse bool") else np.clip(40 * np.abs(values), 0, 127).round()
    made = sp.csr_matrix(x.astype(np.int8)) if str(kind).startswith("sparse") else x.astype(kind)
    if kind == "sparse bool":
        made = sp.csr_matrix(x)
    found, expected = described(made), described(x.astype(float))
    for adata in (found, expected):
        dn.tl.scorecard(adata, "condition")
        dn.tl.pda(adata, "condition", standardize=None)
        dn.tl.laplacian_score(adata)
    for slot in ("scorecard", "pda"):
        numbers = [a.varm[slot].select_dtypes("number") for a in (found, expected)]
        np.testing.assert_allclose(*numbers, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.var["laplacian_score"], expected.var["laplacian_score"], rtol=1e-10)


@pytest.mark.parametrize("power", [-150, 150])
def test_a_unit_within_the_limits_changes_nothing(values, power):
    plain, scaled = described(values), described(values * 2.0**power)
    for adata in (plain, scaled):
        dn.tl.scorecard(adata, "condition")
    numbers = [a.varm["scorecard"].select_dtypes("number") for a in (scaled, plain)]
    np.testing.assert_allclose(*numbers, rtol=1e-10)


@pytest.mark.parametrize("n_features", [1, 2])
def test_too_few_features_to_compare_are_counted(values, n_features):
    with pytest.raises(
        ValueError, match=rf"{n_features} features?; at least 3 are needed, since features are compared"
    ):
        dn.tl.feature_diffmap(described(values[:, :n_features]), "condition")
    if n_features == 1:
        for call in (dn.tl.disc, dn.tl.feature_change):
            with pytest.raises(ValueError, match="there is 1 feature; at least 2"):
                call(described(values[:, :1]), "condition")
        with pytest.raises(ValueError, match="there is 1 feature; at least 2"):
            dn.tl.informed_distance(described(values[:, :1]))
