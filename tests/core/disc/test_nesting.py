"""Groups within groups."""

import numpy as np

from diffnb.core.disc.nesting import nested, subgroups


def two_levels(rng, n_obs=400):
    """Twenty features share a factor; the first and the last ten have a stronger one each, too."""
    x = rng.normal(size=(n_obs, 20)) + 0.3 * rng.normal(size=(n_obs, 1))
    x[:, :12] += 1.5 * rng.normal(size=(n_obs, 1))
    x[:, 12:] += 1.5 * rng.normal(size=(n_obs, 1))
    return np.corrcoef(x.T)


def test_parts_with_factors_apart_are_subgroups_the_larger_first(rng):
    paths = nested(two_levels(rng))
    assert paths[:12] == [(1,)] * 12
    assert paths[12:] == [(2,)] * 8


def test_subgroups_are_split_again(rng):
    x = rng.normal(size=(500, 24))
    x[:, :16] += 1.0 * rng.normal(size=(500, 1))
    for part in (slice(0, 10), slice(10, 16), slice(16, 24)):
        x[:, part] += 2.5 * rng.normal(size=(500, 1))
    paths = nested(np.corrcoef(x.T))
    assert paths[0] == (1, 1)
    assert paths[10] == (1, 2)
    assert paths[16] == (2,)


def test_a_group_with_one_factor_is_not_split_however_weak(rng):
    for strength in (0.4, 1.0, 3.0):
        x = rng.normal(size=(300, 40)) + strength * rng.normal(size=(300, 1))
        assert nested(np.corrcoef(x.T)) == [()] * 40


def test_a_small_group_is_not_split():
    assert nested(np.eye(9)) == [()] * 9


def test_subgroups_are_sought_within_each_group(any_array_type, rng):
    x = rng.poisson(3.0, size=(300, 40)).astype(float)
    for part in (slice(0, 8), slice(8, 16), slice(20, 36)):
        x[:, part] += rng.poisson(20.0, size=(300, 1))
    labels = np.zeros(40, dtype=int)
    labels[:16], labels[20:36] = 1, 2
    paths = subgroups(any_array_type(x), labels)
    assert sorted(set(paths[:16])) == [(1,), (2,)]
    assert set(paths[16:]) == {()}
