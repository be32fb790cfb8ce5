import numpy as np
import pytest
import scipy.sparse as sp

from diffnb.core.dufs.batches import resolved_batch_size, standardized_batches
from diffnb.core.runtime.seeds import generator


def some_batches(data, count, seed=0):
    batches = data.endless(generator(seed, "batches"))
    return [next(batches) for _ in range(count)]


@pytest.mark.parametrize(
    ("asked", "n_obs", "size"), [("auto", 1000, 1000), ("auto", 1001, 500), (200, 100, 100), (20, 100, 20)]
)
def test_a_batch_is_all_of_few_observations_and_never_more(asked, n_obs, size):
    assert resolved_batch_size(asked, n_obs) == size


def test_batches_show_every_observation_once_before_any_twice():
    x = np.arange(30.0)[:, None] * np.ones(2)
    data = standardized_batches(x, standardize=None, batch_size=10)
    seen = np.concatenate([batch[:, 0] for batch in some_batches(data, 3)])
    np.testing.assert_array_equal(np.sort(seen), np.arange(30))


def test_what_fills_no_batch_is_seen_in_a_later_round():
    data = standardized_batches(np.arange(11.0)[:, None], standardize=None, batch_size=5)
    seen = np.concatenate([batch[:, 0] for batch in some_batches(data, 40)])
    assert set(seen) == set(range(11))


def test_the_first_batch_is_that_of_the_same_stream():
    data = standardized_batches(np.arange(12.0)[:, None], standardize=None, batch_size=5)
    np.testing.assert_array_equal(data.first(generator(3, "batches")), some_batches(data, 1, seed=3)[0])


def test_a_batch_of_all_is_made_dense_once_and_others_never_whole(rng):
    x = sp.random_array((50, 8), density=0.3, rng=rng, format="csc")
    assert standardized_batches(x, batch_size=50).whole.shape == (50, 8)
    data = standardized_batches(x, batch_size=20)
    assert data.whole is None
    assert sp.issparse(data.x)
    dense = x.toarray()
    expected = (dense - dense.mean(axis=0)) / dense.std(axis=0)
    np.testing.assert_allclose(data.take(np.array([1, 7])), expected[[1, 7]])


def test_a_feature_whose_spread_is_rounding_is_set_to_zero(rng):
    x = rng.normal(size=(20, 3))
    x[:, 1] = 1e9 + 1e-8 * x[:, 1]
    np.testing.assert_array_equal(standardized_batches(x).whole[:, 1], 0)


@pytest.mark.parametrize("memory", [4 * 8 * 7 * 3, 2**30])
def test_every_kind_of_array_gives_the_same_batches(any_array_type, memory, rng, set_memory):
    x = rng.poisson(1.0, size=(23, 3)).astype(float)
    other = any_array_type(x)
    set_memory(memory)
    batches = [some_batches(standardized_batches(data, batch_size=7), 8) for data in (x, other)]
    np.testing.assert_allclose(batches[1], batches[0], atol=1e-12)
