import os
import subprocess
import sys

import numpy as np
import pytest

from diffnb.core.runtime.progress import bar, progress_callback, quietly
from diffnb.core.stats.resampling import map_draws


@pytest.fixture
def heard():
    return []


def test_without_a_listener_it_is_tqdm():
    from tqdm.auto import tqdm

    made = bar([1, 2], desc="work", disable=True)
    assert isinstance(made, tqdm)
    assert list(made) == [1, 2]


def test_a_listener_hears_every_step_and_nothing_is_drawn(heard, capsys):
    with progress_callback(lambda *told: heard.append(told)):
        assert list(bar(["a", "b"], desc="letters")) == ["a", "b"]
    assert heard == [("letters", 0, 2), ("letters", 1, 2), ("letters", 2, 2)]
    assert capsys.readouterr().err == ""


def test_bars_that_are_too_short_to_draw_are_heard_too(heard):
    with progress_callback(lambda *told: heard.append(told)), bar(total=3, disable=True) as made:
        made.update(2)
        made.set_postfix(loss=1)
        made.set_description("training")
        made.close()
    assert heard == [("", 0, 3), ("", 2, 3), ("training", 2, 3)]


def test_a_bar_over_something_endless_has_no_total(heard):
    with progress_callback(lambda *told: heard.append(told)):
        next(iter(bar(iter([1, 2]))))
    assert heard[0] == ("", 0, 0)


def test_after_listening_it_is_tqdm_again(heard):
    with progress_callback(lambda *told: heard.append(told)):
        pass
    list(bar([1], disable=True))
    assert heard == []


def test_a_listener_that_raises_stops_the_draws():
    class Enough(Exception):
        pass

    def listener(name, done, total):
        if done == 3:
            raise Enough

    drawn = []
    with pytest.raises(Enough), progress_callback(listener):
        map_draws(lambda rng: drawn.append(rng.random()), np.random.SeedSequence(0).spawn(100), progress="draws")
    assert len(drawn) == 3


def test_bars_within_a_step_of_other_work_are_not_drawn(heard, capsys):
    with progress_callback(lambda *told: heard.append(told)), quietly():
        assert list(bar([1, 2], desc="inner")) == [1, 2]
    assert heard == []
    assert capsys.readouterr().err == ""


def test_bars_stay_away_where_the_environment_says_so():
    code = "from diffnb.core.runtime.progress import bar; list(bar(range(3), desc='work'))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TQDM_DISABLE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "work" not in done.stderr
