"""Arguments become options in one place; errors name the argument and what is allowed."""

from types import SimpleNamespace

import pytest

import diffnb as dn
from diffnb import _options as options

DISC = SimpleNamespace(**dn.sklearn.DiSC().get_params())
DUFS = SimpleNamespace(**dn.sklearn.DUFS().get_params())
SPARDA = SimpleNamespace(**dn.sklearn.SPARDA().get_params())


def changed(given, **values):
    return SimpleNamespace(**{**vars(given), **values})


@pytest.mark.parametrize(
    ("question", "standardize", "null"),
    [("relations", "within", "connectivity"), ("any difference", None, "labels")],
)
def test_the_question_decides_what_is_left_open(question, standardize, null):
    found = options.disc_options(changed(DISC, question=question), ["a", "b"], 30)
    assert (found.disc.graph.standardize, found.null) == (standardize, null)
    explicit = options.disc_options(
        changed(DISC, question=question, standardize="global", null="labels"), ["a", "b"], 30
    )
    assert (explicit.disc.graph.standardize, explicit.null) == ("global", "labels")


@pytest.mark.parametrize(("min_obs", "n_obs", "least"), [("auto", 50, 5), ("auto", 900, 20), (0, 50, 0), (7, 900, 7)])
def test_a_tenth_of_the_observations_or_twenty_have_to_show_a_feature(min_obs, n_obs, least):
    assert options.frequent_enough(min_obs)(n_obs) == least


def test_numbers_of_eigenvectors_may_be_given_per_condition():
    given = changed(DISC, n_eigenvectors={"b": 4, "a": 3})
    assert options.disc_options(given, ["a", "b"], 30).disc.n_eigenvectors == (3, 4)
    with pytest.raises(ValueError, match="gives no number for 'c'"):
        options.disc_options(given, ["a", "c"], 30)


def test_known_clusters_are_counted_by_the_caller():
    given = SimpleNamespace(
        **dn.sklearn.InformedDistance(n_clusters="pathway").get_params(), local=False, clustering="shared", full="auto"
    )
    assert options.informed_options(given, 50, 30, n_clusters=7).n_clusters == 7


@pytest.mark.parametrize(
    ("n_features", "expected"), [("all", None), ("auto", "auto"), (3, 3)], ids=["all", "auto", "three"]
)
def test_all_features_are_no_limit(n_features, expected):
    assert options.sparda_options(SPARDA, n_features, 10).n_features == expected


def test_a_penalty_that_is_searched_needs_a_number_of_features():
    with pytest.raises(ValueError, match="penalty='warm' finds the penalty for a number of features: give n_features"):
        options.dufs_options(changed(DUFS, penalty="warm"), 50, 10)
    assert options.dufs_options(changed(DUFS, penalty="warm", n_features=3), 50, 10).penalty == "warm"


@pytest.mark.parametrize(("batch_size", "n_obs", "used"), [("auto", 1000, 1000), ("auto", 1001, 500), (200, 100, 100)])
def test_batches_are_taken_beyond_a_thousand_observations(batch_size, n_obs, used):
    assert options.dufs_options(changed(DUFS, batch_size=batch_size), n_obs, 10).batch_size == used


def test_components_that_cannot_be_reached_are_reported():
    with pytest.warns(UserWarning, match="n_components=7: 5 features have 4 differential vectors at most"):
        found = options.disc_options(changed(DISC, n_components=7), ["a", "b"], 5)
    assert found.disc.n_components == 4
