"""Data that is read in runs gives what data in memory gives, and is never whole."""

import warnings
from functools import cache

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import diffnb as dn
from diffnb.core.arrays import column_blocks
from diffnb.core.arrays import gram_stats as sums
from diffnb.core.arrays import row_chunks as chunked
from diffnb.core.dufs.batches import standardized_batches
from diffnb.core.mahalanobis import local

pytestmark = pytest.mark.slow

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

N, P = 54, 9
#: heights of chunks of rows, and widths of chunks of columns
CHUNKS = {
    "one row": (1, P),
    "uneven": ((7, 1, 20, 3, 23), P),
    "columns": ((10, 10, 10, 24), (4, 1, 4)),
    "single": (N, P),
}


def counts():
    """Two interleaved conditions of counts, with a large mean in one feature, of which some rows are alike."""
    rng = np.random.default_rng(3)
    x = rng.poisson(1.2, size=(N, P)) * rng.uniform(0.5, 2, size=(N, P))
    second = np.arange(N) % 2 == 1
    x[second, :3] += rng.poisson(1.0, size=(second.sum(), 1)) * rng.uniform(0.5, 2, size=(second.sum(), 3))
    x[:, 3] += 50
    return x, np.where(second, "b", "a")


def annotated(matrix):
    _, labels = counts()
    obs = pd.DataFrame({"condition": pd.Categorical(labels), "three": pd.Categorical(np.arange(N) % 3)})
    obs.index = [f"o{i}" for i in range(N)]
    var = pd.DataFrame({"few": np.arange(P) < 4, "known": np.arange(P) // 3}, index=[f"f{j}" for j in range(P)])
    return ad.AnnData(matrix, obs=obs, var=var)


def lazily(chunks, kind):
    x, _ = counts()
    array = da.from_array(x, chunks=CHUNKS[chunks])
    return array.map_blocks(sp.csr_matrix) if kind == "sparse" else array


@pytest.fixture
def streaming(monkeypatch, set_memory):
    """Treat small data as large: row blocks of a few rows, and little else in memory. Return the sizes read."""
    set_memory(4 * 8 * 2 * N)
    monkeypatch.setattr(sums, "N_ORIGIN_ROWS", 5)
    monkeypatch.setattr(local, "MAX_CONSULTED_NUMBERS", 25 * P)
    monkeypatch.setattr(column_blocks, "_density", lambda _: 0.9)  # it looks at 200 rows, more than there are
    # as within a task of a cluster: threads cost more than so little data takes to read
    monkeypatch.setattr(chunked.cluster, "in_worker", lambda: True)
    return recorded(monkeypatch)


def recorded(monkeypatch):
    """Record how many numbers every row block and everything that is loaded has."""
    seen = {"run": [], "loaded": []}
    _record(monkeypatch, chunked, "_loaded", seen["run"])
    _record(monkeypatch, column_blocks, "_load_together", seen["loaded"])
    _record(monkeypatch, chunked.Chunked, "load", seen["loaded"])
    return seen


def _record(monkeypatch, owner, name, sizes):
    original = getattr(owner, name)

    def and_keep(*args):
        found = original(*args)
        sizes.append(sum(part.shape[0] * part.shape[1] for part in (found if isinstance(found, list) else [found])))
        return found

    monkeypatch.setattr(owner, name, and_keep)


def meta_features(adata):
    dn.tl.disc(adata, "condition", n_components=2, n_eigenvectors=2, n_neighbors=3)
    dn.tl.meta_features(adata)


TOOLS = {
    "meta_features": meta_features,
    "feature_diffmap": lambda a: dn.tl.feature_diffmap(a, "condition", n_components=2, n_neighbors=3),
    "feature_diffmap, correlation": lambda a: dn.tl.feature_diffmap(
        a, "condition", n_components=2, n_neighbors=3, metric="correlation", graph="dense"
    ),
    "feature_change": lambda a: dn.tl.feature_change(a, "condition", n_neighbors=3),
    "dufs": lambda a: dn.tl.dufs(a, batch_size=12, n_steps=20),
    "dufs, drawn": lambda a: dn.tl.dufs(
        a, batch_size=12, n_steps=12, gates="per_sample", penalty="warm", n_features=3, n_restarts=2
    ),
    "informed": lambda a: dn.tl.informed_distance(a, full=False, n_neighbors=20),
    "informed, all distances": lambda a: dn.tl.informed_distance(a, n_clusters=3, n_neighbors=5, solver="gradient"),
    "conventional": lambda a: dn.tl.informed_distance(a, informed=False, full=False, n_neighbors=20),
    "local, shared": lambda a: dn.tl.informed_distance(a, local=True, full=False, n_clusters=3, n_neighbors=5),
    "local, shared, gradient": lambda a: dn.tl.informed_distance(
        a, local=True, full=False, n_clusters="known", n_neighbors=6, solver="gradient", eigenvalues="floor"
    ),
    "local, own": lambda a: dn.tl.informed_distance(
        a, local=True, full=False, n_clusters=3, n_components=2, n_neighbors=5, eigenvalues="own"
    ),
    "local, each": lambda a: dn.tl.informed_distance(
        a, local=True, full=False, clustering="each", n_clusters=3, n_neighbors=6
    ),
    "local, plain": lambda a: dn.tl.informed_distance(a, local=True, full=False, informed=False, n_neighbors=6),
    "local, all distances": lambda a: dn.tl.informed_distance(
        a, local=True, full=True, clustering="each", n_clusters=3, n_neighbors=6
    ),
    "diverse_features": lambda a: dn.tl.diverse_features(a, n_features=3),
    "laplacian_score": lambda a: dn.tl.laplacian_score(a, weights="heat"),
    "laplacian_score, as they are": lambda a: dn.tl.laplacian_score(a, standardize=None),
}
#: many passes, so with one chunking each
LONG = {
    "pda": ("one row", "dense", lambda a: dn.tl.pda(a, "condition", mask_var="few")),
    "pda, within": (
        "uneven",
        "sparse",
        lambda a: dn.tl.pda(a, "condition", mask_var="few", standardize="within", n_permutations=1),
    ),
    "sparda": ("columns", "dense", lambda a: dn.tl.sparda(a, "condition", mask_var="few")),
    "sparda, two projections": (
        "columns",
        "sparse",
        lambda a: dn.tl.sparda(a, "condition", mask_var="few", n_features=3, n_projections=2),
    ),
    "sparda, of three": (
        "uneven",
        "dense",
        lambda a: dn.tl.sparda(a, "three", mask_var="few", reference="0", group="1", n_features=2),
    ),
    "sparda, against the rest": (
        "uneven",
        "sparse",
        lambda a: dn.tl.sparda(a, "three", mask_var="few", group="1", n_features=2, divergence="kolmogorov"),
    ),
    "sparda, relaxed": (
        "single",
        "dense",
        lambda a: dn.tl.sparda(
            a, "condition", mask_var="few", solver="relax", n_features=3, standardize=None, certificate=True
        ),
    ),
}


@cache
def in_memory(name):
    x, _ = counts()
    return results(TOOLS[name] if name in TOOLS else LONG[name][-1], annotated(x))


def results(tool, adata):
    """Run a tool and collect all numbers it adds."""
    before = set(adata.var)
    tool(adata)
    found = {f"var {name}": adata.var[name].to_numpy() for name in adata.var if name not in before}
    for slot in ("obsm", "varm", "obsp"):
        for name, value in getattr(adata, slot).items():
            found[f"{slot} {name}"] = value.toarray() if sp.issparse(value) else np.asarray(value)
    for name, value in adata.uns.items():
        found |= dict(_numbers(name, value))
    return found


def _numbers(name, value):
    if isinstance(value, dict):
        for inner, part in value.items():
            if inner != "params":
                yield from _numbers(f"{name} {inner}", part)
    elif np.asarray(value).dtype.kind in "fi":
        yield name, np.asarray(value)


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if value.dtype.kind in "fi":
            np.testing.assert_allclose(found[name], value, rtol=1e-8, atol=1e-8, err_msg=name)
        else:
            assert list(found[name]) == list(value), name


#: tools that stand for their family in every chunking; the others meet one, and each the next
FIRST = (
    "meta_features",
    "feature_change",
    "dufs",
    "informed",
    "local, shared",
    "local, plain",
    "laplacian_score",
    "diverse_features",
)
MET = [(name, chunks, kind) for name in FIRST for chunks in CHUNKS for kind in ("dense", "sparse")]
MET += [
    (name, list(CHUNKS)[number % 3], ("dense", "sparse")[number % 2])
    for number, name in enumerate(name for name in TOOLS if name not in FIRST)
]


@pytest.mark.parametrize(("name", "chunks", "kind"), MET)
def test_every_tool_finds_the_same_in_chunks(name, chunks, kind, streaming):
    assert_same(results(TOOLS[name], annotated(lazily(chunks, kind))), in_memory(name))
    whole = N * P
    # one chunk is one row block: it cannot be split
    assert max(streaming["run"]) < (whole / 2 if chunks != "single" else whole + 1)
    assert not streaming["loaded"] or max(streaming["loaded"]) < 0.75 * whole


@pytest.mark.filterwarnings("default:.*permuted labels:UserWarning")  # counts are random
@pytest.mark.parametrize("name", list(LONG))
def test_sparda_finds_the_same_in_chunks(name, streaming):
    chunks, kind, tool = LONG[name]
    assert_same(results(tool, annotated(lazily(chunks, kind))), in_memory(name))
    assert chunks == "single" or max(streaming["run"]) < N * P / 2
    if "relaxed" not in name:  # the relaxation looks at up to 1500 observations of each side
        assert not streaming["loaded"] or max(streaming["loaded"]) < 0.3 * N * P


@pytest.mark.filterwarnings("default:.*permuted labels:UserWarning")  # counts are random
def test_small_data_is_loaded_once(monkeypatch):
    seen = recorded(monkeypatch)
    found = results(LONG["sparda"][-1], annotated(lazily("columns", "sparse")))
    assert_same(found, in_memory("sparda"))
    # the second time, the rows by which results know their data
    assert seen["loaded"] == [N * 4, 18]


def test_a_batch_of_dufs_costs_no_separate_pass(streaming, set_memory):
    set_memory(4 * 8 * 24 * P)
    x = chunked.chunked(lazily("uneven", "dense"))
    data = standardized_batches(x, standardize=None, batch_size=12)
    before = len(streaming["loaded"])
    batches = data.endless(np.random.default_rng(1))
    for _ in range(8):  # two epochs of four batches, two in a pass
        next(batches)
    assert streaming["loaded"][before:] == [24 * P] * 4


FAMILIES = {
    "pda": lambda a: dn.tl.pda(a, "condition", mask_var="few"),
    "dufs": TOOLS["dufs"],
    "informed": TOOLS["informed"],
    "feature_change": TOOLS["feature_change"],
    "laplacian_score": TOOLS["laplacian_score"],
}


@pytest.mark.parametrize("name", list(FAMILIES))
@pytest.mark.parametrize("store", ["zarr", "h5ad"])
def test_files_that_are_read_lazily_give_the_same(store, name, tmp_path, set_memory):
    pytest.importorskip("xarray")
    x, _ = counts()
    written = annotated(sp.csr_matrix(x) if store == "zarr" else x)
    path = tmp_path / f"data.{store}"
    with warnings.catch_warnings(), ad.settings.override(zarr_write_format=3):
        warnings.simplefilter("ignore")  # of what anndata will do otherwise one day, or finds experimental
        written.write_zarr(path) if store == "zarr" else written.write_h5ad(path)
        adata = ad.experimental.read_lazy(path)
    assert not isinstance(adata.X, np.ndarray | sp.spmatrix)
    set_memory(1)
    assert_same(results(FAMILIES[name], adata), results(FAMILIES[name], annotated(x)))


def test_sparda_reads_small_data_a_few_times_and_large_data_in_row_blocks(set_memory):
    x, _ = counts()
    read = []

    def chunk(start):
        read.append(start)
        return x[start : start + 30]

    def passes():
        read.clear()
        starts = range(0, len(x), 30)
        blocks = [da.from_delayed(dask.delayed(chunk)(i), (min(30, N - i), P), x.dtype) for i in starts]
        dn.tl.sparda(annotated(da.concatenate(blocks)), "condition", n_features=3)
        return len(read) / len(starts)

    assert passes() <= 3  # a check for missing values, and the data itself
    set_memory(1)
    assert passes() > 50
