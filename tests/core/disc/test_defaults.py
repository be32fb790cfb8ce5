import numpy as np
import pytest

import diffnb as dn
from diffnb.core.disc.defaults import (
    components_for,
    eigenvector_count,
    eigenvectors_for,
    graph_for,
    neighbors_for,
    resolve_graph,
)
from diffnb.core.disc.feature_graph import as_points
from diffnb.core.disc.settings import FeatureGraphOptions, FeatureGraphSettings


@pytest.mark.parametrize(("p", "k"), [(5000, 25), (250, 25), (60, 12), (10, 2), (3, 1), (2, 1)])
def test_neighbours_shrink_with_few_features(p, k):
    assert neighbors_for(p) == k


def test_features_on_one_scale_get_a_dense_graph(rng):
    points = as_points(list(rng.normal(size=(2, 30, 50))), None)
    assert graph_for(points, "euclidean") == "dense"


def test_features_on_many_scales_get_neighbours_unless_scale_is_taken_out(rng):
    x = list(rng.normal(size=(2, 30, 50)) * np.geomspace(1, 20, 50))
    assert graph_for(as_points(x, None), "euclidean") == "knn"
    assert graph_for(as_points(x, None), "correlation") == "dense"
    assert graph_for(as_points(x, "within"), "euclidean") == "dense"


def test_many_features_get_neighbours(monkeypatch, rng):
    monkeypatch.setattr("diffnb.core.disc.defaults.MAX_DENSE_FEATURES", 40)
    assert graph_for(as_points(list(rng.normal(size=(2, 30, 50))), None), "correlation") == "knn"


def spectrum_with(n_groups, n=40):
    return np.concatenate([[1.0], np.linspace(0.5, 0.45, n_groups), np.linspace(0.1, 0.09, n - n_groups - 1)])


def test_eigenvectors_reach_past_all_shared_groups():
    assert eigenvectors_for(spectrum_with(30), 2000, 2) >= 31
    assert eigenvectors_for(spectrum_with(4), 2000, 2) == 10
    assert eigenvectors_for(0.9 ** np.arange(40), 2000, 2) == 20


def test_eigenvectors_leave_room():
    assert eigenvectors_for(spectrum_with(4), 60, 2) == 6
    assert eigenvectors_for(0.9 ** np.arange(15), 60, 2) == 5
    assert eigenvectors_for(spectrum_with(4), 300, 11) <= 300 // 30
    assert eigenvectors_for(np.linspace(1, 0.5, 20), 30, 2) == 2


@pytest.mark.parametrize(("n_conditions", "d"), [(2, 20), (4, 20), (5, 15), (10, 6), (40, 2)])
def test_many_conditions_with_smooth_spectra_share_what_is_projected_off(n_conditions, d):
    assert eigenvectors_for(0.9 ** np.arange(40), 5000, n_conditions) == d
    # groups that all share have to go, however many conditions there are
    assert eigenvectors_for(spectrum_with(12), 5000, n_conditions) >= 13


def test_components_are_limited_to_the_dimensions_that_remain():
    assert components_for(10, (5, 8), 12) == 3
    assert components_for(2, (5, 8), 12) == 2
    assert components_for(10, (8, 8), 9) == 1


def test_given_options_of_a_graph_are_kept(two_conditions):
    options = FeatureGraphOptions(
        kind="knn",
        n_neighbors=7,
        metric="cosine",
        standardize="global",
        kernel="rbf",
        density_normalize=False,
        seed=3,
    )
    expected = FeatureGraphSettings(7, "knn", "exact", "cosine", "global", "rbf", density_normalize=False, seed=3)
    assert resolve_graph(as_points(two_conditions, "global"), options) == expected


def test_open_options_of_a_graph_follow_from_the_data(two_conditions):
    points = as_points(two_conditions, None)
    assert resolve_graph(points, FeatureGraphOptions()) == FeatureGraphSettings(
        neighbors_for(40), graph_for(points, "euclidean")
    )


def test_only_a_graph_of_neighbours_is_searched_approximately(rng, monkeypatch):
    monkeypatch.setattr("diffnb.core.spectral.feature_knn.MAX_BLOCKWISE_FEATURES", 10)
    monkeypatch.setattr("diffnb.core.spectral.feature_knn.MIN_APPROXIMATE_FEATURES", 50)
    points = as_points(list(rng.normal(size=(2, 5, 200))), None)
    assert resolve_graph(points, FeatureGraphOptions(kind="knn", n_neighbors=2)).search == "approximate"
    assert resolve_graph(points, FeatureGraphOptions(kind="knn", n_neighbors=2, search="exact")).search == "exact"
    assert resolve_graph(points, FeatureGraphOptions(kind="dense", n_neighbors=2)).search == "exact"


def test_defaults_find_the_groups_of_the_first_toy():
    from sklearn.metrics import adjusted_rand_score

    for seed in range(3):
        adata = dn.datasets.newly_connected(n_obs=1000, random_state=seed)
        dn.tl.disc(adata, "condition")
        for group in "AB":
            assert adjusted_rand_score(adata.var[f"truth_{group}"], adata.var[f"disc_{group}"]) > 0.8


@pytest.mark.parametrize(
    ("spectrum", "n_features", "note"),
    [
        (spectrum_with(12), 2000, ""),
        (0.9 ** np.arange(40), 2000, "n_eigenvectors=20 is the default: the spectrum has no gap."),
        (spectrum_with(12), 30, "n_eigenvectors=10 is the largest number that leaves enough dimensions."),
    ],
)
def test_what_decided_the_number_of_eigenvectors_is_known(spectrum, n_features, note):
    found = eigenvector_count(spectrum, n_features, 2)
    assert found.value == eigenvectors_for(spectrum, n_features, 2)
    assert found.describe() == note
