"""An estimate with its interval, one per feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..typing import Bools, Floats


@dataclass(frozen=True, slots=True)
class Interval:
    """Estimates and the ends of their 95 % intervals."""

    estimate: Floats
    low: Floats
    high: Floats

    def map(self, function: Callable[[Floats], Floats], /) -> Interval:
        """Transform all three by an increasing function."""
        return Interval(function(self.estimate), function(self.low), function(self.high))

    def where(self, known: Bools, /) -> Interval:
        """Return NaN where there is nothing to estimate."""
        return self.map(lambda values: np.where(known, values, np.nan))


def concatenated(parts: Sequence[Interval], /) -> Interval:
    """Join the intervals of consecutive features."""
    return Interval(*(np.concatenate([getattr(p, name) for p in parts]) for name in ("estimate", "low", "high")))
