import numpy as np
import pytest
import scipy.sparse as sp
from reference import mahalanobis as plain

from diffnb.core.mahalanobis import covariance
from diffnb.core.mahalanobis.covariance import sample_covariance
from diffnb.core.mahalanobis.metric import conventional_metric


def correlated(rng, n, m):
    """Correlated counts with some zeros, and a large mean in one column."""
    x = rng.poisson(1.0, size=(n, m)) * rng.uniform(1, 2, size=(n, m)) + rng.poisson(1.0, size=(n, 1))
    x[:, 0] += 100
    return x


@pytest.fixture(params=[(30, 12), (12, 30)], ids=["long", "wide"])
def x(request, rng):
    return correlated(rng, *request.param)


def assert_leading(found, x, count):
    values, vectors = plain.principal(plain.covariance(x.T), count)
    np.testing.assert_allclose(found.values, values, rtol=1e-8)
    np.testing.assert_allclose(np.abs(found.vectors.T @ vectors), np.eye(count), atol=1e-6)


def test_one_pass_gives_mean_trace_and_products(x, any_array_type):
    found = sample_covariance(any_array_type(x))
    assert found.shape == x.shape
    np.testing.assert_allclose(found.mean, x.mean(axis=0))
    assert found.trace == pytest.approx(np.trace(plain.covariance(x.T)))
    np.testing.assert_allclose(found.products, x.T @ x)


def test_leading_components_are_those_of_the_covariance(x, any_array_type):
    assert_leading(sample_covariance(any_array_type(x)).leading(3), x, 3)


def test_vectors_are_made_only_where_asked_for(rng):
    found = sample_covariance(correlated(rng, 12, 30)).leading(3, vectors=False)
    assert found.values.shape == (3,)
    assert found.vectors.shape == (30, 0)


def test_components_without_variance_have_no_direction(rng):
    x = np.outer(rng.normal(size=6), rng.normal(size=20))
    found = sample_covariance(x).leading(3)
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=0), [1, 0, 0], atol=1e-12)


def test_the_spectrum_is_all_eigenvalues_that_there_can_be(x, any_array_type):
    values, n, m = sample_covariance(any_array_type(x)).spectrum()
    rank = min(n - 1, m)
    assert (n, m) == x.shape
    np.testing.assert_allclose(values, np.linalg.eigvalsh(plain.covariance(x.T))[::-1][:rank], atol=1e-8)


def test_the_covariance_is_multiplied_without_being_formed(x, any_array_type, rng):
    v = rng.normal(size=(x.shape[1], 2))
    np.testing.assert_allclose(sample_covariance(any_array_type(x)).times(v), plain.covariance(x.T) @ v, atol=1e-8)


def test_the_spectrum_of_many_observations_is_that_of_some(rng, monkeypatch):
    x = correlated(rng, 60, 80)
    monkeypatch.setattr(covariance, "MAX_GRAM_POINTS", 40)
    values, n, m = sample_covariance(x).spectrum()
    assert (n, m) == (40, 80)
    assert values.shape == (39,)
    np.testing.assert_array_equal(values, sample_covariance(x).spectrum()[0])
    assert not np.array_equal(values, sample_covariance(x).spectrum(seed=1)[0])


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_large_data_gives_the_same_without_a_matrix_of_products(kind, monkeypatch, rng):
    x = np.kron(rng.normal(size=(520, 9)) * np.arange(1, 10), np.ones(60)) + rng.normal(size=(520, 540))
    expected = sample_covariance(x).leading(3)
    count = conventional_metric(sample_covariance(x)).own.size
    monkeypatch.setattr(covariance, "MAX_GRAM_POINTS", 500)
    found = sample_covariance(kind(x)).leading(3)
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-8)
    np.testing.assert_allclose(np.abs(found.vectors.T @ expected.vectors), np.eye(3), atol=1e-6)
    assert conventional_metric(sample_covariance(kind(x))).own.size == count == 9
