"""What groups are like: cohesion in every condition, values per observation."""

import numpy as np

from diffnb.core.disc.group_summary import cohesion, group_values
from diffnb.core.disc.membership import Correlations

LABELS = np.array([0, 1, 1, 1, 2, 2, 0])


def test_cohesion_has_a_row_for_each_group_and_a_column_for_each_condition(rng):
    first, second = rng.normal(size=(2, 50, 7))
    first[:, 1:4] += 2 * rng.normal(size=(50, 1))
    found = cohesion(LABELS, [Correlations.of(first), Correlations.of(second)])
    assert found.shape == (2, 2)
    np.testing.assert_allclose(found[1, 0], np.corrcoef(first[:, 4], first[:, 5])[0, 1], atol=1e-12)
    assert found[0, 0] > 0.7 > found[0, 1]


def test_values_are_means_of_standardised_features(any_array_type, rng):
    x = rng.poisson(2.0, size=(30, 7)).astype(float)
    found = group_values(any_array_type(x), LABELS)
    standardised = (x - x.mean(axis=0)) / x.std(axis=0)
    np.testing.assert_allclose(found[0], standardised[:, 1:4].mean(axis=1), atol=1e-10)
    np.testing.assert_allclose(found[1], standardised[:, 4:6].mean(axis=1), atol=1e-10)
