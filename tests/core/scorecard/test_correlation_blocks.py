"""Sums over blocks of correlations against correlations of all features at once."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

from diffnb.core.arrays.row_chunks import chunked
from diffnb.core.scorecard import correlation_blocks as module
from diffnb.core.scorecard.correlation_blocks import RowGroups, sum_over_correlation_blocks


@pytest.fixture
def conditions(rng):
    """Two conditions of counts with two groups of rows each, in no order."""
    x, y = rng.poisson(2.0, size=(30, 11)).astype(float), rng.poisson(1.0, size=(24, 11)).astype(float)
    return [RowGroups(x, np.array_split(rng.permutation(30), 2)), RowGroups(y, np.array_split(rng.permutation(24), 2))]


def fisher_z(conditions):
    return np.stack([np.arctanh(np.corrcoef(c.matrix[rows].T) * (1 - 1e-15)) for c in conditions for rows in c.rows])


def squares(z, diagonal):
    """Sum z² of the pairs of every feature, one row per group."""
    if diagonal:
        z = np.where(np.eye(z.shape[1], dtype=bool), 0.0, z)
        return (z**2).sum(axis=2), np.zeros(z.shape[::2])
    return (z**2).sum(axis=2), (z**2).sum(axis=1)


def sums_of_all(conditions):
    z = fisher_z(conditions)
    z[:, np.arange(11), np.arange(11)] = 0
    return (z**2).sum(axis=2)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("width", [3, 128])
@pytest.mark.parametrize("memory", [2**10, 2**30])
def test_every_pair_is_seen_once_from_either_side(conditions, width, memory, n_jobs, monkeypatch, set_memory):
    monkeypatch.setattr(module, "MAX_BLOCK_FEATURES", width)
    set_memory(memory)
    found = sum_over_correlation_blocks(conditions, squares, n_jobs=n_jobs)
    np.testing.assert_allclose(found, sums_of_all(conditions), rtol=1e-9)


@pytest.mark.parametrize("memory", [4 * 8 * 3 * 4 * 11, 2**30])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_rows_that_are_read_give_the_same(conditions, kind, memory, monkeypatch, set_memory):
    monkeypatch.setattr(module, "MAX_BLOCK_FEATURES", 3)
    set_memory(memory)
    both = da.from_array(np.concatenate([c.matrix for c in conditions]), chunks=(7, -1)).map_blocks(kind)
    source, sizes = chunked(both), [len(c.matrix) for c in conditions]
    rows = np.split(np.arange(sum(sizes)), [sizes[0]])
    read = [RowGroups(source[r], c.rows) for r, c in zip(rows, conditions, strict=True)]
    np.testing.assert_allclose(sum_over_correlation_blocks(read, squares), sums_of_all(conditions), rtol=1e-8)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("memory", [4 * 8 * 3 * 4 * 11, 2**30])
def test_large_sparse_matrices_are_not_made_dense_and_give_the_same(
    conditions, kind, memory, n_jobs, monkeypatch, set_memory
):
    monkeypatch.setattr(module, "MAX_BLOCK_FEATURES", 3)
    monkeypatch.setattr(module, "by_rows", lambda *_: True)
    monkeypatch.setattr(module, "dense64", None)
    set_memory(memory)
    sparse = [RowGroups(kind(c.matrix), c.rows) for c in conditions]
    found = sum_over_correlation_blocks(sparse, squares, n_jobs=n_jobs)
    np.testing.assert_allclose(found, sums_of_all(conditions), rtol=1e-8)


def test_a_large_mean_costs_no_digits(conditions):
    moved = [RowGroups(c.matrix + 1e6, c.rows) for c in conditions]
    np.testing.assert_allclose(sum_over_correlation_blocks(moved, squares), sums_of_all(conditions), rtol=1e-8)


def test_a_feature_that_is_constant_within_a_group_correlates_with_nothing_there(conditions):
    conditions[0].matrix[conditions[0].rows[1], 4] = 1 / 3
    found = sum_over_correlation_blocks(conditions, squares)
    assert found[1, 4] == 0
    assert np.isfinite(found).all()
    assert (found[[0, 2, 3], 4] > 0).all()


def test_perfect_correlation_has_a_finite_z_that_grows_with_the_number_of_rows(rng):
    def z_of_copies(n):
        x = np.repeat(rng.normal(size=(n, 1)), 2, axis=1)
        seen = []
        sum_over_correlation_blocks([RowGroups(x, [np.arange(n)])], lambda z, d: seen.append(z.copy()) or squares(z, d))
        return seen[0][0, 0, 1]

    assert 1 < z_of_copies(10) < z_of_copies(1000) < 10
