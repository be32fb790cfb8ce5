"""Counts, binary data and duplicates have equal distances: answers must not depend on how the data is stored."""

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from streams import dense_chunks, sparse_chunks

import diffnb as dn

pytestmark = pytest.mark.slow

N_OBS, N_FEATURES = 60, 12
STORED = {
    "CSR": sp.csr_matrix,
    "CSC": sp.csc_matrix,
    "Fortran order": np.asfortranarray,
    "integers": lambda x: x.astype(np.int64),
    "float32": lambda x: x.astype(np.float32),
    "CSR of float32": lambda x: sp.csr_matrix(x.astype(np.float32)),
    "dask": lambda x: dense_chunks(x, 16),
    "dask, sparse": lambda x: sparse_chunks(x, 16),
}


def values(kind):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(N_OBS, N_FEATURES))
    z[: N_OBS // 2, :5] += rng.normal(size=(N_OBS // 2, 1))
    counts = rng.poisson(np.exp(0.7 * z - 0.3)).astype(float)
    return {
        "counts": counts,
        "binary": (z > 0.2).astype(float),
        "rare": (rng.random(z.shape) < 0.15).astype(float),
        "duplicated observations": np.vstack([counts[:20]] * 3)[rng.permutation(N_OBS)],
        "duplicated features": np.hstack([counts, counts[:, :6]]),
    }[kind]


def described(x):
    obs = pd.DataFrame({"condition": np.repeat(["A", "B"], N_OBS // 2)}, index=[f"o{i}" for i in range(N_OBS)])
    return anndata.AnnData(x, obs=obs, var=pd.DataFrame(index=[f"f{j}" for j in range(x.shape[1])]))


def varm(key):
    return lambda a: a.varm[key].select_dtypes("number")


TOOLS = {
    "scorecard": (lambda a: dn.tl.scorecard(a, "condition"), varm("scorecard")),
    "disc": (lambda a: dn.tl.disc(a, "condition", n_clusters=2), lambda a: dn.get.disc_significance(a)["sigma"]),
    "pda": (lambda a: dn.tl.pda(a, "condition"), varm("pda")),
    "sparda": (lambda a: dn.tl.sparda(a, "condition", n_features=3), varm("sparda")),
    "dufs": (lambda a: dn.tl.dufs(a, n_steps=20, n_features=3), varm("dufs")),
    "diverse_features": (dn.tl.diverse_features, varm("diverse_features")),
    "laplacian_score": (dn.tl.laplacian_score, lambda a: a.var["laplacian_score"]),
    "informed_distance": (dn.tl.informed_distance, lambda a: a.obsp["informed_pairwise"]),
    "informed_distance, local": (
        lambda a: dn.tl.informed_distance(a, local=True),
        lambda a: a.obsp["informed_pairwise"],
    ),
    "feature_diffmap": (
        lambda a: dn.tl.feature_diffmap(a, "condition", n_components=2),
        lambda a: a.uns["feature_diffmap"]["eigenvalues"],
    ),
    "feature_change": (lambda a: dn.tl.feature_change(a, "condition"), lambda a: a.var["feature_change"]),
}


@pytest.mark.filterwarnings("ignore:::diffnb", "ignore::UserWarning")
@pytest.mark.parametrize("kind", ["counts", "binary", "rare", "duplicated observations", "duplicated features"])
@pytest.mark.parametrize("name", list(TOOLS))
def test_the_answer_does_not_depend_on_storage(name, kind):
    run, read = TOOLS[name]
    x = values(kind)
    reference = described(x)
    run(reference)
    expected = np.asarray(read(reference), dtype=float)
    largest = max(1.0, np.nanmax(np.abs(expected)))
    for stored, made in STORED.items():
        adata = described(made(x))
        run(adata)
        found = np.asarray(read(adata))
        # distances of single-precision data are stored in single precision
        tolerance = 1e-10 if found.dtype != np.float32 else 1e-6
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * largest, err_msg=stored)
