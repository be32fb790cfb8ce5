"""Random streams: one for every purpose, independent between seeds.

With `seed + 1` for a second purpose, the second stream of seed 0 would be the first stream of seed 1. Here a stream is
a child of a `SeedSequence`, identified by its purpose and the number of the draw.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

#: what random numbers are drawn for
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
    "eigensolver",
    "projection",
    "gate_noise",
    "thinning",
    "halves",
    "blocks",
]
#: the position is part of the key of a stream, so new purposes are appended
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)


def stream(seed: int, purpose: Purpose, /, *further: int) -> np.random.SeedSequence:
    """Return the seed of one purpose; `further` numbers identify streams within it, e.g. by the number of features."""
    return np.random.SeedSequence(seed, spawn_key=(PURPOSES.index(purpose), *further))


def generator(seed: int, purpose: Purpose, /, *further: int) -> np.random.Generator:
    """Return a generator for one purpose."""
    return np.random.default_rng(stream(seed, purpose, *further))


def draws(seed: int, purpose: Purpose, count: int, /, *further: int) -> list[np.random.SeedSequence]:
    """Return one independent seed per draw, so that neither the order of work nor `n_jobs` changes anything."""
    return [stream(seed, purpose, *further, number) for number in range(count)]
