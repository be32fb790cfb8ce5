import numpy as np
import pytest

from diffnb.core.disc import feature_groups as module
from diffnb.core.disc.feature_groups import (
    FeatureGroups,
    feature_groups,
    leading_count,
    matched,
    refined,
    same_group,
    scores,
)
from diffnb.core.disc.membership import related


@pytest.mark.parametrize(
    ("sigma", "null", "count"),
    [
        ([0.86, 0.76, 0.33, 0.32, 0.28, 0.26, 0.25], 0.0, 2),
        ([0.90, 0.40, 0.10, 0.09, 0.085, 0.08, 0.079], 0.0, 2),
        ([0.87, 0.66, 0.53, 0.41, 0.40, 0.39, 0.39], 0.55, 2),
        ([0.87, 0.66, 0.53, 0.41, 0.40, 0.39, 0.39], 0.90, 0),
        ([0.5, 0.1], 0.0, 1),
    ],
    ids=["one gap", "two steps", "the third is chance", "all are chance", "too few to compare"],
)
def test_leading_vectors_stand_before_the_last_clear_drop(sigma, null, count):
    assert leading_count(np.array(sigma), null=null) == count


@pytest.fixture
def vectors(rng):
    """Two groups of eight among 200, each on one vector, and small noise."""
    v = 0.02 * rng.normal(size=(200, 5))
    v[:8, 0] += 0.35
    v[8:16, 1] += 0.3
    return v, np.array([0.8, 0.7, 0.2, 0.19, 0.18])


def test_groups_are_numbered_by_score_and_background_is_zero(vectors):
    found = feature_groups(*vectors)
    assert (found.n_leading, found.n_clusters) == (2, 3)
    assert (found.labels[:8] == 1).all()
    assert (found.labels[8:16] == 2).all()
    assert (found.labels[16:] == 0).all()


def test_a_vector_with_two_ends_gives_two_groups(rng):
    v = 0.01 * rng.normal(size=(100, 4))
    v[:10, 0] += 0.25
    v[10:20, 0] -= 0.2
    found = feature_groups(v, np.array([0.8, 0.2, 0.19, 0.18]))
    assert found.n_clusters == 3
    assert len(set(found.labels[:10])) == 1
    assert found.labels[0] != found.labels[10]


def test_nothing_above_chance_is_all_background(vectors):
    found = feature_groups(*vectors, n_leading=0)
    assert (found.labels == 0).all()
    assert (found.n_leading, found.n_clusters) == (0, 1)
    assert np.isfinite(found.scores).all()
    assert feature_groups(*vectors, n_leading=0, n_clusters=3).n_clusters == 3


def test_a_number_of_clusters_is_respected(vectors):
    assert feature_groups(*vectors, n_clusters=5).n_clusters == 5


def test_small_groups_are_not_outvoted_by_thousands(rng):
    v = 0.01 * rng.normal(size=(5000, 5))
    v[:12, 0] += 0.25
    v[12:24, 1] += 0.25
    found = feature_groups(v, np.array([0.8, 0.7, 0.2, 0.19, 0.18]))
    assert np.bincount(found.labels).tolist() == [4976, 12, 12]


def test_fewer_distinct_rows_than_clusters_still_groups():
    found = feature_groups(np.repeat([[0.0, 0.0], [1.0, 0.0]], 3, axis=0), np.array([1.0, 0.1]), n_clusters=4)
    assert found.n_clusters == 2


def test_matching_undoes_a_change_of_names(rng):
    reference = rng.integers(3, size=50)
    renamed = np.array([2, 0, 1])[reference]
    np.testing.assert_array_equal(matched(renamed, reference), reference)


def test_the_same_vectors_fall_into_the_same_groups(vectors):
    reference = feature_groups(*vectors)
    assert same_group(*vectors, reference, 1).mean() > 0.98


def test_an_average_feature_scores_one(rng):
    found = scores(rng.normal(size=(50, 3)), np.array([0.5, 0.2, 0.1]))
    assert np.mean(found**2) == pytest.approx(1.0)


def test_scores_are_norms_of_rows_weighted_by_sigma():
    found = scores(np.array([[3.0, 0.0], [0.0, 8.0], [0.0, 0.0]]), np.array([1.0, 0.5]))
    np.testing.assert_allclose(found, np.array([3.0, 4.0, 0.0]) / np.sqrt(25 / 3))
    np.testing.assert_array_equal(scores(np.zeros((4, 2)), np.ones(2)), 0.0)


def test_without_a_leading_vector_nothing_is_refined(rng):
    """Also where the features of the background co-vary in this condition only."""
    x = rng.normal(size=(2, 100, 40))
    x[0, :, :30] += rng.normal(size=(100, 1))
    own, other = related(x)
    none = FeatureGroups(np.zeros(40, dtype=int), np.ones(40), 0, 1)
    found = refined(none, rng.normal(size=(40, 3)), np.ones(3), own=own, others=[other])
    assert found.n_clusters == 1
    assert not found.labels.any()


@pytest.mark.parametrize("n_connected", [0, 60])
def test_the_background_is_a_group_where_it_is_what_is_connected(n_connected, rng):
    """Vectors may point to the features that a factor of most features leaves out; they are no group by themselves."""
    x = rng.normal(size=(2, 150, 100))
    x[0, :, :n_connected] += rng.normal(size=(150, 1))
    own, other = related(x)
    vectors = (np.arange(100) >= 60).astype(float)[:, None] + 0.01 * rng.normal(size=(100, 1))
    pointed = FeatureGroups((np.arange(100) >= 60).astype(int), np.abs(vectors[:, 0]), 1, 2)
    found = refined(pointed, vectors, np.ones(1), own=own, others=[other])
    assert found.labels.tolist() == [1] * n_connected + [0] * (100 - n_connected)


@pytest.mark.parametrize("n_groups", [2, 5])
@pytest.mark.parametrize("kind", ["spread", "alone", "duplicates"])
def test_silhouettes_are_those_of_scikit_learn(n_groups, kind, rng):
    from sklearn.metrics import silhouette_score

    rows = rng.normal(size=(60, 2))
    labels = rng.integers(0, n_groups, 60)
    if kind == "alone":
        labels[7] = n_groups
    if kind == "duplicates":
        rows[:30] = rows[0]
        labels[:30] = 0
    (ours,) = module._silhouettes(rows, [labels], 0)
    assert ours == pytest.approx(silhouette_score(rows, labels), abs=1e-12)


def test_distances_are_computed_once_for_all_numbers_of_groups(vectors, monkeypatch):
    """The work, counted: one matrix of distances, whatever the number of silhouettes."""
    from sklearn.metrics import pairwise

    calls, whole = [], pairwise.euclidean_distances

    def counted(rows):
        calls.append(len(rows))
        return whole(rows)

    monkeypatch.setattr(pairwise, "euclidean_distances", counted)
    module.feature_groups(*vectors)
    assert calls == [200]
