"""The variance of Fisher z of single pairs, against its definition and against repeated draws."""

import numpy as np
import pytest

from conftest import in_chunks
from diffnb.core.scorecard import pair_moments as module
from diffnb.core.scorecard.pair_moments import variances_of_fisher_z


def by_definition(x, j, k):
    """E[(uv − r (u² + v²)/2)²] / (1 − r²)², at least 1."""
    u, v = ((x[:, i] - x[:, i].mean()) / x[:, i].std() for i in (j, k))
    r = np.mean(u * v)
    return max(np.mean((u * v - r * (u**2 + v**2) / 2) ** 2) / (1 - r**2) ** 2, 1.0)


def all_pairs(p):
    return np.triu_indices(p, 1)


@pytest.fixture
def skewed(rng):
    x = rng.poisson(0.4, size=(60, 12)).astype(float)
    x[:, 3] += x[:, 4]
    return x


@pytest.mark.parametrize("share", [0.0, 2.0])
def test_equals_the_definition(skewed, any_array_type, share, monkeypatch):
    monkeypatch.setattr(module, "MIN_SHARE_OF_BLOCK", share)
    monkeypatch.setattr(module, "MAX_BLOCK_FEATURES", 5)
    first, second = all_pairs(12)
    both = any_array_type(np.concatenate([skewed, 2 * skewed]))
    found = variances_of_fisher_z([both[np.arange(60)], both[np.arange(60, 120)]], first, second, lost=2)
    expected = [by_definition(skewed, j, k) / (60 - 3 - 2) for j, k in zip(first, second, strict=True)]
    np.testing.assert_allclose(found, [expected, expected], rtol=1e-9)


def test_small_memory_gives_the_same(skewed, set_memory):
    first, second = all_pairs(12)
    expected = variances_of_fisher_z([skewed], first, second)
    set_memory(2**10)
    np.testing.assert_allclose(variances_of_fisher_z([skewed], first, second), expected, rtol=1e-12)


def test_it_is_the_variance_over_repeated_draws_of_skewed_data(rng):
    z, estimated = [], []
    for _ in range(300):
        shared = rng.exponential(size=(200, 1))
        x = shared + rng.exponential(size=(200, 2))
        z.append(np.arctanh(np.corrcoef(x.T)[0, 1]))
        estimated.append(variances_of_fisher_z([x], np.array([0]), np.array([1]))[0, 0])
    assert np.mean(estimated) == pytest.approx(np.var(z), rel=0.25)
    assert np.var(z) > 1.5 / 197  # that of normal data is far too small here


def test_two_rare_features_that_are_seen_together_once_have_an_error_as_large_as_their_correlation():
    x = np.zeros((500, 2))
    x[:2, 0] = x[1:3, 1] = 1.0
    error = np.sqrt(variances_of_fisher_z([x], np.array([0]), np.array([1]))[0, 0])
    assert np.arctanh(np.corrcoef(x.T)[0, 1]) / error < 2


def test_no_pairs_have_no_variances(skewed):
    none = np.empty(0, dtype=int)
    assert variances_of_fisher_z([skewed, skewed], none, none).shape == (2, 0)
    assert variances_of_fisher_z([in_chunks("dense")(skewed)], none, none).shape == (1, 0)
