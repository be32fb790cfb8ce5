import numpy as np
import pytest
import scipy.sparse as sp

from diffnb.core.arrays.affine import Affine, AffineMap, inverse, inverse_sd, standardized

MAPS = {
    "as it is": AffineMap(),
    "moved": AffineMap(shift=np.linspace(-1, 2, 6)),
    "scaled": AffineMap(scale=np.array([1.0, 0.0, 2.0, 0.5, 3.0, 1.0])),
    "both": AffineMap(np.linspace(-1, 2, 6), np.array([1.0, 0.0, 2.0, 0.5, 3.0, 1.0])),
}


@pytest.fixture
def x(rng):
    return rng.poisson(1.0, size=(30, 6)).astype(float)


@pytest.fixture(params=list(MAPS))
def mapping(request):
    return MAPS[request.param]


def plain(x, mapping):
    shift = 0.0 if mapping.shift is None else mapping.shift
    return (x - shift) * (1.0 if mapping.scale is None else mapping.scale)


def test_products_with_directions_and_weights_are_those_of_the_mapped_matrix(any_array_type, mapping, x, rng):
    z, ours = plain(x, mapping), Affine(any_array_type(x), mapping)
    beta, weights = rng.normal(size=(3, 6)), rng.normal(size=(2, 30))
    np.testing.assert_allclose(ours.matmul(beta), beta @ z.T, atol=1e-12)
    np.testing.assert_allclose(ours.rmatmul(weights), weights @ z, atol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_weighted_squares_are_those_of_the_mapped_matrix(make, mapping, x, rng):
    z, weights = plain(x, mapping), rng.uniform(size=(2, 30))
    first, second = Affine(make(x), mapping).rmatmul_with_squares(weights)
    np.testing.assert_allclose(first, weights @ z, atol=1e-12)
    np.testing.assert_allclose(second, weights @ z**2, atol=1e-11)


@pytest.mark.parametrize("where", [slice(0, 6), slice(2, 5)])
def test_inner_products_and_moments_are_those_of_the_mapped_matrix(any_array_type, mapping, x, where):
    z, ours = plain(x, mapping), Affine(any_array_type(x), mapping)
    np.testing.assert_allclose(ours.gram(where), z[:, where].T @ z, atol=1e-10)
    mean, square = ours.moments()
    np.testing.assert_allclose(mean, z.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(square, (z**2).mean(axis=0), atol=1e-12)


def test_rows_and_columns_are_dense_and_mapped(any_array_type, mapping, x):
    z, ours = plain(x, mapping), Affine(any_array_type(x), mapping)
    rows, columns = np.array([17, 3, 29]), np.array([5, 0])
    np.testing.assert_allclose(ours.rows(rows), z[rows], atol=1e-12)
    np.testing.assert_allclose(ours.columns(columns), z[:, columns], atol=1e-12)


def test_the_matrix_itself_is_never_written_to(mapping, x):
    before = x.copy()
    ours = Affine(x, mapping)
    ours.gram(slice(0, 6))
    np.concatenate([block * 0 for block in ours.row_blocks(7)])
    np.testing.assert_array_equal(x, before)


def test_standardised_data_has_mean_zero_and_spread_one(any_array_type, x):
    x[:, 2] = 4.0
    mean, variance = x.mean(axis=0), x.var(axis=0)
    mean_z, square = standardized(any_array_type(x), mean, inverse_sd(mean, variance)).moments()
    np.testing.assert_allclose(mean_z, 0.0, atol=1e-12)
    np.testing.assert_allclose(square, np.arange(6) != 2, atol=1e-12)


def test_sparse_data_stays_sparse_when_standardised(x):
    assert sp.issparse(standardized(sp.csr_array(x), x.mean(axis=0), np.ones(6)).x)


def test_nothing_is_divided_by_zero_or_by_rounding():
    np.testing.assert_array_equal(inverse(np.array([0.0, 2.0])), [0.0, 0.5])
    np.testing.assert_array_equal(inverse_sd(np.array([1e8, 0.0]), np.array([1e-3, 4.0])), [0.0, 0.5])
