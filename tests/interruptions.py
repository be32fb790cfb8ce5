"""Interrupt calls of `tl` and `pp` anywhere, and see what they leave behind.

An interrupt comes at a random time, by a signal (Ctrl-C) or from another thread (the Stop of a panel), or it is raised
before a random instruction of the functions that store results and set limits on threads (out of memory, too).
"""

from __future__ import annotations

import dis
import hashlib
import signal
import sys
import threading
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from anndata import AnnData

import diffnb as dn
from diffnb._anndata import adopt, light_copy, locks, locks_of
from diffnb.core.runtime import threads
from diffnb.panels._work import RETRY_SECONDS, Stopped, raise_in

PLACES = ("obs", "var", "uns", "obsm", "varm", "obsp", "varp", "layers")
#: functions that store results, and those that set limits on threads
STORING = ("write.py", "slots.py", "light.py", "ownership.py", "guard.py", "fingerprint.py", "locks.py")
LIMITING = ("threads.py", "guard.py")
KINDS = ("signal", "thread", "storing", "limiting")
ERRORS = (KeyboardInterrupt, MemoryError, Stopped)
PACKAGE = str(Path(dn.__file__).parent)


def example():
    """Counts of two conditions with donors, times and a place for every kind of result."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(3.0, size=(48, 12)).astype(float)
    counts[:24, :4] += rng.poisson(4.0, size=(24, 1))
    counts[24:] *= 2
    obs = pd.DataFrame(
        {
            "condition": pd.Categorical(np.repeat(["A", "B"], 24)),
            "donor": pd.Categorical(np.tile(np.repeat(["s1", "s2"], 12), 2)),
            "time": np.arange(48.0) + 1,
            "event": np.arange(48) % 3 > 0,
        },
        index=[f"cell{i}" for i in range(48)],
    )
    var = pd.DataFrame({"some": np.arange(12) < 8}, index=[f"gene{i}" for i in range(12)])
    adata = AnnData(np.log1p(counts), obs=obs, var=var, layers={"counts": sp.csr_matrix(counts)})
    adata.raw = adata
    return adata


def _panel_takes_over(adata, **kwargs):
    """As a panel does after a run: what was computed on a light copy is taken over."""
    before = light_copy(adata)
    after = light_copy(before)
    dn.tl.scorecard(after, "condition", **kwargs)
    adopt(adata, before, after)


def _on_a_view(adata, **kwargs):
    """Store in a view, which becomes actual; it is compared as the first half of the data."""
    dn.tl.scorecard(adata, "condition", **kwargs)


FAST = {"n_components": 2, "n_clusters": 2}
#: an earlier call, whose results are there when the second call is interrupted
CALLS = {
    "tl.disc": (
        lambda a: dn.tl.disc(a, "condition", **FAST),
        lambda a: dn.tl.disc(a, "condition", groups=["B", "A"], mask_var="some", **FAST),
    ),
    "tl.meta_features": (lambda a: dn.tl.disc(a, "condition", **FAST), lambda a: dn.tl.meta_features(a)),
    "tl.pda": (lambda a: dn.tl.pda(a, "condition"), lambda a: dn.tl.pda(a, "condition", n_projections=2)),
    "tl.sparda": (
        lambda a: dn.tl.sparda(a, "condition", n_features=3),
        lambda a: dn.tl.sparda(a, "condition", n_features=2, n_permutations=2),
    ),
    "tl.dufs": (lambda a: dn.tl.dufs(a, n_steps=3), lambda a: dn.tl.dufs(a, n_steps=4, n_features=3)),
    "tl.diverse_features": (
        lambda a: dn.tl.diverse_features(a, n_features=3),
        lambda a: dn.tl.diverse_features(a, n_features=4),
    ),
    "tl.laplacian_score": (lambda a: dn.tl.laplacian_score(a), lambda a: dn.tl.laplacian_score(a, n_neighbors=3)),
    "tl.informed_distance": (
        lambda a: dn.tl.informed_distance(a, n_clusters=3),
        lambda a: dn.tl.informed_distance(a, n_clusters=4, n_components=2, full=False),
    ),
    "tl.scorecard": (
        lambda a: dn.tl.scorecard(a, "condition"),
        lambda a: dn.tl.scorecard(a, "condition", layer="counts"),
    ),
    "trend": (
        lambda a: dn.tl.scorecard(a, "condition"),
        lambda a: dn.tl.scorecard(a, "time", trend=True),
    ),
    "threads": (
        lambda a: dn.tl.disc(a, "condition", **FAST),
        lambda a: dn.tl.disc(a, "condition", n_permutations=4, n_jobs=2, **FAST),
    ),
    "tl.feature_diffmap": (
        lambda a: dn.tl.feature_diffmap(a, "condition", n_components=3),
        lambda a: dn.tl.feature_diffmap(a, "condition", n_components=2),
    ),
    "tl.feature_change": (
        lambda a: dn.tl.feature_change(a, "condition"),
        lambda a: dn.tl.feature_change(a, "condition", n_steps=2),
    ),
    "tl.survival": (
        lambda a: dn.tl.informed_distance(a, n_clusters=3),
        lambda a: dn.tl.survival(a),
    ),
    "tl.preservation": (
        lambda a: dn.tl.preservation(reference(), a, n_permutations=19),
        lambda a: dn.tl.preservation(reference(), a, n_permutations=20),
    ),
    "tl.project": (
        lambda a: dn.tl.project(a, reference()),
        lambda a: dn.tl.project(a, reference(), layer="counts"),
    ),
    "tl.enrich": (
        lambda a: (
            dn.tl.diverse_features(a, n_features=3),
            dn.tl.enrich(a, "some", key="diverse_features", min_size=2),
        ),
        lambda a: dn.tl.enrich(a, "some", key="diverse_features", min_size=1),
    ),
    "tl.power": (lambda a: None, lambda a: dn.tl.power(a, "condition", group_size=3, n_units=[24], n_simulations=2)),
    "pp.match_depth": (lambda a: None, lambda a: dn.pp.match_depth(a, "condition")),
    "pp.time_blocks": (
        lambda a: dn.pp.time_blocks(a, "condition", length=4),
        lambda a: dn.pp.time_blocks(a, "condition", length=3),
    ),
    "panel": (lambda a: dn.tl.scorecard(a, "condition"), lambda a: _panel_takes_over(a, layer="counts")),
    "view": (lambda a: dn.tl.scorecard(a, "condition"), lambda a: _on_a_view(a, layer="counts")),
}
_references: list[AnnData] = []


def reference():
    """Return data with groups of features, to be projected and looked for elsewhere."""
    if not _references:
        made = example()
        with quiet():
            dn.tl.disc(made, "condition", **FAST)
        _references.append(made)
    return _references[0]


# ---- what is there ----


def digest(value):
    """Return text that is the same for equal values."""
    if isinstance(value, dict):
        return {name: digest(inner) for name, inner in value.items()}
    if isinstance(value, pd.DataFrame):
        return {str(name): digest(value[name]) for name in value} | {"index": digest(np.asarray(value.index))}
    if isinstance(value, pd.Series):
        value = value.astype(str).to_numpy(dtype=object) if value.dtype == "category" else value.to_numpy()
    if sp.issparse(value):
        value = value.toarray()
    array = np.asarray(value)
    content = repr(array.tolist()).encode() if array.dtype == object else array.tobytes()
    return f"{array.dtype} {array.shape} {hashlib.sha256(content).hexdigest()[:16]}"


def state(adata):
    """Describe everything that an AnnData holds."""
    slots = {place: {str(n): digest(getattr(adata, place)[n]) for n in getattr(adata, place)} for place in PLACES}
    names = {"obs_names": digest(np.asarray(adata.obs_names)), "var_names": digest(np.asarray(adata.var_names))}
    return {**slots, **names, "X": digest(adata.X), "raw": digest(adata.raw.X)}


def thread_counts():
    """Return the number of threads of every library."""
    return [lib.num_threads for lib in threads._libraries().lib_controllers]


# ---- interrupts ----


@contextmanager
def signal_after(seconds):
    """Interrupt the main thread by a signal, as Ctrl-C does."""

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def in_thread(work, seconds):
    """Work in another thread and interrupt it from outside, as the Stop of a panel does; return what it raised."""
    raised = []

    def run():
        try:
            work()
        except BaseException as error:
            raised.append(type(error))

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(seconds)
    while thread.is_alive() and not raise_in(thread, Stopped):
        time.sleep(RETRY_SECONDS)
    thread.join()
    return raised


@contextmanager
def untraced():
    """Stop measuring coverage: an interrupt in the middle of that leaves its lock held, and the next line waits."""
    here, in_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)
    try:
        yield
    finally:
        threading.settrace(in_threads)
        sys.settrace(here)


class At:
    """Raise an error before the n-th instruction of functions in some files of the package; count them with n = 0."""

    def __init__(self, files, n=0, error=KeyboardInterrupt):
        self.files, self.n, self.error, self.count, self.before = files, n, error, 0, None

    def __enter__(self):
        self.before = sys.gettrace()  # that of the measurement of coverage
        sys.settrace(self.on_call)
        return self

    def __exit__(self, *_):
        sys.settrace(self.before)

    def on_call(self, frame, event, _):
        name = frame.f_code.co_filename
        if not (name.startswith(PACKAGE) and Path(name).name in self.files):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self.on_instruction

    def on_instruction(self, frame, event, _):
        if event == "opcode" and frame.f_lasti not in _leaving(frame.f_code):
            self.count += 1
            if self.count == self.n:
                raise self.error
        return self.on_instruction


@cache
def _leaving(code):
    """Return where a `with` block calls `__exit__`: Python delivers no interrupt there, only after that call."""
    found, listed = set(), list(dis.get_instructions(code))
    for i in range(len(listed) - 3):
        if all(each.opname == "LOAD_CONST" and each.argval is None for each in listed[i : i + 3]):
            end = next((j for j in range(i + 3, min(i + 6, len(listed))) if listed[j].opname == "CALL"), None)
            if end is not None:
                start = i - 1 if i and listed[i - 1].opname in ("NOP", "SWAP") else i
                found |= {each.offset for each in listed[start : end + 1]}
    return found


def held(lock):
    """Return whether a lock is held, by this thread or by one that has ended."""
    got = []

    def try_it():
        got.append(lock.acquire(blocking=False))
        if got[0]:
            lock.release()

    thread = threading.Thread(target=try_it)
    thread.start()
    thread.join()
    return not got[0]


# ---- one interruption ----


@dataclass
class Case:
    """A call with the data it works on, and what is there before and after."""

    name: str
    data: AnnData
    before: dict
    after: dict
    seconds: float
    instructions: dict

    @classmethod
    def of(cls, name):
        earlier, call = CALLS[name]
        with quiet():
            data = example()
            earlier(data)
            call(cls._new(name, data))  # whatever is imported on first use
            made = cls._new(name, data)
            start = time.perf_counter()
            call(made)
            seconds = time.perf_counter() - start
            counts = {}
            for kind, files in (("storing", STORING), ("limiting", LIMITING)):
                with At(files) as counted:
                    call(cls._new(name, data))
                counts[kind] = counted.count
            return cls(name, data, state(cls._new(name, data)), state(made), seconds, counts)

    @staticmethod
    def _new(name, data):
        return data.copy()[:] if name == "view" else data.copy()

    def fresh(self):
        """Return data as it is before the call."""
        return self._new(self.name, self.data)

    def interrupt(self, kind, rng):
        """Interrupt the call once; return what is wrong, and whether the interrupt came before the end of the call."""
        adata, call, counts = self.fresh(), CALLS[self.name][1], thread_counts()
        when, raised = rng.uniform(0, 1.05 * self.seconds), []
        with quiet(), untraced():
            try:
                if kind == "signal":
                    with signal_after(when):
                        call(adata)
                elif kind == "thread":
                    raised = in_thread(lambda: call(adata), when)
                else:
                    at = int(rng.integers(1, self.instructions[kind] + 1))
                    with At(STORING if kind == "storing" else LIMITING, at, ERRORS[rng.integers(3)]):
                        call(adata)
            except BaseException as error:
                if not _is_of_interrupt(error):
                    raise
                raised = [type(error)]
            faults = self.faults(adata, call, counts)
        return faults, bool(raised)

    def faults(self, adata, call, counts):
        """Say what the interrupt has left behind."""
        found = []
        now = state(adata)
        if now not in (self.before, self.after):
            found.append(f"slots of two runs: {differences(now, self.before)}")
        if thread_counts() != counts:
            found.append(f"threads: {thread_counts()} instead of {counts}")
        if threads._limits:
            found.append("limits on threads are held")
        ours = {"calls": locks_of(adata).calls, "slots": locks_of(adata).slots}
        for name, lock in {**ours, "threads": threads._lock, "registry": locks._registry}.items():
            if held(lock):
                found.append(f"the lock of {name} is held")
        if not found:
            call(adata)
            if self.name != "pp.match_depth" and state(adata) != self.after:
                found.append(f"the next call differs: {differences(state(adata), self.after)}")
        return found


def _is_of_interrupt(error):
    """Whether it is an interrupt, or what another package has made of one that it caught."""
    while error is not None and not isinstance(error, ERRORS):
        error = error.__context__
    return error is not None


@contextmanager
def quiet():
    """Silence what the methods warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def differences(left, right, path=""):
    """List where two states differ."""
    if not (isinstance(left, dict) and isinstance(right, dict)):
        return [] if left == right else [path]
    names = sorted(set(left) | set(right))
    return [d for n in names for d in differences(left.get(n), right.get(n), f"{path}/{n}")]
