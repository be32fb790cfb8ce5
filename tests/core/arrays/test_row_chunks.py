"""Matrices that are read in row blocks: for all chunks, the numbers are those of the matrix in memory."""

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from streams import dense_chunks, sparse_chunks

from diffnb.core.arrays import ops as arrays
from diffnb.core.arrays import row_chunks as chunked


def test_loading_gives_the_matrix(streamed, counts):
    np.testing.assert_array_equal(arrays.dense64(streamed), counts)
    assert streamed.shape == counts.shape


def test_rows_and_columns_come_in_the_order_of_the_selection(streamed, counts):
    rows, columns = np.array([80, 3, 3, 41, 0]), np.array([25, 0, 7])
    np.testing.assert_array_equal(arrays.dense64(streamed[rows]), counts[rows])
    np.testing.assert_array_equal(arrays.dense64(streamed[rows][:, columns]), counts[rows][:, columns])
    np.testing.assert_array_equal(arrays.dense64(streamed[:, 4:9][rows]), counts[rows, 4:9])
    np.testing.assert_array_equal(arrays.dense64(streamed[:, columns][:, np.array([2, 0])]), counts[:, [7, 25]])


def test_moments_and_range_are_those_of_numpy(streamed, counts):
    mean, variance = arrays.mean_and_variance(streamed)
    np.testing.assert_allclose(mean, counts.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(variance, counts.var(axis=0), rtol=1e-12)
    low, high = arrays.column_range(streamed)
    np.testing.assert_array_equal(low, counts.min(axis=0))
    np.testing.assert_array_equal(high, counts.max(axis=0))


def test_products_are_those_of_numpy(streamed, counts, rng):
    np.testing.assert_allclose(arrays.gram(streamed), counts.T @ counts, rtol=1e-13)
    np.testing.assert_allclose(arrays.cross(streamed[:, 3:9], streamed), counts[:, 3:9].T @ counts, rtol=1e-13)
    y, v = rng.normal(size=(90, 4)), rng.normal(size=(26, 3))
    np.testing.assert_allclose(arrays.cross(streamed, y), counts.T @ y, atol=1e-12)
    np.testing.assert_allclose(arrays.matmul(streamed, v), counts @ v, atol=1e-12)
    some = np.array([70, 2, 55])
    np.testing.assert_allclose(arrays.matmul(streamed[some], v), counts[some] @ v, atol=1e-12)


def test_bad_values_are_counted_by_column(chunks, counts):
    counts[3, 2], counts[70, 2], counts[5, 7] = np.nan, np.inf, -np.inf
    seen = arrays.count_not_finite(chunked.chunked(dense_chunks(counts, *chunks)))
    assert seen.nonzero()[0].tolist() == [2, 7]
    assert seen[2] == 2


def test_a_row_block_is_a_few_chunks_and_never_the_whole(counts, set_memory):
    set_memory(4 * 8 * 26 * 20)
    for make in (dense_chunks, sparse_chunks):
        source = chunked.chunked(make(counts, 7)).source
        assert np.diff(source.edges).max() <= 20
        assert source.edges[-1] == 90


def test_chunks_of_unknown_size_are_refused_with_a_remedy(counts):
    array = da.from_array(counts, chunks=(10, -1))
    unknown = array[array[:, 0] > 0]
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        chunked.chunked(unknown)


def test_only_rows_of_one_matrix_are_stacked(counts):
    first, second = (chunked.chunked(dense_chunks(counts, 10)) for _ in range(2))
    with pytest.raises(ValueError, match="one matrix"):
        chunked.stacked([first, second])
    with pytest.raises(ValueError, match="one pass reads one matrix"):
        chunked.reduce([first, second], lambda block, *_: block.sum(), lambda a, b: a + b)
    with pytest.raises(ValueError, match="same rows"):
        arrays.cross(first, second)


def test_empty_chunks_are_skipped(counts):
    array = da.concatenate([da.from_array(counts[:0], chunks=(1, -1)), da.from_array(counts, chunks=(30, -1))])
    np.testing.assert_array_equal(arrays.dense64(chunked.chunked(array)), counts)


def test_sparse_chunks_of_a_dense_array_are_read_as_dense(counts):
    array = sparse_chunks(counts, 30)
    array._meta = np.empty((0, 0))
    loaded = chunked.chunked(array).load()
    assert not sp.issparse(loaded)
    np.testing.assert_array_equal(loaded, counts)


@pytest.mark.parametrize("rows", [[0, 1], [55], [89, 3], [41, 41, 40]])
def test_selecting_rows_reads_their_chunks_only(counts, rows):
    read = []

    def chunk(start):
        read.append(start)
        return counts[start : start + 10]

    blocks = [da.from_delayed(dask.delayed(chunk)(start), (10, 26), float) for start in range(0, 90, 10)]
    everything = chunked.chunked(da.concatenate(blocks))
    assert len(everything.source.row_blocks) == 1
    np.testing.assert_array_equal(arrays.dense64(everything[np.array(rows)]), counts[rows])
    assert sorted(read) == sorted({row // 10 * 10 for row in rows})
    # parts that select different chunks of one row block are read in one pass
    read.clear()
    totals = chunked.reduce(
        [everything[[5, 61]], everything[[62, 88]]], lambda x, *_: x.sum(axis=0), chunked.add_in_place
    )
    np.testing.assert_allclose(totals, [counts[[5, 61]].sum(axis=0), counts[[62, 88]].sum(axis=0)])
    assert sorted(read) == [0, 60, 80]


def test_summaries_are_not_computed_twice(streamed, counts, monkeypatch):
    halves = [streamed[:40], streamed[40:]]
    first = arrays.column_summaries(halves)
    monkeypatch.setattr(chunked, "_wanted_blocks", None)  # any further pass would fail
    kept = np.arange(26) % 2 == 0
    for seen, again in zip(
        first, arrays.column_summaries([arrays.take_columns(part, kept) for part in halves]), strict=True
    ):
        np.testing.assert_array_equal(again.low, seen.low[kept])
        np.testing.assert_array_equal(again.high, seen.high[kept])
        np.testing.assert_array_equal(again.not_finite, seen.not_finite[kept])


@pytest.mark.usefixtures("no_threads")
def test_chunks_are_read_where_no_thread_can_be_started(counts):
    np.testing.assert_array_equal(arrays.dense64(chunked.chunked(dense_chunks(counts, 10))), counts)
    halves = chunked.reduce(
        [chunked.chunked(dense_chunks(counts, 10))], lambda block, *_: block.sum(axis=0), lambda a, b: a + b
    )
    np.testing.assert_allclose(halves[0], counts.sum(axis=0))
