"""Report what is undecided about choices that the data made, and store it with the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import _logging as log
from ..core.sparda import Projection
from ..core.stats.choices import Choice, describe

#: what numbers are chosen by
CRITERIA = {"n_clusters": "gap statistic", "n_components": "spectrum"}
#: what to think of the largest number tried
AT_THE_END = {
    "n_clusters": "The gap statistic has no peak: features form no clear clusters, or more of them. Give n_clusters a"
    " number, or a column of var.",
    "n_components": "Every direction has more variance than noise.",
}


def report(note: str, *, misleading: bool) -> None:
    """Log a note on a choice; warn where it can mislead, and stay silent where there is nothing to report."""
    if note:
        (log.warn if misleading else log.info)(note)


def log_choices(name: str, projections: Sequence[Projection], /) -> None:
    """Report what is undecided about the numbers of features of one comparison.

    Later projections describe what the first one leaves over, which is often nothing: they never warn.
    """
    for i, projection in enumerate(projections):
        count = projection.count
        if count is not None and count.describe():
            which = name if len(projections) == 1 else f"{name}, projection {i + 1}"
            report(f"{which}: {count.describe()}", misleading=count.misleading and i == 0)


def described_choices(found: Sequence[Sequence[Projection]], /) -> dict[str, Any]:
    """Describe chosen numbers of features, an entry per comparison and projection; empty where they were given."""
    counts = [p.count for projections in found for p in projections if p.count is not None]
    if not counts:
        return {}
    return {
        "choice": {
            "at_edge": np.array([c.choice.at_edge or "" for c in counts], dtype=object),
            "flat_from": np.array([c.choice.flat_from for c in counts]),
            "flat_to": np.array([c.choice.flat_to for c in counts]),
            "held_out_pval": np.array([c.pval for c in counts]),
            "note": np.array([c.describe() for c in counts], dtype=object),
        }
    }


def choice_note(name: str, choice: Choice, /) -> str:
    """Say what is undecided about a number, and what it means where it is the largest one tried."""
    note = describe(choice, name, CRITERIA[name])
    return f"{note} {AT_THE_END[name]}" if choice.at_edge == "high" else note


def choice_table(choices: Mapping[str, Choice], /) -> dict[str, Any]:
    """Describe chosen numbers as columns, a row for each."""
    return {
        "parameter": np.array(list(choices), dtype=object),
        "at_edge": np.array([c.at_edge or "" for c in choices.values()], dtype=object),
        "flat_from": np.array([c.flat_from for c in choices.values()]),
        "flat_to": np.array([c.flat_to for c in choices.values()]),
        "note": np.array([choice_note(name, c) for name, c in choices.items()], dtype=object),
    }
