from dataclasses import FrozenInstanceError, fields

import pytest

from diffnb.core.disc.settings import (
    DiscOptions,
    DiscSettings,
    FeatureGraphOptions,
    FeatureGraphSettings,
    kept_neighbors,
)


def test_a_graph_keeps_twice_the_neighbours_that_set_the_bandwidth():
    assert kept_neighbors(7, 100) == 14
    assert kept_neighbors(7, 10) == 9


@pytest.mark.parametrize(
    ("options", "settings"), [(FeatureGraphOptions, FeatureGraphSettings), (DiscOptions, DiscSettings)]
)
def test_settings_have_the_fields_of_the_options(options, settings):
    assert {f.name for f in fields(options)} == {f.name for f in fields(settings)}


@pytest.mark.parametrize("options", [FeatureGraphOptions, FeatureGraphSettings])
def test_all_that_is_not_open_has_one_default(options):
    defaults = {f.name: f.default for f in fields(options)}
    assert (defaults["metric"], defaults["kernel"]) == ("euclidean", "self_tuning")
    assert (defaults["standardize"], defaults["density_normalize"], defaults["seed"]) == (None, True, 0)


def test_settings_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        DiscSettings(FeatureGraphSettings(6), (4, 4)).n_components = 3


def test_one_seed_is_used_for_graph_and_vectors():
    assert DiscSettings(FeatureGraphSettings(6, seed=5), (4, 4)).seed == 5
