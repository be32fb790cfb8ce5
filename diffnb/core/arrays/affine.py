"""(x − shift) · scale on the columns of a matrix, not formed where it would cost memory or sparsity.

`AffineMap` is the algebra: how products with x become products with the mapped matrix z. `Affine` is a matrix, dense,
sparse or chunked, together with its map.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..typing import Floats, Ints, Matrix
from .ops import cross, dense64, gram, gram_band, matmul, mean_and_variance, row_blocks
from .row_chunks import Chunked

#: a variance below this share of the mean square is rounding error: the column is constant
ROUNDING = 1e-14


def inverse(values: Floats, /) -> Floats:
    """Return 1/values, and 0 where a value is 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def inverse_sd(mean: Floats, variance: Floats, /) -> Floats:
    """Return the inverse standard deviation, 0 for a column whose variance is rounding error of its mean."""
    varies = variance > ROUNDING * (variance + mean**2)
    return np.divide(1.0, np.sqrt(variance), out=np.zeros_like(variance), where=varies)


@dataclass(frozen=True, slots=True)
class AffineMap:
    """z = (x − shift) · scale, column by column; `None` for no shift, or no scale."""

    shift: Floats | None = None
    scale: Floats | None = None

    @property
    def is_identity(self) -> bool:
        """Whether columns stay as they are."""
        return self.shift is None and self.scale is None

    def at(self, columns: Any, /) -> AffineMap:
        """Return the map of some columns."""
        return AffineMap(*(None if part is None else part[columns] for part in (self.shift, self.scale)))

    def of(self, block: Floats, /) -> Floats:
        """Map a dense block of rows; a new array unless the map is the identity."""
        if self.shift is None:
            return block if self.scale is None else block * self.scale
        moved = block - self.shift
        if self.scale is not None:
            moved *= self.scale
        return moved

    def directions(self, beta: Floats, /) -> Floats:
        """Directions (rows) by which to multiply x instead of z."""
        return beta if self.scale is None else beta * self.scale

    def centers(self, scaled: Floats, /) -> Floats:
        """Projection of the shift onto such directions, to be subtracted from the products; one number for each."""
        return np.zeros(len(scaled)) if self.shift is None else scaled @ self.shift

    def weighted(self, products: Floats, mass: Floats, /) -> Floats:
        """Turn cᵀx into cᵀz; `mass` is the sum of each row of weights c."""
        if self.shift is not None:
            products = products - np.outer(mass, self.shift)
        return products if self.scale is None else products * self.scale

    def weighted_squares(self, products: Floats, squares: Floats, mass: Floats, /) -> Floats:
        """Turn cᵀx² into cᵀz², given cᵀx."""
        if self.shift is not None:
            squares = squares - 2 * products * self.shift + np.outer(mass, self.shift**2)
        return squares if self.scale is None else squares * self.scale**2

    def moments(self, mean: Floats, variance: Floats, /, *, origin: Floats | float = 0.0) -> tuple[Floats, Floats]:
        """Mean and mean square of z from those of x, taken around `origin`."""
        # offset first: where the origin equals the shift, no precision is lost
        mean = mean + self._offset(origin)
        square = variance + mean**2
        return (mean, square) if self.scale is None else (mean * self.scale, square * self.scale**2)

    def gram(
        self, products: Floats, total: Floats, n_obs: int, where: slice, /, *, origin: Floats | float = 0.0
    ) -> Floats:
        """Turn inner products of the columns in `where` with all columns of x into those of z, in place.

        `total` are the sums of the columns. Both are taken around `origin`.
        """
        moved = np.broadcast_to(self._offset(origin), total.shape)
        if moved.any():
            left = np.stack([total[where], moved[where]], axis=1)
            products += left @ np.stack([moved, total + n_obs * moved])
        if self.scale is not None:
            products *= self.scale[where, None]
            products *= self.scale
        return products

    def _offset(self, origin: Floats | float) -> Floats | float:
        return origin if self.shift is None else origin - self.shift


@dataclass(frozen=True, slots=True)
class Affine:
    """Observations × features with a map of the features."""

    x: Matrix
    map: AffineMap = field(default_factory=AffineMap)

    @property
    def n_obs(self) -> int:
        """Number of rows."""
        return int(self.x.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.x.shape[1])

    def matmul(self, beta: Floats, /) -> Floats:
        """Rows of directions times the observations, directions × observations."""
        scaled = self.map.directions(beta)
        products = _directions_times(self.x, scaled)
        return products if self.map.shift is None else products - self.map.centers(scaled)[:, None]

    def rmatmul(self, weights: Floats, /) -> Floats:
        """Rows of weights of observations times the data, rows × features."""
        return self.map.weighted(_weights_times(self.x, weights), weights.sum(axis=1))

    def rmatmul_with_squares(self, weights: Floats, /) -> tuple[Floats, Floats]:
        """Rows of weights of observations times the data, and times the squared data."""
        squared = self.x.multiply(self.x).tocsr() if sp.issparse(self.x) else np.square(self.x, dtype=np.float64)
        products, squares, mass = _weights_times(self.x, weights), _weights_times(squared, weights), weights.sum(axis=1)
        return self.map.weighted(products, mass), self.map.weighted_squares(products, squares, mass)

    def moments(self) -> tuple[Floats, Floats]:
        """Mean and mean square of every column."""
        return self.map.moments(*mean_and_variance(self.x))

    def gram(self, where: slice, /) -> Floats:
        """Inner products of the columns in `where` with all columns."""
        whole = where.start == 0 and where.stop == self.n_features
        products = gram(self.x) if whole else gram_band(self.x, where)
        if self.map.is_identity:
            return products
        total = np.zeros(self.n_features) if self.map.shift is None else self.n_obs * mean_and_variance(self.x)[0]
        return self.map.gram(products, total, self.n_obs, where)

    def rows(self, rows: Ints, /) -> Floats:
        """Return some observations as a dense array."""
        return self.map.of(dense64(self.x[rows]))

    def columns(self, columns: Ints, /) -> Floats:
        """Return some features as a dense array."""
        return self.map.at(columns).of(dense64(self.x[:, columns]))

    def row_blocks(self, height: int, /) -> Iterator[Floats]:
        """Iterate over the observations in dense blocks of at most `height`."""
        for block in row_blocks(self.x, height):
            yield self.map.of(dense64(block))


def standardized(x: Matrix, mean: Floats, scale: Floats, /) -> Affine:
    """Return (x − mean) · scale: computed for dense data, kept as a map for sparse data.

    Dense chunked data is centred as it is read, so that a large mean costs no precision.
    """
    if isinstance(x, Chunked) and not x.is_sparse:
        return Affine(x.centered(mean), AffineMap(scale=scale))
    if isinstance(x, Chunked) or sp.issparse(x):
        return Affine(x, AffineMap(mean, scale))
    return Affine(AffineMap(mean, scale).of(dense64(x)))


def _directions_times(x: Matrix, beta: Floats) -> Floats:
    if isinstance(x, Chunked):
        return np.ascontiguousarray(matmul(x, beta.T).T)
    if sp.issparse(x):
        return np.ascontiguousarray((x @ beta.T).T)
    return np.asarray(beta.astype(x.dtype, copy=False) @ x.T, dtype=np.float64)


def _weights_times(x: Matrix, weights: Floats) -> Floats:
    if isinstance(x, Chunked):
        return np.ascontiguousarray(cross(x, weights.T).T)
    if sp.issparse(x):
        return np.ascontiguousarray((x.T @ weights.T).T)
    return np.asarray(weights.astype(x.dtype, copy=False) @ x, dtype=np.float64)
