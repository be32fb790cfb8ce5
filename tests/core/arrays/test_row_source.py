import numpy as np
import scipy.sparse as sp
from streams import KINDS

from diffnb.core.arrays.row_chunks import Chunked, chunked, in_row_blocks
from diffnb.core.arrays.row_source import Source, is_sparse


def test_a_sparse_matrix_in_memory_is_cut_into_blocks_that_fit_if_dense(rng, set_memory):
    x = sp.random_array((30, 6), density=0.3, rng=rng, format="csc")
    set_memory(16 * 8 * 6 * 4)  # a sixteenth of it is a block of four rows
    source = Source.in_memory(x)
    np.testing.assert_array_equal(np.diff(source.edges), [4] * 7 + [2])
    assert source.is_sparse
    np.testing.assert_array_equal(Chunked(source, np.arange(30)[::-1]).load().toarray(), x.toarray()[::-1])
    np.testing.assert_array_equal(in_row_blocks(x)[5:9].load().toarray(), x.toarray()[5:9])


def test_blocks_of_sparse_chunks_are_smaller_where_they_become_dense(rng, set_memory):
    x = rng.poisson(0.3, size=(40, 8)).astype(float)
    set_memory(16 * 8 * 8 * 10)  # ten dense rows in a block, forty sparse ones
    source = chunked(KINDS["sparse"](x, 5)).source
    np.testing.assert_array_equal(source.edges, [0, 40])
    dense = source.in_dense_blocks()
    np.testing.assert_array_equal(dense.edges, [0, 10, 20, 30, 40])
    np.testing.assert_array_equal(Chunked(dense, np.arange(40)).load().toarray(), x)
    of_dense_chunks = chunked(KINDS["dense"](x, 5)).source
    assert of_dense_chunks.in_dense_blocks() is of_dense_chunks


def test_what_is_sparse():
    assert is_sparse(sp.csr_matrix((2, 2)))
    assert not is_sparse(np.zeros((2, 2)))
