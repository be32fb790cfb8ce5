import numpy as np
import pytest

from diffnb.core.runtime.seeds import generator
from diffnb.core.sparda.coupling import wasserstein
from diffnb.core.sparda.cross_validation import (
    N_REPEATS,
    CrossValidation,
    _folds_of_rows,
    _folds_of_samples,
    cross_validate,
    n_folds,
)
from diffnb.core.sparda.divergence import DIVERGENCES
from diffnb.core.sparda.fit import SpardaOptions, fit_sparda
from diffnb.core.sparda.labelings import labelings_of
from diffnb.core.sparda.path import PathSettings, fit_path, k_grid


@pytest.fixture
def populations(rng):
    """The second sample is wider along features 0 to 3."""
    x, y = rng.normal(size=(40, 12)), rng.normal(size=(55, 12))
    y[:, :4] += 1.2 * rng.normal(size=(55, 1))
    return x, y


def test_small_populations_have_fewer_folds_and_large_ones_ten():
    assert n_folds(1000, 1000) == 10
    assert n_folds(100, 300) == 10
    assert n_folds(70, 300) == 7
    assert n_folds(40, 300) == 5
    assert n_folds(3, 100) == 3


def test_every_observation_is_held_out_at_most_once_and_not_in_the_fit_then(rng):
    folds = _folds_of_rows(23, 31, rng)
    for population, size in ((0, 23), (1, 31)):
        held_out = np.concatenate([fold.held_out[population] for fold in folds])
        assert len(np.unique(held_out)) == len(held_out) == size // 5 * 5
        for fold in folds:
            assert sorted([*fold.train[population], *fold.held_out[population]]) == list(range(size))


def test_samples_are_held_out_whole(rng):
    samples = [np.repeat([0, 1, 2], [3, 8, 4]), np.repeat([3, 4, 5, 6], 5)]
    folds = _folds_of_samples(samples, rng)
    assert len(folds) == 3
    for fold in folds:
        for population, codes in enumerate(samples):
            assert not set(codes[fold.train[population]]) & set(codes[fold.held_out[population]])
            assert len(fold.train[population]) > 0
            assert len(fold.held_out[population]) > 0


def test_samples_that_hold_both_populations_are_held_out_from_both(rng):
    samples = [np.repeat([0, 1, 2], [3, 8, 4]), np.repeat([0, 1, 2], 5)]
    for fold in _folds_of_samples(samples, rng):
        assert set(samples[0][fold.held_out[0]]) == set(samples[1][fold.held_out[1]])


@pytest.mark.slow
@pytest.mark.parametrize("by_sample", [False, True])
def test_held_out_objectives_are_those_of_directions_fitted_to_the_rest(populations, by_sample):
    """Fold after fold, with the exact distance of single samples: the plain way."""
    x, y = populations
    samples = [np.arange(40) // 10, 100 + np.arange(55) // 7] if by_sample else []
    labelings, ks, settings = labelings_of(x, y, standardize=None), k_grid(12), PathSettings(seed=3)
    table = cross_validate(labelings, ks, settings, samples=samples).objective
    rng = generator(3, "folds", 12)
    expected = []
    for _ in range(N_REPEATS):
        folds = _folds_of_samples(samples, rng) if by_sample else _folds_of_rows(40, 55, rng)
        for fold in sorted(folds, key=lambda fold: fold.sizes):
            train = labelings_of(x[fold.train[0]], y[fold.train[1]], standardize=None)
            weights = fit_path(train, ks, settings).weights[0]
            u, v = x[fold.held_out[0]] @ weights.T, y[fold.held_out[1]] @ weights.T
            expected.append([wasserstein(u[:, i], v[:, i]) for i in range(len(ks))])
    np.testing.assert_allclose(table, expected, rtol=1e-9)


@pytest.mark.slow
def test_cross_validation_finds_the_number_of_features():
    """Always all six, in most of the draws no other, never more than two others."""
    others = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(300, 40)), rng.normal(size=(300, 40))
        y[:, :6] = np.sqrt(0.5) * (y[:, :6] + rng.normal(size=(300, 1)))
        found = fit_sparda(x, y, SpardaOptions()).projections[0]
        chosen = np.flatnonzero(found.weights).tolist()
        assert chosen[:6] == list(range(6))
        assert np.isfinite(found.held_out_sd).all()
        others.append(len(chosen) - 6)
    assert others.count(0) >= 3
    assert max(others) <= 2


def test_a_difference_of_a_single_sample_is_not_found_in_others(rng):
    """One donor of six carries a strong factor: cells held out find it again, donors held out do not."""
    donors = [np.repeat(np.arange(6), 30), np.repeat(np.arange(6, 12), 30)]
    x, y = rng.normal(size=(180, 30)), rng.normal(size=(180, 30))
    y[donors[1] == 8, :5] += 4.0
    y[:, 10:13] += 1.0
    labelings, ks = labelings_of(x, y), np.array([3, 30])
    cells, whole = (
        cross_validate(labelings, ks, PathSettings(), samples=s).objective.mean(axis=0) for s in ([], donors)
    )
    direction = fit_path(labelings, ks, PathSettings()).weights[0, 0]
    assert set(np.flatnonzero(direction)) <= {0, 1, 2, 3, 4}
    assert whole[0] < 0.7 * cells[0]


@pytest.mark.parametrize("name", list(DIVERGENCES))
def test_every_divergence_can_be_held_out(populations, name):
    table = cross_validate(labelings_of(*populations), np.array([2, 12]), PathSettings(DIVERGENCES[name])).objective
    assert table.shape == (5 * N_REPEATS, 2)
    assert (table >= 0).all()


def test_the_least_number_that_falls_short_by_chance_only_is_chosen(rng):
    """The top is flat: up to a quarter of a standard error below the best counts as equally good."""
    noise = 0.1 * rng.normal(size=(10, 1))
    noise -= noise.mean()
    height = np.array([0.5, 1.0, 1.001, 0.9])
    steady = CrossValidation(height + noise, 1)
    assert steady.smallest_sufficient() == 2, "folds agree: the best is the best"
    apart = noise * np.array([1.0, -1.0, 1.0, 1.0])
    assert CrossValidation(height + apart, 1).smallest_sufficient() == 1, "folds disagree by more than the difference"
    assert CrossValidation(np.tile(steady.objective, (3, 1)), 3).smallest_sufficient() == 2


def test_equal_heights_take_the_fewest():
    assert CrossValidation(np.ones((5, 4)), 1).smallest_sufficient() == 0
