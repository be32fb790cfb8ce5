import numpy as np
import pytest

import diffnb as dn
from diffnb.core.disc.algorithm import Settings, as_points
from diffnb.core.disc.defaults import Request, choose, eigenvectors_for, graph_for, neighbors_for


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
    monkeypatch.setattr("diffnb.core.disc.defaults.DENSE_FEATURES", 40)
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


def test_what_the_user_settled_stays(two_conditions):
    request = Request("knn", 7, (3, 5))
    settings = choose(two_conditions, request, Settings(1, ())).settings
    assert (settings.graph, settings.n_neighbors, settings.n_eigenvectors) == ("knn", 7, (3, 5))


def test_known_eigenpairs_give_the_same_result_as_fresh_ones(two_conditions):
    chosen = choose(two_conditions, Request(), Settings(1, (), n_components=3))
    fresh = choose(
        two_conditions,
        Request(chosen.settings.graph, chosen.settings.n_neighbors, chosen.settings.n_eigenvectors),
        Settings(1, (), n_components=3),
    )
    np.testing.assert_allclose(chosen.result.sigma, fresh.result.sigma, atol=1e-10)


@pytest.mark.parametrize("trivial", [True, False])
def test_the_trivial_vector_counts_when_it_is_projected(two_conditions, trivial):
    settings = choose(two_conditions, Request(), Settings(1, (), project_trivial=trivial)).settings
    assert settings.n_eigenvectors == ((3, 3) if trivial else (2, 2))


def test_defaults_find_the_groups_of_the_first_toy():
    from sklearn.metrics import adjusted_rand_score

    for seed in range(3):
        adata = dn.datasets.newly_connected(n_obs=1000, random_state=seed)
        dn.tl.disc(adata, "condition")
        for group in "AB":
            assert adjusted_rand_score(adata.var[f"truth_{group}"], adata.var[f"disc_{group}"]) > 0.8
