"""Work on the columns of a matrix in memory, a block of them at a time."""

from __future__ import annotations

from collections.abc import Callable

import scipy.sparse as sp

from ..typing import Floats, Matrix


def with_fast_columns(x: Matrix, /) -> Matrix:
    """Return a matrix whose columns can be sliced quickly: CSC where it is sparse."""
    return sp.csc_array(x) if sp.issparse(x) else x


def map_column_blocks(
    work: Callable[[slice], Floats], n_columns: int, width: int, /, *, n_jobs: int | None = None
) -> list[Floats]:
    """Run `work` on consecutive blocks of `width` columns, up to `n_jobs` of them concurrently."""
    blocks = [slice(start, min(start + width, n_columns)) for start in range(0, n_columns, width)]
    if len(blocks) == 1:
        return [work(blocks[0])]
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(work)(where) for where in blocks))
