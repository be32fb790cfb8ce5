"""Limits on the threads of BLAS, a property of the process, when several contexts set them concurrently."""

from threading import Thread, get_ident

import numpy as np
import pytest
import scipy.linalg
from threadpoolctl import threadpool_info, threadpool_limits

from diffnb.core.runtime import threads


class Library:
    """A stand-in for BLAS, whose number of threads is global."""

    def __init__(self, filepath, num_threads=4):
        self.filepath, self.num_threads, self.user_api = filepath, num_threads, "blas"

    def set_num_threads(self, number):
        self.num_threads = number


@pytest.fixture
def libraries(monkeypatch):
    """Two libraries; the second is SciPy's."""
    pair = [Library("numpy.libs/blas"), Library("scipy.libs/blas")]
    controller = type("Controller", (), {"lib_controllers": pair})
    monkeypatch.setattr(threads, "_libraries", lambda: controller)
    monkeypatch.setattr(threads, "_blas_of_scipy", lambda: pair[1:])
    return pair


def counts(libraries):
    return [lib.num_threads for lib in libraries]


def test_small_problems_use_one_thread_and_large_ones_all_threads(libraries):
    with threads.thread_limits(threads.MAX_FEATURES_SINGLE_THREAD):
        assert counts(libraries) == [1, 1]
    with threads.thread_limits(threads.MAX_FEATURES_SINGLE_THREAD + 1):
        assert counts(libraries) == [4, 4]
    for n_jobs in (1, 2):
        with threads.thread_limits(threads.MAX_FEATURES_SINGLE_THREAD + 1, n_jobs):
            assert counts(libraries) == [1, 1]
    assert counts(libraries) == [4, 4]


def test_no_pool_is_larger_than_n_jobs(libraries, monkeypatch):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 6)
    assert threads.n_workers() == 6
    with threads.thread_limits(10_000, 1):
        assert threads.n_workers() == 1
        with threads.thread_limits(10_000):
            assert threads.n_workers() == 1, "a nested limit cannot raise it"
    with threads.thread_limits(10_000, 3):
        assert (threads.n_workers(), threads.n_workers(2)) == (3, 2)
    assert threads.n_workers() == 6


@pytest.mark.parametrize("first", ["fitting", "scipy"])
def test_the_last_context_to_end_restores_the_threads_before_the_first(libraries, first):
    one, other = threads.thread_limits(10), threads.one_scipy_blas_thread()
    if first == "scipy":
        one, other = other, one
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)  # as a panel that ends while another one is still computing
    assert libraries[1].num_threads == 1
    other.__exit__(None, None, None)
    assert counts(libraries) == [4, 4]


def test_an_error_restores_the_threads(libraries):
    with pytest.raises(ZeroDivisionError), threads.one_blas_thread():
        1 / 0  # noqa: B018
    assert counts(libraries) == [4, 4]


def test_an_interrupt_while_limits_are_set_leaves_none_behind(libraries, monkeypatch):
    real = libraries[1].set_num_threads

    def stopped(number):
        if number == 1:
            raise KeyboardInterrupt
        real(number)

    monkeypatch.setattr(libraries[1], "set_num_threads", stopped)
    with pytest.raises(KeyboardInterrupt), threads.one_blas_thread():
        pass
    assert counts(libraries) == [4, 4]
    assert not threads._limits


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


def test_a_thread_can_limit_blas_after_another_thread_has_set_the_number():
    real = [lib for lib in threads._libraries().lib_controllers if lib.user_api == "blas"]
    threadpool_limits(limits=2)  # the tests run with one thread: raise it
    before = counts(real)
    for lib, number in zip(real, before, strict=True):
        lib.set_num_threads(number)  # this thread was first, and did not release control
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


def test_this_python_starts_threads():
    assert threads.can_start_threads()


@pytest.mark.usefixtures("no_threads")
class TestWithoutThreads:
    def test_it_is_noticed_and_no_pool_is_larger_than_one(self):
        assert not threads.can_start_threads()
        assert threads.n_workers() == 1

    def test_a_pool_works_in_the_calling_thread(self):
        with threads.thread_pool(4) as pool:
            seen = list(pool.map(lambda x: (x, get_ident()), range(3)))
            future = pool.submit(lambda x, y=0: x + y, 1, y=2)
        assert seen == [(x, get_ident()) for x in range(3)]
        assert future.done()
        assert future.result() == 3

    def test_results_are_asked_for_one_by_one_so_that_progress_is_seen(self):
        done = []
        with threads.thread_pool(2) as pool:
            results = pool.map(done.append, range(3))
            next(results)
            assert done == [0]

    def test_an_error_is_raised_where_the_result_is_asked_for(self):
        with threads.thread_pool(1) as pool:
            failed = pool.submit(int, "x")
            with pytest.raises(ValueError, match="invalid literal"):
                failed.result()

    def test_an_interrupt_is_raised_at_once(self):
        def interrupted():
            raise KeyboardInterrupt

        with threads.thread_pool(1) as pool, pytest.raises(KeyboardInterrupt):
            pool.submit(interrupted)

    def test_row_blocks_are_done_in_this_thread(self, monkeypatch):
        monkeypatch.setattr(threads, "MIN_SHARED_NUMBERS", 1)
        done = []
        threads.for_row_blocks(done.append, (10, 2))
        assert done == [slice(0, 10)]
