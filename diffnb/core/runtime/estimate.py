"""How long repeated work will take, announced as soon as it can be told, if it is long."""

from __future__ import annotations

import warnings
from time import perf_counter

#: work up to this length needs no warning: it has a progress bar
MAX_UNANNOUNCED_SECONDS = 3600.0
#: seconds after which the pace is known
MIN_MEASURED_SECONDS = 1.0


class TimeEstimate:
    """Warns once, where repetitions like those done so far will take longer than an hour."""

    def __init__(self, total: int, name: str | None, /) -> None:
        self.total, self.name = total, name
        self._start, self._told = perf_counter(), name is None

    def after(self, n_done: int, /) -> None:
        """Judge by the repetitions that are done."""
        seconds = perf_counter() - self._start
        if self._told or seconds < MIN_MEASURED_SECONDS:
            return
        self._told = True
        expected = seconds / n_done * self.total
        if expected > MAX_UNANNOUNCED_SECONDS:
            warnings.warn(
                f"{self.name}: {self.total:,} repetitions will take about {described(expected)} at this pace. Interrupt"
                " and ask for fewer, or for more threads with n_jobs=-1, if that is too long.",
                UserWarning,
                stacklevel=2,
            )


def described(seconds: float, /) -> str:
    """Return a duration in words."""
    for unit, length in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"
