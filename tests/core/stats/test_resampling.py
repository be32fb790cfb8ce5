import joblib
import numpy as np
import pytest

from diffnb.core.runtime.threads import n_workers
from diffnb.core.stats import resampling


def test_permuted_rows_are_assigned_to_one_condition_each(rng):
    assigned = resampling.permuted_rows([5, 3, 4], rng)
    assert [len(rows) for rows in assigned] == [5, 3, 4]
    assert sorted(np.concatenate(assigned)) == list(range(12))


def test_whole_samples_move_together(rng):
    samples = [np.array([0, 0, 0, 1, 1]), np.array([2, 2, 3])]
    sample_of_row = np.concatenate(samples)
    for _ in range(20):
        assigned = resampling.permuted_samples(samples, rng)
        codes = [set(sample_of_row[rows]) for rows in assigned]
        assert [len(c) for c in codes] == [2, 2]
        assert codes[0].isdisjoint(codes[1])
        assert sum(len(rows) for rows in assigned) == 8


def test_bootstrap_of_samples_draws_whole_samples(rng):
    samples = np.array([0, 0, 1, 1, 1, 2])
    rows = resampling.bootstrap_rows(6, rng, samples=samples)
    for name, size in ((0, 2), (1, 3), (2, 1)):
        assert (samples[rows] == name).sum() % size == 0


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_draws_do_not_depend_on_jobs(n_jobs):
    seeds = np.random.SeedSequence(5).spawn(6)
    drawn = resampling.map_draws(lambda rng: float(rng.normal()), seeds, n_jobs=n_jobs)
    assert drawn == [float(np.random.default_rng(s).normal()) for s in seeds]


def test_concurrent_draws_start_no_threads():
    seeds = np.random.SeedSequence(5).spawn(4)
    assert resampling.map_draws(lambda _: n_workers(), seeds, n_jobs=2) == [1] * 4


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_items_are_mapped_in_their_order(n_jobs):
    assert resampling.map_items(sum, [[1, 2], [3], [4, 5, 6]], n_jobs=n_jobs) == [3, 3, 15]


def test_rows_are_permuted_within_strata_only():
    strata = [np.array([0, 0, 0, 1, 1]), np.array([0, 1, 1, 1])]
    condition, stratum = np.repeat([0, 1], [5, 4]), np.concatenate(strata)
    seen = set()
    for seed in range(200):
        rows = resampling.permuted_rows([5, 4], np.random.default_rng(seed), strata=strata)
        assert sorted(np.concatenate(rows)) == list(range(9))
        for number, own in enumerate(rows):
            counts = np.bincount(stratum[own], minlength=2)
            np.testing.assert_array_equal(counts, np.bincount(stratum[condition == number], minlength=2))
        seen.add(tuple(rows[0]))
    assert len(seen) == 4 * 10  # 3 of 4 observations of one stratum, 2 of 5 of the other


def test_samples_are_permuted_whole_within_strata_only():
    samples = [np.array([0, 0, 1, 2, 2]), np.array([3, 3, 4, 5])]
    of_sample = np.array([0, 0, 1, 0, 1, 1])
    strata = [of_sample[codes] for codes in samples]
    together = np.concatenate(samples)
    seen = set()
    for seed in range(200):
        rows = resampling.permuted_samples(samples, np.random.default_rng(seed), strata=strata)
        assert sorted(np.concatenate(rows)) == list(range(9))
        names = np.unique(together[rows[0]])
        assert set(together[rows[1]]).isdisjoint(names)
        np.testing.assert_array_equal(np.bincount(of_sample[names]), [2, 1])
        seen.add(tuple(names))
    assert len(seen) == 3 * 3


def test_every_assignment_of_samples_is_listed_once():
    samples = [np.array([0, 0, 1, 2, 2]), np.array([3, 3, 4, 5])]
    found = resampling.every_assignment(samples, 20)
    assert len(found) == 20
    assert len({tuple(rows[0]) for rows in found}) == 20
    drawn = {tuple(resampling.permuted_samples(samples, np.random.default_rng(seed))[0]) for seed in range(300)}
    assert drawn == {tuple(rows[0]) for rows in found}
    assert resampling.every_assignment(samples, 19) is None


def test_every_assignment_stays_within_strata_and_needs_samples_of_one_condition():
    samples = [np.array([0, 0, 1, 2, 2]), np.array([3, 3, 4, 5])]
    of_sample = np.array([0, 0, 1, 0, 1, 1])
    found = resampling.every_assignment(samples, 99, strata=[of_sample[codes] for codes in samples])
    assert len(found) == 3 * 3
    assert resampling.every_assignment([np.array([0, 1]), np.array([1, 2])], 99) is None


@pytest.mark.parametrize("sizes", [(4000, 4000), (4001, 3999), (3000, 5000), (2000, 6000)])
def test_blocks_are_of_one_condition_and_of_nearly_one_size(sizes, rng):
    blocks = resampling.random_blocks(sizes, rng)
    assert [len(codes) for codes in blocks] == list(sizes)
    assert not np.intersect1d(*blocks).size
    heights = np.bincount(np.concatenate(blocks))
    assert heights.min() >= 200
    assert heights.max() <= 1.16 * heights.min()


@pytest.mark.parametrize("sizes", [(1000, 1000), (500, 8000), (9000, 9000, 9000)])
def test_few_observations_unequal_and_many_conditions_are_not_in_blocks(sizes, rng):
    assert resampling.random_blocks(sizes, rng) == []


def test_permuted_blocks_mix_conditions_as_permuted_rows_do(rng):
    """Share of the first condition that stays: the mean of permuted rows, and wider by the size of blocks."""
    blocks = resampling.random_blocks((1600, 1600), rng)
    stays = [np.mean(resampling.permuted_samples(blocks, rng)[0] < 1600) for _ in range(400)]
    assert np.mean(stays) == pytest.approx(0.5, abs=0.02)
    assert np.std(stays) == pytest.approx(0.5 / np.sqrt(15), rel=0.2)
    members = np.mean(
        [np.isin(np.arange(3200), resampling.permuted_samples(blocks, rng)[0]) for _ in range(400)], axis=0
    )
    assert members.std() < 0.05  # every observation is in either condition equally often


def test_every_assignment_keeps_the_numbers_of_samples_of_each_condition():
    samples = [np.array([0, 0, 1, 2]), np.array([3, 4, 4])]
    names = np.concatenate(samples)
    found = resampling.every_assignment(samples, 10)
    assert len(found) == 10
    for rows in found:
        assert [len(np.unique(names[own])) for own in rows] == [3, 2]
        np.testing.assert_array_equal(np.sort(np.concatenate(rows)), np.arange(7))


def test_items_lost_with_a_worker_are_sent_again_and_no_other(monkeypatch):
    class CommClosedError(OSError):
        """As dask.distributed names it."""

    calls, losses = [], [2, 5]

    def once(item):
        calls.append(item)
        if losses and item == losses[0]:
            losses.pop(0)
            raise CommClosedError
        return item**2

    monkeypatch.setattr(resampling, "_call", lambda task, item: once(item))
    with joblib.parallel_config("threading"):
        assert resampling.map_items(once, list(range(8)), n_jobs=2) == [i**2 for i in range(8)]
    assert not losses


def test_other_errors_are_raised_as_they_are():
    def fails(item):
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        resampling.map_items(fails, [1, 2], n_jobs=2)
