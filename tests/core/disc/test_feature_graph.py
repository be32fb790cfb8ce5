import numpy as np
import pytest
from reference import disc as plain

from diffnb.core.arrays.count_correlations import count_correlations
from diffnb.core.arrays.count_moments import Counts, count_moments, fit_damping
from diffnb.core.disc.defaults import neighbors_for
from diffnb.core.disc.feature_graph import as_points, feature_walk, feature_walks, points_from_stats
from diffnb.core.disc.settings import FeatureGraphOptions, FeatureGraphSettings
from diffnb.core.spectral.distances import squared_distances

STANDARDIZE = [None, "global", "within"]


def standardized(matrices, standardize):
    """Features of every condition, standardised plainly."""
    if standardize == "within":
        return [(x - x.mean(axis=0)) / x.std(axis=0) for x in matrices]
    if standardize == "global":
        everything = np.concatenate(matrices)
        return [(x - everything.mean(axis=0)) / everything.std(axis=0) for x in matrices]
    return matrices


def transition(walk):
    """The matrix of a walk."""
    return np.column_stack([walk.step(e) for e in np.eye(walk.n_features)])


@pytest.fixture
def matrices(rng):
    return [np.where(rng.random((n, 15)) < 0.7, rng.normal(1.0, 2.0, (n, 15)), 0.0) for n in (30, 50)]


@pytest.mark.parametrize("standardize", STANDARDIZE)
def test_points_have_the_inner_products_of_the_standardised_features(any_array_type, matrices, standardize):
    points = as_points(split(any_array_type, matrices), standardize)
    for found, x in zip(points, standardized(matrices, standardize), strict=True):
        np.testing.assert_allclose(found.inner(), x.T @ x, atol=1e-9)


def split(array_type, matrices):
    """Conditions as rows of one array, as they come from an AnnData."""
    whole, n = array_type(np.concatenate(matrices)), len(matrices[0])
    return [whole[:n], whole[n:]]


@pytest.mark.parametrize("standardize", STANDARDIZE)
@pytest.mark.parametrize("density_normalize", [True, False])
def test_a_walk_is_the_transition_matrix_of_the_equations(any_array_type, matrices, standardize, density_normalize):
    settings = FeatureGraphSettings(4, standardize=standardize, density_normalize=density_normalize)
    points = as_points(split(any_array_type, matrices), standardize)
    for c, x in zip(points, standardized(matrices, standardize), strict=True):
        expected = plain.transition(plain.weights(x, 4), density_normalize)
        np.testing.assert_allclose(transition(feature_walk(c, settings)), expected, atol=1e-10)


def test_a_graph_of_all_neighbours_is_the_dense_one(matrices):
    points = as_points(matrices, None)[0]
    dense, knn = (feature_walk(points, FeatureGraphSettings(7, kind)) for kind in ("dense", "knn"))
    np.testing.assert_allclose(knn.symmetric.toarray(), dense.symmetric, atol=1e-12)


def test_a_graph_of_neighbours_has_only_their_edges(matrices):
    walk = feature_walk(as_points(matrices, None)[0], FeatureGraphSettings(2, "knn"))
    # itself, its four neighbours and those whose neighbour it is
    assert walk.symmetric.nnz < 15**2
    assert (np.diff(walk.symmetric.indptr) >= 5).all()


def test_several_sums_make_one_condition(matrices):
    from diffnb.core.arrays.gram_stats import gram_stats
    from diffnb.core.arrays.row_chunks import chunked

    da = pytest.importorskip("dask.array")
    whole = chunked(da.from_array(np.concatenate(matrices), chunks=(10, -1)))
    first, second, third = gram_stats([whole[:12], whole[12:30], whole[30:]])
    for standardize in STANDARDIZE:
        points = points_from_stats([(first, second), (third,)], standardize)
        for found, x in zip(points, standardized(matrices, standardize), strict=True):
            np.testing.assert_allclose(found.inner(), x.T @ x, atol=1e-9)


def test_walks_come_with_the_settings_that_they_were_built_with(matrices):
    found = feature_walks(matrices, FeatureGraphOptions(standardize="within"))
    assert found.settings == FeatureGraphSettings(neighbors_for(15), "dense", standardize="within")
    for walk, points in zip(found.walks, as_points(matrices, "within"), strict=True):
        np.testing.assert_array_equal(walk.symmetric, feature_walk(points, found.settings).symmetric)


@pytest.fixture
def conditions_of_counts(rng):
    found = []
    for depth in (1.0, 3.0):
        log_z = 0.5 * rng.normal(size=(200, 12)) + np.linspace(0.5, 1.5, 12)
        log_z[:, :5] += 0.7 * rng.normal(size=(200, 1))
        size = depth * rng.lognormal(0, 0.3, size=200)
        found.append(Counts(rng.poisson(size[:, None] * np.exp(log_z)).astype(float), size))
    return found


def shrunk(counts, conditions):
    """Corrected correlations, half as large where they are two standard errors of the noisiest condition."""
    damping = fit_damping(conditions)
    rho = count_correlations([counts], damping).gram(slice(0, 12))
    levels = np.max([m.noise_level for m in count_moments(conditions, damping)], axis=0)
    rho *= rho**2 / (rho**2 + (2 * np.outer(levels, levels)) ** 2)
    rho[np.diag_indices(12)] = 1
    return rho


@pytest.mark.parametrize("metric", ["euclidean", "correlation"])
@pytest.mark.parametrize("standardize", [None, "global", "within"])
def test_distances_of_counts_are_those_of_corrected_correlations(
    any_array_type, conditions_of_counts, metric, standardize
):
    # as they come from an AnnData: rows of one array
    whole = any_array_type(np.concatenate([c.matrix for c in conditions_of_counts]))
    given = [Counts(whole[:200], conditions_of_counts[0].size), Counts(whole[200:], conditions_of_counts[1].size)]
    unit = 200 if metric == "euclidean" else 1
    for points, counts in zip(as_points(given, standardize), conditions_of_counts, strict=True):
        expected = 2 * (1 - shrunk(counts, conditions_of_counts))
        np.testing.assert_allclose(squared_distances(points, metric=metric) / unit, expected, atol=1e-10)


def test_neighbours_of_counts_are_found_block_by_block(conditions_of_counts, set_memory):
    options = FeatureGraphOptions(kind="knn", n_neighbors=4, metric="correlation")
    expected = [transition(walk) for walk in feature_walks(conditions_of_counts, options).walks]
    set_memory(4 * 8 * 12 * 5)
    for walk, other in zip(feature_walks(conditions_of_counts, options).walks, expected, strict=True):
        np.testing.assert_allclose(transition(walk), other, atol=1e-10)
