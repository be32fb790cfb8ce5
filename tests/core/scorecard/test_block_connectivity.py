"""Permuted labels of blocks, against the definition written out pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from diffnb.core.scorecard.block_connectivity import connectivity_test_by_block
from diffnb.core.scorecard.by_sample import design
from diffnb.core.stats.block_layout import N_PERMUTATIONS


def recording(rng, n_blocks, p, *, n_frames=30, odd=0, odd_by=0.0):
    """Blocks of independent frames; in the first `odd` ones all features share a signal."""
    x = rng.normal(size=(n_blocks, n_frames, p))
    x[:odd] += odd_by * rng.normal(size=(odd, n_frames, 1))
    return x.reshape(-1, p), np.repeat(np.arange(n_blocks), n_frames)


def every_block(a, b, n_series=1):
    """Blocks that are stretches of their own, of one or several series."""
    return design(a, b + 100).with_blocks((a % n_series, b % n_series), (a, b + 100))


def compared(x, y, plan, **options):
    return connectivity_test_by_block(x, y, plan, plan.blocks, **options)


def plain_pvalues(x, y, plan, seed):
    """Ranks of Σ max(d² / v − c, 0) at two levels, by loops over permutations and features."""
    z = []
    for matrix, samples in ((x, plan.group), (y, plan.reference)):
        for rows in samples:
            limit = 1 - 0.1 / rows.size
            z.append(np.arctanh(np.clip(np.corrcoef(matrix[rows].T), -limit, limit)))
    z, strata = np.array(z), plan.blocks.strata
    n, p = len(z), x.shape[1]
    n_strata = len(np.unique(strata))
    for stratum in np.unique(strata):
        z[strata == stratum] -= z[strata == stratum].mean(axis=0)
    labels = plan.blocks.assignments(seed)
    count = labels[0].sum()
    variance = (z**2).sum(axis=0) / (n - n_strata) * (1 / count + 1 / (n - count))
    share = np.array([1 / p, max(0.02, 1 / p)])
    levels = (n - n_strata) * special.betaincinv(0.5, (n - n_strata - 1) / 2, 1 - share)
    excess = np.zeros((2, len(labels), p))
    for number, own in enumerate(labels):
        d = z[own == 1].mean(axis=0) - z[own == 0].mean(axis=0)
        for j in range(p):
            others = np.arange(p) != j
            for level, c in enumerate(levels):
                excess[level, number, j] = np.maximum(d[j, others] ** 2 / variance[j, others] - c, 0).sum()
    high, low = [(e - e[1:].mean()) / e[1:].std() for e in excess]
    combined = high + np.maximum(low - 1, 0)
    return np.array([(1 + (combined[1:] >= value).sum()) / (1 + combined[1:].size) for value in combined[0]])


@pytest.mark.parametrize("n_series", [1, 2])
def test_equals_the_definition(rng, n_series):
    (x, a), (y, b) = recording(rng, 6, 7), recording(rng, 8, 7)
    plan = every_block(a, b, n_series)
    ours = compared(x, y, plan, seed=3)
    np.testing.assert_allclose(ours.pval, plain_pvalues(x, y, plan, 3), rtol=1e-9)


def test_is_the_same_for_every_kind_of_array(array_type, rng):
    (x, a), (y, b) = recording(rng, 5, 9), recording(rng, 5, 9)
    plan = every_block(a, b)
    ours = compared(array_type(x), array_type(y), plan)
    np.testing.assert_allclose(ours.pval, compared(x, y, plan).pval, rtol=1e-9)


def test_a_change_of_some_correlations_is_found(rng):
    (x, a), (y, b) = recording(rng, 10, 40), recording(rng, 10, 40)
    x[:, :6] += 1.5 * rng.normal(size=(len(x), 1))
    found = compared(x, y, every_block(a, b))
    assert (found.pval[:6] < 0.01).all()
    assert np.mean(found.pval[6:] <= 0.05) <= 0.25


@pytest.mark.slow
def test_one_odd_block_does_not_raise_the_level(rng):
    """All correlations are high in one block, as where the head moved; which condition it is in is chance."""
    small = []
    for _ in range(60):
        (x, a), (y, b) = recording(rng, 6, 15, odd=1, odd_by=2.0), recording(rng, 6, 15)
        small.append(compared(x, y, every_block(a, b)).pval <= 0.05)
    assert np.mean(small) <= 0.1


def test_features_that_are_constant_have_no_pvalue(rng):
    (x, a), (y, b) = recording(rng, 5, 6), recording(rng, 5, 6)
    x[:, 2] = 1.0
    found = compared(x, y, every_block(a, b))
    assert np.isnan(found.pval[2])
    assert np.isfinite(np.delete(found.pval, 2)).all()


def test_no_pvalue_is_below_one_in_all_permuted_statistics(rng):
    (x, a), (y, b) = recording(rng, 10, 12), recording(rng, 10, 12)
    x += 3 * rng.normal(size=(len(x), 1))
    found = compared(x, y, every_block(a, b))
    assert found.pval.min() >= 1 / (1 + 12 * N_PERMUTATIONS)
