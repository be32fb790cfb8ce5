"""Sums and products of columns from one pass over the rows: sufficient for moments and every graph of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from ..runtime import budget
from ..typing import Floats, Ints, Matrix
from .affine import AffineMap
from .ops import dense64, float64, gram, pooled_moments
from .row_chunks import Chunked, reduce

#: rows whose mean is the origin of the sums
N_ORIGIN_ROWS = 200


@dataclass(frozen=True, slots=True)
class GramStats:
    """Observations × features with a map of the features, as `Affine`, represented by sums only.

    Sums are taken around an origin near the mean, so that a large mean costs no precision.
    """

    n_obs: int
    origin: Floats
    #: Σ(x − origin)
    total: Floats
    #: Σ(x − origin)(x − origin)ᵀ
    products: Floats
    map: AffineMap = field(default_factory=AffineMap)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.total)

    def mean_and_variance(self) -> tuple[Floats, Floats]:
        """Mean and variance of every column before the map."""
        offset = self.total / self.n_obs
        return self.origin + offset, np.maximum(np.diag(self.products) / self.n_obs - offset**2, 0.0)

    def moments(self) -> tuple[Floats, Floats]:
        """Mean and mean square of every column after the map."""
        return self.map.moments(self.total / self.n_obs, self.mean_and_variance()[1], origin=self.origin)

    def gram(self, where: slice, /) -> Floats:
        """Inner products of the columns in `where` with all columns."""
        return self.map.gram(self.products[where].copy(), self.total, self.n_obs, where, origin=self.origin)


def gram_fits(x: Matrix, /) -> bool:
    """Return whether this is chunked and has so few features that their products fit in memory."""
    return isinstance(x, Chunked) and budget.fits(8 * x.shape[1] ** 2, "kept")


def gram_stats(parts: Sequence[Chunked], /) -> list[GramStats]:
    """Sum the rows of each part of one source in one pass; parts that have been summed before are not read again."""
    new = [part for part in parts if "sums" not in part.memo]
    if new:
        origin = _origin(new[0])
        around = [part.centered(origin) for part in new]
        work = partial(_sums_of_block, sum(part.shape[0] for part in new))
        for part, (total, products) in zip(new, reduce(around, work, _merged), strict=True):
            sums = GramStats(part.shape[0], origin, total, products)
            part.memo["sums"], part.memo["moments"] = sums, sums.mean_and_variance()
    return [part.memo["sums"] for part in parts]


def gram_stats_of_rows(matrices: Sequence[Matrix], rows: Sequence[Sequence[Ints]], /) -> list[list[GramStats]]:
    """Sum some rows of each matrix in memory, several times each, all around one origin."""
    origin = common_origin(matrices)
    n_rows = sum(x.shape[0] for x in matrices)
    return [
        [sums_of_rows(x, own, origin, n_rows) for own in of_matrix] for x, of_matrix in zip(matrices, rows, strict=True)
    ]


def common_origin(matrices: Sequence[Matrix], /) -> Floats:
    """Return the origin of sums over matrices in memory: their mean, or zero where zeros must stay zeros."""
    sparse = sp.issparse(matrices[0])
    return np.zeros(matrices[0].shape[1]) if sparse else pooled_moments(matrices)[0]


def sums_of_rows(x: Matrix, rows: Ints, origin: Floats, n_rows: int, /) -> GramStats:
    """Sum some rows of a matrix in memory around an origin; `n_rows` are summed in all."""
    if sp.issparse(x):
        block = sp.csr_array(x)[rows]
        total = np.asarray(float64(block).sum(axis=0)).ravel()
        return GramStats(rows.size, origin, total, gram(block, n_rows=n_rows))
    total, products = np.zeros(origin.size), np.zeros((origin.size, origin.size))
    for part in np.array_split(rows, max(1, -(-rows.size // budget.count(8 * origin.size)))):
        block = dense64(x[part]) - origin
        total += block.sum(axis=0)
        products += gram(block)
    return GramStats(rows.size, origin, total, products)


def added(parts: Sequence[GramStats], /) -> GramStats:
    """Return the sums of the observations of all parts."""
    return parts[0] if len(parts) == 1 else remainder(parts, ())


def remainder(wholes: Sequence[GramStats], parts: Sequence[GramStats], /) -> GramStats:
    """Return the sums of the observations in `wholes` that are in none of `parts`."""
    if any(not np.array_equal(sums.origin, wholes[0].origin) for sums in (*wholes, *parts)):
        raise ValueError("sums with different origins cannot be subtracted.")
    total, products = wholes[0].total.copy(), wholes[0].products.copy()
    for sums in wholes[1:]:
        total += sums.total
        products += sums.products
    for sums in parts:
        total -= sums.total
        products -= sums.products
    n_obs = sum(sums.n_obs for sums in wholes) - sum(sums.n_obs for sums in parts)
    return GramStats(n_obs, wholes[0].origin, total, products)


def correlations(parts: Sequence[Matrix], /) -> list[Floats]:
    """Correlations between the columns of each matrix; those of a constant column are zero.

    Chunked data is summed in one pass; data in memory is made dense.
    """
    if all(isinstance(part, Chunked) for part in parts):
        return [correlations_of_sums(sums) for sums in gram_stats(parts)]
    centred = [x - x.mean(axis=0) for x in map(dense64, parts)]
    return [_unit_diagonal(x.T @ x) for x in centred]


def correlations_of_sums(sums: GramStats, /) -> Floats:
    """Correlations between the columns; those of a constant column are zero."""
    offset = sums.total / sums.n_obs
    return _unit_diagonal(sums.products - sums.n_obs * np.outer(offset, offset))


def _unit_diagonal(products: Floats) -> Floats:
    length = np.sqrt(np.maximum(np.diag(products), 0.0))
    length = np.where(length > 0, length, 1.0)
    return np.asarray(products / length / length[:, None])


def _origin(x: Chunked) -> Floats:
    """Return a point near the mean of all rows of the source; zero for sparse data, whose zeros must stay zeros."""
    if x.is_sparse:
        return np.zeros(x.shape[1])
    some = np.arange(min(N_ORIGIN_ROWS, int(x.source.edges[-1])))
    return np.asarray(dense64(replace(x, rows=some, origin=None, memo={})).mean(axis=0))


def _sums_of_block(n_rows: int, block: Matrix, _: int, __: Ints) -> tuple[Floats, Floats]:
    # converted first: the sum of a sparse block ignores a requested precision
    return np.asarray(float64(block).sum(axis=0)).ravel(), gram(block, n_rows=n_rows)


def _merged(total: tuple[Floats, Floats], more: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    for sums, summands in zip(total, more, strict=True):
        sums += summands
    return total
