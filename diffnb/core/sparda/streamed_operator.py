"""Observations of SPARDA that are read in runs: every product with them is a pass over the data.

Work that goes its own way (a fold, a deal of a permutation) can share its passes with others: `side_by_side` lets
it run in threads of its own, which wait for one another wherever they need the data, and then one pass serves all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from threading import Condition
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp

from ..arrays.affine import AffineMap
from ..arrays.ops import dense64, float64, matmul
from ..arrays.row_chunks import Chunked, add_in_place, reduce, stacked
from ..runtime import budget
from ..runtime.progress import quietly
from ..typing import Floats, Ints, Matrix

T = TypeVar("T")
R = TypeVar("R")
Product: TypeAlias = Literal["times", "back", "both"]
#: threads that share passes
MAX_CONCURRENT = 32


@dataclass(frozen=True, slots=True)
class Streamed:
    """Some features of observations, with an affine map for each population.

    The map is applied on the thin side of products. Dense data is read around its mean, so that this costs
    no digits.
    """

    #: rows of each population
    parts: tuple[Chunked, ...]
    #: of the features of each population
    maps: tuple[AffineMap, ...]
    #: `None` for all
    features: Ints | None = None
    passes: _Passes = field(default_factory=lambda: _Passes())

    @property
    def n_obs(self) -> int:
        """Number of observations."""
        return sum(part.shape[0] for part in self.parts)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.parts[0].shape[1] if self.features is None else len(self.features)

    def matmul(self, beta: Floats, /) -> Floats:
        """Rows of directions times the observations, directions × observations."""
        if self.features is not None:
            whole = np.zeros((len(beta), self.parts[0].shape[1]))
            whole[:, self.features] = beta
            beta = whole
        return self.passes.ask("times", beta, self._times_at_once)

    def rmatmul(self, c: Floats, /) -> Floats:
        """Rows of weights of observations times the data, rows × features."""
        return self._some(self.passes.ask("back", c, self._back_at_once))

    def rmatmul_with_squares(self, c: Floats, /) -> tuple[Floats, Floats]:
        """Rows of weights of observations times the data, and times the squared data."""
        found = self.passes.ask("both", c, self._both_at_once)
        first, second = np.split(found, 2, axis=1)
        return self._some(first), self._some(second)

    def columns(self, features: Ints, /) -> Floats:
        """Return some features as a dense array."""
        wanted = features if self.features is None else self.features[features]
        with quietly():
            dense = dense64(stacked(self.parts)[:, wanted])
        for mapping, rows in zip(self.maps, self._rows(), strict=True):
            dense[rows] = mapping.at(wanted).of(dense[rows])
        return dense

    def rows(self, rows: Ints, /) -> Floats:
        """Return some observations as a dense array."""
        with quietly():
            dense = dense64(stacked(self.parts)[rows])
        for mapping, mine in zip(self.maps, self._rows(), strict=True):
            own = (rows >= mine.start) & (rows < mine.stop)
            dense[own] = mapping.of(dense[own])
        return self._some(dense)

    def slabs(self) -> Iterator[tuple[slice, Floats]]:
        """Bring runs of features into memory, a pass each."""
        width = budget.count(8 * self.n_obs, "kept")
        for start in range(0, self.n_features, width):
            where = slice(start, min(start + width, self.n_features))
            yield where, self.columns(np.arange(where.start, where.stop))

    def restricted(self, features: Ints, /) -> Streamed:
        """Keep some features only."""
        return replace(self, features=features if self.features is None else self.features[features])

    def _some(self, products: Floats) -> Floats:
        return products if self.features is None else products[:, self.features]

    def _rows(self) -> list[slice]:
        edges = np.cumsum([0, *(part.shape[0] for part in self.parts)])
        return [slice(a, b) for a, b in pairwise(edges)]

    def _times_at_once(self, beta: Floats) -> Floats:
        """Multiply in one pass: with the directions as each population scales them, of which each takes its own."""
        with quietly():
            whole = stacked(self.parts)
            scaled = [mapping.directions(beta) for mapping in self.maps]
            seen = matmul(whole, np.concatenate(scaled).T)
        centres = [mapping.centers(mine) for mapping, mine in zip(self.maps, scaled, strict=True)]
        found = np.empty((len(beta), self.n_obs))
        for number, (rows, centre) in enumerate(zip(self._rows(), centres, strict=True)):
            mine = slice(number * len(beta), (number + 1) * len(beta))
            found[:, rows] = seen[rows, mine].T - centre[:, None]
        return found

    def _back_at_once(self, c: Floats) -> Floats:
        weights = [np.ascontiguousarray(c[:, rows].T) for rows in self._rows()]
        with quietly():
            found = reduce(self.parts, partial(_back_of_block, weights), add_in_place)
        total = np.zeros((len(c), self.parts[0].shape[1]))
        for mapping, products, weight in zip(self.maps, found, weights, strict=True):
            total += mapping.weighted(products.T, weight.sum(axis=0))
        return total

    def _both_at_once(self, c: Floats) -> Floats:
        weights = [np.ascontiguousarray(c[:, rows].T) for rows in self._rows()]
        with quietly():
            found = reduce(self.parts, partial(_both_of_block, weights), add_in_place)
        total = np.zeros((2, len(c), self.parts[0].shape[1]))
        for mapping, products, weight in zip(self.maps, found, weights, strict=True):
            first, second, mass = products[0].T, products[1].T, weight.sum(axis=0)
            total += mapping.weighted(first, mass), mapping.weighted_squares(first, second, mass)
        return np.concatenate(list(total), axis=1)


def _back_of_block(weights: Sequence[Floats], block: Matrix, part: int, positions: Ints) -> Floats:
    c = weights[part][positions]
    return np.asarray(float64(block).T @ c if sp.issparse(block) else dense64(block).T @ c)


def _both_of_block(weights: Sequence[Floats], block: Matrix, part: int, positions: Ints) -> Floats:
    c = weights[part][positions]
    block = float64(block) if sp.issparse(block) else dense64(block)
    squared = block.multiply(block) if sp.issparse(block) else np.square(block)
    return np.stack([np.asarray(block.T @ c), np.asarray(squared.T @ c)])


class _Passes:
    """Makes passes: at once, or where several threads work, for all of them when all of them wait."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._working = 0
        self._waiting: list[tuple[Product, Floats, Callable[[Floats], Floats], Future[Floats]]] = []

    def join(self, count: int) -> None:
        """Say that so many threads will ask."""
        with self._changed:
            self._working += count

    def leave(self) -> None:
        """Say that one thread will not ask any more; who else waits is served now."""
        with self._changed:
            self._working -= 1
            self._serve_if_all_wait()

    def ask(self, product: Product, rows: Floats, work: Callable[[Floats], Floats]) -> Floats:
        """Return what `work` makes of these rows; it treats every row by itself."""
        with self._changed:
            if not self._working:
                return work(rows)
            mine: Future[Floats] = Future()
            self._waiting.append((product, rows, work, mine))
            self._serve_if_all_wait()
        return mine.result()

    def _serve_if_all_wait(self) -> None:
        if not self._waiting or len(self._waiting) < self._working:
            return
        waiting, self._waiting = self._waiting, []
        for product in ("times", "back", "both"):
            asked = [one for one in waiting if one[0] == product]
            if asked:
                _answer(asked)


def _answer(asked: list[tuple[Product, Floats, Callable[[Floats], Floats], Future[Floats]]]) -> None:
    try:
        found = asked[0][2](np.concatenate([rows for _, rows, _, _ in asked]))
    except BaseException as error:
        for _, _, _, future in asked:
            future.set_exception(error)
        return
    start = 0
    for _, rows, _, future in asked:
        future.set_result(found[start : start + len(rows)])
        start += len(rows)


def room_for(each: int, /) -> int:
    """Return how many pieces of work fit in memory when each holds so many numbers."""
    return min(MAX_CONCURRENT, budget.count(8 * each, "kept"))


def run_concurrently(
    streamed: Streamed, work: Callable[[T], R], items: Sequence[T], most: int, /, *, tick: Callable[[], object]
) -> list[R]:
    """Do `work` for every item, at most so many at once, and let them share their passes over the data."""
    results: list[R] = []
    for start in range(0, len(items), most):
        some = items[start : start + most]
        if len(some) == 1:
            results.append(work(some[0]))
            tick()
            continue
        streamed.passes.join(len(some))
        with ThreadPoolExecutor(len(some)) as pool:
            futures = [pool.submit(copy_context().run, _until_done, streamed.passes, work, item) for item in some]
            for future in futures:
                results.append(future.result())
                tick()
    return results


def _until_done(passes: _Passes, work: Callable[[T], R], item: T) -> R:
    try:
        return work(item)
    finally:
        passes.leave()
