import numpy as np
import pytest
from scipy.spatial.distance import cdist

import diffnb as dn
from diffnb.core.mahalanobis import analysis
from diffnb.core.mahalanobis.analysis import InformedOptions, InformedSettings, fit_informed
from diffnb.core.runtime.threads import n_workers

SIZE = 15


@pytest.fixture(scope="module")
def curved():
    return dn.datasets.curved_square(n_obs=60, n_features=48, noise=0.3)


@pytest.fixture(scope="module")
def clusters(curved):
    return curved.var["cluster"].cat.codes.to_numpy()


def local(x, labels=None, **options):
    asked = InformedOptions(**{"local": True, "n_neighbors": SIZE, "n_components": 3, "full": True, **options})
    return fit_informed(x, asked, labels=labels)


def recall(ours, theirs):
    return np.mean([len(set(a) & set(b)) / len(a) for a, b in zip(ours, theirs, strict=True)])


@pytest.mark.parametrize("options", [{}, {"informed": False, "n_components": 2}])
def test_local_neighbours_of_candidates_are_mostly_those_of_all(curved, options):
    adata = dn.datasets.curved_square(n_obs=400, n_features=60, noise=0.3)
    options = {"n_clusters": 6, "n_components": 2, **options}
    whole, part = (local(adata.X, full=full, **options) for full in (True, False))
    assert part.pairwise is None
    assert recall(part.nearest.indices, whole.nearest.indices) > 0.9
    expected = np.take_along_axis(whole.pairwise, part.nearest.indices, axis=1)
    np.testing.assert_allclose(part.nearest.distances, expected, rtol=1e-6)


def test_local_neighbours_of_all_candidates_are_those_of_all(curved, monkeypatch, set_memory):
    monkeypatch.setattr(analysis, "CANDIDATES_PER_NEIGHBOR", 60)
    set_memory(16 * 8 * 5000)
    for options in ({}, {"informed": False}, {"clustering": "each"}):
        whole, part = (local(curved.X, full=full, n_clusters=6, **options) for full in (True, False))
        np.testing.assert_array_equal(part.nearest.indices, whole.nearest.indices)
        np.testing.assert_allclose(part.nearest.distances, whole.nearest.distances, rtol=1e-7)


def test_global_neighbours_are_exact_without_all_distances(curved):
    whole, part = (
        fit_informed(curved.X, InformedOptions(n_clusters=6, n_neighbors=SIZE, full=full)) for full in (True, False)
    )
    np.testing.assert_array_equal(part.nearest.indices, whole.nearest.indices)
    assert part.pairwise is None


def test_settings_are_what_was_used(curved, clusters, monkeypatch):
    fit = fit_informed(curved.X, InformedOptions(), labels=clusters)
    assert fit.settings == InformedSettings(clusters.max() + 1, fit.metric.own.size, full=True)
    monkeypatch.setattr(analysis, "MAX_OBS_FOR_ALL_DISTANCES", 59)
    fit = fit_informed(curved.X, InformedOptions(informed=False, n_components=4))
    assert fit.settings == InformedSettings(0, 4, full=False, cluster_weight=0.0)
    assert fit.pairwise is None


def test_the_number_of_clusters_is_that_of_the_gap_statistic_unless_given(curved):
    automatic, given = (fit_informed(curved.X, InformedOptions(n_clusters=k)) for k in ("auto", 4))
    assert automatic.settings.n_clusters == automatic.gap.chosen == automatic.labels.max() + 1
    assert given.settings.n_clusters == 4
    assert given.gap is None


def test_known_clusters_are_kept(curved, clusters):
    fit = fit_informed(curved.X, InformedOptions(), labels=clusters)
    np.testing.assert_array_equal(fit.labels, clusters)
    assert fit.gap is None


def test_coordinates_have_the_distances_of_the_metric(curved):
    fit = fit_informed(curved.X, InformedOptions(n_clusters=6))
    np.testing.assert_allclose(fit.pairwise, cdist(fit.coordinates, fit.coordinates))
    np.testing.assert_allclose(fit.coordinates, curved.X @ fit.metric.factor)
    np.testing.assert_array_equal(fit.nearest.indices[0], np.argsort(fit.pairwise[0], kind="stable")[1:20])


def test_local_metrics_have_no_coordinates_and_clusters_of_each_no_labels(curved):
    shared, each = (local(curved.X, n_clusters=6, clustering=clustering) for clustering in ("shared", "each"))
    assert shared.coordinates is None
    assert shared.labels is not None
    assert each.labels is None
    assert each.settings.n_clusters == 6


@pytest.mark.parametrize(("options", "how"), [({}, "the gap statistic chose"), ({"n_clusters": 3}, "features form")])
def test_more_components_than_clusters_are_refused(curved, options, how):
    with pytest.raises(ValueError, match=f"n_components=30 is more than the [0-9]+ clusters that {how}"):
        fit_informed(curved.X, InformedOptions(n_components=30, **options))


def test_the_same_seed_gives_the_same_fit(curved):
    first, second = (fit_informed(curved.X, InformedOptions(seed=3)) for _ in range(2))
    np.testing.assert_array_equal(first.pairwise, second.pairwise)
    np.testing.assert_array_equal(first.diffusion[1], second.diffusion[1])


def test_one_job_is_one_thread(curved, monkeypatch):
    seen = []
    original = analysis.sample_covariance
    monkeypatch.setattr(analysis, "sample_covariance", lambda x: seen.append(n_workers()) or original(x))
    fit_informed(curved.X, InformedOptions(n_clusters=3), n_jobs=1)
    assert seen == [1]
