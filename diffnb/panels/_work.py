"""Long work beside the kernel: one thread, its progress, and a Stop that works."""

from __future__ import annotations

import ctypes
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..core.runtime.progress import progress_callback

#: seconds between two reports of progress, and between two knocks at work that does not stop
OFTEN = 0.1
KNOCK = 1.0
#: seconds between pieces of work that can wait
REST = 0.2


class Stopped(BaseException):
    """Raised in the middle of the work; no `except Exception` on the way holds it up."""


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
    """Runs one piece of work at a time in a thread of its own.

    `deliver` is handed to the kernel's main loop, where it meets no running cell; without a kernel the thread
    calls it itself.
    """

    def __init__(self, progress: Callable[[str, int, int], None], deliver: Callable[[Outcome], None]) -> None:
        self._progress, self._deliver = progress, deliver
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._interruptible = False
        self._asked = False
        self._step: tuple[str, int, int] = ("", 0, 0)
        self._waiting: Outcome | None = None

    @property
    def busy(self) -> bool:
        """Whether work is under way, or done and not yet delivered."""
        return self._waiting is not None or (self._thread is not None and self._thread.is_alive())

    def start(self, work: Callable[[], Any]) -> None:
        """Begin; refused while other work is under way."""
        if self.busy:
            raise RuntimeError("a run is under way; stop it or wait for it first.")
        self._asked, self._step = False, ("", 0, 0)
        self._thread = threading.Thread(target=self._run, args=(work,), name="diffnb-panel", daemon=True)
        self._thread.start()
        threading.Thread(target=self._report, args=(self._thread,), name="diffnb-progress", daemon=True).start()

    def stop(self) -> None:
        """Ask the work to end: at the next step of a bar, or at the next line of Python that it comes to."""
        self._asked = True
        threading.Thread(target=self._knock, name="diffnb-stop", daemon=True).start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the work and deliver what it gave; `False` when time ran out first."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)
            if thread.is_alive():
                return False
        self._hand_over()
        return True

    def _knock(self) -> None:
        thread = self._thread
        while thread is not None and thread.is_alive():
            with self._lock:
                if not self._interruptible:
                    return
                _raise_in(thread)
            thread.join(KNOCK)

    def _listen(self, name: str, done: int, total: int) -> None:
        if self._asked:
            raise Stopped
        self._step = (name, done, total)

    def _report(self, thread: threading.Thread) -> None:
        """Tell of progress from a thread that nobody interrupts: half a message would be the last one."""
        told = self._step
        while thread.is_alive():
            if self._step != told and not self._asked:
                told = self._step
                self._progress(*told)
            thread.join(OFTEN)

    def _run(self, work: Callable[[], Any]) -> None:
        outcome = Outcome()
        began = time.perf_counter()
        try:
            self._guarded(work, outcome)
        except Stopped:  # a knock that came as the work ended
            outcome.stopped, outcome.value = True, None
        outcome.seconds = time.perf_counter() - began
        self._waiting = outcome
        loop = _main_loop()
        if loop is None:
            self._hand_over()
        else:
            loop.add_callback(self._hand_over)

    def _guarded(self, work: Callable[[], Any], outcome: Outcome) -> None:
        try:
            with self._lock:
                self._interruptible = True
            with progress_callback(self._listen), _noted(outcome.notes):
                outcome.value = work()
        except Stopped:
            outcome.stopped = True
        except BaseException as error:
            outcome.error, outcome.trace = error, traceback.format_exc()
        finally:
            with self._lock:
                self._interruptible = False
            for _ in range(100):  # a knock already sent arrives here, inside our own `try`
                pass

    def _hand_over(self) -> None:
        outcome, self._waiting = self._waiting, None
        if outcome is not None:
            self._deliver(outcome)


def on_main(act: Callable[[], None]) -> None:
    """Do it in the kernel's main thread, between cells: here and now where this is it, or there is no kernel.

    JupyterLab may hand messages of widgets to another thread, and matplotlib's settings belong to all of them.
    """
    loop = _main_loop()
    if loop is None or threading.current_thread() is threading.main_thread():
        act()
    else:
        loop.add_callback(act)


def in_pieces(steps: Iterator[Any]) -> None:
    """Do work that can wait, piece by piece, so that whatever a user does goes between; at once without a kernel."""
    loop = _main_loop()
    if loop is None:
        for _ in steps:
            pass
        return

    def go_on() -> None:
        if next(steps, StopIteration) is not StopIteration:
            loop.call_later(REST, go_on)

    # from any thread, and after what is already on its way
    loop.add_callback(lambda: loop.call_later(REST, go_on))


def _raise_in(thread: threading.Thread) -> None:
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Stopped))


def _main_loop() -> Any:
    """Return the loop of the kernel's main thread, or `None` outside of a kernel."""
    from IPython.core.getipython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    return getattr(kernel, "io_loop", None)


@contextmanager
def _noted(notes: list[str]) -> Iterator[None]:
    """Keep the warnings of this thread; those of others go where they would."""
    mine, usual = threading.get_ident(), warnings.showwarning

    def note(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        if threading.get_ident() != mine:
            usual(message, category, filename, lineno, file, line)
        elif issubclass(category, UserWarning) and str(message) not in notes:
            notes.append(str(message))

    warnings.showwarning = note
    try:
        yield
    finally:
        if warnings.showwarning is note:
            warnings.showwarning = usual
