from dataclasses import replace

import numpy as np
import pytest

from diffnb.core.dufs import train as module
from diffnb.core.dufs.batches import standardized_batches
from diffnb.core.dufs.smoothness import GraphOptions
from diffnb.core.dufs.train import WARM_START_PENALTIES, DufsOptions, DufsSettings, fit_dufs
from diffnb.core.runtime.seeds import generator
from diffnb.core.runtime.threads import n_workers


def planted(rng, n=60, d=20, own=3):
    """Features of which the first share a factor, all with mean 3 and spread 2."""
    x = rng.normal(size=(n, d))
    x[:, :own] = x[:, :own] * 0.3 + rng.normal(size=(n, 1))
    return 3 + 2 * x


def leading(found, k):
    return set(np.argsort(-found.mu)[:k])


@pytest.mark.parametrize("seed", range(5))
def test_features_that_share_a_factor_are_found_and_no_other(seed):
    found = fit_dufs(planted(np.random.default_rng(seed)), DufsOptions(seed=seed))
    assert set(np.flatnonzero(found.mu > 0)) == {0, 1, 2}
    assert found.loss[-1] < found.loss[0]


def test_the_same_seed_gives_the_same_answer(rng):
    x = planted(rng)
    options = DufsOptions(gates="per_sample", batch_size=25, n_steps=5, seed=3)
    np.testing.assert_array_equal(fit_dufs(x, options).mu, fit_dufs(x, options).mu)
    other = DufsOptions(gates="per_sample", batch_size=25, n_steps=5, seed=4)
    assert not np.array_equal(fit_dufs(x, options).mu, fit_dufs(x, other).mu)


@pytest.mark.parametrize("batch_size", ["auto", 20])
def test_every_kind_of_array_gives_the_same(array_type, batch_size, rng):
    x = rng.poisson(1.0, size=(45, 12)).astype(np.float64)
    options = DufsOptions(n_steps=6, batch_size=batch_size)
    np.testing.assert_allclose(fit_dufs(array_type(x), options).mu, fit_dufs(x, options).mu, atol=1e-10)


@pytest.mark.parametrize("gates", ["deterministic", "per_sample", "per_feature"])
@pytest.mark.parametrize("optimizer", ["normalized", "adam", "sgd"])
def test_training_lowers_the_loss(gates, optimizer, rng):
    rate = {"normalized": 0.05, "adam": 0.05, "sgd": 30.0}[optimizer]
    options = DufsOptions(gates=gates, optimizer=optimizer, learning_rate=rate, n_steps=60, early_stopping=False)
    found = fit_dufs(planted(rng), options)
    assert len(found.loss) == 60
    assert found.loss[-10:].mean() < found.loss[:10].mean()


def test_scale_and_shift_of_features_do_not_matter_when_standardised(rng):
    x = planted(rng)
    options = DufsOptions(n_steps=10)
    moved = x * rng.uniform(1, 50, size=20) + rng.normal(size=20)
    np.testing.assert_allclose(fit_dufs(moved, options).mu, fit_dufs(x, options).mu, atol=1e-6)
    assert not np.allclose(
        fit_dufs(moved, DufsOptions(n_steps=10, standardize=None)).mu,
        fit_dufs(x, DufsOptions(n_steps=10, standardize=None)).mu,
    )


def test_a_larger_penalty_opens_fewer_gates(rng):
    x = planted(rng)
    opened = [fit_dufs(x, DufsOptions(penalty=penalty, n_steps=80)).open[-1] for penalty in (0.0, 1.0, 30.0)]
    assert opened[0] > opened[1] > opened[2]


def test_the_penalty_means_the_same_whatever_the_scale_of_the_data(rng):
    x = planted(rng)
    found = [fit_dufs(c * x, DufsOptions(penalty=0.5, standardize=None, n_steps=10)).mu for c in (1.0, 100.0)]
    np.testing.assert_allclose(found[0], found[1], atol=1e-8)


def test_the_warm_start_takes_the_penalty_with_the_smoothest_features(rng):
    x = planted(rng)
    found = fit_dufs(x, DufsOptions(penalty="warm", n_features=3, n_steps=40, early_stopping=False))
    warm = found.warm_start
    assert len(warm.penalties) == len(warm.scores) == len(WARM_START_PENALTIES)
    assert found.settings.penalty == warm.penalties[np.argmax(warm.scores)]
    assert len(found.loss) == 80  # trained on from where that penalty led
    assert leading(found, 3) == {0, 1, 2}


def test_of_several_starts_the_lowest_loss_is_kept(rng):
    x = planted(rng)
    asked = {"gates": "per_sample", "n_steps": 25, "early_stopping": False, "adapt_scale": False}
    data = standardized_batches(x)
    starts = [module._Start(0, number) for number in range(3)]
    each = [module._train_start(data, DufsOptions(**asked), start, lambda: None) for start in starts]
    best = min(each, key=lambda one: one.final_loss)
    np.testing.assert_array_equal(fit_dufs(x, DufsOptions(**asked, n_restarts=3)).mu, best.mu)


def test_training_stops_when_it_no_longer_improves(rng):
    x = planted(rng)
    stopped, gone_on = (fit_dufs(x, DufsOptions(n_steps=400, early_stopping=early)) for early in (True, False))
    assert len(stopped.loss) < len(gone_on.loss) == 400
    assert set(np.flatnonzero(stopped.mu > 0)) == set(np.flatnonzero(gone_on.mu > 0))


def test_the_kernel_is_narrowed_where_all_gates_close(rng):
    x = planted(rng, n=100, d=60)
    fixed, adapted = (fit_dufs(x, DufsOptions(adapt_scale=adapt)) for adapt in (False, True))
    assert fixed.settings.scale == 5.0
    assert not (fixed.mu > 0).any()
    assert adapted.settings.scale < 5.0
    assert leading(adapted, 3) == {0, 1, 2}


def test_where_no_kernel_distinguishes_features_the_one_asked_for_is_used(rng):
    x = np.repeat(rng.normal(size=(30, 1)), 4, axis=1)
    found = fit_dufs(x, DufsOptions())
    assert found.settings.scale == 5.0
    assert (found.mu > 0).all()


def test_a_feature_whose_spread_is_rounding_gives_finite_gates(rng):
    x = rng.normal(size=(20, 3))
    x[:, 1] = 1e9 + 1e-8 * x[:, 1]
    assert np.isfinite(fit_dufs(x, DufsOptions(n_steps=3)).mu).all()


def test_equal_observations_move_no_gate():
    found = fit_dufs(
        np.ones((5, 3)), DufsOptions(n_steps=3, standardize=None, penalty=0.0, graph=GraphOptions(bandwidth="local"))
    )
    assert np.isfinite(found.mu).all()


def test_progress_is_reported_step_by_step(rng):
    reported = []

    def begin(total):
        return lambda: reported.append(total)

    fit_dufs(planted(rng), DufsOptions(n_steps=7, n_restarts=2, adapt_scale=False), progress=begin)
    assert reported == [14] * 14


def test_without_draws_and_batches_the_seed_changes_nothing(rng):
    x = planted(rng)
    np.testing.assert_array_equal(fit_dufs(x, DufsOptions(seed=1)).mu, fit_dufs(x, DufsOptions(seed=2)).mu)


def test_settings_are_what_was_used(rng):
    x = planted(rng)
    default = fit_dufs(x, DufsOptions()).settings
    assert np.isnan(default.penalty)
    assert replace(default, penalty=0.0) == DufsSettings(3, 3, 60, 5.0, 0.0)
    found = fit_dufs(x, DufsOptions(n_features=7, batch_size=25, n_steps=3, penalty=0.5))
    assert found.settings.n_features == found.selected.sum() == 7
    assert found.settings.batch_size == 25
    assert found.settings.penalty > 0


def test_selected_features_have_the_largest_gates(rng):
    found = fit_dufs(planted(rng), DufsOptions(n_features=4, n_steps=5))
    assert found.gates[found.selected].min() >= found.gates[~found.selected].max()
    automatic = fit_dufs(planted(rng), DufsOptions())
    np.testing.assert_array_equal(automatic.selected, automatic.gates > 0.5)


def test_the_unit_of_the_penalty_is_taken_from_the_first_batch_of_training(rng, monkeypatch):
    x, seen = planted(rng), []
    evaluate = module.evaluate_objective
    monkeypatch.setattr(module, "evaluate_objective", lambda b, *a, **o: seen.append(b) or evaluate(b, *a, **o))
    fit_dufs(x, DufsOptions(penalty=1.0, batch_size=20, n_steps=2, seed=5))
    data = standardized_batches(x, batch_size=20)
    expected = data.endless(generator(5, "batches", 0))
    first, second = next(expected), next(expected)
    np.testing.assert_array_equal(seen, [first, first, second])


def test_batches_of_a_start_do_not_depend_on_noise_of_gates(rng, monkeypatch):
    x, seen = planted(rng), []
    evaluate = module.evaluate_objective
    monkeypatch.setattr(module, "evaluate_objective", lambda b, *a, **o: seen.append(b) or evaluate(b, *a, **o))
    for gates in ("deterministic", "per_sample"):
        fit_dufs(x, DufsOptions(gates=gates, batch_size=20, n_steps=7, adapt_scale=False))
    np.testing.assert_array_equal(seen[:7], seen[7:])


def test_one_job_is_one_thread(rng):
    seen = []
    fit_dufs(planted(rng), DufsOptions(n_steps=1), progress=lambda _: lambda: seen.append(n_workers()), n_jobs=1)
    assert set(seen) == {1}


def test_a_choice_by_gates_keeps_at_least_min_features(rng):
    x = planted(rng)
    for min_features, expected in ((2, 3), (7, 7)):
        fit = fit_dufs(x, DufsOptions(min_features=min_features))
        assert fit.selected.sum() == fit.settings.n_features == expected
        assert fit.settings.n_open == 3
        assert set(np.argsort(-fit.mu)[:expected]) == set(np.flatnonzero(fit.selected))
    assert fit_dufs(x, DufsOptions(n_features=1, min_features=7)).selected.sum() == 1
