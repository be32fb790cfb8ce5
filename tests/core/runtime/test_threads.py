"""Limits on threads of BLAS, which belong to the process, when several ask for them at once."""

from threading import Thread

import numpy as np
import pytest
import scipy.linalg
from threadpoolctl import threadpool_info, threadpool_limits

from diffnb.core.runtime import threads


class Library:
    """Stands for BLAS: how many threads it has is known everywhere."""

    def __init__(self, filepath, num_threads=4):
        self.filepath, self.num_threads, self.user_api = filepath, num_threads, "blas"

    def set_num_threads(self, number):
        self.num_threads = number


@pytest.fixture
def libraries(monkeypatch):
    """Two libraries, of which the second is SciPy's own."""
    pair = [Library("numpy.libs/blas"), Library("scipy.libs/blas")]
    controller = type("Controller", (), {"lib_controllers": pair})
    monkeypatch.setattr(threads, "_libraries", lambda: controller)
    monkeypatch.setattr(threads, "_blas_of_scipy", lambda: pair[1:])
    return pair


def counts(libraries):
    return [lib.num_threads for lib in libraries]


def test_small_problems_have_one_thread_and_large_ones_what_there_is(libraries):
    with threads.thread_limits(threads.SMALL_FEATURES):
        assert counts(libraries) == [1, 1]
    with threads.thread_limits(threads.SMALL_FEATURES + 1):
        assert counts(libraries) == [4, 4]
    for n_jobs in (1, 2):
        with threads.thread_limits(threads.SMALL_FEATURES + 1, n_jobs):
            assert counts(libraries) == [1, 1]
    assert counts(libraries) == [4, 4]


def test_no_pool_is_larger_than_the_jobs_that_were_asked_for(libraries, monkeypatch):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 6)
    assert threads.n_workers() == 6
    with threads.thread_limits(10_000, 1):
        assert threads.n_workers() == 1
        with threads.thread_limits(10_000):
            assert threads.n_workers() == 1, "what is inside has no more"
    with threads.thread_limits(10_000, 3):
        assert (threads.n_workers(), threads.n_workers(2)) == (3, 2)
    assert threads.n_workers() == 6


@pytest.mark.parametrize("first", ["fitting", "scipy"])
def test_whoever_goes_last_restores_what_was_there_before_the_first(libraries, first):
    one, other = threads.thread_limits(10), threads.small_steps_of_scipy()
    if first == "scipy":
        one, other = other, one
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)  # as a panel that ends while another goes on
    assert libraries[1].num_threads == 1
    other.__exit__(None, None, None)
    assert counts(libraries) == [4, 4]


def test_an_error_restores_it_too(libraries):
    with pytest.raises(ZeroDivisionError), threads.one_blas_thread():
        1 / 0  # noqa: B018
    assert counts(libraries) == [4, 4]


def test_a_stop_in_the_middle_of_lowering_leaves_nothing_behind(libraries, monkeypatch):
    real = libraries[1].set_num_threads

    def stopped(number):
        if number == 1:
            raise KeyboardInterrupt
        real(number)

    monkeypatch.setattr(libraries[1], "set_num_threads", stopped)
    with pytest.raises(KeyboardInterrupt), threads.one_blas_thread():
        pass
    assert counts(libraries) == [4, 4]
    assert not threads._lowered


def test_loops_of_scikit_learn_keep_to_the_jobs_allowed():
    import sklearn.neighbors  # noqa: F401, loads an OpenMP

    def openmp():
        return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "openmp"]

    with threadpool_limits(limits=2, user_api="openmp"):
        with threads.thread_limits(10, 1), threads.openmp_limits():
            assert set(openmp()) == {1}
        assert set(openmp()) == {2}


def test_the_libraries_of_this_process_are_restored():
    np.eye(3) @ np.eye(3), scipy.linalg.eigh(np.eye(3))
    real = [lib for lib in threads._libraries().lib_controllers if lib.user_api == "blas"]
    assert real
    before = counts(real)
    with threads.thread_limits(10):
        assert counts(real) == [1] * len(real)
    assert counts(real) == before


def test_a_thread_of_ours_is_heard_after_another_has_set_the_number():
    real = [lib for lib in threads._libraries().lib_controllers if lib.user_api == "blas"]
    threadpool_limits(limits=2)  # the tests have one thread: give them more to lower
    before = counts(real)
    for lib, number in zip(real, before, strict=True):
        lib.set_num_threads(number)  # this thread was first, and did not give way
    seen = []

    def work():
        with threads.thread_limits(10):
            seen.extend(counts(real))

    thread = Thread(target=work)
    thread.start()
    thread.join()
    after = counts(real)
    threadpool_limits(limits=1)
    assert seen == [1] * len(real)
    assert before == after == [2] * len(real)
