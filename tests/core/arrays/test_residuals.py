"""Covariates are taken out as plain least squares would, whatever the kind of matrix."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from reference import covariates as plain
from streams import KINDS

from diffnb.core.arrays.ops import column_summaries, cross, dense64, matmul, mean_and_variance
from diffnb.core.arrays.residuals import covariate_designs, design_rank, residuals
from diffnb.core.arrays.row_chunks import Chunked, chunked


@pytest.fixture
def data(rng):
    """Counts of two conditions whose covariates, a number and an indicator, differ between them."""
    sizes = 50, 31
    covariates = [
        np.column_stack([rng.normal(shift, 1.0, size=n), rng.random(n) < share])
        for n, shift, share in zip(sizes, (0.5, 0.0), (0.7, 0.3), strict=True)
    ]
    matrices = [rng.poisson(np.exp(0.3 * z[:, :1] * np.ones(12))).astype(float) for z in covariates]
    return matrices, covariates


def kinds(matrices):
    """The same rows as every kind of matrix; dask arrays hold the rows of both conditions."""
    whole, n = np.concatenate(matrices), len(matrices[0])
    yield "dense", matrices
    yield "csr", [sp.csr_array(x) for x in matrices]
    yield "csc", [sp.csc_matrix(x) for x in matrices]
    for kind, make in KINDS.items():
        source = chunked(make(whole, 7))
        yield f"dask {kind}", [source[np.arange(n)], source[np.arange(n, len(whole))]]


def test_residuals_are_those_of_least_squares_around_the_adjusted_mean(data):
    matrices, covariates = data
    expected = plain.residuals(*data)
    for kind, given in kinds(matrices):
        found = residuals(given, covariate_designs(covariates), exchangeable=False)
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(dense64(ours), theirs, atol=1e-10, err_msg=kind)


def test_sparse_data_too_large_to_be_dense_is_read_in_row_blocks(data, set_memory):
    matrices, covariates = data
    expected = residuals(matrices, covariate_designs(covariates))
    set_memory(4096)
    found = residuals([sp.csr_matrix(x) for x in matrices], covariate_designs(covariates))
    assert all(isinstance(x, Chunked) and not x.is_sparse for x in found)
    assert len(found[0].source.row_blocks) > 3
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(dense64(ours), theirs, atol=1e-10)
    rows, columns = np.array([3, 1, 8]), np.array([5, 0])
    np.testing.assert_allclose(dense64(found[1][rows][:, columns]), expected[1][np.ix_(rows, columns)], atol=1e-10)


def test_adjusted_row_blocks_work_like_a_matrix(data, rng):
    matrices, covariates = data
    dense = residuals(matrices, covariate_designs(covariates))[1]
    for kind, given in list(kinds(matrices))[-2:]:
        ours = residuals(given, covariate_designs(covariates))[1]
        assert isinstance(ours, Chunked), kind
        weights = rng.normal(size=(dense.shape[1], 2))
        np.testing.assert_allclose(matmul(ours, weights), dense @ weights, atol=1e-9)
        np.testing.assert_allclose(cross(ours[:, :3], ours[:, 3:]), dense[:, :3].T @ dense[:, 3:], atol=1e-9)
        np.testing.assert_allclose(mean_and_variance(ours)[1], dense.var(axis=0), atol=1e-10)
        np.testing.assert_allclose(column_summaries([ours])[0].high, dense.max(axis=0), atol=1e-10)
        moved = ours.centered(dense.mean(axis=0))
        np.testing.assert_allclose(dense64(moved), dense - dense.mean(axis=0), atol=1e-10)


def test_nothing_of_the_covariates_is_left_within_a_condition(data):
    matrices, covariates = data
    for x, z in zip(residuals(matrices, covariate_designs(covariates)), covariates, strict=True):
        np.testing.assert_allclose((z - z.mean(axis=0)).T @ x, 0, atol=1e-8)


def test_means_that_permutations_compare_have_the_ratio_of_standard_errors(data):
    matrices, covariates = data
    designs = covariate_designs(covariates)
    adjusted = np.stack([x.mean(axis=0) for x in residuals(matrices, designs, exchangeable=False)])
    compared = np.stack([x.mean(axis=0) for x in residuals(matrices, designs)])
    center = np.average(adjusted, axis=0, weights=[len(x) for x in matrices])
    for i, z in enumerate(plain.centered_together(covariates)):
        d, within = z.mean(axis=0), z - z.mean(axis=0)
        variance = 1 / len(z) + d @ np.linalg.inv(within.T @ within) @ d
        ratio = np.sqrt(1 / len(z) / variance)
        np.testing.assert_allclose(compared[i] - center, ratio * (adjusted[i] - center), atol=1e-10)


def test_within_samples_slopes_do_not_follow_differences_between_samples(rng):
    """Samples with a high covariate have low values, observations of one sample the opposite."""
    units = np.repeat(np.arange(6), 40)
    z = rng.normal(size=(240, 1)) + 3.0 * units[:, None]
    x = 2.0 * z - 10.0 * units[:, None] + 0.1 * rng.normal(size=(240, 4))
    (design,) = covariate_designs([z], units=[units])
    (rest,) = residuals([x], [design])
    slope = ((x - rest)[-1] - (x - rest)[0]) / (z[-1] - z[0])
    np.testing.assert_allclose(slope, 2.0, atol=0.05)


def test_a_covariate_that_is_constant_within_samples_has_no_slope(rng):
    units = np.repeat(np.arange(4), 10)
    (design,) = covariate_designs([np.repeat(rng.normal(size=4), 10)[:, None]], units=[units])
    assert not design.within.any()
    x = rng.normal(size=(40, 3))
    np.testing.assert_allclose(residuals([x], [design])[0], x, atol=1e-12)


def test_single_precision_stays_single_precision(data):
    matrices, covariates = data
    found = residuals([x.astype(np.float32) for x in matrices], covariate_designs(covariates))
    assert all(x.dtype == np.float32 for x in found)
    np.testing.assert_allclose(found[0], residuals(matrices, covariate_designs(covariates))[0], atol=1e-5)


def test_the_rank_does_not_depend_on_units():
    z = np.column_stack([np.arange(5.0), 1e9 * np.arange(5.0) ** 2, 1e-9 * np.arange(5.0)])
    assert design_rank(z - z.mean(axis=0)) == 2


def test_residuals_do_not_depend_on_the_units_of_covariates(rng):
    x, z = rng.normal(size=(30, 4)), rng.normal(size=(30, 2))
    x += z @ rng.normal(size=(2, 4))
    plain, scaled = (np.asarray(residuals([x], covariate_designs([z * unit]))[0]) for unit in (1.0, [1e8, 1e-8]))
    np.testing.assert_allclose(scaled, plain, atol=1e-9)
