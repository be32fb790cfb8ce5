"""P-values of small groups against all permutations one by one, and their level."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from diffnb.core.scorecard import NONE, fit_scorecard
from diffnb.core.scorecard import small_groups as module
from diffnb.core.scorecard.marginal import compare_block
from diffnb.core.scorecard.small_groups import (
    compare_small_groups,
    needs_permutations,
    permuted_pvalues,
    smallest_pvalue,
)
from diffnb.core.stats.pvalues import adjusted


def anderson_darling(x, y):
    """Σ of squared differences of distribution functions over steps, weighted by ties and H(1 − H)."""
    values, counts = np.unique(np.concatenate([x, y]), return_counts=True)
    h = np.cumsum(counts) / counts.sum()
    gap = np.array([np.mean(x <= v) - np.mean(y <= v) for v in values])
    weight = (counts[:-1] + counts[1:]) / (2 * counts.sum())
    return np.sum(weight * gap[:-1] ** 2 / (h[:-1] * (1 - h[:-1])))


def statistics(x, y):
    n, m = x.size, y.size
    floor = 1e-10 * np.var(np.concatenate([x, y]))
    mean = abs(x.mean() - y.mean()) / np.sqrt(sum(max(np.var(v), floor) / (v.size - 1) for v in (x, y)))
    d, e = abs(x - np.median(x)), abs(y - np.median(y))
    pooled = max((n * np.var(d) + m * np.var(e)) / (n + m - 2), floor)
    return np.array([mean, abs(d.mean() - e.mean()) / np.sqrt(pooled), anderson_darling(x, y)])


def by_enumeration(x, y):
    both = np.concatenate([x, y])
    found = []
    for chosen in combinations(range(both.size), x.size):
        inside = np.isin(np.arange(both.size), chosen)
        found.append(statistics(both[inside], both[~inside]))
    return np.mean(np.array(found) >= statistics(x, y) * (1 - 1e-9), axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(4, 4), (3, 5), (5, 3)])
def test_equals_all_assignments_one_by_one(sizes, rng):
    n, m = sizes
    x, y = rng.normal(size=(3, n)), rng.normal(size=(3, m))
    x[1], y[1] = rng.integers(0, 3, size=n), rng.integers(0, 3, size=m)  # ties between groups
    ours = permuted_pvalues(x, y)
    np.testing.assert_allclose(ours, np.transpose([by_enumeration(a, b) for a, b in zip(x, y, strict=True)]))


def test_draws_of_assignments_come_near_to_all_of_them(rng, monkeypatch):
    x, y = rng.normal(size=(6, 5)), rng.normal(size=(6, 11))
    x[0] += 1
    expected = permuted_pvalues(x, y)
    monkeypatch.setattr(module, "MAX_ENUMERATED", 0)
    drawn = permuted_pvalues(x, y)
    np.testing.assert_allclose(drawn, expected, rtol=0.7, atol=0.002)
    assert not np.array_equal(drawn, expected)


def test_statistics_are_those_of_the_formulas(rng):
    x, y = rng.normal(size=(5, 8)), rng.normal(size=(5, 12))
    formulas, permuted = compare_block(x, y), compare_small_groups(x, y)
    np.testing.assert_array_equal(permuted[::2], formulas[::2])
    np.testing.assert_allclose(permuted[1::2], formulas[1::2], atol=0.12)


def test_a_difference_beyond_all_draws_has_a_p_value_below_them_but_not_below_one_assignment(rng):
    x, y = rng.normal(size=(1, 12)) + 30, rng.normal(size=(1, 40))
    mean = permuted_pvalues(x, y)[0, 0]
    assert smallest_pvalue(12, 40) <= mean < 1 / module.N_DRAWS[-1]
    x, y = rng.normal(size=(1, 5)) + 30, rng.normal(size=(1, 30))
    assert permuted_pvalues(x, y)[0, 0] >= smallest_pvalue(5, 30)


def test_what_does_not_vary_does_not_differ():
    np.testing.assert_array_equal(permuted_pvalues(np.ones((2, 5)), np.ones((2, 9))), np.ones((3, 2)))


@pytest.mark.slow
def test_long_pools_are_thinned_and_give_nearly_the_same(rng, monkeypatch):
    x, y = rng.lognormal(size=(8, 10)), rng.lognormal(size=(8, 500))
    expected = permuted_pvalues(x, y)
    monkeypatch.setattr(module, "MAX_POOLED", 200)
    assert np.median(np.abs(permuted_pvalues(x, y) - expected)) < 0.03


@pytest.mark.parametrize(
    ("n", "m", "needed"),
    [(5, 5, True), (19, 25, True), (20, 20, False), (30, 59, False), (30, 60, True), (100, 900, False)],
)
def test_small_and_unequal_groups_are_permuted(n, m, needed):
    assert needs_permutations(n, m) is needs_permutations(m, n) is needed


def test_the_smallest_p_value_counts_assignments():
    assert smallest_pvalue(5, 5) == 2 / 252
    assert smallest_pvalue(30, 5) == 1 / 324632


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.lognormal(size=(n, 400)),
        lambda rng, n: rng.normal(2, 1, size=(n, 400)) * (rng.random((n, 400)) < 0.3),
        lambda rng, n: rng.standard_t(2, size=(n, 400)),
    ],
    ids=["log-normal", "zero-inflated", "t"],
)
@pytest.mark.parametrize("sizes", [(5, 30), (10, 10)])
def test_small_groups_are_rejected_at_the_level_where_nothing_differs(draw, sizes):
    rng = np.random.default_rng(3)
    x, y = (draw(rng, n) for n in sizes)
    rejected = np.mean(compare_small_groups(x.T, y.T)[1::2] < 0.05, axis=1)
    assert rejected.max() < stats.binom.ppf(0.999, 400, 0.05) / 400


def test_formulas_reject_far_too_often_in_unequal_groups():
    rng = np.random.default_rng(3)
    x, y = (rng.normal(2, 1, size=(400, n)) * (rng.random((400, n)) < 0.3) for n in (5, 30))
    assert np.mean(compare_block(x, y)[1] < 0.05) > 0.15


@pytest.mark.slow
def test_no_kind_is_named_more_often_than_the_level_where_nothing_differs():
    rng = np.random.default_rng(0)
    named = []
    for _ in range(40):
        fit = fit_scorecard(rng.lognormal(size=(5, 25)), rng.lognormal(size=(30, 25)))
        named.append((fit.kind != NONE).any())
    assert np.sum(named) <= stats.binom.ppf(0.999, 40, 0.05)


@pytest.mark.slow
def test_a_kind_is_significant_among_all_kinds():
    rng = np.random.default_rng(1)
    fits = [fit_scorecard(*rng.normal(size=(2, 30, 40))) for _ in range(40)]
    for fit in fits:
        together = adjusted(fit.pval.ravel()).reshape(fit.pval.shape)
        assert ((fit.kind == NONE) | (together.min(axis=1) < 0.05)).all()
    assert any(((fit.pval_adj.min(axis=1) < 0.05) & (fit.kind == NONE)).any() for fit in fits)


def test_equal_means_are_ties_whichever_group_comes_first(rng):
    x = rng.poisson(1.0, size=(300, 10)).astype(float)
    forth, back = permuted_pvalues(x[:, :5], x[:, 5:]), permuted_pvalues(x[:, 5:], x[:, :5])
    np.testing.assert_allclose(forth, back, rtol=1e-12)
