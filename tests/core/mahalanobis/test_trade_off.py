import numpy as np
import pytest

import diffnb as dn
from diffnb.core.mahalanobis import trade_off
from diffnb.core.mahalanobis.clusters import indicators
from diffnb.core.mahalanobis.covariance import sample_covariance
from diffnb.core.mahalanobis.metric import conventional_metric, informed_metric
from diffnb.core.mahalanobis.trade_off import WEIGHTS, blended_directions, blended_metric, chosen_weight


@pytest.fixture(scope="module")
def types():
    return dn.datasets.two_types(n_obs=40, n_features=90, n_clusters=6)


@pytest.fixture(scope="module")
def h(types):
    return indicators(types.var["cluster"].cat.codes.to_numpy())


def moved(x, h, weight):
    """Observations moved a part of the way to their means over clusters, word for word."""
    return (1 - weight) * x + weight * (x @ h) @ h.T


def leading(x, count):
    return np.linalg.svd(x - x.mean(axis=0), full_matrices=False)[2][:count].T


def same_span(a, b):
    return np.linalg.norm(a @ a.T - b @ b.T, 2)


def wrong(adata, share, seed=0):
    rng = np.random.default_rng(seed)
    labels = adata.var["cluster"].cat.codes.to_numpy().copy()
    chosen = rng.random(len(labels)) < share
    labels[chosen] = rng.integers(0, labels.max() + 1, chosen.sum())
    return indicators(labels)


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.9])
def test_directions_are_principal_ones_of_moved_observations(types, h, array_type, weight):
    found = blended_directions(sample_covariance(array_type(types.X)), h, weight, 4)
    assert same_span(found, leading(moved(types.X, h, weight), 4)) < 1e-6


@pytest.mark.parametrize(("n_features", "most"), [(36, 38), (600, 20)])
def test_more_observations_than_fit_give_the_same(monkeypatch, n_features, most):
    adata = dn.datasets.two_types(n_obs=40, n_features=n_features, n_clusters=6)
    data, h = sample_covariance(adata.X), wrong(adata, 0.2)
    expected = blended_directions(data, h, 0.6, 4)
    monkeypatch.setattr(trade_off, "MAX_GRAM_POINTS", most)
    np.testing.assert_allclose(blended_directions(data, h, 0.6, 4), expected, atol=1e-7)


@pytest.mark.parametrize("eigenvalues", ["pca", "own", "floor"])
def test_the_ends_are_pca_and_the_metric_of_the_clusters(types, h, eigenvalues):
    data = sample_covariance(types.X)
    options = {"n_components": 4, "eigenvalues": eigenvalues}
    for weight, expected in ((0.0, conventional_metric(data, **options)), (1.0, informed_metric(data, h, **options))):
        found, used = blended_metric(data, h, weight, **options)
        assert used == weight
        product = expected.factor @ expected.factor.T
        np.testing.assert_allclose(found.factor @ found.factor.T, product, atol=1e-7 * np.abs(product).max())


def test_the_weight_is_the_one_that_keeps_most_of_observations_left_out(types, h):
    found = chosen_weight(sample_covariance(types.X), h, 4, seed=3)
    rng = trade_off.generator(3, "folds")
    kept = np.zeros(len(WEIGHTS))
    for fold in np.array_split(rng.permutation(40), trade_off.N_FOLDS):
        train = np.setdiff1d(np.arange(40), fold)
        for i, weight in enumerate(WEIGHTS):
            directions = leading(moved(types.X[train], h, weight), 4)
            kept[i] += (((types.X[fold] - types.X[train].mean(axis=0)) @ directions) ** 2).sum()
    assert found == WEIGHTS[int(np.flatnonzero(kept >= kept.max() * (1 - 1e-9))[-1])]


def test_right_clusters_are_trusted_and_random_ones_are_not():
    for seed in (1, 2, 3):
        adata = dn.datasets.two_types(n_obs=40, random_state=seed)
        data = sample_covariance(adata.X)
        assert chosen_weight(data, wrong(adata, 0.0), 18) == 1.0
        assert chosen_weight(data, wrong(adata, 1.0), 18) <= 0.25


def test_of_many_observations_some_are_compared(types, h, monkeypatch):
    monkeypatch.setattr(trade_off, "MAX_VALIDATED_OBS", 25)
    assert chosen_weight(sample_covariance(types.X), h, 4) in WEIGHTS
