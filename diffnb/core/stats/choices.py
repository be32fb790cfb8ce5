"""How decided a choice is that the data made: at an end of its range, or one of many that are about as good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from ..typing import Floats, Ints

Edge: TypeAlias = Literal["low", "high"]
#: candidates about as good as the chosen one make its criterion flat if the largest is this multiple of the smallest
MIN_FLAT_RATIO = 2.0


@dataclass(frozen=True, slots=True)
class Choice:
    """A number chosen among candidates by a criterion, which is the higher the better."""

    value: int
    #: in increasing order
    candidates: Ints
    criterion: Floats
    #: smallest and largest of the candidates around the chosen one that are within an error of it
    flat_from: int
    flat_to: int

    @property
    def at_edge(self) -> Edge | None:
        """The end of the range that was chosen; `None` within the range, or where there was no choice."""
        lowest, highest = int(self.candidates[0]), int(self.candidates[-1])
        if lowest == highest:
            return None
        return "low" if self.value == lowest else "high" if self.value == highest else None

    @property
    def flat(self) -> bool:
        """Whether a wide range of candidates would do as well."""
        return self.flat_to >= MIN_FLAT_RATIO * max(1, self.flat_from)


def chosen(candidates: Ints, criterion: Floats, index: int, /, *, error: Floats | float = 0.0) -> Choice:
    """Describe the choice of the candidate at `index`.

    `error` is the standard error of the difference in criterion from each candidate to the chosen one, or one number
    for all. The range of equally good candidates has no gaps: beyond a worse one, others count no more.
    """
    within = np.abs(criterion - criterion[index]) <= error
    within[index] = True
    worse = np.flatnonzero(~within)
    first = int(worse[worse < index].max(initial=-1)) + 1
    last = int(worse[worse > index].min(initial=len(candidates))) - 1
    return Choice(int(candidates[index]), candidates, criterion, int(candidates[first]), int(candidates[last]))


def limited(value: int, lowest: int, highest: int, /) -> Choice:
    """Describe a choice by a rule that compares nothing: only the ends of its range can be reported."""
    candidates = np.arange(lowest, highest + 1)
    return Choice(value, candidates, np.full(len(candidates), np.nan), value, value)


def describe(choice: Choice, name: str, criterion: str, /) -> str:
    """Say in a sentence what is undecided about a choice; an empty string where nothing is.

    `name` is the argument, `criterion` what it was chosen by.
    """
    parts = []
    if choice.at_edge is not None:
        parts.append(f"is the {'smallest' if choice.at_edge == 'low' else 'largest'} number tried")
    if choice.flat:
        parts.append(
            f"is one of many: the {criterion} is flat from {choice.flat_from:,} to {choice.flat_to:,}, within one"
            " standard error"
        )
    return f"{name}={choice.value:,} {' and '.join(parts)}." if parts else ""
