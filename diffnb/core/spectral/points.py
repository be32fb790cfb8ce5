"""The columns of a matrix as points: their moments and inner products, in memory, sparse or by row blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..arrays.gram_stats import GramStats
from ..arrays.ops import cross, dense64, gram, mean_and_variance
from ..arrays.row_chunks import Chunked
from ..typing import Floats, Matrix

#: a variance below this share of the mean square is rounding: the feature is constant
ROUNDING = 1e-14


@dataclass(frozen=True, slots=True)
class Part:
    """Some observations of the points: (x − shift) · scale, the affine part never made dense."""

    x: Matrix
    shift: Floats | None = None
    scale: Floats | None = None

    @property
    def n_obs(self) -> int:
        """Number of coordinates of every point."""
        return int(self.x.shape[0])

    @property
    def n_features(self) -> int:
        """Number of points."""
        return int(self.x.shape[1])

    def moments(self) -> tuple[Floats, Floats]:
        """Mean and mean square of every column."""
        mean, variance = mean_and_variance(self.x)
        if self.shift is not None:
            mean = mean - self.shift
        square = variance + mean**2
        return (mean, square) if self.scale is None else (mean * self.scale, square * self.scale**2)

    def inner(self, where: slice) -> Floats:
        """Inner products of the columns in `where` with all columns."""
        whole = where.start == 0 and where.stop == self.x.shape[1]
        products = gram(self.x) if whole else cross(self.x[:, where], self.x)
        if self.shift is not None:
            mean = mean_and_variance(self.x)[0]
            shifted = np.outer(mean[where], self.shift)
            shifted += np.outer(self.shift[where], mean - self.shift)
            products -= self.x.shape[0] * shifted
        if self.scale is not None:
            products *= self.scale[where, None]
            products *= self.scale
        return products


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of one condition as points, over one or more parts of the observations.

    With `within`, the columns are standardised over all parts together.
    """

    parts: tuple[Part | GramStats, ...]
    within: bool = False

    @property
    def n_features(self) -> int:
        """Number of points."""
        return self.parts[0].n_features

    @property
    def n_obs(self) -> int:
        """Number of coordinates of every point."""
        return sum(part.n_obs for part in self.parts)

    def moments(self) -> tuple[Floats, Floats]:
        """Mean and standard deviation of every column; a spread that is rounding of the mean is none."""
        shares = [part.n_obs / self.n_obs for part in self.parts]
        moments = [part.moments() for part in self.parts]
        mean = np.sum([w * m for w, (m, _) in zip(shares, moments, strict=True)], axis=0)
        square = np.sum([w * q for w, (_, q) in zip(shares, moments, strict=True)], axis=0)
        variance = square - mean**2
        return mean, np.sqrt(np.where(variance > ROUNDING * square, variance, 0.0))

    def inner(self, where: slice | None = None) -> Floats:
        """Inner products of the columns in `where` (all by default) with all columns."""
        where = slice(0, self.n_features) if where is None else where
        products = self.parts[0].inner(where)
        for part in self.parts[1:]:
            products += part.inner(where)
        if self.within:
            mean, sd = self.moments()
            inverse = _inverse(sd)
            products -= self.n_obs * np.outer(mean[where], mean)
            products *= inverse[where, None]
            products *= inverse
            # a feature without spread has no direction: a point of its own, as long as the others
            silent = np.flatnonzero(sd[where] == 0)
            products[silent, silent + where.start] = self.n_obs
        return products

    def norms(self) -> Floats:
        """Squared length of every point."""
        if self.within:
            return np.full(self.n_features, float(self.n_obs))
        return np.asarray(sum(part.n_obs * part.moments()[1] for part in self.parts))


def _inverse(values: Floats) -> Floats:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def points_of(x: Matrix, /) -> Columns:
    """Return the columns as they are."""
    return Columns((Part(x),))


def standardized(x: Matrix, /, *, mean: Floats, sd: Floats) -> Part:
    """Return the columns less `mean` over `sd`, dense ones computed, sparse ones left as they are."""
    if isinstance(x, Chunked) and not x.is_sparse:
        return Part(x.centered(mean), scale=_inverse(sd))
    if isinstance(x, Chunked) or sp.issparse(x):
        return Part(x, shift=mean, scale=_inverse(sd))
    moved = dense64(x) - mean
    moved *= _inverse(sd)
    return Part(moved)


def standardized_within(x: Matrix, /) -> Columns:
    """Standardise every column by its own mean and standard deviation."""
    if sp.issparse(x):
        return Columns((Part(x),), within=True)
    # centred first, so that a large mean costs no digits
    if isinstance(x, Chunked):
        return Columns((Part(x.centered(mean_and_variance(x)[0])),), within=True)
    return Columns((Part(dense64(x) - mean_and_variance(x)[0]),), within=True)
