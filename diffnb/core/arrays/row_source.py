"""Where row blocks come from: the chunks of a dask array, or a sparse matrix in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..runtime import budget
from ..typing import Ints

#: the chunks of a row block, rows × columns of the grid, each a delayed array or a matrix in memory
Grid: TypeAlias = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A matrix in row blocks, each of one or more chunks."""

    row_blocks: tuple[Grid, ...]
    #: first row of every row block, and the number of rows at the end
    edges: Ints
    #: per row block, first row of every chunk in it, and its number of rows at the end
    chunk_edges: tuple[Ints, ...]
    n_columns: int
    dtype: np.dtype[Any]
    is_sparse: bool

    @classmethod
    def of(cls, array: Any, /) -> Source:
        """Group the chunks of a dask array into row blocks."""
        if any(np.isnan(size) for axis in array.chunks for size in axis):
            raise ValueError("the chunks of this dask array have unknown sizes; call its compute_chunk_sizes() first.")
        # an array without meta counts as dense
        sparse = array._meta is not None and is_sparse(array._meta)
        # the rows of a dense block; sparse ones take a small part of that
        height = budget.count(8 * array.shape[1], "kept" if sparse else "block")
        row_blocks, chunk_edges = _grouped(array.to_delayed(), array.chunks[0], height)
        edges = np.cumsum([0, *(within[-1] for within in chunk_edges)])
        return cls(row_blocks, edges, chunk_edges, int(array.shape[1]), np.dtype(array.dtype), sparse)

    @classmethod
    def in_memory(cls, x: Any, /) -> Source:
        """Cut a sparse matrix in memory into row blocks that would fit if they were dense."""
        x = sp.csr_array(x)
        height = budget.count(8 * x.shape[1])
        edges = np.array([*range(0, x.shape[0], height), x.shape[0]])
        row_blocks = tuple(((x[start:stop],),) for start, stop in pairwise(edges))
        chunk_edges = tuple(np.array([0, size]) for size in np.diff(edges))
        return cls(row_blocks, edges, chunk_edges, int(x.shape[1]), np.dtype(x.dtype), is_sparse=True)

    def in_dense_blocks(self) -> Source:
        """Group the same chunks into row blocks that fit if they are made dense."""
        if not self.is_sparse:
            return self
        chunks = [row for block in self.row_blocks for row in block]
        heights = [int(height) for within in self.chunk_edges for height in np.diff(within)]
        row_blocks, chunk_edges = _grouped(chunks, heights, budget.count(8 * self.n_columns))
        edges = np.cumsum([0, *(within[-1] for within in chunk_edges)])
        return replace(self, row_blocks=row_blocks, edges=edges, chunk_edges=chunk_edges)


def _grouped(grid: Any, heights: Sequence[int], max_height: int) -> tuple[tuple[Grid, ...], tuple[Ints, ...]]:
    """Group rows of chunks into row blocks of at most `max_height` rows, and at least one row of chunks."""
    blocks: list[list[tuple[Any, ...]]] = []
    edges: list[list[int]] = []
    for row, height in zip(grid, heights, strict=True):
        if not height:
            continue
        if blocks and edges[-1][-1] + height <= max_height:
            blocks[-1].append(tuple(row))
            edges[-1].append(edges[-1][-1] + height)
        else:
            blocks.append([tuple(row)])
            edges.append([0, height])
    return tuple(tuple(block) for block in blocks), tuple(np.array(within) for within in edges)


def is_sparse(block: Any, /) -> bool:
    """Return whether a block is a sparse matrix."""
    return bool(sp.issparse(block))
