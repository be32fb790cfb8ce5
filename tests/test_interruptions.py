"""An interrupt leaves all that was there before, or all that is new, whenever it comes.

`benchmarks/interrupts.py` does the same with thousands of interrupts.
"""

import sys
from contextvars import copy_context

import numpy as np
import pytest
from interruptions import CALLS, KINDS, LIMITING, PACKAGE, STORING, At, Case, example, state, thread_counts

import diffnb as dn
from diffnb._anndata import Change, change_slots, guard, light, slots, write
from diffnb.core.runtime import threads

#: quick calls that store in different ways: slots of all kinds, added ones, those of `pp`, of a panel and of a view
NAMES = ("tl.scorecard", "tl.meta_features", "tl.laplacian_score", "pp.match_depth", "panel", "view")
N_INTERRUPTS = 3


@pytest.fixture(scope="module")
def cases():
    made = {}

    def of(name):
        if name not in made:
            made[name] = Case.of(name)
        return made[name]

    return of


def test_every_function_of_tl_and_pp_is_interrupted():
    functions = {f"tl.{name}" for name in dn.tl.__all__} | {f"pp.{name}" for name in dn.pp.__all__}
    assert functions - set(CALLS) == set()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_an_interrupt_at_any_time_leaves_nothing_half_done(cases, name, kind):
    case, rng = cases(name), np.random.default_rng(0)
    for _ in range(N_INTERRUPTS):
        faults, _ = case.interrupt(kind, rng)
        assert faults == []


@pytest.mark.slow
@pytest.mark.parametrize("as_view", [False, True], ids=["actual", "view"])
def test_slots_change_at_once_whichever_instruction_an_interrupt_comes_before(as_view):
    data = example()
    removed = {("uns", "old"): 1, ("var", "old"): np.ones(12), ("obsm", "old"): np.ones((48, 2))}
    written = {(place, "new"): value for (place, _), value in removed.items()} | {("obs", "new"): np.ones(48)}
    change_slots(data, Change((), removed))
    change = Change(list(removed), written, {"_X": 2 * data.X})

    def fresh():
        return data.copy()[:] if as_view else data.copy()

    changed = fresh()
    with At(("slots.py",)) as counted:
        change_slots(changed, change)
    before, after = state(fresh()), state(changed)
    seen = []
    for n in range(1, counted.count + 1, 5 if as_view else 3):
        adata = fresh()
        with pytest.raises(MemoryError), At(("slots.py",), n, MemoryError):
            change_slots(adata, change)
        assert state(adata) in (before, after)
        seen.append(state(adata) == after)
    assert sorted(seen) == seen
    assert not all(seen)


@pytest.mark.slow
def test_limits_on_threads_are_lifted_wherever_an_interrupt_comes():
    """Before every instruction that sets or lifts them."""

    def limit():
        with threads.threads_restored(), threads.thread_limits(10, 1), threads.openmp_threads(1):
            pass

    limit()
    before = thread_counts()
    with At(LIMITING) as counted:
        limit()
    assert counted.count > 200
    for n in range(1, counted.count + 1, 11):
        with pytest.raises(KeyboardInterrupt), At(LIMITING, n):
            copy_context().run(limit)  # as the tools do: what is left behind in it ends with it
        assert thread_counts() == before
        assert not [limit for limit in threads._limits.values() if limit.holders]


def test_the_functions_that_store_are_among_those_interrupted():
    assert {module.__file__.removeprefix(PACKAGE).split("/")[-1] for module in (guard, light, slots, write)} <= set(
        STORING
    )


def test_what_traced_before_does_so_afterwards():
    """Coverage was no longer measured in the files that were tested after this one."""
    seen = []

    def tracer(frame, event, _):
        seen.append(frame.f_code.co_name)

    def traced():
        pass

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        with At(LIMITING):
            pass
        traced()
    finally:
        sys.settrace(before)
    assert "traced" in seen


def test_no_limit_is_left_for_what_is_tested_next():
    assert threads._max_workers.get() is None
