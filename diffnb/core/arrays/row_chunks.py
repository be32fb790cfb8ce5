"""Matrices that are read a run of rows at a time: dask arrays, on this machine or on a cluster.

A `Chunked` stands where a matrix in memory would: rows and columns can be taken of it, and nothing is read until a
pass is made. There are two kinds of passes. `reduce` sums something up over all rows, `map_rows` works out
something for each of them; both hold one run of rows at a time. Where a distributed client is active, runs are
worked on by its workers, and only what comes out travels.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp

from ..runtime import budget
from ..runtime.progress import bar
from ..typing import Floats, Ints, Matrix
from . import distributed as cluster

T = TypeVar("T")

#: rows of a run, numbered in the whole, and where they go in what was asked for
Places: TypeAlias = tuple[Ints, Ints]


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A dask array in runs of rows."""

    #: runs × chunks in a run × chunks of columns, each a delayed block
    runs: tuple[tuple[tuple[Any, ...], ...], ...]
    #: first row of every run, and the number of rows at the end
    edges: Ints
    #: the same within every run: first row of every chunk, and the number of rows of the run
    chunk_edges: tuple[Ints, ...]
    n_columns: int
    dtype: np.dtype[Any]
    is_sparse: bool

    @classmethod
    def of(cls, array: Any, /) -> Source:
        """Group the chunks of a dask array into runs."""
        if any(np.isnan(size) for axis in array.chunks for size in axis):
            raise ValueError("the chunks of this dask array have unknown sizes; call its compute_chunk_sizes() first.")
        # dense unless told so: an array may forget what its chunks are, and then a look at one tells
        meta = array._meta
        is_sparse = _is_sparse(meta) if meta is not None else False
        grid = array.to_delayed()
        heights = array.chunks[0]
        # counted as if dense, of which sparse rows are a small part
        most = budget.count(8 * array.shape[1], "kept" if is_sparse else "block")
        runs: list[list[tuple[Any, ...]]] = []
        within: list[list[int]] = []
        for row, height in zip(grid, heights, strict=True):
            if not height:
                continue
            if runs and within[-1][-1] + height <= most:
                runs[-1].append(tuple(row))
                within[-1].append(within[-1][-1] + height)
            else:
                runs.append([tuple(row)])
                within.append([0, height])
        return cls(
            tuple(tuple(run) for run in runs),
            np.cumsum([0, *(edges[-1] for edges in within)]),
            tuple(np.array(edges) for edges in within),
            int(array.shape[1]),
            np.dtype(array.dtype),
            is_sparse,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Chunked:
    """Some rows and columns of a source, in any order."""

    source: Source
    rows: Ints
    #: `None` for all
    columns: Ints | None = None
    #: taken off every row of dense data as it is read
    origin: Floats | None = None
    #: what a pass found and a later step may ask for again
    memo: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Observations and features."""
        return len(self.rows), self.source.n_columns if self.columns is None else len(self.columns)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers as they are stored."""
        return self.source.dtype

    @property
    def is_sparse(self) -> bool:
        """Whether blocks are sparse."""
        return self.source.is_sparse

    def __getitem__(self, key: Any) -> Chunked:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        taken = self
        if not _is_all(rows):
            taken = replace(taken, rows=taken.rows[rows], memo={})
        if not _is_all(columns):
            present = np.arange(self.source.n_columns) if self.columns is None else self.columns
            origin = None if self.origin is None else self.origin[columns]
            taken = replace(taken, columns=present[columns], origin=origin, memo={})
        return taken

    def centered(self, origin: Floats, /) -> Chunked:
        """Take a point off every row; sparse data stay as they are."""
        if self.is_sparse:
            return self
        return replace(self, origin=origin if self.origin is None else self.origin + origin, memo={})

    def load(self) -> Matrix:
        """Bring all of it into memory."""
        if self.is_sparse:
            return _stacked_in_order(self)
        dtype = self.dtype if self.origin is None else np.dtype(np.float64)
        return map_rows(self, _as_is, self.shape[1], dtype=dtype)

    def remember(self, name: str, work: Callable[[], T], /) -> T:
        """Make a pass once, and give what it found from then on."""
        if name not in self.memo:
            self.memo[name] = work()
        found: T = self.memo[name]
        return found


def is_dask(array: Any, /) -> bool:
    """Say whether this is a dask array, without importing dask."""
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(array, module.Array)


def chunked(array: Any, /) -> Chunked:
    """Return all rows and columns of a dask array."""
    source = Source.of(array)
    return Chunked(source, np.arange(source.edges[-1]))


def stacked(parts: Sequence[Chunked], /) -> Chunked:
    """Put rows of one source under each other."""
    first = parts[0]
    if any(part.source is not first.source or not _same(part.columns, first.columns) for part in parts):
        raise ValueError("only rows of one matrix, with the same columns, can be put under each other.")
    return replace(first, rows=np.concatenate([part.rows for part in parts]), memo={})


def reduce(
    parts: Sequence[Chunked],
    work: Callable[[Matrix, int, Ints], T],
    merge: Callable[[T, T], T],
    /,
    *,
    desc: str = "reading",
) -> list[T]:
    """Sum something up over the rows of each part, all parts of one source in one pass.

    `work` gets a block of rows, the number of its part and where these rows stand in that part; `merge` joins two
    of its results and may write into the first.
    """
    runs = _runs(parts)
    client = cluster.active_client()
    totals: list[Any] = [None] * len(parts)
    with bar(total=len(runs), desc=desc, delay=1.0) as done:
        if client is None:
            for run, places in _with_next(runs):
                _fold(totals, run, places, parts, work, merge)
                done.update()
            return totals
        step = partial(_folded, [_light(part) for part in parts], work, merge)
        for found in cluster.accumulate(client, step, runs, done.update):
            for number, part in enumerate(found):
                if part is not None:
                    totals[number] = part if totals[number] is None else merge(totals[number], part)
    return totals


def added(total: Floats, more: Floats) -> Floats:
    """Join two sums, into the first: what most passes do."""
    total += more
    return total


def map_rows(
    x: Chunked, work: Callable[[Matrix], Floats], width: int, /, *, dtype: Any = np.float64, desc: str = "reading"
) -> Floats:
    """Work out `width` numbers for every row."""
    out: Floats = np.empty((len(x.rows), width), dtype=dtype)
    for positions, block in each_row_block(x, work, desc=desc):
        out[positions] = block
    return out


def each_row_block(x: Chunked, work: Callable[[Matrix], T], /, *, desc: str = "reading") -> Iterator[tuple[Ints, T]]:
    """Yield what `work` makes of each run, with the places of its rows."""
    runs = _runs([x])
    client = cluster.active_client()
    with bar(total=len(runs), desc=desc, delay=1.0) as done:
        if client is None:
            for run, places in _with_next(runs):
                yield places[0][1], work(_taken(run, places[0], x))
                done.update()
            return
        inputs = [(run, (rows, rows[:0])) for run, ((rows, _),) in runs]
        for number, result in cluster.in_turn(client, partial(_mapped, _light(x), work), inputs):
            yield runs[number][1][0][1], result
            done.update()


def with_places(block: Matrix, _: int, positions: Ints) -> list[tuple[Ints, Matrix]]:
    """Keep a block as it is: what a pass does that brings data into memory."""
    return [(positions, block)]


def joined_lists(total: list[Any], more: list[Any]) -> list[Any]:
    """Join what was kept."""
    total += more
    return total


def _stacked_in_order(x: Chunked) -> Matrix:
    (blocks,) = reduce([x], with_places, joined_lists)
    return ordered(blocks, csc=False)


def ordered(blocks: list[tuple[Ints, Matrix]], *, csc: bool) -> Matrix:
    """Put sparse blocks under each other, rows in the order that was asked for."""
    whole = sp.vstack([block for _, block in blocks], format="csr")
    order = np.concatenate([positions for positions, _ in blocks])
    if not (np.diff(order) > 0).all():
        whole = whole[np.argsort(order)]
    return sp.csc_array(whole) if csc else sp.csr_array(whole)


def _as_is(block: Matrix) -> Floats:
    return np.asarray(block)


def _is_sparse(block: Any) -> bool:
    return bool(sp.issparse(block))


def _same(first: Ints | None, second: Ints | None) -> bool:
    return first is second or (first is not None and second is not None and np.array_equal(first, second))


def _is_all(key: Any) -> bool:
    return isinstance(key, slice) and key == slice(None)


def _runs(parts: Sequence[Chunked]) -> list[tuple[Any, list[Places]]]:
    """List the runs that hold a row of some part, and per part which rows of the run are meant."""
    source = parts[0].source
    if any(part.source is not source for part in parts):
        raise ValueError("one pass reads one matrix.")
    places = [_places(part.rows, source.edges) for part in parts]
    return [
        _needed(run, source.chunk_edges[number], [of_part[number] for of_part in places])
        for number, run in enumerate(source.runs)
        if any(of_part[number][0].size for of_part in places)
    ]


def _needed(run: Any, edges: Ints, places: list[Places]) -> tuple[Any, list[Places]]:
    """Leave out the chunks of a run that no row is wanted of: a look at some rows reads no more than theirs."""
    counts = [np.diff(np.searchsorted(rows, edges)) for rows, _ in places]
    wanted = np.any([count > 0 for count in counts], axis=0)
    if wanted.all():
        return run, places
    left_out = np.cumsum(np.where(wanted, 0, np.diff(edges)))
    moved = [(rows - np.repeat(left_out, count), to) for (rows, to), count in zip(places, counts, strict=True)]
    return tuple(chunk for chunk, kept in zip(run, wanted, strict=True) if kept), moved


def _places(rows: Ints, edges: Ints) -> list[Places]:
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    cuts = np.searchsorted(ordered, edges)
    return [(ordered[a:b] - edge, order[a:b]) for a, b, edge in zip(cuts[:-1], cuts[1:], edges[:-1], strict=True)]


def _with_next(runs: list[tuple[Any, list[Places]]]) -> Iterator[tuple[Matrix, list[Places]]]:
    """Load one run after the other, the next one while the last is worked on."""
    if not runs:
        return
    with ThreadPoolExecutor(1) as ahead:
        coming = ahead.submit(_loaded, runs[0][0])
        for number, (_, places) in enumerate(runs):
            block = coming.result()
            if number + 1 < len(runs):
                coming = ahead.submit(_loaded, runs[number + 1][0])
            yield block, places
            del block


def _loaded(run: tuple[tuple[Any, ...], ...]) -> Matrix:
    from dask.base import compute

    flat = [piece for row in run for piece in row]
    # within a task of a cluster, which has its thread already, no others are started
    scheduler = "synchronous" if cluster.in_worker() else "threads"
    found = iter(compute(*flat, scheduler=scheduler))
    return _assembled([[next(found) for _ in row] for row in run])


def _assembled(grid: Sequence[Sequence[Any]]) -> Matrix:
    """Join the chunks of a run: rows under each other, columns side by side."""
    if any(_is_sparse(piece) for row in grid for piece in row):
        rows = [row[0] if len(row) == 1 else sp.hstack(row, format="csr") for row in grid]
        return sp.csr_array(rows[0] if len(rows) == 1 else sp.vstack(rows, format="csr"))
    dense = [np.asarray(row[0]) if len(row) == 1 else np.hstack([np.asarray(p) for p in row]) for row in grid]
    return dense[0] if len(dense) == 1 else np.concatenate(dense)


def _taken(run: Matrix, places: Places, x: Chunked) -> Matrix:
    rows, _ = places
    block = run if _is_range(rows, run.shape[0]) else run[rows]
    if x.columns is not None:
        block = block[:, x.columns]
    if x.is_sparse:
        # chunks that turned out dense, as few numbers may, are what the array says they are
        return block if _is_sparse(block) else sp.csr_array(block)
    if _is_sparse(block):
        block = block.toarray()
    return block if x.origin is None else block - x.origin


def _is_range(rows: Ints, size: int) -> bool:
    return rows.size == size and bool((rows == np.arange(size)).all())


def _fold(
    totals: list[Any],
    run: Matrix,
    places: list[Places],
    parts: Sequence[Chunked],
    work: Callable[[Matrix, int, Ints], T],
    merge: Callable[[T, T], T],
) -> None:
    for number, (part, where) in enumerate(zip(parts, places, strict=True)):
        if where[0].size:
            found = work(_taken(run, where, part), number, where[1])
            totals[number] = found if totals[number] is None else merge(totals[number], found)


def _folded(
    parts: Sequence[Chunked],
    work: Callable[[Matrix, int, Ints], T],
    merge: Callable[[T, T], T],
    totals: list[Any] | None,
    run: Any,
    places: list[Places],
) -> list[Any]:
    """Return the totals after one more run, those before left as they are: on a cluster, others may need them."""
    more = [None] * len(parts) if totals is None else copy.deepcopy(totals)
    _fold(more, _assembled(run), places, parts, work, merge)
    return more


def _mapped(x: Chunked, work: Callable[[Matrix], T], run: Any, places: Places) -> T:
    return work(_taken(_assembled(run), places, x))


def _light(x: Chunked) -> Chunked:
    """Leave the data out of what is sent along with a task, which gets its own run."""
    return replace(
        x, source=replace(x.source, runs=(), edges=x.source.edges[:1], chunk_edges=()), rows=x.rows[:0], memo={}
    )
