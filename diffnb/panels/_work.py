"""Work in a background thread, with progress and the possibility to stop it."""

from __future__ import annotations

import ctypes
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..core.runtime.progress import ProgressCallback, progress_callback
from ..core.runtime.threads import can_start_threads

#: time between two reports of progress
PROGRESS_SECONDS = 0.1
#: time between two attempts to interrupt work that has not stopped
INTERRUPT_SECONDS = 1.0
#: time until the next attempt where another thread was just starting
RETRY_SECONDS = 0.001
#: idle time between two steps of low priority
IDLE_SECONDS = 0.2


#: name of a step, how much of it is done, its total, and what was found so far
Step: TypeAlias = tuple[str, int, int, str]
NO_STEP: Step = ("", 0, 0, "")


class Stopped(BaseException):
    """Raised in the thread to stop its work; not an `Exception`, so that the work does not catch it."""


@dataclass(slots=True)
class Outcome:
    """How the work ended."""

    value: Any = None
    error: BaseException | None = None
    trace: str = ""
    stopped: bool = False
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0


class Worker:
    """Runs one function at a time in a separate thread, or at once where no thread can be started.

    `deliver` is called in the main loop of the kernel, never while a cell runs; without a kernel the thread calls it.
    """

    def __init__(self, progress: Callable[[str, int, int, str], None], deliver: Callable[[Outcome], None]) -> None:
        self._progress, self._deliver = progress, deliver
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._interruptible = False
        self._stop_requested = False
        self._step = NO_STEP
        self._undelivered: Outcome | None = None

    @property
    def busy(self) -> bool:
        """Whether work is in progress, or finished and not yet delivered."""
        return self._undelivered is not None or (self._thread is not None and self._thread.is_alive())

    def start(self, work: Callable[[], Any]) -> None:
        """Start; refused while other work is in progress."""
        if self.busy:
            raise RuntimeError("a run is in progress; stop it or wait for it first.")
        self._stop_requested, self._step = False, NO_STEP
        if not can_start_threads():
            self._run_here(work)
            return
        self._thread = threading.Thread(target=self._run, args=(work,), name="diffnb-panel", daemon=True)
        self._thread.start()
        threading.Thread(target=self._report, args=(self._thread,), name="diffnb-progress", daemon=True).start()

    def stop(self) -> None:
        """Stop the work at the next step of a progress bar, or at the next instruction of Python."""
        self._stop_requested = True
        if self._thread is None:
            return
        threading.Thread(target=self._interrupt, name="diffnb-stop", daemon=True).start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the work and deliver its outcome; return `False` when the timeout has passed first."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)
            if thread.is_alive():
                return False
        self._deliver_outcome()
        return True

    def _interrupt(self) -> None:
        thread = self._thread
        while thread is not None and thread.is_alive():
            with self._lock:
                if not self._interruptible:
                    return
                sent = raise_in(thread, Stopped)
            thread.join(INTERRUPT_SECONDS if sent else RETRY_SECONDS)

    def _on_step(self, name: str, done: int, total: int) -> None:
        if self._stop_requested:
            raise Stopped
        self._step = (name, done, total, self._step[3] if name == self._step[0] else "")

    def _on_note(self, text: str) -> None:
        self._step = (*self._step[:3], text)

    def _report(self, thread: threading.Thread) -> None:
        """Report progress from a thread that is never interrupted, so that no message is sent incompletely."""
        reported = NO_STEP  # not that of this moment: the work may have begun its first step already
        while thread.is_alive():
            if self._step != reported and not self._stop_requested:
                reported = self._step
                self._progress(*reported)
            thread.join(PROGRESS_SECONDS)

    def _run_here(self, work: Callable[[], Any]) -> None:
        """Run in this thread: steps of progress are reported as they are made, and only they can be interrupted."""
        last = 0.0

        def report(name: str, done: int, total: int) -> None:
            nonlocal last
            self._on_step(name, done, total)
            if time.monotonic() - last >= PROGRESS_SECONDS:
                last = time.monotonic()
                self._progress(*self._step)

        self._run(work, report)

    def _run(self, work: Callable[[], Any], on_step: ProgressCallback | None = None) -> None:
        outcome = Outcome()
        began = time.perf_counter()
        try:
            self._run_guarded(work, on_step or self._on_step, outcome)
        except Stopped:  # an interrupt that arrived when the work had ended
            outcome.stopped, outcome.value = True, None
        outcome.seconds = time.perf_counter() - began
        self._undelivered = outcome
        loop = _main_loop()
        if loop is None:
            self._deliver_outcome()
        else:
            loop.add_callback(self._deliver_outcome)

    def _run_guarded(self, work: Callable[[], Any], on_step: ProgressCallback, outcome: Outcome) -> None:
        try:
            with self._lock:
                self._interruptible = True
            with progress_callback(on_step, self._on_note), _collected_warnings(outcome.notes):
                outcome.value = work()
        except Stopped:
            outcome.stopped = True
        except BaseException as error:
            outcome.error, outcome.trace = error, traceback.format_exc()
        finally:
            with self._lock:
                self._interruptible = False
            for _ in range(100):  # an interrupt that was already sent arrives here, inside the `try` of `_run`
                pass

    def _deliver_outcome(self) -> None:
        outcome, self._undelivered = self._undelivered, None
        if outcome is not None:
            self._deliver(outcome)


def on_main(act: Callable[[], None]) -> None:
    """Call a function in the main thread of the kernel between cells, at once where this is it or there is no kernel.

    JupyterLab may handle messages of widgets in another thread, and the settings of matplotlib are global.
    """
    loop = _main_loop()
    if loop is None or threading.current_thread() is threading.main_thread():
        act()
    else:
        loop.add_callback(act)


def run_in_steps(steps: Iterator[Any]) -> None:
    """Run an iterator of low priority step by step, with idle time in between; at once without a kernel."""
    loop = _main_loop()
    if loop is None:
        for _ in steps:
            pass
        return

    def run_step() -> None:
        if next(steps, StopIteration) is not StopIteration:
            loop.call_later(IDLE_SECONDS, run_step)

    # `add_callback` may be called from any thread, `call_later` only from that of the loop
    loop.add_callback(lambda: loop.call_later(IDLE_SECONDS, run_step))


def raise_in(thread: threading.Thread, error: type[BaseException], /) -> bool:
    """Raise an error in a thread, at its next instruction; return `False` if this is not possible now.

    Before Python 3.12 a thread that is just starting has the number of the one that starts it. It would take the error,
    and end before it has begun, and the other would wait for it forever. So none may be starting.
    """
    with threading._active_limbo_lock:  # type: ignore[attr-defined]
        if thread.ident is None or threading._limbo:  # type: ignore[attr-defined]
            return False
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(error))
    return True


def _main_loop() -> Any:
    """Return the loop of the kernel's main thread, or `None` outside of a kernel."""
    from IPython.core.getipython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    return getattr(kernel, "io_loop", None)


@contextmanager
def _collected_warnings(notes: list[str]) -> Iterator[None]:
    """Collect the warnings of this thread; those of other threads are shown as usual."""
    this_thread, usual = threading.get_ident(), warnings.showwarning

    def note(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        if threading.get_ident() != this_thread:
            usual(message, category, filename, lineno, file, line)
        elif issubclass(category, UserWarning) and str(message) not in notes:
            notes.append(str(message))

    warnings.showwarning = note
    try:
        yield
    finally:
        if warnings.showwarning is note:
            warnings.showwarning = usual
