"""Corrected correlations of folds and samples, block by block, against all features at once."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

from diffnb.core.arrays.count_moments import Counts, count_moments, fit_damping
from diffnb.core.arrays.row_chunks import chunked
from diffnb.core.scorecard import correlation_blocks, count_blocks
from diffnb.core.scorecard.correlation_blocks import RowGroups, sum_over_correlation_blocks
from diffnb.core.scorecard.count_blocks import CountGroups, sum_over_count_blocks, sum_over_groups


def draw(rng, n, p=11, depth=1.0):
    size = depth * rng.lognormal(0, 0.4, size=n)
    log_mean = 0.7 * rng.normal(size=(n, p)) + np.linspace(1, 2, p)
    log_mean[:, :4] += rng.normal(size=(n, 1))
    return Counts(rng.poisson(size[:, None] * np.exp(log_mean)).astype(float), size)


@pytest.fixture
def conditions(rng):
    counts = [draw(rng, 60), draw(rng, 48, depth=2.0)]
    damping = fit_damping(counts)
    return [CountGroups.of(x, np.array_split(rng.permutation(len(x.size)), 2), damping) for x in counts]


def plain_values(conditions):
    """Loops over groups and pairs: r = c − ρ (relative variances − 2) / 2, over the average standard error."""
    values, variances = [], []
    p = conditions[0].counts.shape[1]
    for condition in conditions:
        damping, of_condition = condition.damping, condition.variance
        c, noise = np.zeros((2, len(condition.rows), p, p))
        relative = np.zeros((len(condition.rows), p))
        for g, rows in enumerate(condition.rows):
            part = condition.counts[rows]
            (moments,) = count_moments([part], damping)
            a = 1 / (1 + part.size[:, None] * damping)
            y, u = a * (part.matrix - part.size[:, None] * moments.mean), a * part.size[:, None]
            relative[g] = moments.variance / of_condition
            for j in range(p):
                for k in range(p):
                    products = np.sum(u[:, j] * u[:, k])
                    left = 1 - products / (u[:, j].sum() * u[:, k].sum())
                    sd = np.sqrt(of_condition[j] * of_condition[k])
                    c[g, j, k] = np.sum(y[:, j] * y[:, k]) / left / products / sd
                    each = [np.sum(y[:, i] ** 2) / u[:, i].sum() for i in (j, k)]
                    noise[g, j, k] = each[0] * each[1] / products / sd**2
        rho = np.clip(c.mean(axis=0), -1, 1)
        rho = rho * np.maximum(1 - noise.mean(axis=0) / len(c) / rho**2, 0)
        values.append(c - rho * (relative[:, :, None] + relative[:, None] - 2) / 2)
        variances.append(noise.mean(axis=0))
    return np.concatenate(values) / np.sqrt(np.mean(variances, axis=0))


def squares(z, diagonal):
    """Sum the squares of the pairs of every feature, one row per group."""
    if diagonal:
        z = np.where(np.eye(z.shape[1], dtype=bool), 0.0, z)
        return (z**2).sum(axis=2), np.zeros(z.shape[::2])
    return (z**2).sum(axis=2), (z**2).sum(axis=1)


def sums_of_all(conditions):
    z = plain_values(conditions)
    z[:, np.arange(11), np.arange(11)] = 0
    return (z**2).sum(axis=2)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("width", [3, 128])
@pytest.mark.parametrize("memory", [2**10, 2**30])
def test_every_pair_is_seen_once_from_either_side(conditions, width, memory, n_jobs, monkeypatch, set_memory):
    monkeypatch.setattr(correlation_blocks, "MAX_BLOCK_FEATURES", width)
    set_memory(memory)
    found = sum_over_count_blocks(conditions, squares, n_jobs=n_jobs)
    np.testing.assert_allclose(found, sums_of_all(conditions), rtol=1e-9)


@pytest.mark.parametrize("memory", [4 * 2 * 8 * 3 * 4 * 11, 2**30])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_rows_that_are_read_give_the_same(conditions, kind, memory, monkeypatch, set_memory):
    for module in (correlation_blocks, count_blocks):
        monkeypatch.setattr(module, "MAX_BLOCK_FEATURES", 3)
    set_memory(memory)
    whole = np.concatenate([c.counts.matrix for c in conditions])
    source = chunked(da.from_array(whole, chunks=(7, -1)).map_blocks(kind))
    edges = np.split(np.arange(len(whole)), [60])
    read = [
        CountGroups.of(Counts(source[r], c.counts.size), c.rows, c.damping)
        for r, c in zip(edges, conditions, strict=True)
    ]
    np.testing.assert_allclose(sum_over_count_blocks(read, squares), sums_of_all(conditions), rtol=1e-9)


def test_sparse_counts_give_the_same(conditions):
    sparse = [
        CountGroups.of(Counts(sp.csr_array(c.counts.matrix), c.counts.size), c.rows, c.damping) for c in conditions
    ]
    np.testing.assert_allclose(sum_over_count_blocks(sparse, squares), sums_of_all(conditions), rtol=1e-9)


def test_some_features_are_those_of_all(conditions):
    kept = np.array([0, 2, 3, 7])
    some = sum_over_count_blocks([c.take(kept) for c in conditions], squares)
    z = plain_values(conditions)[:, kept][:, :, kept]
    z[:, np.arange(4), np.arange(4)] = 0
    np.testing.assert_allclose(some, (z**2).sum(axis=2), rtol=1e-9)


def test_independent_features_have_unit_variance(rng):
    size = rng.lognormal(0, 0.4, size=400)
    z = rng.gamma(2.0, 0.5, size=(400, 60))
    counts = Counts(rng.poisson(3 * size[:, None] * z).astype(float), size)
    groups = CountGroups.of(counts, np.array_split(np.arange(400), 4), fit_damping([counts]))
    mean_square = sum_over_count_blocks([groups], squares) / 59
    assert 0.9 < mean_square.mean() < 1.1


def test_the_kind_of_groups_decides_what_is_summed(conditions):
    np.testing.assert_array_equal(sum_over_groups(conditions, squares), sum_over_count_blocks(conditions, squares))
    plain = [RowGroups(c.counts.matrix, c.rows) for c in conditions]
    np.testing.assert_array_equal(sum_over_groups(plain, squares), sum_over_correlation_blocks(plain, squares))
