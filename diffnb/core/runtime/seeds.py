"""Random streams: one for every purpose, none shared between seeds.

`seed + 1` for a second purpose would make the second stream of seed 0 the first stream of seed 1. A child of a
`SeedSequence` is named by its purpose instead, and by the number of the draw.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

#: what random numbers are drawn for; the place in the list is the key of its stream, so new ones go to the end
Purpose: TypeAlias = Literal[
    "permutations",
    "bootstraps",
    "chance",
    "folds",
    "starts",
    "subsample",
    "references",
    "batches",
    "relaxation",
    "gate_noise",
]
PURPOSES: tuple[Purpose, ...] = (
    "permutations",
    "bootstraps",
    "chance",
    "folds",
    "starts",
    "subsample",
    "references",
    "batches",
    "relaxation",
    "gate_noise",
)


def stream(seed: int, purpose: Purpose, /, *further: int) -> np.random.SeedSequence:
    """Return the seed of one purpose; `further` numbers part it once more, e.g. by the number of features."""
    return np.random.SeedSequence(seed, spawn_key=(PURPOSES.index(purpose), *further))


def generator(seed: int, purpose: Purpose, /, *further: int) -> np.random.Generator:
    """Return a generator for one purpose."""
    return np.random.default_rng(stream(seed, purpose, *further))


def draws(seed: int, purpose: Purpose, count: int, /, *further: int) -> list[np.random.SeedSequence]:
    """Return one independent seed per draw, so that neither the order of work nor `n_jobs` changes anything."""
    return [stream(seed, purpose, *further, number) for number in range(count)]
