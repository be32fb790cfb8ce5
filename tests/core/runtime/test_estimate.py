"""Warnings of long work, given when its pace is known."""

import warnings

import pytest

from diffnb.core.runtime import estimate
from diffnb.core.stats.resampling import map_items


@pytest.fixture
def clock(monkeypatch):
    """A clock by which every look at it takes two seconds."""
    now = [0.0]

    def tick():
        now[0] += 2.0
        return now[0]

    monkeypatch.setattr(estimate, "perf_counter", tick)


def test_long_work_is_announced_once(clock):
    expected = estimate.TimeEstimate(10_000, "permutations")
    with pytest.warns(UserWarning, match=r"permutations: 10,000 repetitions will take about 6 hours.*n_jobs=-1"):
        expected.after(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected.after(2)


@pytest.mark.parametrize(("total", "name"), [(100, "permutations"), (10_000, None)])
def test_short_work_and_work_without_a_bar_are_not(clock, total, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate.TimeEstimate(total, name).after(1)


def test_permutations_are_watched(clock):
    with pytest.warns(UserWarning, match="test: 3,000 repetitions will take about 100 minutes"):
        assert map_items(abs, range(3000), progress="test") == list(range(3000))


@pytest.mark.parametrize(
    ("seconds", "words"), [(30, "30 seconds"), (600, "10 minutes"), (86400, "24 hours"), (1e6, "12 days")]
)
def test_durations_are_read_in_words(seconds, words):
    assert estimate.described(seconds) == words
