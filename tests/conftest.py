"""Fixtures that the tests of all subpackages share."""

from __future__ import annotations

import os
import threading

os.environ.setdefault("MPLBACKEND", "agg")

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from diffnb.core.runtime.threads import can_start_threads

# many small problems: threads would wait for each other, above all on a busy machine
threadpool_limits(limits=1)

ARRAY_TYPES = {
    "ndarray": np.asarray,
    "csr_matrix": sp.csr_matrix,
    "csc_matrix": sp.csc_matrix,
    "csr_array": sp.csr_array,
    "csc_array": sp.csc_array,
}
#: kinds of chunks of a dask array, named as in `streams.KINDS`
CHUNK_TYPES = ("dense", "sparse")
N_ROWS_PER_CHUNK = 7


@pytest.fixture(params=list(ARRAY_TYPES))
def array_type(request):
    """Turn a dense array into each kind of matrix in memory in turn."""
    return ARRAY_TYPES[request.param]


@pytest.fixture(params=[*ARRAY_TYPES, *(f"dask_{kind}" for kind in CHUNK_TYPES)])
def any_array_type(request):
    """Turn a dense array into each kind of matrix in turn: in memory, or a dask array that is read in row blocks."""
    if request.param in ARRAY_TYPES:
        return ARRAY_TYPES[request.param]
    return in_chunks(request.param.removeprefix("dask_"))


def in_chunks(kind):
    from streams import KINDS

    from diffnb.core.arrays.row_chunks import chunked

    return lambda x: chunked(KINDS[kind](x, N_ROWS_PER_CHUNK))


@pytest.fixture
def set_memory(monkeypatch):
    """Set the memory budget in bytes, also below what a user may ask for: small data then counts as large."""
    from diffnb.core.runtime import budget

    return lambda n_bytes: monkeypatch.setattr(budget, "_memory_bytes", n_bytes)


@pytest.fixture
def no_threads(monkeypatch):
    """No thread can be started, as in a browser."""

    def refuse(*_, **__):
        raise RuntimeError("can't start new thread")

    for name in ("_start_new_thread", "_start_joinable_thread"):  # up to Python 3.12, and from 3.13 on
        monkeypatch.setattr(threading, name, refuse, raising=False)
    can_start_threads.cache_clear()
    yield
    can_start_threads.cache_clear()


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def two_conditions(rng):
    """Counts of 40 features: ten are correlated in the second condition only, ten in both."""
    rows = []
    for own in (False, True):
        x = rng.normal(size=(60, 40))
        x[:, :10] += 1.5 * rng.normal(size=(60, 1))
        if own:
            x[:, 10:20] += 1.5 * rng.normal(size=(60, 1))
        rows.append(x)
    return rows


@pytest.fixture
def adata(two_conditions):
    """The same as an AnnData, with donors nested in conditions and a layer."""
    import anndata
    import pandas as pd

    x = np.concatenate(two_conditions)
    obs = pd.DataFrame(
        {
            "condition": pd.Categorical(np.repeat(["ctrl", "stim"], 60), categories=["ctrl", "stim", "unused"]),
            "donor": np.repeat([f"d{i}" for i in range(6)], 20),
            "subject": np.tile(np.repeat(["s1", "s2", "s3"], 20), 2),
            "age": np.linspace(20.5, 80.25, 120),
        },
        index=[f"cell{i}" for i in range(120)],
    )
    var = pd.DataFrame({"chosen": np.arange(40) < 30}, index=[f"gene{i}" for i in range(40)])
    return anndata.AnnData(x, obs=obs, var=var, layers={"double": 2 * x})
