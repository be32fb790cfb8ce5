import numpy as np
import pytest
import scipy.sparse as sp

from diffnb.core.arrays import ops as arrays


@pytest.fixture
def counts(rng):
    return rng.poisson(0.7, size=(30, 8)).astype(float)


def test_moments_are_those_of_numpy(array_type, counts):
    mean, variance = arrays.mean_and_variance(array_type(counts))
    np.testing.assert_allclose(mean, counts.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(variance, counts.var(axis=0), rtol=1e-12)


def test_gram_is_the_product_of_columns(array_type, counts):
    np.testing.assert_allclose(arrays.gram(array_type(counts)), counts.T @ counts, rtol=1e-13)


def test_gram_of_nearly_empty_data_takes_the_sparse_way(rng):
    x = sp.random(200, 50, density=0.01, random_state=0, format="csr")
    np.testing.assert_allclose(arrays.gram(x), x.toarray().T @ x.toarray(), atol=1e-14)


def test_blocks_do_not_change_products(set_memory, array_type, counts):
    whole = arrays.cross(array_type(counts), array_type(counts[:, :3]))
    set_memory(16 * 8 * 20)
    np.testing.assert_allclose(arrays.cross(array_type(counts), array_type(counts[:, :3])), whole, rtol=1e-13)
    np.testing.assert_allclose(arrays.matmul(array_type(counts), np.eye(8)), counts)


def test_float32_sums_in_float64():
    x = np.full((100_000, 1), 0.1, dtype=np.float32)
    assert arrays.gram(x)[0, 0] == pytest.approx(100_000 * float(np.float32(0.1)) ** 2, rel=1e-12)
    assert arrays.gram(x).dtype == np.float64


def test_not_finite_values_are_counted_by_column(array_type, counts):
    counts[3, 2] = np.nan
    counts[4, 2] = np.inf
    counts[5, 7] = -np.inf
    assert arrays.count_not_finite(array_type(counts)).tolist() == [0, 0, 2, 0, 0, 0, 0, 1]


def test_integers_are_always_finite():
    assert arrays.count_not_finite(np.ones((2, 3), dtype=int)).tolist() == [0, 0, 0]


def test_rows_come_out_in_the_order_asked(array_type, counts):
    rows = np.array([5, 1, 9])
    np.testing.assert_array_equal(arrays.dense64(arrays.rows_of(array_type(counts), rows)), counts[rows])


def test_column_range_counts_the_zeros_of_sparse_data(array_type, counts):
    low, high = arrays.column_range(array_type(counts))
    np.testing.assert_array_equal(low, counts.min(axis=0))
    np.testing.assert_array_equal(high, counts.max(axis=0))
