import os
import subprocess
import sys

import numpy as np
import pytest

from diffnb.core.runtime.progress import announce, bar, progress_callback, quietly
from diffnb.core.stats.resampling import map_draws


@pytest.fixture
def calls():
    return []


def test_without_a_callback_a_bar_is_tqdm():
    from tqdm.auto import tqdm

    made = bar([1, 2], desc="work", disable=True)
    assert isinstance(made, tqdm)
    assert list(made) == [1, 2]


def test_a_callback_gets_every_step_and_nothing_is_drawn(calls, capsys):
    with progress_callback(lambda *args: calls.append(args)):
        assert list(bar(["a", "b"], desc="letters")) == ["a", "b"]
    assert calls == [("letters", 0, 2), ("letters", 1, 2), ("letters", 2, 2)]
    assert capsys.readouterr().err == ""


def test_bars_that_are_too_short_to_draw_are_reported_too(calls):
    with progress_callback(lambda *args: calls.append(args)), bar(total=3, disable=True) as made:
        made.update(2)
        made.set_postfix(loss=1)
        made.set_description("training")
        made.close()
    assert calls == [("", 0, 3), ("", 2, 3), ("training", 2, 3)]


def test_a_bar_over_an_iterator_has_no_total(calls):
    with progress_callback(lambda *args: calls.append(args)):
        next(iter(bar(iter([1, 2]))))
    assert calls[0] == ("", 0, 0)


def test_after_the_callback_ends_a_bar_is_tqdm_again(calls):
    with progress_callback(lambda *args: calls.append(args)):
        pass
    list(bar([1], disable=True))
    assert calls == []


def test_a_callback_that_raises_interrupts_the_draws():
    class Interrupt(Exception):
        pass

    def callback(name, done, total):
        if done == 3:
            raise Interrupt

    drawn = []
    with pytest.raises(Interrupt), progress_callback(callback):
        map_draws(lambda rng: drawn.append(rng.random()), np.random.SeedSequence(0).spawn(100), progress="draws")
    assert len(drawn) == 3


def test_bars_within_a_task_that_has_a_bar_are_not_drawn(calls, capsys):
    with progress_callback(lambda *args: calls.append(args)), quietly():
        assert list(bar([1, 2], desc="inner")) == [1, 2]
    assert calls == []
    assert capsys.readouterr().err == ""


def test_tqdm_disable_is_respected():
    code = "from diffnb.core.runtime.progress import bar; list(bar(range(3), desc='work'))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TQDM_DISABLE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "work" not in done.stderr


def test_partial_results_are_told_beside_the_progress(calls):
    notes = []
    with progress_callback(lambda *args: calls.append(args), notes.append), bar(total=2, desc="permutations") as made:
        made.set_postfix_str("p so far 0.5")
        made.update()
    assert notes == ["p so far 0.5"]
    assert calls == [("permutations", 0, 2), ("permutations", 1, 2)]
    with progress_callback(lambda *args: None), bar(total=1) as made:
        made.set_postfix_str("nobody listens")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_draws_say_what_they_have_found_so_far(n_jobs):
    seeds, notes = np.random.SeedSequence(0).spawn(4), []
    told = {"progress": "draws", "so_far": lambda results: f"{len(results)} drawn"}
    with progress_callback(lambda *args: None, notes.append):
        map_draws(lambda rng: rng.integers(9), seeds, n_jobs=n_jobs, **told)
    assert notes == ["1 drawn", "2 drawn", "3 drawn", "4 drawn"]


def test_a_step_without_a_bar_is_named_to_a_callback_only(calls, capsys):
    announce("nobody listens")
    with progress_callback(lambda *args: calls.append(args)):
        announce("graphs of features")
        with quietly():
            announce("one of many tasks")
    assert calls == [("graphs of features", 0, 0)]
    assert capsys.readouterr().err == ""
