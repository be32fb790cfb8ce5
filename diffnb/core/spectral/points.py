"""The columns of a matrix as points, with their moments and inner products; in memory, sparse or chunked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..arrays.affine import ROUNDING, Affine, inverse
from ..arrays.count_correlations import CountCorrelations
from ..arrays.gram_stats import GramStats
from ..arrays.ops import dense64, mean_and_variance
from ..arrays.row_chunks import Chunked
from ..typing import Floats, Matrix


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of one condition as points, over one or more parts of the observations.

    With `within`, the columns are standardised over all parts together.
    """

    parts: tuple[Affine | GramStats | CountCorrelations, ...]
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
        """Mean and standard deviation of every column; zero where it is rounding error of the mean."""
        shares = [part.n_obs / self.n_obs for part in self.parts]
        moments = [part.moments() for part in self.parts]
        mean = np.sum([w * m for w, (m, _) in zip(shares, moments, strict=True)], axis=0)
        square = np.sum([w * q for w, (_, q) in zip(shares, moments, strict=True)], axis=0)
        variance = square - mean**2
        return mean, np.sqrt(np.where(variance > ROUNDING * square, variance, 0.0))

    def inner(self, where: slice | None = None) -> Floats:
        """Inner products of the columns in `where` (all by default) with all columns."""
        where = slice(0, self.n_features) if where is None else where
        products = self.parts[0].gram(where)
        for part in self.parts[1:]:
            products += part.gram(where)
        if self.within:
            mean, sd = self.moments()
            scale = inverse(sd)
            products -= self.n_obs * np.outer(mean[where], mean)
            products *= scale[where, None]
            products *= scale
            # a constant feature has no direction: it is orthogonal to all others, and as long
            constant = np.flatnonzero(sd[where] == 0)
            products[constant, constant + where.start] = self.n_obs
        return products

    def norms(self) -> Floats:
        """Squared length of every point."""
        if self.within:
            return np.full(self.n_features, float(self.n_obs))
        return np.asarray(sum(part.n_obs * part.moments()[1] for part in self.parts))


def points_of(x: Matrix, /) -> Columns:
    """Return the columns without standardising them."""
    return Columns((Affine(x),))


def standardized_within(x: Matrix, /) -> Columns:
    """Return the columns, each standardised by its mean and standard deviation."""
    if sp.issparse(x):
        return Columns((Affine(x),), within=True)
    # centred first, so that a large mean costs no precision
    if isinstance(x, Chunked):
        return Columns((Affine(x.centered(mean_and_variance(x)[0])),), within=True)
    return Columns((Affine(dense64(x) - mean_and_variance(x)[0]),), within=True)
