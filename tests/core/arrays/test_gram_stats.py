"""Sums and products of the columns, left by one pass over the rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from streams import dense_chunks, sparse_chunks

from diffnb.core.arrays.gram_stats import added, correlations, gram_fits, gram_stats, gram_stats_of_rows, remainder
from diffnb.core.arrays.row_chunks import chunked


def test_one_pass_gives_the_sums_of_several_parts(streamed, counts):
    halves = [streamed[np.arange(0, 90, 2)], streamed[np.arange(1, 90, 2)]]
    found = gram_stats(halves)
    for offset, part in enumerate(found):
        x = counts[offset::2]
        np.testing.assert_allclose(part.gram(slice(0, 26)), x.T @ x, atol=1e-9)
        mean, square = part.moments()
        np.testing.assert_allclose(mean, x.mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(square, (x**2).mean(axis=0), atol=1e-12)
    assert gram_stats(halves)[0] is found[0], "read again"


def test_a_large_mean_costs_no_digits(rng):
    x = 1e6 + rng.normal(size=(300, 5))
    (found,) = gram_stats([chunked(dense_chunks(x, 40))])
    _, variance = found.mean_and_variance()
    np.testing.assert_allclose(variance, x.var(axis=0), rtol=1e-9)


@pytest.mark.parametrize("make", [dense_chunks, sparse_chunks])
def test_single_precision_is_summed_in_double(make, rng):
    x = rng.gamma(2.0, size=(20_000, 3)).astype(np.float32)
    (found,) = gram_stats([chunked(make(x, 5000))])
    mean, variance = found.mean_and_variance()
    np.testing.assert_allclose(mean, x.astype(float).mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(variance, x.astype(float).var(axis=0), rtol=1e-11)


def test_rows_are_removed_by_subtracting_their_sums(streamed, counts):
    whole, part = gram_stats([streamed, streamed[10:35]])
    left = remainder([whole], [part])
    x = np.delete(counts, np.s_[10:35], axis=0)
    assert left.n_obs == 65
    np.testing.assert_allclose(left.gram(slice(3, 9)), x[:, 3:9].T @ x, atol=1e-9)
    np.testing.assert_allclose(left.mean_and_variance()[1], x.var(axis=0), atol=1e-12)


def test_sums_with_different_origins_are_not_subtracted(counts):
    first, second = (gram_stats([chunked(dense_chunks(x, 10))])[0] for x in (counts, counts + 1))
    with pytest.raises(ValueError, match="different origins"):
        remainder([first], [second])


def test_correlations_are_those_of_numpy(any_array_type, counts):
    x = any_array_type(counts)
    first, second = correlations([x[:40], x[40:]])
    np.testing.assert_allclose(first, np.corrcoef(counts[:40].T), atol=1e-12)
    np.testing.assert_allclose(second, np.corrcoef(counts[40:].T), atol=1e-12)


def test_a_constant_column_correlates_with_nothing(any_array_type, counts):
    counts[:, 4] = 3.0
    (found,) = correlations([any_array_type(counts)])
    assert np.abs(np.delete(found[4], 4)).max() < 1e-12


def test_products_of_columns_are_kept_only_where_they_fit(counts, set_memory):
    data = chunked(dense_chunks(counts, 10))
    assert gram_fits(data)
    assert not gram_fits(counts), "data in memory need not be summed up"
    set_memory(4 * 8 * 26**2 - 4)
    assert not gram_fits(data)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sparse", [False, True])
def test_sums_of_rows_in_memory_are_those_of_the_rows(rng, dtype, sparse, set_memory):
    set_memory(2**14)  # several blocks
    x = np.where(rng.random((400, 6)) < 0.5, 3 + rng.normal(size=(400, 6)), 0.0).astype(dtype)
    rows = [np.arange(0, 400, 2), np.arange(1, 400, 2)]
    ((even, odd),) = gram_stats_of_rows([sp.csr_matrix(x) if sparse else x], [rows])
    whole = added([even, odd])
    for stats, own in ((even, x[::2]), (whole, x)):
        own = own.astype(float)
        mean, variance = stats.mean_and_variance()
        np.testing.assert_allclose(mean, own.mean(axis=0), rtol=1e-9)
        np.testing.assert_allclose(variance, own.var(axis=0), rtol=1e-9)
        centred = own - stats.origin
        np.testing.assert_allclose(stats.products, centred.T @ centred, rtol=1e-9, atol=1e-9)
    assert whole.n_obs == 400
