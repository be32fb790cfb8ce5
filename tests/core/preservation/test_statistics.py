"""Statistics of preservation against the plain transcription of NetRep."""

import numpy as np
import pytest
from reference.preservation import statistics

from diffnb.core.preservation.statistics import STATISTICS, Module, Network, preservation_statistics


def factor_data(rng, loadings, n_obs, n_others):
    x = rng.normal(size=(n_obs, len(loadings) + n_others))
    x[:, : len(loadings)] += rng.normal(size=(n_obs, 1)) * loadings
    return x


@pytest.fixture
def both(rng):
    """A group with strong, weak and negative members, in two data sets."""
    loadings = np.array([2.0, 1.5, 1.0, 0.7, -1.0, -1.5, 0.5])
    return factor_data(rng, loadings, 80, 12), factor_data(rng, loadings, 60, 12)


def computed(reference, query, members, places):
    module = Module.of(np.corrcoef(reference.T)[np.ix_(members, members)])
    return preservation_statistics(module, Network.of(np.corrcoef(query.T)), np.asarray(places))


@pytest.mark.parametrize("places", [list(range(7)), [3, 9, 12, 0, 5, 16, 8]])
def test_all_statistics_equal_the_transcription(both, places):
    expected = statistics(*both, list(range(7)), places)
    assert list(expected) == list(STATISTICS)
    np.testing.assert_allclose(computed(*both, range(7), places), list(expected.values()), rtol=1e-9)


def test_a_group_that_is_there_has_larger_statistics_than_others(both):
    there, elsewhere = computed(*both, range(7), range(7)), computed(*both, range(7), range(10, 17))
    assert (there > elsewhere).all()


def test_turning_the_sign_of_a_feature_in_both_changes_nothing(both):
    turned = [x * np.where(np.arange(19) == 2, -1, 1) for x in both]
    np.testing.assert_allclose(
        computed(*turned, range(7), range(7))[[0, 1, 7]], computed(*both, range(7), range(7))[[0, 1, 7]], rtol=1e-12
    )


def test_equal_features_have_no_pattern():
    flat = np.full((5, 5), 0.5) + 0.5 * np.eye(5)
    found = preservation_statistics(Module.of(flat), Network.of(flat), np.arange(5))
    named = dict(zip(STATISTICS, found, strict=True))
    assert (named["cor_cor"], named["cor_degree"], named["cor_contribution"]) == (0, 0, 0)
    assert named["avg_cor"] == pytest.approx(0.5)
