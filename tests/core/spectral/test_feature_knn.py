import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from diffnb.core.arrays.affine import Affine
from diffnb.core.disc.feature_graph import as_points
from diffnb.core.spectral import distances
from diffnb.core.spectral import feature_knn as neighbors
from diffnb.core.spectral.feature_knn import nearest_features, search_for
from diffnb.core.spectral.points import Columns, points_of, standardized_within


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Several blocks, and the sieve from 300 features on."""
    monkeypatch.setattr(neighbors, "MAX_BLOCKWISE_FEATURES", 300)
    monkeypatch.setattr(neighbors, "BLOCK_ROWS", 256)
    monkeypatch.setattr(neighbors, "BLOCK_COLUMNS", 300)


def planted(rng, n=60, p=1100):
    """Twenty groups of twenty features among noise, with zeros, duplicates and features that are constant."""
    x = rng.normal(size=(n, p)) * rng.uniform(0.5, 2, p)
    for g in range(20):
        x[:, 20 * g : 20 * g + 20] += 3 * rng.normal(size=(n, 1))
    x = np.where(np.abs(x) > 0.5, x, 0.0)
    x[:, 500:520] = x[:, :20]
    x[:, 700:703] = 3.0
    x[:, 703] = 0.0
    return x


def recall(found, wanted):
    return np.mean([np.isin(a, b).mean() for a, b in zip(found, wanted, strict=True)])


def same_up_to_ties(found, wanted):
    np.testing.assert_allclose(found.squared, wanted.squared, rtol=1e-9, atol=1e-9)
    # neighbours themselves wherever the last one kept and the next are not tied
    clear = np.diff(wanted.squared, axis=1).min(axis=1) > 1e-9
    assert clear.sum() > 300
    np.testing.assert_array_equal(found.indices[clear][:, :-1], wanted.indices[clear][:, :-1])


@pytest.mark.parametrize("metric", distances.METRICS)
def test_the_sieve_finds_the_neighbours_of_all_distances(rng, array_type, metric):
    points = points_of(array_type(planted(rng)))
    same_up_to_ties(nearest_features(points, 12, metric=metric), distances.nearest(points, 12, metric=metric))


@pytest.mark.parametrize("standardize", ["global", "within"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_the_sieve_standardises_features(rng, standardize, kind):
    for points in as_points([kind(planted(rng)), kind(planted(rng))], standardize):
        same_up_to_ties(nearest_features(points, 12), distances.nearest(points, 12))


def test_the_sieve_uses_all_parts_of_a_condition(rng):
    x = planted(rng)
    points = Columns((Affine(sp.csr_array(x[:20])), Affine(sp.csr_array(x[20:]))), within=True)
    same_up_to_ties(nearest_features(points, 12), distances.nearest(points, 12))


def test_a_large_mean_costs_no_neighbours(rng):
    """In float32, squares of 1e4 leave no precision for differences of 1."""
    x = planted(rng)
    wanted = distances.nearest(points_of(x), 12)
    same_up_to_ties(nearest_features(points_of(x + 1e4), 12), wanted)


@pytest.mark.parametrize("unit", [1e-30, 1e30])
def test_the_unit_of_the_data_does_not_matter(rng, unit):
    x = planted(rng)
    found = nearest_features(points_of(unit * x), 12)
    scaled = distances.Neighbors(found.indices, found.squared / unit**2)
    same_up_to_ties(scaled, nearest_features(points_of(x), 12))


def test_rows_that_float32_cannot_separate_are_searched_in_float64(rng):
    x = np.repeat(100 * rng.normal(size=(60, 10)), 110, axis=1) + 1e-4 * rng.normal(size=(60, 1100))
    squared = cdist(x.T, x.T, "sqeuclidean") + np.diag(np.full(1100, np.inf))
    found = nearest_features(points_of(x), 12)
    assert recall(found.indices, np.argsort(squared, axis=1)[:, :12]) > 0.999
    np.testing.assert_allclose(found.squared, np.take_along_axis(squared, found.indices, axis=1), rtol=1e-9)


def test_a_bound_that_is_too_tight_costs_time_but_no_neighbour(rng, monkeypatch):
    points = points_of(planted(rng))
    monkeypatch.setattr(neighbors, "_rank_in_sample", lambda expected: 1)
    same_up_to_ties(nearest_features(points, 12), distances.nearest(points, 12))


def test_identical_features_are_neighbours_at_distance_zero(rng):
    points = points_of(np.repeat(rng.normal(size=(30, 4)), 300, axis=1))
    found = nearest_features(points, 5)
    assert (found.squared == 0).all()
    np.testing.assert_array_equal(found.indices // 300, np.repeat(np.arange(4), 300)[:, None].repeat(5, axis=1))
    assert (found.indices != np.arange(1200)[:, None]).all()


def incomplete(coordinates, count, seed):
    """Replace the descent, which takes long to compile, by the nearest with some missing, in random order."""
    squared = cdist(coordinates, coordinates, "sqeuclidean")
    found = np.argsort(squared, axis=1)[:, :count]
    rng = np.random.default_rng(seed)
    found[rng.random(found.shape) < 0.02] = -1
    found[5] = -1
    return rng.permuted(found, axis=1)


@pytest.mark.parametrize("metric", distances.METRICS)
def test_candidates_are_sorted_by_their_exact_distance(rng, monkeypatch, array_type, metric):
    monkeypatch.setattr(neighbors, "_descended", incomplete)
    x = planted(rng)
    points = points_of(array_type(x))
    exact = nearest_features(points, 12, metric=metric)
    found = nearest_features(points, 12, metric=metric, search="approximate")
    assert recall(found.indices[:400], exact.indices[:400]) > 0.95
    assert (np.diff(found.squared, axis=1) >= 0).all()
    assert all(len(set(row)) == 12 for row in found.indices)
    # a feature without candidates is searched in full
    np.testing.assert_allclose(found.squared[5], exact.squared[5], rtol=1e-9, atol=1e-9)
    squared = np.take_along_axis(distances.squared_distances(points, metric=metric), found.indices, axis=1)
    some = np.arange(len(squared)) != 703  # has no direction
    some &= ~(found.indices == 703).any(axis=1)
    np.testing.assert_allclose(found.squared[some], squared[some], rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_too_many_observations_are_projected_for_the_search_only(rng, monkeypatch, set_memory):
    monkeypatch.setattr(neighbors, "_descended", incomplete)
    points = points_of(planted(rng, n=400))
    exact = nearest_features(points, 12)
    set_memory(8 * 1000)
    np.testing.assert_array_equal(nearest_features(points, 12).indices, distances.nearest(points, 12).indices)
    found = nearest_features(points, 12, search="approximate")
    assert recall(found.indices[:400], exact.indices[:400]) > 0.5
    squared = np.take_along_axis(distances.squared_distances(points), found.indices, axis=1)
    np.testing.assert_allclose(found.squared, squared, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_the_descent_finds_most_neighbours_and_is_deterministic(rng):
    """The only test here that compiles with Numba."""
    points = standardized_within(planted(rng))
    exact = nearest_features(points, 12)
    found = nearest_features(points, 12, search="approximate")
    again = nearest_features(points, 12, search="approximate")
    np.testing.assert_array_equal(again.indices, found.indices)
    np.testing.assert_array_equal(again.squared, found.squared)
    # rows without ties
    clear = np.diff(exact.squared, axis=1).min(axis=1) > 1e-9
    assert recall(found.indices[clear], exact.indices[clear]) > 0.95


def test_the_search_is_exact_unless_there_are_many_features(rng, monkeypatch):
    points = points_of(rng.normal(size=(5, 1000)))
    assert search_for(points, 10) == "exact"
    assert search_for(points, 10, "approximate") == "approximate"
    monkeypatch.setattr(neighbors, "MIN_APPROXIMATE_FEATURES", 1000)
    assert search_for(points, 10) == "approximate"
    assert search_for(points, 10, "exact") == "exact"
    # exact where the neighbours are a large share of all features
    assert search_for(points, 200, "approximate") == "exact"
    monkeypatch.setattr(neighbors, "MAX_BLOCKWISE_FEATURES", 1000)
    assert search_for(points, 10, "approximate") == "exact"
