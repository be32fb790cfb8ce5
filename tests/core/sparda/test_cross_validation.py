import numpy as np
import pytest

from diffnb.core.runtime.seeds import generator
from diffnb.core.sparda.coupling import Coupling, wasserstein
from diffnb.core.sparda.cross_validation import (
    N_HELD_OUT_PERMUTATIONS,
    N_REPEATS,
    CrossValidation,
    _folds_of_rows,
    _folds_of_samples,
    _permuted_divergences,
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


def test_permuted_divergences_are_those_of_permuted_labels(rng):
    """Every row with the labels of its fold, the plain way: pool, draw, compare."""
    u, v, fold_of_row = rng.normal(size=(4, 9)), rng.normal(size=(4, 6)), np.array([0, 0, 1, 1])
    coupling, divergence = Coupling.of(9, 6), DIVERGENCES["wasserstein2"]
    null = _permuted_divergences(u, v, fold_of_row, divergence, coupling, np.random.default_rng(5))
    again, labels = np.random.default_rng(5), np.tile(np.arange(15) < 9, (2, 1))
    pooled = np.concatenate([u, v], axis=1)
    for values in null:
        drawn = again.permuted(labels, axis=1)[fold_of_row]
        expected = [wasserstein(row[is_first], row[~is_first]) for row, is_first in zip(pooled, drawn, strict=True)]
        np.testing.assert_allclose(values, expected, rtol=1e-12)


def test_chance_is_what_two_samples_of_one_distribution_differ_by(rng):
    """Held-out objectives of equal populations are those of permuted labels, on average."""
    x, y = rng.normal(size=(300, 6)), rng.normal(size=(300, 6))
    found = cross_validate(labelings_of(x, y), np.array([2, 6]), PathSettings())
    assert found.null.shape == (N_HELD_OUT_PERMUTATIONS, 10 * N_REPEATS, 2)
    np.testing.assert_allclose(found.objective.mean(axis=0), found.chance.mean(axis=0), rtol=0.3)


def test_repeats_do_not_reduce_the_standard_error():
    once = np.array([[1.0], [3.0], [2.0], [2.0]])
    single = CrossValidation(once, np.zeros((1, 4, 1)), 1)
    thrice = CrossValidation(np.tile(once, (3, 1)), np.zeros((1, 12, 1)), 3)
    assert thrice.n_folds == single.n_folds == 4
    np.testing.assert_allclose(thrice.standard_error(thrice.objective), single.standard_error(once))
    np.testing.assert_allclose(single.standard_error(once), once.std() / 2)
