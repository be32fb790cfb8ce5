"""Products with observations that are read in row blocks: every product is a pass over the data.

Independent pieces of work (a fold, a batch of permutations) can share their passes. `run_sharing_passes` runs them in
threads, each of which waits when it needs a product; once all of them wait, one pass computes the products of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from threading import Lock
from typing import Literal, TypeAlias, TypeVar, get_args

import numpy as np
import scipy.sparse as sp

from ..arrays.affine import AffineMap
from ..arrays.ops import dense64, float64, matmul
from ..arrays.row_chunks import Chunked, add_in_place, reduce, stacked
from ..runtime import budget
from ..runtime.progress import quietly
from ..runtime.threads import can_start_threads, thread_pool
from ..typing import Floats, Ints, Matrix

T = TypeVar("T")
R = TypeVar("R")
Product: TypeAlias = Literal["matmul", "rmatmul", "rmatmul_with_squares"]
PRODUCTS: tuple[Product, ...] = get_args(Product)
MAX_THREADS_PER_PASS = 32


@dataclass(frozen=True, slots=True)
class StreamedOperator:
    """Some features of the observations, with an affine map for each population.

    Maps are applied to the directions and to the products, which are small, not to the data. Dense data is centred
    as it is read, so that a large mean costs no digits.
    """

    #: rows of each population
    parts: tuple[Chunked, ...]
    #: of the features of each population
    maps: tuple[AffineMap, ...]
    #: `None` for all
    features: Ints | None = None
    passes: _SharedPasses = field(default_factory=lambda: _SharedPasses())

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
            padded = np.zeros((len(beta), self.parts[0].shape[1]))
            padded[:, self.features] = beta
            beta = padded
        return self.passes.request("matmul", beta, self._matmul_pass)

    def rmatmul(self, weights: Floats, /) -> Floats:
        """Rows of weights of observations times the data, rows × features."""
        return self._selected(self.passes.request("rmatmul", weights, self._rmatmul_pass))

    def rmatmul_with_squares(self, weights: Floats, /) -> tuple[Floats, Floats]:
        """Rows of weights of observations times the data, and times the squared data."""
        both = self.passes.request("rmatmul_with_squares", weights, self._rmatmul_with_squares_pass)
        products, squares = np.split(both, 2, axis=1)
        return self._selected(products), self._selected(squares)

    def columns(self, features: Ints, /) -> Floats:
        """Return some features as a dense array."""
        wanted = features if self.features is None else self.features[features]
        with quietly():
            dense = dense64(stacked(self.parts)[:, wanted])
        for mapping, rows in zip(self.maps, self._rows_of_parts(), strict=True):
            dense[rows] = mapping.at(wanted).of(dense[rows])
        return dense

    def rows(self, rows: Ints, /) -> Floats:
        """Return some observations as a dense array."""
        with quietly():
            dense = dense64(stacked(self.parts)[rows])
        for mapping, of_part in zip(self.maps, self._rows_of_parts(), strict=True):
            mapped = (rows >= of_part.start) & (rows < of_part.stop)
            dense[mapped] = mapping.of(dense[mapped])
        return self._selected(dense)

    def column_blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Load column blocks that fit in memory, in one pass each."""
        width = budget.count(8 * self.n_obs, "kept")
        for start in range(0, self.n_features, width):
            where = slice(start, min(start + width, self.n_features))
            yield where, self.columns(np.arange(where.start, where.stop))

    def restricted(self, features: Ints, /) -> StreamedOperator:
        """Keep some features only."""
        return replace(self, features=features if self.features is None else self.features[features])

    def _selected(self, products: Floats) -> Floats:
        return products if self.features is None else products[:, self.features]

    def _rows_of_parts(self) -> list[slice]:
        edges = np.cumsum([0, *(part.shape[0] for part in self.parts)])
        return [slice(a, b) for a, b in pairwise(edges)]

    def _matmul_pass(self, beta: Floats) -> Floats:
        """Multiply all rows with the directions of every population in one pass, and keep those of their own."""
        scaled = [mapping.directions(beta) for mapping in self.maps]
        with quietly():
            products = np.split(matmul(stacked(self.parts), np.concatenate(scaled).T), len(scaled), axis=1)
        projected = np.empty((len(beta), self.n_obs))
        for mapping, directions, product, rows in zip(self.maps, scaled, products, self._rows_of_parts(), strict=True):
            projected[:, rows] = product[rows].T - mapping.centers(directions)[:, None]
        return projected

    def _rmatmul_pass(self, weights: Floats) -> Floats:
        by_part = self._weights_of_parts(weights)
        with quietly():
            products = reduce(self.parts, partial(_rmatmul_block, by_part), add_in_place)
        total = np.zeros((len(weights), self.parts[0].shape[1]))
        for mapping, product, of_part in zip(self.maps, products, by_part, strict=True):
            total += mapping.weighted(product.T, of_part.sum(axis=0))
        return total

    def _rmatmul_with_squares_pass(self, weights: Floats) -> Floats:
        by_part = self._weights_of_parts(weights)
        with quietly():
            products = reduce(self.parts, partial(_rmatmul_with_squares_block, by_part), add_in_place)
        total = np.zeros((2, len(weights), self.parts[0].shape[1]))
        for mapping, (plain, squares), of_part in zip(self.maps, products, by_part, strict=True):
            mass = of_part.sum(axis=0)
            total += mapping.weighted(plain.T, mass), mapping.weighted_squares(plain.T, squares.T, mass)
        return np.concatenate(list(total), axis=1)

    def _weights_of_parts(self, weights: Floats) -> list[Floats]:
        return [np.ascontiguousarray(weights[:, rows].T) for rows in self._rows_of_parts()]


def _rmatmul_block(weights: Sequence[Floats], block: Matrix, part: int, positions: Ints) -> Floats:
    return np.asarray(_float64_block(block).T @ weights[part][positions])


def _rmatmul_with_squares_block(weights: Sequence[Floats], block: Matrix, part: int, positions: Ints) -> Floats:
    block = _float64_block(block)
    squared = block.multiply(block) if sp.issparse(block) else np.square(block)
    return np.stack([np.asarray(matrix.T @ weights[part][positions]) for matrix in (block, squared)])


def _float64_block(block: Matrix) -> Matrix:
    return float64(block) if sp.issparse(block) else dense64(block)


@dataclass(frozen=True, slots=True)
class _Request:
    """A product that a thread waits for: the pass computes every row independently of the others."""

    product: Product
    rows: Floats
    run_pass: Callable[[Floats], Floats]
    result: Future[Floats] = field(default_factory=Future)


class _SharedPasses:
    """Runs passes: immediately for a single thread, or once all registered threads wait for one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_threads = 0
        self._waiting: list[_Request] = []

    def register(self, n_threads: int) -> None:
        """Announce threads that will request products."""
        with self._lock:
            self._n_threads += n_threads

    def unregister(self) -> None:
        """Withdraw a thread that has finished; the others may all be waiting now."""
        with self._lock:
            self._n_threads -= 1
            self._run_if_all_wait()

    def request(self, product: Product, rows: Floats, run_pass: Callable[[Floats], Floats]) -> Floats:
        """Return the product with these rows."""
        with self._lock:
            if not self._n_threads:
                return run_pass(rows)
            request = _Request(product, rows, run_pass)
            self._waiting.append(request)
            self._run_if_all_wait()
        return request.result.result()

    def _run_if_all_wait(self) -> None:
        if not self._waiting or len(self._waiting) < self._n_threads:
            return
        waiting, self._waiting = self._waiting, []
        for product in PRODUCTS:
            requests = [request for request in waiting if request.product == product]
            if requests:
                _run_one_pass(requests)


def _run_one_pass(requests: Sequence[_Request]) -> None:
    try:
        products = requests[0].run_pass(np.concatenate([request.rows for request in requests]))
    except BaseException as error:
        for request in requests:
            request.result.set_exception(error)
        return
    edges = np.cumsum([0, *(len(request.rows) for request in requests)])
    for request, (start, stop) in zip(requests, pairwise(edges), strict=True):
        request.result.set_result(products[start:stop])


def n_sharing_passes(numbers_each: int, /) -> int:
    """Return how many pieces of work may share passes when each of them holds so many numbers."""
    if not can_start_threads():
        return 1
    return min(MAX_THREADS_PER_PASS, budget.count(8 * numbers_each, "kept"))


def run_sharing_passes(
    operator: StreamedOperator,
    work: Callable[[T], R],
    items: Sequence[T],
    /,
    *,
    n_sharing: int,
    on_done: Callable[[], object],
) -> list[R]:
    """Call `work` on every item, `n_sharing` of them concurrently, which share their passes over the data."""
    results: list[R] = []
    for start in range(0, len(items), n_sharing):
        sharing = items[start : start + n_sharing]
        if len(sharing) == 1:
            results.append(work(sharing[0]))
            on_done()
            continue
        operator.passes.register(len(sharing))
        with thread_pool(len(sharing)) as pool:
            futures = [
                pool.submit(copy_context().run, _run_registered, operator.passes, work, item) for item in sharing
            ]
            for future in futures:
                results.append(future.result())
                on_done()
    return results


def _run_registered(passes: _SharedPasses, work: Callable[[T], R], item: T) -> R:
    try:
        return work(item)
    finally:
        passes.unregister()
