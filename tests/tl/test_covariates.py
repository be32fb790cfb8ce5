"""What covariates do in every tool that takes them, on every kind of matrix."""

from __future__ import annotations

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from streams import KINDS

import diffnb as dn

N_OBS, N_FEATURES = 240, 24


@pytest.fixture
def counts(rng):
    """Counts whose level depends on a batch and on depth, both of which differ between conditions."""
    condition = np.repeat(["A", "B"], N_OBS // 2)
    late = rng.random(N_OBS) < np.where(condition == "A", 0.7, 0.3)
    depth = rng.normal(0.5 * (condition == "A"), 1.0)
    level = np.exp(0.4 * rng.normal(size=(N_OBS, 1)) * (np.arange(N_FEATURES) < 8))
    x = rng.poisson(2.0 * level * np.exp(0.5 * late + 0.2 * depth)[:, None]).astype(float)
    obs = pd.DataFrame(
        {
            "condition": pd.Categorical(condition),
            "batch": pd.Categorical(np.where(late, "late", "early")),
            "depth": depth,
            "donor": [f"{c}{i % 6}" for i, c in enumerate(condition)],
        },
        index=[f"cell{i}" for i in range(N_OBS)],
    )
    return anndata.AnnData(np.log1p(x), obs=obs)


def as_kind(adata, kind):
    x = adata.X
    makers = {
        "csr": sp.csr_matrix,
        "csc": sp.csc_matrix,
        **{f"dask {k}": lambda x, k=k: KINDS[k](x, 37) for k in KINDS},
    }
    return anndata.AnnData(makers[kind](x), obs=adata.obs.copy(), var=adata.var.copy())


CALLS = {
    "scorecard": (dn.tl.scorecard, {"groupby": "condition"}, lambda a: dn.get.scorecard(a).select_dtypes("number")),
    "scorecard of samples": (
        dn.tl.scorecard,
        {"groupby": "condition", "sample_key": "donor"},
        lambda a: dn.get.scorecard(a).select_dtypes("number"),
    ),
    "disc": (
        dn.tl.disc,
        {"groupby": "condition", "n_permutations": 3, "permute_within": "batch", "n_clusters": 2},
        lambda a: dn.get.disc_significance(a)[["sigma", "pval"]],
    ),
    "pda": (
        dn.tl.pda,
        {"groupby": "condition", "n_permutations": 3},
        lambda a: dn.get.sparda_summary(a, key="pda")[["objective", "pval"]],
    ),
    "sparda": (dn.tl.sparda, {"groupby": "condition", "n_features": 3}, lambda a: dn.get.sparda(a)[["weight"]]),
    "informed_distance": (
        dn.tl.informed_distance,
        {"n_clusters": 3, "n_components": 2},
        lambda a: pd.DataFrame(dn.get.informed_distances(a)),
    ),
}
#: each product with the data is a pass over many small row blocks
SLOW = ("pda", "sparda")


@pytest.mark.parametrize("call", [pytest.param(c, marks=pytest.mark.slow) if c in SLOW else c for c in CALLS])
@pytest.mark.parametrize(
    ("kind", "memory"), [("csr", 2**16), ("csc", 2**30), ("dask dense", 2**30), ("dask sparse", 2**16)]
)
def test_results_are_the_same_for_every_kind_of_matrix(counts, call, kind, memory, set_memory):
    tool, arguments, read = CALLS[call]
    other = as_kind(counts, kind)
    tool(counts, covariates=["batch", "depth"], **arguments)
    expected = read(counts)
    set_memory(memory)
    tool(other, covariates=["batch", "depth"], **arguments)
    np.testing.assert_allclose(read(other).to_numpy(dtype=float), expected.to_numpy(dtype=float), rtol=1e-7, atol=1e-9)


def test_a_confounded_batch_is_no_difference_once_it_is_taken_out(counts):
    dn.tl.scorecard(counts, "condition")
    assert (dn.get.scorecard(counts)["mean_pval_adj"] < 0.05).mean() > 0.4
    dn.tl.scorecard(counts, "condition", covariates=["batch", "depth"])
    assert (dn.get.scorecard(counts)["mean_pval_adj"] < 0.05).mean() < 0.1
    assert (dn.get.scorecard(counts)["kind"] == "none").mean() > 0.9


def test_a_covariate_of_donors_is_one_of_the_comparison_of_donors(rng):
    """Donors of one condition are older, and features follow age alone."""
    age = {f"A{i}": 50.0 + 4 * i for i in range(8)} | {f"B{i}": 38.0 + 4 * i for i in range(8)}
    donors = np.repeat(list(age), 12)
    years = np.array([age[d] for d in donors])
    effect = {d: rng.normal(0, 0.5, size=60) for d in age}
    x = 0.15 * years[:, None] + np.stack([effect[d] for d in donors]) + rng.normal(size=(len(donors), 60))
    obs = pd.DataFrame({"condition": [d[0] for d in donors], "donor": donors, "age": years})
    adata = anndata.AnnData(x, obs=obs.set_index(pd.Index([str(i) for i in range(len(obs))])))
    dn.tl.scorecard(adata, "condition", sample_key="donor")
    assert np.mean(dn.get.scorecard(adata)["mean_pval"] < 0.05) > 0.5
    dn.tl.scorecard(adata, "condition", sample_key="donor", covariates="age")
    assert np.mean(dn.get.scorecard(adata)["mean_pval"] < 0.05) < 0.15


def test_covariates_of_too_few_donors_are_refused(counts, rng):
    donors = counts.obs["donor"].unique()
    for name in ("a", "b", "c", "d", "e"):
        counts.obs[name] = counts.obs["donor"].map(dict(zip(donors, rng.normal(size=12), strict=True))).astype(float)
    with pytest.raises(ValueError, match="take 5 columns, and a condition has 6 samples to compare: at least 7"):
        dn.tl.scorecard(counts, "condition", sample_key="donor", covariates=["a", "b", "c", "d", "e"])


def test_the_parameters_show_the_covariates(counts):
    dn.tl.scorecard(counts, "condition", covariates=["batch", "depth"])
    assert list(counts.uns["scorecard"]["params"]["covariates"]) == ["batch", "depth"]


def test_correlations_of_a_graph_are_those_without_the_covariates(counts):
    dn.tl.disc(counts, "condition", covariates=["batch", "depth"], n_clusters=2)
    table = dn.get.disc_graph(counts, n_features=10)["correlation"].loc["A"]
    first, second = table.columns[:2]
    rows = (counts.obs["condition"] == "A").to_numpy()
    z = np.column_stack([np.ones(rows.sum()), counts.obs["batch"][rows] == "late", counts.obs["depth"][rows]])
    x = counts[rows, [first, second]].X
    rest = x - z.astype(float) @ np.linalg.lstsq(z.astype(float), x, rcond=None)[0]
    np.testing.assert_allclose(table.to_numpy()[0, 1], np.corrcoef(rest.T)[0, 1], atol=1e-8)


def test_observations_of_neither_population_have_no_projection(counts, rng):
    counts.obs["three"] = pd.Categorical(np.resize(["a", "b", "c"], N_OBS))
    dn.tl.sparda(counts, "three", group="a", reference="b", n_features=2, covariates="depth")
    known = np.isfinite(counts.obsm["X_sparda"][:, 0])
    np.testing.assert_array_equal(known, counts.obs["three"] != "c")
