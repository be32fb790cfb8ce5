import numpy as np
import pytest

from diffnb.core.stats import resampling as resample


def test_permuted_rows_are_dealt_out_completely(rng):
    dealt = resample.permuted_rows([5, 3, 4], rng)
    assert [len(d) for d in dealt] == [5, 3, 4]
    assert sorted(np.concatenate(dealt)) == list(range(12))


def test_whole_samples_move_together(rng):
    samples = [np.array([0, 0, 0, 1, 1]), np.array([2, 2, 3])]
    everyone = np.concatenate(samples)
    for _ in range(20):
        dealt = resample.permuted_samples(samples, rng)
        owners = [set(everyone[rows]) for rows in dealt]
        assert [len(o) for o in owners] == [2, 2]
        assert owners[0].isdisjoint(owners[1])
        assert sum(len(rows) for rows in dealt) == 8


def test_bootstrap_of_samples_draws_whole_samples(rng):
    samples = np.array([0, 0, 1, 1, 1, 2])
    rows = resample.bootstrap_rows(6, rng, samples=samples)
    for name, size in ((0, 2), (1, 3), (2, 1)):
        assert (samples[rows] == name).sum() % size == 0


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_draws_do_not_depend_on_jobs(n_jobs):
    seeds = np.random.SeedSequence(5).spawn(6)
    drawn = resample.map_draws(lambda rng: float(rng.normal()), seeds, n_jobs=n_jobs)
    assert drawn == [float(np.random.default_rng(s).normal()) for s in seeds]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_items_are_mapped_in_their_order(n_jobs):
    assert resample.map_items(sum, [[1, 2], [3], [4, 5, 6]], n_jobs=n_jobs) == [3, 3, 15]
