"""The columns of a matrix as points."""

import numpy as np
import pytest

from diffnb.core.arrays.affine import Affine, standardized
from diffnb.core.spectral.points import Columns, points_of, standardized_within


def test_standardising_sparse_data_equals_standardising_dense(any_array_type, x):
    x = np.where(np.abs(x) > 0.8, x, 0.0)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    np.testing.assert_allclose(standardized_within(any_array_type(x)).inner(), z.T @ z, atol=1e-10)
    mean, sd = x.mean(axis=0) + 0.3, x.std(axis=0) * 1.1
    shifted = (x - mean) / sd
    part = standardized(any_array_type(x), mean, 1 / sd)
    np.testing.assert_allclose(Columns((part,)).inner(slice(2, 7)), (shifted.T @ shifted)[2:7], atol=1e-10)
    np.testing.assert_allclose(Columns((part,)).norms(), (shifted**2).sum(axis=0), rtol=1e-10)


def test_parts_make_one_condition(any_array_type, x):
    whole = standardized_within(x).inner()
    parts = Columns((Affine(any_array_type(x[:10])), Affine(any_array_type(x[10:]))), within=True)
    np.testing.assert_allclose(parts.inner(), whole, atol=1e-10)


def test_moments_of_parts_are_those_of_the_whole(any_array_type, x):
    mean, sd = Columns((Affine(any_array_type(x[:10])), Affine(any_array_type(x[10:])))).moments()
    np.testing.assert_allclose(mean, x.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(sd, x.std(axis=0), atol=1e-12)


def test_a_spread_that_is_rounding_of_the_mean_is_none(any_array_type, x):
    x[:, 3] = 0.1
    _, sd = points_of(any_array_type(x)).moments()
    assert np.flatnonzero(sd == 0).tolist() == [3]


def test_standardised_points_are_all_of_one_length(any_array_type, x):
    x[:, 3] = 0.1
    points = standardized_within(any_array_type(x))
    np.testing.assert_allclose(np.diag(points.inner()), points.norms(), rtol=1e-12)
    np.testing.assert_array_equal(points.norms(), 25.0)


def test_inner_products_of_some_columns_are_rows_of_all(any_array_type, x):
    for points in (points_of(any_array_type(x)), standardized_within(any_array_type(x))):
        np.testing.assert_allclose(points.inner(slice(4, 9)), points.inner()[4:9], atol=1e-12)


@pytest.mark.parametrize("large", [0.0, 1e7])
def test_a_large_mean_costs_no_digits_of_dense_data(x, large):
    np.testing.assert_allclose(standardized_within(x + large).inner(), standardized_within(x).inner(), atol=1e-6)
