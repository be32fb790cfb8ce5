"""DiSC and the scorecard on dask arrays: the same answers as in memory, and never all of the data at once."""

import warnings

import anndata
import numpy as np
import pytest
from streams import CHUNKINGS, KINDS

import diffnb as dn
from diffnb._anndata import pull
from diffnb.core.arrays import gram_stats as sums
from diffnb.core.arrays import row_chunks as chunked
from diffnb.core.disc.permutable import as_permutable
from diffnb.core.disc.settings import DiscSettings, FeatureGraphSettings
from diffnb.core.scorecard import correlation_blocks

pytestmark = pytest.mark.slow

DISC = {
    "as it is": {},
    "within": {"standardize": "within"},
    "global": {"standardize": "global", "graph": "dense"},
    "correlation": {"metric": "correlation"},
    "neighbours": {"graph": "knn", "metric": "cosine"},
    "permuted": {"n_permutations": 3},
    "permuted within": {"n_permutations": 3, "null": "connectivity"},
    "permuted donors": {"n_permutations": 3, "sample_key": "donor"},
    "permuted donors within": {"n_permutations": 3, "sample_key": "donor", "null": "connectivity"},
    "subjects": {"sample_key": "subject", "n_permutations": 3},
    "bootstraps": {"n_bootstraps": 2},
}


@pytest.fixture(autouse=True)
def small_runs(set_memory):
    """Read a few rows at a time, whatever the chunks."""
    set_memory(4 * 8 * 40 * 40)  # the products of all features are kept, those of every donor are not


@pytest.fixture
def largest_block(monkeypatch):
    """Numbers in the largest block that was in memory."""
    seen = [0]
    real = chunked._assembled

    def assembled(grid):
        block = real(grid)
        seen.append(block.shape[0] * block.shape[1])
        return block

    monkeypatch.setattr(chunked, "_assembled", assembled)
    return lambda: max(seen)


def in_chunks(adata, kind, chunks):
    lazy = adata.copy()
    lazy.X = KINDS[kind](adata.X, *chunks)
    lazy.layers["double"] = KINDS[kind](adata.layers["double"], *chunks)
    return lazy


def assert_same_disc(lazy, adata):
    ours, theirs = lazy.varm["disc"], adata.varm["disc"]
    assert list(ours.columns) == list(theirs.columns)
    np.testing.assert_allclose(ours.to_numpy(), theirs.to_numpy(), atol=1e-8)
    for column in adata.uns["disc"]["group_columns"]:
        assert lazy.var[column].equals(adata.var[column])
    for name in ("sigma", "sigma_null", "pvals", "sigma_each"):
        if name in adata.uns["disc"]:
            np.testing.assert_allclose(lazy.uns["disc"][name], adata.uns["disc"][name], atol=1e-8)


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("chunks", CHUNKINGS.values(), ids=list(CHUNKINGS))
@pytest.mark.parametrize("options", DISC.values(), ids=list(DISC))
def test_disc_is_the_same_for_every_chunking(adata, kind, chunks, options):
    lazy = in_chunks(adata, kind, chunks)
    dn.tl.disc(adata, "condition", **options)
    dn.tl.disc(lazy, "condition", **options)
    assert_same_disc(lazy, adata)


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("options", DISC.values(), ids=list(DISC))
def test_disc_of_many_features_reads_blocks_of_them(adata, kind, options, set_memory):
    set_memory(4 * 8 * 40 * 15)  # less than the products of all features
    lazy = in_chunks(adata, kind, (37, -1))
    dn.tl.disc(adata, "condition", **options)
    dn.tl.disc(lazy, "condition", **options)
    assert_same_disc(lazy, adata)


def test_many_samples_are_read_again_rather_than_kept(adata):
    lazy = in_chunks(adata, "dense", (37, -1))
    for data in (adata, lazy):
        dn.tl.disc(data, "condition", sample_key="donor", n_permutations=3)
    assert_same_disc(lazy, adata)


def test_layers_masks_and_constant_features_are_as_in_memory(adata):
    adata.X[:, 5] = 1.0
    adata.layers["double"][:, 5] = 1.0
    lazy = in_chunks(adata, "dense", (37, 13))
    for data in (adata, lazy):
        with pytest.warns(UserWarning, match="1 constant feature left out"):
            dn.tl.disc(data, "condition", layer="double", mask_var="chosen")
    assert_same_disc(lazy, adata)


def test_bad_values_are_refused_before_anything_is_stored(adata):
    adata.X[7, 3] = np.nan
    lazy = in_chunks(adata, "dense", (20, -1))
    with pytest.raises(ValueError, match=r"condition 'ctrl' has NaN or infinite values in 1 feature: 'gene3' \(1\)"):
        dn.tl.disc(lazy, "condition")
    assert "disc" not in lazy.uns


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("chunks", CHUNKINGS.values(), ids=list(CHUNKINGS))
@pytest.mark.parametrize("sample_key", [None, "donor", "subject"])
def test_the_scorecard_is_the_same_for_every_chunking(adata, kind, chunks, sample_key, monkeypatch, set_memory):
    monkeypatch.setattr(correlation_blocks, "MAX_BLOCK_FEATURES", 8)
    set_memory(4 * 120 * 40 * 8 // 3)
    lazy = in_chunks(adata, kind, chunks)
    for data in (adata, lazy):
        dn.tl.scorecard(data, "condition", sample_key=sample_key)
    ours, theirs = dn.get.scorecard(lazy), dn.get.scorecard(adata)
    numbers = theirs.select_dtypes("number").columns
    np.testing.assert_allclose(ours[numbers], theirs[numbers], rtol=1e-8, atol=1e-8)
    assert (ours["kind"] == theirs["kind"]).all()


@pytest.mark.parametrize("kind", list(KINDS))
def test_never_is_all_of_the_data_in_memory(adata, kind, largest_block, set_memory):
    set_memory(4 * 8 * 40 * 30)  # a quarter of the data, if dense
    lazy = in_chunks(adata, kind, (10, -1))
    dn.tl.disc(lazy, "condition", n_permutations=2)
    dn.tl.scorecard(lazy, "condition")
    dn.tl.meta_features(lazy)
    assert 0 < largest_block() <= adata.X.size / 4


@pytest.mark.parametrize("suffix", ["zarr", "h5ad"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_files_are_read_lazily(adata, suffix, kind, tmp_path):
    import scipy.sparse as sp
    from anndata.experimental import read_lazy

    if kind == "csr":
        adata.X = sp.csr_matrix(adata.X)
    path = tmp_path / f"data.{suffix}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # writing warns of its own future; only reading is tested here
        getattr(adata, f"write_{suffix}")(path)
    lazy = read_lazy(path)
    for data in (adata, lazy):
        dn.tl.disc(data, "condition", n_permutations=2)
        dn.tl.scorecard(data, "condition")
        dn.tl.meta_features(data)
    assert_same_disc(lazy, adata)
    np.testing.assert_allclose(lazy.obsm["X_disc"], adata.obsm["X_disc"], atol=1e-8)
    np.testing.assert_allclose(
        dn.get.scorecard(lazy)["connectivity_stat"], dn.get.scorecard(adata)["connectivity_stat"], atol=1e-8
    )
    # what was found survives being written
    lazy.to_memory().write_h5ad(tmp_path / "found.h5ad")
    assert "disc" in anndata.read_h5ad(tmp_path / "found.h5ad").uns


@pytest.mark.parametrize("null", ["labels", "connectivity"])
def test_a_permutation_multiplies_no_more_rows_than_it_must(adata, null, monkeypatch):
    multiplied = []
    real = sums._sums_of_block

    def counted(n_rows, block, *where):
        multiplied.append(block.shape[0])
        return real(n_rows, block, *where)

    monkeypatch.setattr(sums, "_sums_of_block", counted)
    few = adata[: int(0.7 * adata.n_obs)].copy()  # conditions of different sizes
    lazy = in_chunks(few, "dense", (10, -1))
    observations = as_permutable(pull(lazy, "condition").matrices, null)
    standardize = "within" if null == "connectivity" else None
    settings = DiscSettings(FeatureGraphSettings(3, standardize=standardize), (2, 2), n_components=2)
    sizes = few.obs["condition"].value_counts(sort=False).to_numpy()
    first = [np.arange(sizes[0]), np.arange(sizes[0], few.n_obs)]
    observations.sigma(first, settings)  # the sums of the conditions as they are come first
    multiplied.clear()
    permuted = np.split(np.random.default_rng(0).permutation(few.n_obs), [sizes[0]])
    found = observations.sigma(permuted, settings)
    if null == "labels":
        assert sum(multiplied) <= min(sizes)
    else:
        assert sum(multiplied) < 0.6 * few.n_obs
    in_memory = as_permutable(pull(few, "condition").matrices, null).sigma(permuted, settings)
    np.testing.assert_allclose(found, in_memory, atol=1e-10)
    # rows that are drawn several times are no permutation: all of them are summed
    again = [np.random.default_rng(1).integers(0, few.n_obs, size) for size in sizes]
    in_memory = as_permutable(pull(few, "condition").matrices, null).sigma(again, settings)
    np.testing.assert_allclose(observations.sigma(again, settings), in_memory, atol=1e-10)
