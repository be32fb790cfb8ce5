"""Data as it is read from disk: the same numbers in chunks of every shape."""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np
import scipy.sparse as sp

#: rows in a chunk, and columns in a chunk (-1 for all)
CHUNKINGS = {"one row": (1, -1), "uneven": (37, -1), "cut columns": (50, 13), "one chunk": (-1, -1)}


def dense_chunks(x, rows, columns=-1):
    return da.from_array(np.asarray(x), chunks=(rows, columns))


def sparse_chunks(x, rows, columns=-1):
    """A dask array of CSR chunks, as anndata's lazy reader makes them."""
    x = sp.csr_matrix(x)
    n, p = x.shape
    rows, columns = (size if step == -1 else step for step, size in zip((rows, columns), x.shape, strict=True))
    grid = [[_sparse_chunk(x[i : i + rows, j : j + columns]) for j in range(0, p, columns)] for i in range(0, n, rows)]
    return da.concatenate([da.concatenate(row, axis=1) for row in grid], axis=0)


def _sparse_chunk(block):
    meta = sp.csr_matrix((0, 0), dtype=block.dtype)
    return da.from_delayed(dask.delayed(block), shape=block.shape, dtype=block.dtype, meta=meta)


KINDS = {"dense": dense_chunks, "sparse": sparse_chunks}
