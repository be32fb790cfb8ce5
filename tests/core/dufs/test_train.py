import numpy as np
import pytest
import scipy.sparse as sp

from diffnb.core.dufs import train as module
from diffnb.core.dufs.smoothness import Graph
from diffnb.core.dufs.train import WARM, Settings, dufs, observations


def planted(rng, n=60, d=20, own=3):
    """Features of which the first share a factor, all with mean 3 and spread 2."""
    x = rng.normal(size=(n, d))
    x[:, :own] = x[:, :own] * 0.3 + rng.normal(size=(n, 1))
    return 3 + 2 * x


def leading(found, k):
    return set(np.argsort(-found.mu)[:k])


@pytest.mark.parametrize("seed", range(5))
def test_features_that_share_a_factor_are_found_and_no_other(seed):
    found = dufs(planted(np.random.default_rng(seed)), Settings(seed=seed))
    assert set(np.flatnonzero(found.mu > 0)) == {0, 1, 2}
    assert found.loss[-1] < found.loss[0]


def test_the_same_seed_gives_the_same_answer(rng):
    x = planted(rng)
    settings = Settings(gates="per_sample", batch_size=25, n_steps=5, seed=3)
    np.testing.assert_array_equal(dufs(x, settings).mu, dufs(x, settings).mu)
    other = Settings(gates="per_sample", batch_size=25, n_steps=5, seed=4)
    assert not np.array_equal(dufs(x, settings).mu, dufs(x, other).mu)


@pytest.mark.parametrize("batch_size", [None, 20])
def test_every_kind_of_array_gives_the_same(array_type, batch_size, rng):
    x = rng.poisson(1.0, size=(45, 12)).astype(np.float64)
    settings = Settings(n_steps=6, batch_size=batch_size)
    np.testing.assert_allclose(dufs(array_type(x), settings).mu, dufs(x, settings).mu, atol=1e-10)


@pytest.mark.parametrize("gates", ["deterministic", "per_sample", "per_feature"])
@pytest.mark.parametrize("optimizer", ["normalized", "adam", "sgd"])
def test_training_lowers_the_loss(gates, optimizer, rng):
    rate = {"normalized": 0.05, "adam": 0.05, "sgd": 30.0}[optimizer]
    settings = Settings(gates=gates, optimizer=optimizer, learning_rate=rate, n_steps=60, early_stopping=False)
    found = dufs(planted(rng), settings)
    assert len(found.loss) == 60
    assert found.loss[-10:].mean() < found.loss[:10].mean()


def test_scale_and_shift_of_features_do_not_matter_when_standardised(rng):
    x = planted(rng)
    settings = Settings(n_steps=10)
    moved = x * rng.uniform(1, 50, size=20) + rng.normal(size=20)
    np.testing.assert_allclose(dufs(moved, settings).mu, dufs(x, settings).mu, atol=1e-6)
    assert not np.allclose(
        dufs(moved, Settings(n_steps=10, standardize=None)).mu, dufs(x, Settings(n_steps=10, standardize=None)).mu
    )


def test_a_larger_penalty_opens_fewer_gates(rng):
    x = planted(rng)
    opened = [dufs(x, Settings(penalty=penalty, n_steps=80)).open[-1] for penalty in (0.0, 1.0, 30.0)]
    assert opened[0] > opened[1] > opened[2]


def test_the_penalty_means_the_same_whatever_the_scale_of_the_data(rng):
    x = planted(rng)
    found = [dufs(c * x, Settings(penalty=0.5, standardize=None, n_steps=10)).mu for c in (1.0, 100.0)]
    np.testing.assert_allclose(found[0], found[1], atol=1e-8)


def test_the_warm_start_takes_the_penalty_with_the_smoothest_features(rng):
    x = planted(rng)
    found = dufs(x, Settings(penalty="warm", n_features=3, n_steps=40, early_stopping=False))
    assert len(found.tried) == len(found.tried_score) == len(WARM)
    assert found.penalty == found.tried[np.argmax(found.tried_score)]
    assert len(found.loss) == 80  # trained on from where that penalty led
    assert leading(found, 3) == {0, 1, 2}


def test_of_several_starts_the_lowest_loss_is_kept(rng):
    x = planted(rng)
    asked = {"gates": "per_sample", "n_steps": 25, "early_stopping": False, "adapt_scale": False}
    seeds = np.random.SeedSequence(0).spawn(3)
    data = observations(x, standardize="global", batch_size=None)
    spreads = (module.START, module.RESTART, module.RESTART)
    each = [
        module._start(data, Settings(**asked), seed, lambda: None, spread)
        for seed, spread in zip(seeds, spreads, strict=True)
    ]
    best = min(each, key=lambda one: one.final_loss)
    np.testing.assert_array_equal(dufs(x, Settings(**asked, n_restarts=3)).mu, best.mu)


def test_training_stops_when_it_gets_nowhere(rng):
    x = planted(rng)
    stopped, gone_on = (dufs(x, Settings(n_steps=400, early_stopping=early)) for early in (True, False))
    assert len(stopped.loss) < len(gone_on.loss) == 400
    assert set(np.flatnonzero(stopped.mu > 0)) == set(np.flatnonzero(gone_on.mu > 0))


def test_the_kernel_is_narrowed_where_all_gates_close(rng):
    x = planted(rng, n=100, d=60)
    fixed, adapted = (dufs(x, Settings(adapt_scale=adapt)) for adapt in (False, True))
    assert fixed.scale == 5.0
    assert not (fixed.mu > 0).any()
    assert adapted.scale < 5.0
    assert leading(adapted, 3) == {0, 1, 2}


def test_where_no_kernel_tells_features_apart_the_one_asked_for_is_used(rng):
    x = np.repeat(rng.normal(size=(30, 1)), 4, axis=1)
    found = dufs(x, Settings())
    assert found.scale == 5.0
    assert (found.mu > 0).all()


def test_batches_show_every_observation_once_before_any_twice(rng):
    x = np.arange(30.0)[:, None] * np.ones(2)
    data = observations(x, standardize=None, batch_size=10)
    batches = data.batches(np.random.default_rng(0))
    seen = np.concatenate([next(batches)[:, 0] for _ in range(3)])
    np.testing.assert_array_equal(np.sort(seen), np.arange(30))


def test_a_batch_of_all_is_made_dense_once_and_others_never_whole(rng):
    x = sp.random_array((50, 8), density=0.3, rng=rng, format="csc")
    assert observations(x, standardize="global", batch_size=50).whole.shape == (50, 8)
    data = observations(x, standardize="global", batch_size=20)
    assert data.whole is None
    assert sp.issparse(data.x)
    dense = x.toarray()
    expected = (dense - dense.mean(axis=0)) / dense.std(axis=0)
    np.testing.assert_allclose(data.take(np.array([1, 7])), expected[[1, 7]])


def test_a_feature_whose_spread_is_rounding_is_set_to_zero(rng):
    x = rng.normal(size=(20, 3))
    x[:, 1] = 1e9 + 1e-8 * x[:, 1]
    assert np.isfinite(dufs(x, Settings(n_steps=3)).mu).all()
    np.testing.assert_array_equal(observations(x, standardize="global", batch_size=None).whole[:, 1], 0)


def test_equal_observations_move_no_gate():
    found = dufs(np.ones((5, 3)), Settings(n_steps=3, standardize=None, penalty=0.0, graph=Graph(bandwidth="local")))
    assert np.isfinite(found.mu).all()


def test_progress_is_told_step_by_step(rng):
    told = []

    def begin(total):
        return lambda: told.append(total)

    dufs(planted(rng), Settings(n_steps=7, n_restarts=2, adapt_scale=False), progress=begin)
    assert told == [14] * 14


def test_without_draws_and_batches_the_seed_changes_nothing(rng):
    x = planted(rng)
    np.testing.assert_array_equal(dufs(x, Settings(seed=1)).mu, dufs(x, Settings(seed=2)).mu)
