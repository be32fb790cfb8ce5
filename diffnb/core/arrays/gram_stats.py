"""What one pass over the rows leaves behind: sums and products, enough for every graph of features and its moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..runtime import budget
from ..typing import Floats, Ints, Matrix
from .affine import AffineMap
from .ops import dense64, float64, gram
from .row_chunks import Chunked, reduce

#: rows whose mean is the point that sums are taken around
PEEKED = 200


@dataclass(frozen=True, slots=True)
class GramStats:
    """Some observations of the points, mapped as by `Affine`, of which only sums are known.

    Sums are taken around a point near the mean, so that a large mean costs no digits.
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
        """Number of points."""
        return len(self.total)

    def mean_and_variance(self) -> tuple[Floats, Floats]:
        """Mean and variance of every column as it came."""
        apart = self.total / self.n_obs
        return self.origin + apart, np.maximum(np.diag(self.products) / self.n_obs - apart**2, 0.0)

    def moments(self) -> tuple[Floats, Floats]:
        """Mean and mean square of every column."""
        return self.map.moments(self.total / self.n_obs, self.mean_and_variance()[1], origin=self.origin)

    def gram(self, where: slice, /) -> Floats:
        """Inner products of the columns in `where` with all columns."""
        return self.map.gram(self.products[where].copy(), self.total, self.n_obs, where, origin=self.origin)


def gram_fits(x: Matrix, /) -> bool:
    """Say whether this is read in runs and has so few features that their products can be kept."""
    return isinstance(x, Chunked) and budget.fits(8 * x.shape[1] ** 2, "kept")


def gram_stats(parts: Sequence[Chunked], /) -> list[GramStats]:
    """Sum up rows of one source in one pass; what was summed up before is not read again."""
    new = [part for part in parts if "sums" not in part.memo]
    if new:
        origin = _origin(new[0])
        around = [part.centered(origin) for part in new]
        for part, (total, products) in zip(new, reduce(around, _sums_of_block, _merged), strict=True):
            sums = GramStats(part.shape[0], origin, total, products)
            part.memo["sums"], part.memo["moments"] = sums, sums.mean_and_variance()
    return [part.memo["sums"] for part in parts]


def rest_of(wholes: Sequence[GramStats], parts: Sequence[GramStats], /) -> GramStats:
    """Return the sums of what is left of some observations when parts of them are taken away."""
    if any(not np.array_equal(sums.origin, wholes[0].origin) for sums in (*wholes, *parts)):
        raise ValueError("sums around different points cannot be taken from each other.")
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
    """Correlate the columns of each matrix; one that does not vary correlates with nothing.

    Rows of data that is read in runs are summed up in one pass; what is in memory is made dense.
    """
    if all(isinstance(part, Chunked) for part in parts):
        spread = []
        for sums in gram_stats(parts):
            apart = sums.total / sums.n_obs
            spread.append(sums.products - sums.n_obs * np.outer(apart, apart))
    else:
        centred = [x - x.mean(axis=0) for x in map(dense64, parts)]
        spread = [x.T @ x for x in centred]
    return [_scaled_to_one(products) for products in spread]


def _scaled_to_one(products: Floats) -> Floats:
    length = np.sqrt(np.maximum(np.diag(products), 0.0))
    length = np.where(length > 0, length, 1.0)
    return np.asarray(products / length / length[:, None])


def _origin(x: Chunked) -> Floats:
    """Return a point near the mean of all rows of the source; sparse data have none, since zeros must stay zeros."""
    if x.is_sparse:
        return np.zeros(x.shape[1])
    some = np.arange(min(PEEKED, int(x.source.edges[-1])))
    return np.asarray(dense64(Chunked(x.source, some, x.columns)).mean(axis=0))


def _sums_of_block(block: Matrix, _: int, __: Ints) -> tuple[Floats, Floats]:
    # turned first: a sparse block would sum in its own precision, whatever it is told
    return np.asarray(float64(block).sum(axis=0)).ravel(), gram(block)


def _merged(total: tuple[Floats, Floats], more: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    for sums, added in zip(total, more, strict=True):
        sums += added
    return total
