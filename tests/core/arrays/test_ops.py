import numpy as np
import pytest
import scipy.sparse as sp

from diffnb.core.arrays import ops as arrays


@pytest.fixture
def counts(rng):
    return rng.poisson(0.7, size=(30, 8)).astype(float)


def test_moments_are_those_of_numpy(any_array_type, counts):
    mean, variance = arrays.mean_and_variance(any_array_type(counts))
    np.testing.assert_allclose(mean, counts.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(variance, counts.var(axis=0), rtol=1e-12)


def test_pooled_moments_are_those_of_all_rows(any_array_type, counts):
    x = any_array_type(counts)
    mean, variance = arrays.pooled_moments([x[:12], x[12:]])
    np.testing.assert_allclose(mean, counts.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(variance, counts.var(axis=0), rtol=1e-12)


def test_gram_is_the_product_of_columns(any_array_type, counts):
    np.testing.assert_allclose(arrays.gram(any_array_type(counts)), counts.T @ counts, rtol=1e-13)


def test_gram_of_nearly_empty_data_uses_the_sparse_product(rng):
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


def test_not_finite_values_are_counted_by_column(any_array_type, counts):
    counts[3, 2] = np.nan
    counts[4, 2] = np.inf
    counts[5, 7] = -np.inf
    assert arrays.count_not_finite(any_array_type(counts)).tolist() == [0, 0, 2, 0, 0, 0, 0, 1]


def test_integers_are_always_finite():
    assert arrays.count_not_finite(np.ones((2, 3), dtype=int)).tolist() == [0, 0, 0]


def test_rows_come_in_the_order_of_the_selection(any_array_type, counts):
    rows = np.array([5, 1, 9])
    np.testing.assert_array_equal(arrays.dense64(arrays.take_rows(any_array_type(counts), rows)), counts[rows])


def test_column_range_counts_the_zeros_of_sparse_data(any_array_type, counts):
    low, high = arrays.column_range(any_array_type(counts))
    np.testing.assert_array_equal(low, counts.min(axis=0))
    np.testing.assert_array_equal(high, counts.max(axis=0))


def test_products_with_a_dense_matrix_are_those_of_numpy(any_array_type, counts, rng):
    x, right, left = any_array_type(counts), rng.normal(size=(8, 3)), rng.normal(size=(30, 2))
    np.testing.assert_allclose(arrays.matmul(x, right), counts @ right, atol=1e-12)
    np.testing.assert_allclose(arrays.cross(x, left), counts.T @ left, atol=1e-12)


def test_products_between_columns_of_one_matrix_are_those_of_numpy(any_array_type, counts):
    x = any_array_type(counts)
    np.testing.assert_allclose(arrays.cross(x[:, 2:5], x), counts[:, 2:5].T @ counts, rtol=1e-13)


def test_summaries_of_several_parts_are_those_of_each(any_array_type, counts):
    x = any_array_type(counts)
    for part, summary in zip((counts[:12], counts[12:]), arrays.column_summaries([x[:12], x[12:]]), strict=True):
        np.testing.assert_array_equal(summary.low, part.min(axis=0))
        np.testing.assert_array_equal(summary.high, part.max(axis=0))
        np.testing.assert_array_equal(summary.n_low, (part == part.min(axis=0)).sum(axis=0))
        np.testing.assert_array_equal(summary.n_high, (part == part.max(axis=0)).sum(axis=0))
        assert not summary.not_finite.any()


def test_moments_of_several_parts_are_those_of_each(any_array_type, counts):
    x = any_array_type(counts)
    for part, (mean, variance) in zip(
        (counts[:12], counts[12:]), arrays.moments_of_each([x[:12], x[12:]]), strict=True
    ):
        np.testing.assert_allclose(mean, part.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(variance, part.var(axis=0), rtol=1e-12)


def test_single_precision_is_summed_in_double_precision(any_array_type, rng):
    x = (100 + rng.gamma(2.0, size=(300, 2))).astype(np.float32)
    exact = x.astype(np.float64)
    mean, variance = arrays.mean_and_variance(any_array_type(x))
    np.testing.assert_allclose(mean, exact.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(variance, exact.var(axis=0), rtol=1e-7)
    np.testing.assert_allclose(arrays.gram(any_array_type(x)), exact.T @ exact, rtol=1e-12)
