"""Columns of data on disk come into memory in blocks that fit."""

import numpy as np
import pytest
import scipy.sparse as sp
from streams import KINDS, sparse_chunks

from diffnb.core.arrays.column_blocks import load_column_blocks
from diffnb.core.arrays.ops import dense64
from diffnb.core.arrays.row_chunks import chunked
from diffnb.core.runtime import budget


def test_columns_come_in_blocks_within_memory(streamed, counts, set_memory):
    set_memory(4 * 90 * 26 * 8 // 2)
    found = list(load_column_blocks([streamed[:40], streamed[40:]]))
    assert len(found) >= 2
    for where, (first, second) in found:
        np.testing.assert_array_equal(dense64(first), counts[:40, where])
        np.testing.assert_array_equal(dense64(second), counts[40:, where])
    assert [where.start for where, _ in found[1:]] == [where.stop for where, _ in found[:-1]]


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_column_comes_once_in_the_order_of_the_rows_asked_for(counts, kind, set_memory, rng):
    set_memory(4 * 90 * 8 * 3)
    rows = rng.permutation(90)
    blocks = list(load_column_blocks([chunked(KINDS[kind](counts, 7))[rows]]))
    assert len(blocks) > 1
    np.testing.assert_array_equal(np.hstack([dense64(part) for _, (part,) in blocks]), counts[rows])


def test_dense_blocks_stay_within_their_share_of_the_memory(counts, set_memory):
    set_memory(4 * 90 * 8 * 5)
    widths = [part.shape[1] for _, (part,) in load_column_blocks([chunked(KINDS["dense"](counts, 7))])]
    assert widths == [5, 5, 5, 5, 5, 1]
    assert 90 * 8 * max(widths) <= budget.bytes_for("kept")


def test_sparse_blocks_are_wider_and_stay_sparse(set_memory):
    x = sp.random(300, 40, density=0.05, random_state=0, format="csr")
    set_memory(4 * 300 * 8 * 4)
    blocks = [part for _, (part,) in load_column_blocks([chunked(sparse_chunks(x, 50))])]
    assert all(part.format == "csc" for part in blocks)
    assert max(part.shape[1] for part in blocks) > 4
    np.testing.assert_array_equal(sp.hstack(blocks).toarray(), x.toarray())


def test_one_column_at_a_time_is_the_least(counts, set_memory):
    set_memory(1)
    assert sum(1 for _ in load_column_blocks([chunked(KINDS["dense"](counts, 7))])) == 26
