"""Matrices that are read in blocks of rows: dask arrays, on this machine or on a cluster.

A `Chunked` is used like a matrix in memory: rows and columns can be selected, and nothing is read before a pass over
the data. There are two kinds of passes: `reduce` accumulates over all rows, `map_rows` computes numbers for each of
them. Both keep one row block in memory at a time. With an active distributed client, row blocks are processed by its
workers, and only the results are transferred.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp

from ..runtime.progress import bar
from ..runtime.threads import can_start_threads, thread_pool
from ..typing import Floats, Ints, Matrix
from . import distributed as cluster
from .adjustment import RowAdjustment
from .row_source import Grid, Source, is_sparse

T = TypeVar("T")

#: selected rows of a row block, and their positions in the selection
Selected: TypeAlias = tuple[Ints, Ints]
#: a row block to read, and what each of the parts of a pass selects of it
Wanted: TypeAlias = tuple[Grid, list[Selected]]


@dataclass(frozen=True, slots=True, eq=False)
class Chunked:
    """Some rows and columns of a source, in any order."""

    source: Source
    rows: Ints
    #: `None` for all
    columns: Ints | None = None
    #: subtracted from every row of dense data as it is read
    origin: Floats | None = None
    #: applied to all rows and columns of the source as they are read, which makes sparse blocks dense
    adjustment: RowAdjustment | None = None
    #: results of passes that later steps use again
    memo: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Observations and features."""
        return len(self.rows), self.source.n_columns if self.columns is None else len(self.columns)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers as they are read."""
        return self.source.dtype if self.adjustment is None else np.dtype(np.float64)

    @property
    def is_sparse(self) -> bool:
        """Whether blocks are sparse."""
        return self.source.is_sparse and self.adjustment is None

    def __getitem__(self, key: Any) -> Chunked:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        selected = self
        if not _is_all(rows):
            selected = replace(selected, rows=selected.rows[rows], memo={})
        if not _is_all(columns):
            present = np.arange(self.source.n_columns) if self.columns is None else self.columns
            origin = None if self.origin is None else self.origin[columns]
            selected = replace(selected, columns=present[columns], origin=origin, memo={})
        return selected

    def centered(self, origin: Floats, /) -> Chunked:
        """Subtract a point from every row; sparse data stay as they are."""
        if self.is_sparse:
            return self
        return replace(self, origin=origin if self.origin is None else self.origin + origin, memo={})

    def adjusted(self, adjustment: RowAdjustment, /) -> Chunked:
        """Adjust all rows and columns of the source as they are read."""
        return replace(self, source=self.source.in_dense_blocks(), adjustment=adjustment, memo={})

    def load(self) -> Matrix:
        """Load all of it into memory."""
        if self.is_sparse:
            (blocks,) = reduce([self], keep_block, extend_list)
            return stack_in_order(blocks, csc=False)
        dtype = self.dtype if self.origin is None else np.dtype(np.float64)
        return map_rows(self, _as_is, self.shape[1], dtype=dtype)

    def cached(self, name: str, compute: Callable[[], T], /) -> T:
        """Compute something once, and return the same result from then on."""
        if name not in self.memo:
            self.memo[name] = compute()
        found: T = self.memo[name]
        return found


def is_dask(array: Any, /) -> bool:
    """Return whether this is a dask array, without importing dask."""
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(array, module.Array)


def chunked(array: Any, /) -> Chunked:
    """Return all rows and columns of a dask array."""
    source = Source.of(array)
    return Chunked(source, np.arange(source.edges[-1]))


def in_row_blocks(x: Any, /) -> Chunked:
    """Return all rows and columns of a sparse matrix in memory, to be made dense one row block at a time."""
    return Chunked(Source.in_memory(x), np.arange(x.shape[0]))


def stacked(parts: Sequence[Chunked], /) -> Chunked:
    """Stack rows of one source."""
    first = parts[0]
    if any(part.source is not first.source or not _same(part.columns, first.columns) for part in parts):
        raise ValueError("only rows of one matrix, with the same columns, can be stacked.")
    return replace(first, rows=np.concatenate([part.rows for part in parts]), memo={})


def reduce(
    parts: Sequence[Chunked],
    work: Callable[[Matrix, int, Ints], T],
    merge: Callable[[T, T], T],
    /,
    *,
    desc: str = "reading",
) -> list[T]:
    """Accumulate a result over the rows of each part, for all parts of one source in one pass.

    `work` takes a block of rows, the number of its part and the positions of these rows in that part; `merge` combines
    two of its results and may overwrite the first.
    """
    wanted = _wanted_blocks(parts)
    client = cluster.active_client()
    totals: list[Any] = [None] * len(parts)
    with bar(total=len(wanted), desc=desc, delay=1.0) as progress:
        if client is None:
            for block, selected in _prefetched(wanted):
                _fold(totals, block, selected, parts, work, merge)
                progress.update()
            return totals
        step = partial(_folded, [_without_data(part) for part in parts], work, merge)
        for found in cluster.accumulate(client, step, wanted, progress.update):
            for number, part in enumerate(found):
                if part is not None:
                    totals[number] = part if totals[number] is None else merge(totals[number], part)
    return totals


def add_in_place(total: Floats, more: Floats) -> Floats:
    """Add to a sum, the most common `merge` of a pass."""
    total += more
    return total


def map_rows(
    x: Chunked, work: Callable[[Matrix], Floats], width: int, /, *, dtype: Any = np.float64, desc: str = "reading"
) -> Floats:
    """Compute `width` numbers for every row."""
    out: Floats = np.empty((len(x.rows), width), dtype=dtype)
    for positions, block in map_row_blocks(x, work, desc=desc):
        out[positions] = block
    return out


def map_row_blocks(x: Chunked, work: Callable[[Matrix], T], /, *, desc: str = "reading") -> Iterator[tuple[Ints, T]]:
    """Yield the result of `work` for each row block, with the positions of its rows."""
    wanted = _wanted_blocks([x])
    client = cluster.active_client()
    with bar(total=len(wanted), desc=desc, delay=1.0) as progress:
        if client is None:
            for block, (selected,) in _prefetched(wanted):
                yield selected[1], work(_select(block, selected, x))
                progress.update()
            return
        inputs = [(grid, selected) for grid, (selected,) in wanted]
        for number, result in cluster.map_as_completed(client, partial(_mapped, _without_data(x), work), inputs):
            yield wanted[number][1][0][1], result
            progress.update()


def keep_block(block: Matrix, _: int, positions: Ints) -> list[tuple[Ints, Matrix]]:
    """Return a block unchanged: the `work` of a pass that loads data into memory."""
    return [(positions, block)]


def extend_list(total: list[Any], more: list[Any]) -> list[Any]:
    """Extend the list of blocks that a pass has loaded."""
    total += more
    return total


def stack_in_order(blocks: list[tuple[Ints, Matrix]], *, csc: bool) -> Matrix:
    """Stack sparse blocks, rows in the order of the selection."""
    whole = sp.vstack([block for _, block in blocks], format="csr")
    order = np.concatenate([positions for positions, _ in blocks])
    if not (np.diff(order) > 0).all():
        whole = whole[np.argsort(order)]
    return sp.csc_array(whole) if csc else sp.csr_array(whole)


def _as_is(block: Matrix) -> Floats:
    return np.asarray(block)


def _same(first: Ints | None, second: Ints | None) -> bool:
    return first is second or (first is not None and second is not None and np.array_equal(first, second))


def _is_all(key: Any) -> bool:
    return isinstance(key, slice) and key == slice(None)


def _wanted_blocks(parts: Sequence[Chunked]) -> list[Wanted]:
    """List the row blocks that contain a row of some part, and the rows of the block that each part selects."""
    source = parts[0].source
    if any(part.source is not source for part in parts):
        raise ValueError("one pass reads one matrix.")
    selected = [_by_block(part.rows, source.edges) for part in parts]
    return [
        _without_unused_chunks(grid, source.chunk_edges[number], [of_part[number] for of_part in selected])
        for number, grid in enumerate(source.row_blocks)
        if any(of_part[number][0].size for of_part in selected)
    ]


def _by_block(rows: Ints, edges: Ints) -> list[Selected]:
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    cuts = np.searchsorted(ordered, edges)
    return [(ordered[a:b] - edge, order[a:b]) for a, b, edge in zip(cuts[:-1], cuts[1:], edges[:-1], strict=True)]


def _without_unused_chunks(grid: Grid, edges: Ints, selected: list[Selected]) -> Wanted:
    """Remove the chunks of a row block of which no row is selected, so that reading a few rows reads few chunks."""
    counts = [np.diff(np.searchsorted(rows, edges)) for rows, _ in selected]
    used = np.any([count > 0 for count in counts], axis=0)
    if used.all():
        return grid, selected
    removed = np.cumsum(np.where(used, 0, np.diff(edges)))
    moved = [(rows - np.repeat(removed, count), to) for (rows, to), count in zip(selected, counts, strict=True)]
    return tuple(chunks for chunks, kept in zip(grid, used, strict=True) if kept), moved


def _prefetched(wanted: list[Wanted]) -> Iterator[tuple[Matrix, list[Selected]]]:
    """Load one row block after the other, each while the one before is processed."""
    if not wanted:
        return
    with thread_pool(1) as loader:
        loading = loader.submit(_loaded, wanted[0][0])
        for number, (_, selected) in enumerate(wanted):
            block = loading.result()
            if number + 1 < len(wanted):
                loading = loader.submit(_loaded, wanted[number + 1][0])
            yield block, selected
            del block


def _loaded(grid: Grid) -> Matrix:
    flat = [chunk for row in grid for chunk in row]
    if all(is_sparse(chunk) for chunk in flat):
        return _assembled(grid)  # in memory already
    from dask.base import compute

    # a task of a cluster has its thread already, and starts no others
    scheduler = "synchronous" if cluster.in_worker() or not can_start_threads() else "threads"
    found = iter(compute(*flat, scheduler=scheduler))
    return _assembled([[next(found) for _ in row] for row in grid])


def _assembled(grid: Sequence[Sequence[Any]]) -> Matrix:
    """Join the chunks of a row block to one matrix."""
    if any(is_sparse(chunk) for row in grid for chunk in row):
        rows = [row[0] if len(row) == 1 else sp.hstack(row, format="csr") for row in grid]
        return sp.csr_array(rows[0] if len(rows) == 1 else sp.vstack(rows, format="csr"))
    dense = [np.asarray(row[0]) if len(row) == 1 else np.hstack([np.asarray(c) for c in row]) for row in grid]
    return dense[0] if len(dense) == 1 else np.concatenate(dense)


def _select(block: Matrix, selected: Selected, x: Chunked) -> Matrix:
    """Return the selected rows of a row block, with the columns, the adjustment and the origin of `x`."""
    rows, positions = selected
    block = block if _is_range(rows, block.shape[0]) else block[rows]
    if x.columns is not None:
        block = block[:, x.columns]
    if x.adjustment is not None:
        block = x.adjustment.of(block, x.rows[positions], x.columns)
    if x.is_sparse:
        # single chunks of a sparse array may be dense
        return block if is_sparse(block) else sp.csr_array(block)
    if is_sparse(block):
        block = block.toarray()
    return block if x.origin is None else block - x.origin


def _is_range(rows: Ints, size: int) -> bool:
    return rows.size == size and bool((rows == np.arange(size)).all())


def _fold(
    totals: list[Any],
    block: Matrix,
    selected: list[Selected],
    parts: Sequence[Chunked],
    work: Callable[[Matrix, int, Ints], T],
    merge: Callable[[T, T], T],
) -> None:
    for number, (part, chosen) in enumerate(zip(parts, selected, strict=True)):
        if chosen[0].size:
            found = work(_select(block, chosen, part), number, chosen[1])
            totals[number] = found if totals[number] is None else merge(totals[number], found)


def _folded(
    parts: Sequence[Chunked],
    work: Callable[[Matrix, int, Ints], T],
    merge: Callable[[T, T], T],
    totals: list[Any] | None,
    grid: Any,
    selected: list[Selected],
) -> list[Any]:
    """Return the totals after one more row block as new objects: on a cluster, other tasks may need the old ones."""
    more = [None] * len(parts) if totals is None else copy.deepcopy(totals)
    _fold(more, _assembled(grid), selected, parts, work, merge)
    return more


def _mapped(x: Chunked, work: Callable[[Matrix], T], grid: Any, selected: Selected) -> T:
    return work(_select(_assembled(grid), selected, x))


def _without_data(x: Chunked) -> Chunked:
    """Return what a task needs to know of `x`; its row block is sent separately."""
    source = replace(x.source, row_blocks=(), edges=x.source.edges[:1], chunk_edges=())
    rows = x.rows[:0] if x.adjustment is None else x.rows
    return replace(x, source=source, rows=rows, memo={})
