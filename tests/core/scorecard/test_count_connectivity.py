"""Connectivity from counts: blind to depth, not to modules, and calibrated."""

from __future__ import annotations

import numpy as np
import pytest

from diffnb.core.arrays.count_moments import Counts
from diffnb.core.scorecard.by_sample import design
from diffnb.core.scorecard.connectivity import connectivity_test
from diffnb.core.scorecard.count_connectivity import connectivity_test_of_counts, connectivity_test_of_counts_by_sample
from diffnb.core.stats.pvalues import adjusted


def draw(rng, n, *, p=150, size=25, rho=0.6, depth=3.0, spread=0.3):
    """Log-normal expression, counted; the first `size` features co-vary."""
    log_z = 0.6 * rng.normal(size=(n, p))
    log_z[:, :size] = 0.6 * (np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * log_z[:, :size] / 0.6)
    factors = depth * rng.lognormal(0, spread, size=n)
    return Counts(rng.poisson(factors[:, None] * np.exp(log_z + np.linspace(-1, 1, p))).astype(float), factors)


def log_normalized(counts):
    return np.log1p(counts.matrix / counts.size[:, None])


def test_depth_alone_makes_no_difference_but_does_to_plain_correlations(rng):
    shallow, deep = draw(rng, 600, depth=1.0), draw(rng, 600, depth=4.0)
    plain = connectivity_test(log_normalized(shallow), log_normalized(deep))
    ours = connectivity_test_of_counts(shallow, deep)
    assert np.mean(adjusted(plain.pval)[:25] < 0.05) > 0.3
    assert np.nansum(adjusted(ours.pval) < 0.05) == 0


def test_finds_what_is_connected_in_one_condition_only_at_any_depth(rng):
    result = connectivity_test_of_counts(draw(rng, 600, depth=2.0), draw(rng, 600, rho=0.0, depth=4.0))
    called = adjusted(result.pval) < 0.05
    assert called[:25].mean() > 0.9
    assert called[25:].mean() < 0.05
    assert result.n_folds == 8


def test_rejects_at_its_level_when_connectivity_is_the_same(rng):
    rejected = [
        np.nanmean(connectivity_test_of_counts(draw(rng, 300), draw(rng, 250, depth=2.0)).pval < 0.05) for _ in range(5)
    ]
    assert np.mean(rejected) < 0.095


def test_is_the_same_for_every_kind_of_array(array_type, rng):
    first, second = draw(rng, 60, p=20, size=5), draw(rng, 50, p=20, size=5)
    expected = connectivity_test_of_counts(first, second)
    ours = connectivity_test_of_counts(
        Counts(array_type(first.matrix), first.size), Counts(array_type(second.matrix), second.size)
    )
    np.testing.assert_allclose(ours.stat, expected.stat, rtol=1e-8)
    np.testing.assert_allclose(ours.pval, expected.pval, rtol=1e-8)


def test_neither_the_order_of_rows_nor_that_of_conditions_changes_a_p_value(rng):
    first, second = draw(rng, 60, p=20, size=5), draw(rng, 50, p=20, size=5)
    expected = connectivity_test_of_counts(first, second).pval
    shuffled = connectivity_test_of_counts(first[rng.permutation(60)], second[rng.permutation(50)])
    np.testing.assert_allclose(shuffled.pval, expected, rtol=1e-8)
    np.testing.assert_allclose(connectivity_test_of_counts(second, first).pval, expected, rtol=1e-8)


def test_a_feature_that_varies_no_more_than_its_noise_is_masked(rng):
    first, second = draw(rng, 100, p=12, size=4), draw(rng, 100, p=12, size=4)
    second.matrix[:, 7] = np.round(2 * second.size)
    result = connectivity_test_of_counts(first, second)
    assert np.isnan(result.stat[7])
    assert np.isfinite(np.delete(result.stat, 7)).all()


def test_few_observations_give_no_test(rng):
    result = connectivity_test_of_counts(draw(rng, 6, p=12, size=4), draw(rng, 60, p=12, size=4))
    assert result.n_folds == 0
    assert np.isnan(result.pval).all()


@pytest.mark.parametrize("module", [True, False])
def test_samples_of_any_depth_are_compared(rng, module):
    def condition(depth, rho):
        parts = [draw(rng, 120, depth=depth * d, rho=rho) for d in (0.7, 0.9, 1.0, 1.2, 1.5)]
        counts = Counts(np.concatenate([x.matrix for x in parts]), np.concatenate([x.size for x in parts]))
        return counts, np.repeat(np.arange(5), 120)

    first, codes = condition(2.0, 0.6)
    second, others = condition(6.0, 0.0 if module else 0.6)
    result = connectivity_test_of_counts_by_sample(first, second, design(codes, others + 5))
    called = adjusted(result.pval) < 0.05
    assert called[25:].mean() < 0.05
    assert called[:25].mean() > 0.9 if module else called[:25].mean() < 0.05


def test_samples_without_variation_have_no_connectivity(rng):
    codes = np.repeat([0, 1], 10)
    flat = Counts(np.ones((20, 3)), np.ones(20))
    result = connectivity_test_of_counts_by_sample(flat, flat, design(codes, codes + 2))
    assert np.isnan(result.pval).all()
