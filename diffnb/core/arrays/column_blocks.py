"""Columns of data that is read in runs of rows, as many as fit in memory: a pass for each slab of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..runtime import budget
from ..typing import Matrix
from .row_chunks import Chunked, joined_lists, ordered, reduce, with_places

#: rows that tell how many numbers are not zero, and in how many places they lie
PEEKED, PLACES = 200, 8


def load_column_blocks(parts: Sequence[Chunked], /) -> Iterator[tuple[slice, list[Matrix]]]:
    """Bring column blocks of all parts into memory, as many as fit at a time; a pass each."""
    n_features = parts[0].shape[1]
    n_obs = sum(part.shape[0] for part in parts)
    each = n_obs * parts[0].dtype.itemsize
    if parts[0].is_sparse:
        each = int(n_obs * max(_density(parts[0]), 1e-3) * (parts[0].dtype.itemsize + 4))
    width = budget.count(each, "kept")
    for start in range(0, n_features, width):
        where = slice(start, min(start + width, n_features))
        yield where, _load_together([part[:, where] for part in parts])


def _density(x: Chunked) -> float:
    """Share of numbers that are not zero in some rows, from a few places so that few chunks are read."""
    each = -(-PEEKED // PLACES)
    first = np.linspace(0, max(0, x.shape[0] - each), PLACES).astype(int)
    some = np.unique(np.minimum(first[:, None] + np.arange(each), x.shape[0] - 1))
    block = x[some].load()
    return float(block.nnz / max(1, block.shape[0] * block.shape[1]))


def _load_together(parts: list[Chunked]) -> list[Matrix]:
    found = reduce(parts, with_places, joined_lists)
    loaded = []
    for part, blocks in zip(parts, found, strict=True):
        if part.is_sparse:
            loaded.append(ordered(blocks, csc=True))
        else:
            out = np.empty(part.shape, dtype=blocks[0][1].dtype)
            for positions, block in blocks:
                out[positions] = block
            loaded.append(out)
    return loaded
