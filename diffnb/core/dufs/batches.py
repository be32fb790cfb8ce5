"""Standardised observations, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..arrays.affine import AffineMap, inverse_sd
from ..arrays.ops import dense64, mean_and_variance, take_rows
from ..arrays.row_chunks import Chunked
from ..runtime import budget
from ..runtime.progress import quietly
from ..typing import Floats, Ints, Matrix

#: observations up to which a batch is all of them, and the size of a batch of more
MAX_OBS_IN_ONE_BATCH, DEFAULT_BATCH_OBS = 1000, 500


def resolved_batch_size(batch_size: int | Literal["auto"], n_obs: int, /) -> int:
    """Return the number of observations in a batch: by default all of them, where they are not many."""
    if batch_size == "auto":
        return n_obs if n_obs <= MAX_OBS_IN_ONE_BATCH else DEFAULT_BATCH_OBS
    return min(batch_size, n_obs)


@dataclass(frozen=True, slots=True)
class Batches:
    """Standardised observations in batches: nothing sparse or large is made dense as a whole."""

    x: Matrix
    map: AffineMap
    batch_size: int
    #: all observations standardised, where they are one batch
    whole: Floats | None
    #: batches that are loaded in one pass, where data is read in row blocks
    n_per_pass: int = 1

    def endless(self, rng: np.random.Generator, /) -> Iterator[Floats]:
        """Yield batches without end, every observation at most once in each round through the data."""
        while self.whole is not None:
            yield self.whole
        n, size = self.x.shape[0], self.batch_size
        # observations that fill no batch at the end of a round are at other places in the next
        starts = range(0, n - size + 1, size)
        while True:
            order = rng.permutation(n)
            for first in range(0, len(starts), self.n_per_pass):
                rows = [np.sort(order[s : s + size]) for s in starts[first : first + self.n_per_pass]]
                yield from self._take_each(rows)

    def first(self, rng: np.random.Generator, /) -> Floats:
        """Return the first of these batches alone."""
        return next(replace(self, n_per_pass=1).endless(rng))

    def take(self, rows: Ints, /) -> Floats:
        """Take some observations, dense and standardised."""
        return self.map.of(dense64(take_rows(self.x, rows)))

    def _take_each(self, batches: Sequence[Ints]) -> Iterator[Floats]:
        """Take several batches; from data that is read in row blocks, all of them in one pass."""
        if not isinstance(self.x, Chunked):
            yield from map(self.take, batches)
            return
        with quietly():
            loaded = replace(self, x=self.x[np.concatenate(batches)].load())
        for number in range(len(batches)):
            yield loaded.take(np.arange(number * self.batch_size, (number + 1) * self.batch_size))


def standardized_batches(
    x: Matrix, /, *, standardize: Literal["global"] | None = "global", batch_size: int | Literal["auto"] = "auto"
) -> Batches:
    """Prepare batches; a sparse matrix becomes CSR, whose rows can be sliced quickly.

    The rows of a batch are spread over all of the data: of data that is read in row blocks, one pass loads several.
    """
    n, d = x.shape
    size = resolved_batch_size(batch_size, n)
    if standardize is None:
        standardizing = AffineMap()
    else:
        mean, variance = mean_and_variance(x)
        standardizing = AffineMap(mean, inverse_sd(mean, variance))
    if getattr(x, "format", "csr") == "csc":
        x = x.tocsr()
    n_per_pass = budget.count(8 * size * d, "kept") if isinstance(x, Chunked) else 1
    batches = Batches(x, standardizing, size, None, n_per_pass)
    return replace(batches, whole=batches.take(np.arange(n))) if size == n else batches
