"""Pairs of features that differ: which are kept, what is said of them, and for every kind of matrix."""

import numpy as np
import pytest
from scipy import stats

from diffnb.core.scorecard import EdgeOptions, design, fit_edges
from diffnb.core.scorecard.pair_moments import variances_of_fisher_z

ALL = EdgeOptions(max_pval_adj=1.0, max_edges=10**6)


@pytest.fixture
def counts(rng):
    x, y = rng.poisson(1.0, size=(90, 14)).astype(float), rng.poisson(1.0, size=(70, 14)).astype(float)
    x[:, :4] += 2 * rng.poisson(1.0, size=(90, 1))
    y[:, 4:6] += 3 * rng.poisson(1.0, size=(70, 1))
    y[:, 9] = 1.0  # constant in one condition
    return x, y


def in_rows(make, x, y):
    """Both conditions as rows of one matrix of some kind."""
    both = make(np.concatenate([x, y]))
    return both[np.arange(len(x))], both[np.arange(len(x), len(x) + len(y))]


def plain(x, y):
    """All pairs: correlations, variances, p-values, from the definitions."""
    p = x.shape[1]
    first, second = np.triu_indices(p, 1)
    kept = (first != 9) & (second != 9)
    first, second = first[kept], second[kept]
    r = np.stack([np.corrcoef(m[:, [j for j in range(p) if j != 9]].T)[np.triu_indices(p - 1, 1)] for m in (x, y)])
    error = np.sqrt(variances_of_fisher_z([x, y], first, second))
    z = np.arctanh(r)
    pval = 2 * stats.t.sf(np.abs(z[0] - z[1]) / np.hypot(*error), min(len(x), len(y)) - 3)
    return first, second, r, error, pval


def test_all_pairs_equal_the_definition(counts, any_array_type):
    found = fit_edges(*in_rows(any_array_type, *counts), ALL)
    first, second, r, error, pval = plain(*counts)
    order = np.lexsort((found.second, found.first))
    np.testing.assert_array_equal([found.first[order], found.second[order]], [first, second])
    np.testing.assert_allclose(found.correlation[:, order], r, atol=1e-10)
    np.testing.assert_allclose(found.pval[order], pval, rtol=1e-7)
    np.testing.assert_allclose(found.pval_adj[order], stats.false_discovery_control(pval), rtol=1e-7)
    width = stats.t.ppf(0.975, [[87], [67]]) * error
    np.testing.assert_allclose(found.low[:, order], np.tanh(np.arctanh(r) - width), atol=1e-9)
    assert found.n_tested == 13 * 12 // 2


@pytest.mark.parametrize("memory", [2**10, 2**30])
def test_the_significant_pairs_are_those_of_all(counts, memory, set_memory):
    every = fit_edges(*counts, ALL)
    set_memory(memory)
    some = fit_edges(*counts, EdgeOptions(), n_jobs=2)
    significant = every.pval_adj <= 0.05
    assert 0 < significant.sum() < every.pval.size
    np.testing.assert_array_equal(some.first, every.first[significant])
    np.testing.assert_array_equal(some.second, every.second[significant])
    np.testing.assert_allclose(some.pval_adj, every.pval_adj[significant], rtol=1e-9)


def test_what_happened_to_a_pair_is_named(counts):
    found = fit_edges(*counts, EdgeOptions())
    names = dict(zip(zip(found.first.tolist(), found.second.tolist(), strict=True), found.classes(0.05), strict=True))
    assert names[0, 1] == "gained"
    assert names[4, 5] == "lost"
    assert set(fit_edges(*counts, ALL).classes(1e-300)) == {"unchanged"}


def test_a_reversed_pair_has_both_signs(rng):
    x, y = rng.normal(size=(100, 3)), rng.normal(size=(100, 3))
    x[:, 1] += x[:, 0]
    y[:, 1] -= y[:, 0]
    found = fit_edges(x, y, EdgeOptions())
    assert found.classes(0.05)[0] == "reversed"
    assert (found.first[0], found.second[0]) == (0, 1)
    assert found.difference_low[0] < found.difference[0] < found.difference_high[0]


def test_the_fewest_and_the_largest_differences_can_be_asked_for(counts):
    every = fit_edges(*counts, EdgeOptions())
    assert len(fit_edges(*counts, EdgeOptions(max_edges=3)).first) == 3
    assert fit_edges(*counts, EdgeOptions(max_edges=3)).n_found == len(every.first)
    large = fit_edges(*counts, EdgeOptions(min_difference=0.9))
    assert len(large.first) == (np.abs(every.difference) >= 0.9).sum() < len(every.first)


def test_covariates_cost_degrees_of_freedom(counts):
    plainly, adjusted = fit_edges(*counts, ALL), fit_edges(*counts, ALL, n_covariates=10)
    assert (np.sort(adjusted.pval) > np.sort(plainly.pval)).mean() > 0.95


def test_samples_are_units_where_given(rng, any_array_type):
    x, y = rng.normal(size=(60, 8)), rng.normal(size=(60, 8))
    x[:, 1] += 3 * x[:, 0]
    samples = design(np.repeat(np.arange(4), 15), np.repeat(np.arange(4, 8), 15))
    found = fit_edges(*in_rows(any_array_type, x, y), EdgeOptions(max_pval_adj=1.0), samples=samples)
    assert (found.first[0], found.second[0]) == (0, 1)
    z = [np.arctanh(np.corrcoef(x[r].T)[0, 1]) for r in samples.group]
    assert found.correlation[0, 0] == pytest.approx(np.tanh(np.mean(z)))


def test_too_few_observations_are_refused(rng):
    with pytest.raises(ValueError, match="5 observations"):
        fit_edges(rng.normal(size=(5, 3)), rng.normal(size=(9, 3)), EdgeOptions())


def test_a_single_feature_has_no_pairs(rng):
    assert fit_edges(rng.normal(size=(9, 1)), rng.normal(size=(9, 1)), EdgeOptions()).n_tested == 0


@pytest.mark.slow
def test_intervals_of_skewed_data_cover_the_correlation(rng):
    true = 0.5  # exponentials that share one
    covered = []
    for _ in range(400):
        x, y = (rng.exponential(size=(150, 1)) + rng.exponential(size=(150, 2)) for _ in range(2))
        found = fit_edges(x, y, ALL)
        covered += [*((found.low < true) & (true < found.high))[:, 0]]
        covered.append(found.difference_low[0] < 0 < found.difference_high[0])
    assert np.mean(covered) == pytest.approx(0.95, abs=0.035)
