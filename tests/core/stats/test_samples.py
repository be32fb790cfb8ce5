import numpy as np
import pytest

from diffnb.core.stats.samples import nested, sample_counts


def test_observations_are_counted_per_condition_and_sample():
    counts = sample_counts([np.array([0, 0, 2]), np.array([1, 2, 2, 2])])
    np.testing.assert_array_equal(counts, [[2, 0, 1], [0, 1, 3]])


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ([[0, 0, 1], [2, 3, 3]], True),
        ([[0, 1], [1, 2]], False),
        ([[0, 1], [0, 1]], False),
        ([[0], [1], [2, 0]], False),
    ],
)
def test_samples_are_nested_when_each_is_in_one_condition(samples, expected):
    assert nested([np.array(codes) for codes in samples]) is expected
