"""Which tool takes which kind of data, as measured. `python tests/support.py` writes docs/reference/support.md."""

from __future__ import annotations

import contextlib
import sys
import tempfile
import warnings
from pathlib import Path
from unittest import mock

import anndata
import numpy as np
import pandas as pd
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "support.md"
N_OBS, N_VARS, CHUNK = 64, 20, 16

HEAD = (
    "# What takes which data\n\n"
    "Every tool was run on every kind of data, and its answer compared with the one for an array in memory;"
    " a test repeats this with each change and compares the result with this page"
    " (`python tests/support.py` writes it).\n\n"
)

FOOT = (
    "\n**same**: the same answer, to 1e-8."
    " **in blocks**: the same answer, and never more than a fraction of the data in memory:"
    " it is read one block of observations at a time."
    " **read whole**: the same answer, but the data is loaded into memory first."
    " **no**: refused, with an error that names a remedy.\n\n"
    '*backed* is `anndata.read_h5ad(path, backed="r")`; *zarr lazy* and *h5ad lazy* are'
    " `anndata.experimental.read_lazy(path)`, with sparse data on disk."
    " To read a backed file in blocks, open it with `read_lazy` instead."
    " More about data that does not fit into memory: [Work with large data](../howto/large_data.md).\n"
)


def data():
    """Two conditions with a few features that move together in one, positive, many of them zero."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N_OBS, N_VARS))
    x[: N_OBS // 2, :6] += 2 * rng.normal(size=(N_OBS // 2, 1))
    x[:, 6:12] += 2 * rng.normal(size=(N_OBS, 1))
    x = np.where(x > 0.3, x, 0.0)
    obs = pd.DataFrame(
        {"condition": pd.Categorical(np.repeat(["A", "B"], N_OBS // 2))}, index=[f"o{i}" for i in range(N_OBS)]
    )
    return anndata.AnnData(x, obs=obs, var=pd.DataFrame(index=[f"f{j}" for j in range(N_VARS)]))


def tools():
    """Name of each tool, how it is called here, and the numbers that it finds."""
    import diffnb as dn

    def after_disc(adata):
        dn.tl.disc(adata, "condition")
        dn.tl.meta_features(adata)

    return {
        "scorecard": (
            lambda a: dn.tl.scorecard(a, "condition"),
            lambda a: dn.get.scorecard(a).select_dtypes("number"),
        ),
        "disc": (
            lambda a: dn.tl.disc(a, "condition", n_permutations=2, n_bootstraps=2),
            lambda a: dn.get.disc(a, group="A").select_dtypes("number"),
        ),
        "meta_features": (after_disc, lambda a: a.obsm["X_disc"]),
        "pda": (lambda a: dn.tl.pda(a, "condition"), lambda a: dn.get.sparda(a, key="pda")["weight"].sort_index()),
        "sparda": (
            lambda a: dn.tl.sparda(a, "condition", n_features=5),
            lambda a: dn.get.sparda(a)["weight"].sort_index(),
        ),
        "dufs": (lambda a: dn.tl.dufs(a, batch_size=16, n_steps=12), lambda a: dn.get.dufs(a)["gate"].sort_index()),
        "diverse_features": (
            lambda a: dn.tl.diverse_features(a, n_features=5),
            lambda a: dn.get.diverse_features(a)[["smoothness", "unexplained", "rank"]].sort_index(),
        ),
        "laplacian_score": (dn.tl.laplacian_score, lambda a: dn.get.laplacian_score(a)["score"].sort_index()),
        "informed_distance": (
            lambda a: dn.tl.informed_distance(a, full=False, n_clusters=4),
            lambda a: dn.get.informed_distances(a).toarray(),
        ),
        "informed_distance, local": (
            lambda a: dn.tl.informed_distance(a, full=False, n_clusters=4, local=True, n_neighbors=8, n_components=2),
            lambda a: dn.get.informed_distances(a).toarray(),
        ),
        "feature_diffmap": (
            lambda a: dn.tl.feature_diffmap(a, "condition"),
            lambda a: dn.get.feature_diffmap(a).select_dtypes("number"),
        ),
        "feature_change": (lambda a: dn.tl.feature_change(a, "condition"), lambda a: a.var["feature_change"]),
    }


def kinds(folder):
    """Every kind of data, each made anew where it is asked for."""
    from anndata.experimental import read_lazy
    from streams import dense_chunks, sparse_chunks

    def having(make):
        def made():
            adata = data()
            adata.X = make(adata.X)
            return adata

        return made

    sparse = data()
    sparse.X = sp.csr_matrix(sparse.X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # writing warns of its own future
        sparse.write_h5ad(folder / "data.h5ad")
        sparse.write_zarr(folder / "data.zarr", chunks=(CHUNK, N_VARS))
    return {
        "ndarray": data,
        "CSR": having(sp.csr_matrix),
        "CSC": having(sp.csc_matrix),
        "backed": lambda: anndata.read_h5ad(folder / "data.h5ad", backed="r"),
        "dask, dense": having(lambda x: dense_chunks(x, CHUNK)),
        "dask, sparse": having(lambda x: sparse_chunks(x, CHUNK)),
        "zarr lazy": lambda: _in_chunks(read_lazy(folder / "data.zarr")),
        "h5ad lazy": lambda: _in_chunks(read_lazy(folder / "data.h5ad")),
    }


def _in_chunks(adata):
    # files this small come as one chunk
    adata.X = adata.X.rechunk((CHUNK, -1))
    return adata


#: bytes of the memory budget of this try, so that two chunks are a block and a quarter of the data may be kept
MEMORY = 2 * N_OBS * N_VARS * 4
#: rows that tell the density, or the origin of sums, in data this small
SAMPLED_ROWS = ("arrays.column_blocks.N_DENSITY_ROWS", "arrays.gram_stats.N_ORIGIN_ROWS")


@contextlib.contextmanager
def small_limits():
    """Let data count as large that is small, and tell the largest part of it that was in memory at once."""
    from diffnb.core.arrays import row_chunks as chunked
    from diffnb.core.runtime import budget

    seen = [0]
    assembled, loaded = chunked._assembled, chunked.Chunked.load

    def seen_assembled(grid):
        block = assembled(grid)
        seen.append(block.shape[0] * block.shape[1])
        return block

    def seen_loaded(self):
        seen.append(self.shape[0] * self.shape[1])
        return loaded(self)

    with contextlib.ExitStack() as stack:
        for name in SAMPLED_ROWS:
            stack.enter_context(mock.patch(f"diffnb.core.{name}", 5))
        stack.enter_context(budget.limited(MEMORY))
        stack.enter_context(mock.patch.object(chunked, "_assembled", seen_assembled))
        stack.enter_context(mock.patch.object(chunked.Chunked, "load", seen_loaded))
        yield lambda: max(seen)


def tried(run, read, make, expected):
    """Run a tool on one kind of data, and say in a word how it went."""
    adata = make()
    lazy = type(adata.X).__module__.startswith("dask")
    with small_limits() as largest:
        try:
            run(adata)
        except (TypeError, ValueError, NotImplementedError):
            return "no"
        found = np.asarray(read(adata), dtype=float)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    if lazy:
        return "in blocks" if largest() <= N_OBS * N_VARS / 2 else "read whole"
    return "read whole" if adata.isbacked else "same"


def table():
    """One row a tool, one column a kind of data."""
    rows = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = kinds(Path(folder))
        for name, (run, read) in tools().items():
            reference = data()
            run(reference)
            expected = np.asarray(read(reference), dtype=float)
            rows[name] = {kind: tried(run, read, make, expected) for kind, make in made.items()}
    return pd.DataFrame.from_dict(rows, orient="index")


def page(found):
    """Write the table as a page of the docs."""
    lines = [f"| | {' | '.join(found.columns)} |", f"| {' | '.join(['---'] * (1 + len(found.columns)))} |"]
    lines += [f"| `{name}` | {' | '.join(row)} |" for name, row in zip(found.index, found.to_numpy(), strict=True)]
    return HEAD + "\n".join(lines) + "\n" + FOOT


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    PAGE.write_text(page(table()), encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))
