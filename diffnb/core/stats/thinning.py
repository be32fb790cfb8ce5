"""Counts thinned to a common depth, so that sequencing depth alone makes no difference.

Correlations, spreads and means of log-normalised counts all change with depth. Keeping every molecule with some
probability gives the counts that a shallower experiment would have had (binomial thinning), without a model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ..runtime.seeds import stream
from ..typing import Floats, Ints, Matrix


def matched_totals(totals: Sequence[Floats], /) -> list[Floats]:
    """Return the depth that every observation is thinned to: at each quantile, the least of all groups.

    The deepest observation of every group is matched with the deepest of the others and so on down, so that not only
    mean depths become equal but their whole distributions.
    """
    levels = [_levels(t) for t in totals]
    return [
        np.minimum.reduce([_quantiles(other, own) for other in totals] + [np.asarray(t, dtype=float)])
        for t, own in zip(totals, levels, strict=True)
    ]


def _levels(totals: Floats) -> Floats:
    """Place of every observation in its group, from 0 to 1; equal ones share theirs."""
    ordered = np.sort(totals)
    first, last = np.searchsorted(ordered, totals, "left"), np.searchsorted(ordered, totals, "right")
    return np.asarray((first + last) / (2 * len(totals)))


def _quantiles(totals: Floats, levels: Floats) -> Floats:
    places = (np.arange(len(totals)) + 0.5) / len(totals)
    return np.interp(levels, places, np.sort(totals))


def are_counts(x: Matrix, /) -> bool:
    """Return whether all values are whole numbers from zero up."""
    values = x.data if sp.issparse(x) else np.asarray(x)
    return bool(values.size == 0 or ((values >= 0).all() and (values == np.floor(values)).all()))


def thinned(counts: Matrix, kept: Floats, seed: int, /, *, rows: Ints | None = None) -> Matrix:
    """Keep each count of an observation with the probability in `kept`, as the same kind of matrix.

    Every row draws from a stream named by its number in `rows`, so that neither the kind of the matrix nor the blocks
    that it is read in change the result.
    """
    rows = np.arange(counts.shape[0]) if rows is None else rows
    key = stream(seed, "thinning").generate_state(1, np.uint64)[0]
    if sp.issparse(counts):
        return _thinned_sparse(counts, kept, key, rows)
    out = np.zeros_like(counts)
    for i, (row, share) in enumerate(zip(np.asarray(counts), kept, strict=True)):
        present = np.flatnonzero(row)
        out[i, present] = _drawn(row[present], share, key, int(rows[i]))
    return out


def _thinned_sparse(counts: Matrix, kept: Floats, key: np.uint64, rows: Ints) -> Matrix:
    out = counts.tocsr(copy=True)
    out.sum_duplicates()  # sorts the columns of a row, too
    for i, share in enumerate(kept):
        mine = slice(out.indptr[i], out.indptr[i + 1])
        out.data[mine] = _drawn(out.data[mine], share, key, int(rows[i]))
    out.eliminate_zeros()
    return out.asformat(counts.format)


def _drawn(values: Floats, share: float, key: np.uint64, row: int) -> Floats:
    if share >= 1:
        return values
    # a counter-based generator costs next to nothing to make, and rows are many
    rng = np.random.Generator(np.random.Philox(key=np.array([key, row], dtype=np.uint64)))
    return rng.binomial(values.astype(np.int64), share).astype(values.dtype)
