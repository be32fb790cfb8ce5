import threading
import time
import warnings

import pytest

from diffnb.core.runtime.progress import bar
from diffnb.panels import _work
from diffnb.panels._work import Stopped, Worker, on_main, run_in_steps


@pytest.fixture
def outcomes():
    return []


@pytest.fixture
def steps():
    return []


@pytest.fixture
def worker(outcomes, steps):
    return Worker(lambda *step: steps.append(step), outcomes.append)


def test_delivers_what_the_work_returned(worker, outcomes):
    worker.start(lambda: 42)
    assert worker.wait(10)
    assert outcomes[0].value == 42
    assert outcomes[0].error is None
    assert not worker.busy


def test_an_error_is_delivered_with_its_traceback(worker, outcomes):
    def work():
        raise ValueError("groupby='x' is wrong")

    worker.start(work)
    worker.wait(10)
    assert str(outcomes[0].error) == "groupby='x' is wrong"
    assert "in work" in outcomes[0].trace


def test_stop_interrupts_work_without_a_progress_bar(worker, outcomes):
    def work():
        while True:
            sum(range(100))

    worker.start(work)
    time.sleep(0.1)
    began = time.monotonic()
    worker.stop()
    assert worker.wait(20)
    assert time.monotonic() - began < 15
    assert outcomes[0].stopped
    assert outcomes[0].value is None


def test_stop_ends_work_that_starts_threads_all_the_time(outcomes):
    """Such a thread could take the interrupt, and the work would have waited for it forever."""

    def work():
        while True:
            thread = threading.Thread(target=int)
            thread.start()
            thread.join()

    for n in range(30):
        worker = Worker(lambda *_: None, outcomes.append)
        worker.start(work)
        time.sleep(0.0005 * (n % 5))
        worker.stop()
        assert worker.wait(20), f"run {n} was not stopped"
        assert outcomes[-1].stopped


def test_stop_interrupts_work_that_catches_every_exception(worker, outcomes):
    def work():
        while True:
            try:
                sum(range(100))
            except Exception:
                continue

    worker.start(work)
    time.sleep(0.05)
    worker.stop()
    assert worker.wait(20)
    assert outcomes[0].stopped


def test_stop_ends_a_progress_bar_at_its_next_step(worker, outcomes):
    seen = []

    def work():
        for i in bar(range(1000)):
            seen.append(i)
            time.sleep(0.01)

    worker.start(work)
    time.sleep(0.1)
    worker.stop()
    assert worker.wait(20)
    assert outcomes[0].stopped
    assert len(seen) < 1000


def test_stop_at_the_end_of_the_work_gives_exactly_one_outcome(worker, outcomes):
    for _ in range(40):
        worker.start(lambda: sum(range(20_000)))
        worker.stop()
        assert worker.wait(10)
    assert len(outcomes) == 40
    assert all(o.error is None for o in outcomes)
    assert all(o.stopped or o.value == sum(range(20_000)) for o in outcomes)


def test_progress_is_reported_by_another_thread(worker, steps):
    def work():
        for _ in bar(range(6), desc="steps"):
            time.sleep(0.1)

    worker.start(work)
    worker.wait(20)
    assert steps
    assert all(name == "steps" and total == 6 for name, _, total, _ in steps)
    assert [done for _, done, *_ in steps] == sorted(done for _, done, *_ in steps)


def test_what_was_found_so_far_is_reported_until_the_next_step(worker, steps):
    def work():
        for name in ("permutations", "bootstraps"):
            with bar(total=2, desc=name) as made:
                if name == "permutations":
                    made.set_postfix_str("p so far 0.5")
                made.update()
                until = time.monotonic() + 20
                while name not in [step[0] for step in steps] and time.monotonic() < until:
                    time.sleep(0.05)

    worker.start(work)
    worker.wait(20)
    found = {name: so_far for name, _, _, so_far in steps}
    assert found == {"permutations": "p so far 0.5", "bootstraps": ""}


def test_a_second_run_is_refused_while_one_is_in_progress(worker):
    go = threading.Event()
    worker.start(lambda: go.wait(10))
    with pytest.raises(RuntimeError, match="a run is in progress"):
        worker.start(lambda: None)
    assert worker.wait(0.01) is False
    go.set()
    assert worker.wait(10)


@pytest.mark.filterwarnings("default")
def test_warnings_of_the_work_are_collected_and_those_of_other_threads_shown(worker, outcomes, monkeypatch):
    elsewhere = []
    monkeypatch.setattr(warnings, "showwarning", lambda *args: elsewhere.append(str(args[0])))
    go, warned = threading.Event(), threading.Event()

    def work():
        warned.wait(10)
        warnings.warn("two constant features", UserWarning, stacklevel=1)
        go.set()

    worker.start(work)
    time.sleep(0.05)
    warnings.warn("not the worker's", UserWarning, stacklevel=1)
    warned.set()
    assert go.wait(10)
    worker.wait(10)
    assert outcomes[0].notes == ["two constant features"]
    assert elsewhere == ["not the worker's"]


class Loop:
    """Replaces the loop of a kernel; runs its callbacks on `turn` only."""

    def __init__(self):
        self.calls = []

    def add_callback(self, act):
        self.calls.append(act)

    def call_later(self, _seconds, act):
        self.calls.append(act)

    def turn(self):
        calls, self.calls = self.calls, []
        for act in calls:
            act()


@pytest.fixture
def loop(monkeypatch):
    loop = Loop()
    monkeypatch.setattr(_work, "_main_loop", lambda: loop)
    return loop


def test_in_a_kernel_results_wait_for_the_main_loop(worker, outcomes, loop):
    worker.start(lambda: 1)
    worker._thread.join(10)
    assert worker.busy
    assert outcomes == []
    loop.turn()
    assert outcomes[0].value == 1
    assert not worker.busy


def test_waiting_delivers_the_outcome_before_the_loop_does(worker, outcomes, loop):
    worker.start(lambda: 1)
    assert worker.wait(10)
    assert len(outcomes) == 1
    loop.turn()
    assert len(outcomes) == 1


def test_work_of_low_priority_is_done_step_by_step(loop):
    done = []

    def pieces():
        for i in range(3):
            done.append(i)
            yield

    run_in_steps(pieces())
    assert done == []
    counts = []
    for _ in range(6):
        loop.turn()
        counts.append(len(done))
    assert counts[-1] == 3
    assert all(later - earlier <= 1 for earlier, later in zip([0, *counts], counts, strict=False))


def test_without_a_kernel_it_is_done_at_once():
    done = []
    run_in_steps(iter([done.append(1)]))
    assert done == [1]


def test_only_other_threads_pass_calls_to_the_main_one(loop):
    done = []
    on_main(lambda: done.append("here"))
    other = threading.Thread(target=lambda: on_main(lambda: done.append("later")))
    other.start()
    other.join()
    assert done == ["here"]
    loop.turn()
    assert done == ["here", "later"]


def test_stopped_is_not_a_subclass_of_exception():
    assert not issubclass(Stopped, Exception)


def test_the_loop_of_a_kernel_is_found(monkeypatch):
    class Kernel:
        io_loop = "loop"

    class Shell:
        kernel = Kernel()

    monkeypatch.setattr("IPython.core.getipython.get_ipython", Shell)
    assert _work._main_loop() == "loop"


@pytest.mark.usefixtures("no_threads")
class TestWithoutThreads:
    def test_work_has_ended_and_is_delivered_when_start_returns(self, worker, outcomes):
        worker.start(lambda: 42)
        assert [outcome.value for outcome in outcomes] == [42]
        assert not worker.busy
        assert worker.wait(0)

    def test_progress_is_reported_at_its_steps(self, worker, steps, monkeypatch):
        monkeypatch.setattr(_work, "PROGRESS_SECONDS", 0.0)
        worker.start(lambda: list(bar(range(3), desc="permutations")))
        assert steps == [("permutations", done, 3, "") for done in range(4)]

    def test_progress_is_not_reported_at_every_one_of_many_steps(self, worker, steps, monkeypatch):
        monkeypatch.setattr(_work, "PROGRESS_SECONDS", 60.0)
        worker.start(lambda: list(bar(range(1000), desc="permutations")))
        assert steps == [("permutations", 0, 1000, "")]

    def test_a_stop_at_a_step_ends_the_work(self, outcomes):
        worker = Worker(lambda name, done, total, so_far: worker.stop() if done == 2 else None, outcomes.append)
        finished = []

        def work():
            for number in bar(range(5), desc="permutations"):
                finished.append(number)
                time.sleep(_work.PROGRESS_SECONDS)

        worker.start(work)
        assert outcomes[0].stopped
        assert finished == [0, 1, 2]

    def test_an_error_is_delivered_and_the_next_run_starts(self, worker, outcomes):
        worker.start(lambda: 1 / 0)
        worker.start(lambda: 1)
        assert isinstance(outcomes[0].error, ZeroDivisionError)
        assert outcomes[1].value == 1
