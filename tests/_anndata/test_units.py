"""What is unusual about the units of the data is said before results are believed."""

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import diffnb as dn
from diffnb._anndata.units import units_note


@pytest.fixture
def counts(rng):
    return sp.csr_matrix(rng.poisson(1.5, size=(60, 30)).astype(float))


def normalised(counts):
    x = counts.toarray()
    return 1e4 * x / x.sum(axis=1, keepdims=True)


def test_raw_counts_are_named_with_their_size_and_the_remedy(counts):
    note = units_note(counts, "adata.X")
    assert "raw counts" in note
    assert f"{np.median(np.asarray(counts.sum(axis=1))):,.0f} per observation" in note
    assert "sc.pp.normalize_total" in note


def test_counts_that_are_normalised_but_not_logarithms_are_named(counts):
    note = units_note(sp.csr_matrix(normalised(counts)), "adata.X")
    assert "not log-transformed" in note


@pytest.mark.parametrize(
    "x",
    [
        lambda counts: sp.csr_matrix(np.log1p(normalised(counts))),
        lambda counts: (counts > 0).astype(float),
        lambda counts: counts.toarray(),
        lambda counts: sp.csr_matrix(counts.toarray() - 3.0),
        lambda counts: sp.csr_matrix((60, 30)),
    ],
    ids=["logarithms", "presence", "dense", "negative", "empty"],
)
def test_other_data_are_not(counts, x):
    assert units_note(x(counts), "adata.X") is None


@pytest.mark.parametrize(
    "call",
    [
        lambda a: dn.tl.scorecard(a, "condition"),
        lambda a: dn.tl.disc(a, "condition"),
        lambda a: dn.tl.sparda(a, "condition", n_features=3),
        lambda a: dn.tl.dufs(a, n_steps=2),
        lambda a: dn.tl.laplacian_score(a),
        lambda a: dn.tl.diverse_features(a),
        lambda a: dn.tl.informed_distance(a, n_clusters=3),
    ],
    ids=["scorecard", "disc", "sparda", "dufs", "laplacian_score", "diverse_features", "informed_distance"],
)
@pytest.mark.filterwarnings("ignore")
def test_every_tool_says_so(counts, call):
    obs = pd.DataFrame({"condition": np.repeat(["a", "b"], 30)}, index=[f"c{i}" for i in range(60)])
    adata = anndata.AnnData(counts, obs=obs)
    with pytest.warns(UserWarning, match="adata.X holds raw counts"):
        call(adata)


def test_a_layer_is_named(counts):
    obs = pd.DataFrame({"condition": np.repeat(["a", "b"], 30)}, index=[f"c{i}" for i in range(60)])
    adata = anndata.AnnData(sp.csr_matrix(np.log1p(normalised(counts))), obs=obs, layers={"counts": counts})
    dn.tl.scorecard(adata, "condition")
    with pytest.warns(UserWarning, match=r"adata.layers\['counts'\] holds raw counts"):
        dn.tl.scorecard(adata, "condition", layer="counts")
