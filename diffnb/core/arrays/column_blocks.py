"""Column blocks of data that is read in row blocks: as many columns as fit in memory, a pass for each block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..runtime import budget
from ..typing import Matrix
from .row_chunks import Chunked, extend_list, keep_block, reduce, stack_in_order

#: rows from which the share of non-zero numbers is estimated, and the places from which they are taken
N_DENSITY_ROWS, N_DENSITY_PLACES = 200, 8
MIN_DENSITY = 1e-3


def load_column_blocks(parts: Sequence[Chunked], /) -> Iterator[tuple[slice, list[Matrix]]]:
    """Load column blocks of all parts into memory, one at a time; a pass over the data for each."""
    n_features = parts[0].shape[1]
    width = budget.count(_bytes_per_column(parts), "kept")
    for start in range(0, n_features, width):
        where = slice(start, min(start + width, n_features))
        yield where, _load_together([part[:, where] for part in parts])


def _bytes_per_column(parts: Sequence[Chunked]) -> int:
    n_obs = sum(part.shape[0] for part in parts)
    itemsize = parts[0].dtype.itemsize
    if parts[0].is_sparse:
        # a value and its index of four bytes
        return int(n_obs * max(_density(parts[0]), MIN_DENSITY) * (itemsize + 4))
    return n_obs * itemsize


def _density(x: Chunked) -> float:
    """Estimate the share of non-zero numbers from rows at a few places, so that few chunks are read."""
    each = -(-N_DENSITY_ROWS // N_DENSITY_PLACES)
    first = np.linspace(0, max(0, x.shape[0] - each), N_DENSITY_PLACES).astype(int)
    some = np.unique(np.minimum(first[:, None] + np.arange(each), x.shape[0] - 1))
    block = x[some].load()
    return float(block.nnz / max(1, block.shape[0] * block.shape[1]))


def _load_together(parts: list[Chunked]) -> list[Matrix]:
    found = reduce(parts, keep_block, extend_list)
    loaded = []
    for part, blocks in zip(parts, found, strict=True):
        if part.is_sparse:
            loaded.append(stack_in_order(blocks, csc=True))
        else:
            out = np.empty(part.shape, dtype=blocks[0][1].dtype)
            for positions, block in blocks:
                out[positions] = block
            loaded.append(out)
    return loaded
