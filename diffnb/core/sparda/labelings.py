"""Two populations stacked, and which rows belong to which of them: as observed, per fold, or per permutation.

All that SPARDA computes from the data are two products, of the observations with directions and of weights of
observations with the data, for many directions and many labelings at once. So sparse data stays sparse, and data
that is read in row blocks is read once for all of them: standardising and deflation act on the directions and the
products, not on the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from ..arrays.affine import Affine, AffineMap, inverse_sd
from ..arrays.ops import dense64, moments_of_each
from ..arrays.row_chunks import Chunked, stacked
from ..runtime import budget
from ..typing import Floats, Ints, Matrix, Standardize
from .coupling import Coupling
from .streamed_operator import StreamedOperator

#: single precision is kept in data of more numbers than this
MAX_NUMBERS_IN_DOUBLE = 8_000_000
#: a direction with less than this length left after deflation has been deflated already
MIN_LENGTH_TO_DEFLATE = 1e-8
#: both populations of a labeling as dense arrays
PopulationsOf: TypeAlias = Callable[[int], tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True)
class PopulationMoments:
    """Mean and inverse standard deviation of each population in every labeling: populations × labelings × features."""

    mean: Floats
    scale: Floats

    def at(self, labelings: slice | int | Ints, features: slice | Ints, /) -> PopulationMoments:
        """Return the moments of some labelings and features."""
        return PopulationMoments(self.mean[:, labelings][..., features], self.scale[:, labelings][..., features])


@dataclass(frozen=True, slots=True)
class Labelings:
    """Observations × features of both populations, and the rows of each population in every labeling."""

    #: stacked observations
    parts: tuple[Affine | StreamedOperator, ...]
    #: labelings × observations of the first population
    x_rows: Ints
    #: labelings × observations of the second population
    y_rows: Ints
    #: where each population is standardised separately, in every labeling
    moments: PopulationMoments | None = None
    #: orthonormal rows: directions found before, which are projected out
    deflated: Floats | None = None

    @property
    def n_labelings(self) -> int:
        """Number of labelings."""
        return len(self.x_rows)

    @property
    def n_obs(self) -> int:
        """Number of observations of both populations."""
        return sum(part.n_obs for part in self.parts)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.parts[0].n_features

    @property
    def streamed(self) -> StreamedOperator | None:
        """The data, where it is read in row blocks."""
        return self.parts[0] if isinstance(self.parts[0], StreamedOperator) else None

    @property
    def coupling(self) -> Coupling:
        """The coupling that all labelings share."""
        return Coupling.of(self.x_rows.shape[1], self.y_rows.shape[1])

    def project(self, beta: Floats, labeling: Ints, /) -> tuple[Floats, Floats]:
        """Project both populations of labeling `labeling[r]` on the direction in row r, for every row."""
        beta = self.deflate(beta)
        if self.moments is None:
            projected = self._matmul(beta)
            return _take(projected, self.x_rows[labeling]), _take(projected, self.y_rows[labeling])
        scaled = beta * self.moments.scale[:, labeling]
        centers = np.einsum("srp,srp->sr", scaled, self.moments.mean[:, labeling])
        # one product for both populations: data that is read in row blocks is read once
        first, second = np.split(self._matmul(scaled.reshape(-1, self.n_features)), 2)
        u, v = _take(first, self.x_rows[labeling]), _take(second, self.y_rows[labeling])
        return u - centers[0][:, None], v - centers[1][:, None]

    def gradient(self, a: Floats, b: Floats, labeling: Ints, /) -> Floats:
        """Return X̃ᵀa + Ỹᵀb of every row in its labeling."""
        rows = self.x_rows[labeling], self.y_rows[labeling]
        if self.moments is None:
            weights = np.zeros((len(a), self.n_obs))
            for of_population, slopes in zip(rows, (a, b), strict=True):
                np.put_along_axis(weights, of_population, slopes, axis=1)
            return self.deflate(self._rmatmul(weights))
        weights = np.zeros((2, len(a), self.n_obs))
        for i, slopes in enumerate((a, b)):
            np.put_along_axis(weights[i], rows[i], slopes, axis=1)
        products = np.split(self._rmatmul(weights.reshape(-1, self.n_obs)), 2)
        total = np.zeros((len(a), self.n_features))
        for i, slopes in enumerate((a, b)):
            center = self.moments.mean[i, labeling] * slopes.sum(axis=1)[:, None]
            total += (products[i] - center) * self.moments.scale[i, labeling]
        return self.deflate(total)

    def _matmul(self, beta: Floats) -> Floats:
        products = [part.matmul(beta) for part in self.parts]
        return products[0] if len(products) == 1 else np.concatenate(products, axis=1)

    def _rmatmul(self, weights: Floats) -> Floats:
        total = np.zeros((len(weights), self.n_features))
        for part, of_part in self._with_weights(weights):
            total += part.rmatmul(of_part)
        return total

    def _rmatmul_with_squares(self, weights: Floats) -> tuple[Floats, Floats]:
        products, squares = np.zeros((2, len(weights), self.n_features))
        for part, of_part in self._with_weights(weights):
            for total, more in zip((products, squares), part.rmatmul_with_squares(of_part), strict=True):
                total += more
        return products, squares

    def _with_weights(self, weights: Floats) -> Iterator[tuple[Affine | StreamedOperator, Floats]]:
        start = 0
        for part in self.parts:
            yield part, weights[:, start : start + part.n_obs]
            start += part.n_obs

    def deflate(self, beta: Floats, /) -> Floats:
        """Project the deflated directions out of rows of `beta`: directions of the data before deflation."""
        if self.deflated is None:
            return beta
        return np.asarray(beta - (beta @ self.deflated.T) @ self.deflated)

    def deflated_by(self, direction: Floats, /) -> Labelings:
        """Project one more direction out of the data."""
        rest = self.deflate(direction[None])
        length = np.linalg.norm(rest)
        if length < MIN_LENGTH_TO_DEFLATE:
            return self
        rest = rest / length
        return replace(self, deflated=rest if self.deflated is None else np.vstack([self.deflated, rest]))

    def relabeled(self, x_rows: Ints, y_rows: Ints, /, *, standardize: Standardize | None) -> Labelings:
        """Assign the rows to other populations; those standardised within populations are so within the new ones."""
        relabeled = replace(self, x_rows=x_rows, y_rows=y_rows)
        return replace(relabeled, moments=_moments(relabeled)) if standardize == "within" else relabeled

    def single(self, labeling: int, /) -> Labelings:
        """Return one labeling only."""
        where = slice(labeling, labeling + 1)
        moments = None if self.moments is None else self.moments.at(where, slice(None))
        return replace(self, x_rows=self.x_rows[where], y_rows=self.y_rows[where], moments=moments)

    def populations(
        self, labeling: int, /, *, subsample: tuple[Ints | slice, Ints | slice] = (slice(None), slice(None))
    ) -> tuple[Floats, Floats]:
        """Return both populations of a labeling, or a subsample, as dense arrays, standardised and deflated."""
        x_rows, y_rows = self.x_rows[labeling, subsample[0]], self.y_rows[labeling, subsample[1]]
        z = self._rows(np.concatenate([x_rows, y_rows]))
        x, y = self._standardized(z[: len(x_rows)], z[len(x_rows) :], labeling, slice(None))
        return self.deflate(x), self.deflate(y)

    def _rows(self, rows: Ints) -> Floats:
        if len(self.parts) == 1:
            return self.parts[0].rows(rows)
        features = np.arange(self.n_features)
        return np.asarray(np.concatenate([part.columns(features) for part in self.parts])[rows])

    def _standardized(self, x: Floats, y: Floats, labeling: int, features: slice) -> tuple[Floats, Floats]:
        if self.moments is None:
            return x, y
        moments = self.moments.at(labeling, features)
        return (x - moments.mean[0]) * moments.scale[0], (y - moments.mean[1]) * moments.scale[1]

    def column_blocks(self) -> Iterator[tuple[slice, PopulationsOf]]:
        """Yield column blocks that fit in memory, each with a function that returns both populations of a labeling."""
        if self.streamed is None:
            yield slice(0, self.n_features), self.populations
            return
        scores = self._deflated_scores()
        for where, z in self.streamed.column_blocks():
            yield where, partial(self._populations_within, where, z, scores)

    def _deflated_scores(self) -> tuple[Floats, Floats] | None:
        """Project both populations of every labeling on the deflated directions: labelings × directions rows."""
        if self.deflated is None:
            return None
        labeling = np.repeat(np.arange(self.n_labelings), len(self.deflated))
        return replace(self, deflated=None).project(np.tile(self.deflated, (self.n_labelings, 1)), labeling)

    def _populations_within(
        self, where: slice, z: Floats, scores: tuple[Floats, Floats] | None, labeling: int
    ) -> tuple[Floats, Floats]:
        x, y = self._standardized(z[self.x_rows[labeling]], z[self.y_rows[labeling]], labeling, where)
        if scores is None or self.deflated is None:
            return x, y
        mine = slice(labeling * len(self.deflated), (labeling + 1) * len(self.deflated))
        directions = self.deflated[:, where]
        return x - scores[0][mine].T @ directions, y - scores[1][mine].T @ directions

    def restricted(self, features: Ints, /) -> Labelings:
        """Keep some features only, as a dense array; those of deflated directions must be among them.

        Data that is read in row blocks remains so where that array would be large.
        """
        if self.streamed is not None and not budget.fits(8 * self.n_obs * len(features), "kept"):
            part: Affine | StreamedOperator = self.streamed.restricted(features)
        else:
            part = Affine(np.concatenate([part.columns(features) for part in self.parts]))
        moments = None if self.moments is None else self.moments.at(slice(None), features)
        deflated = None if self.deflated is None else self.deflated[:, features]
        return replace(self, parts=(part,), moments=moments, deflated=deflated)


def labelings_of(x: Matrix, y: Matrix, /, *, standardize: Standardize | None = "global") -> Labelings:
    """Stack two populations, standardised, with the observed labeling only.

    Sparse data stays sparse, and data that is read in row blocks remains so, where it would be large once dense.
    """
    n = x.shape[0]
    rows = np.arange(n + y.shape[0])
    observed = rows[None, :n], rows[None, n:]
    n_dense_bytes = 8 * rows.size * x.shape[1]
    if isinstance(x, Chunked):
        if not budget.fits(n_dense_bytes, "kept"):
            return Labelings((_streamed_operator(x, y, standardize),), *observed)
        loaded = stacked([x, y]).load()
        return labelings_of(loaded[:n], loaded[n:], standardize=standardize)
    if sp.issparse(x) or sp.issparse(y):
        if budget.fits(n_dense_bytes, "block"):
            return labelings_of(dense64(x), dense64(y), standardize=standardize)
        x, y = (sp.csr_array(m).astype(np.float64) for m in (x, y))
        return Labelings(_sparse_parts(x, y, standardize), *observed)
    return Labelings((Affine(_standardized_dense(x, y, standardize)),), *observed)


def _streamed_operator(x: Chunked, y: Chunked, standardize: Standardize | None) -> StreamedOperator:
    both = stacked([x, y])
    if standardize is None:
        return StreamedOperator((both,), (AffineMap(),))
    mean, scale = pooled_mean_and_scale(x, y)
    # sparse data is read as it is, dense data centred on its mean
    origin = np.zeros_like(mean) if x.is_sparse else mean
    if standardize == "global":
        return StreamedOperator((both.centered(origin),), (AffineMap(mean - origin, scale),))
    maps = tuple(AffineMap(mean - origin, scale) for mean, scale in within_mean_and_scale(x, y))
    return StreamedOperator((x.centered(origin), y.centered(origin)), maps)


def _sparse_parts(x: Matrix, y: Matrix, standardize: Standardize | None) -> tuple[Affine, ...]:
    if standardize == "within":
        moments = within_mean_and_scale(x, y)
        return tuple(Affine(m, AffineMap(*moment)) for m, moment in zip((x, y), moments, strict=True))
    both = sp.vstack([x, y], format="csr")
    return (Affine(both) if standardize is None else Affine(both, AffineMap(*pooled_mean_and_scale(x, y))),)


def _standardized_dense(x: Matrix, y: Matrix, standardize: Standardize | None) -> Floats:
    n = len(x)
    single = x.dtype == y.dtype == np.float32 and (n + len(y)) * x.shape[1] > MAX_NUMBERS_IN_DOUBLE
    z = np.empty((n + len(y), x.shape[1]), dtype=np.float32 if single else np.float64)
    z[:n], z[n:] = x, y
    if standardize == "global":
        _standardize_in_place(z, *pooled_mean_and_scale(z[:n], z[n:]))
    elif standardize == "within":
        for part, moments in zip((z[:n], z[n:]), within_mean_and_scale(z[:n], z[n:]), strict=True):
            _standardize_in_place(part, *moments)
    return z


def _standardize_in_place(z: Floats, shift: Floats, scale: Floats) -> None:
    z -= shift.astype(z.dtype)
    z *= scale.astype(z.dtype)


def pooled_mean_and_scale(x: Matrix, y: Matrix, /) -> tuple[Floats, Floats]:
    """Mean and inverse standard deviation of every feature over both populations; 0 where it is constant."""
    (mean_x, var_x), (mean_y, var_y) = moments_of_each([x, y])
    share = x.shape[0] / (x.shape[0] + y.shape[0])
    mean = share * mean_x + (1 - share) * mean_y
    variance = share * var_x + (1 - share) * var_y + share * (1 - share) * (mean_x - mean_y) ** 2
    return mean, inverse_sd(mean, variance)


def within_mean_and_scale(x: Matrix, y: Matrix, /) -> list[tuple[Floats, Floats]]:
    """Mean and inverse standard deviation of every feature in each population; 0 where it is constant in one."""
    moments = moments_of_each([x, y])
    scales = _zero_where_constant(np.stack([inverse_sd(mean, variance) for mean, variance in moments]))
    return [(mean, scale) for (mean, _), scale in zip(moments, scales, strict=True)]


def _moments(labelings: Labelings) -> PopulationMoments:
    n_labelings, n_obs = labelings.n_labelings, labelings.n_obs
    weights = np.zeros((2, n_labelings, n_obs))
    for i, rows in enumerate((labelings.x_rows, labelings.y_rows)):
        np.put_along_axis(weights[i], rows, 1 / rows.shape[1], axis=1)
    products = labelings._rmatmul_with_squares(weights.reshape(-1, n_obs))
    mean, square = (product.reshape(2, n_labelings, -1) for product in products)
    scale = inverse_sd(mean, np.maximum(square - mean**2, 0.0))
    return PopulationMoments(mean, _zero_where_constant(scale))


def _zero_where_constant(scales: Floats) -> Floats:
    """Set the scale to zero where a feature is constant in either population: no relation can be compared there."""
    return np.where((scales == 0).any(axis=0), 0.0, scales)


def _take(projected: Floats, rows: Ints) -> Floats:
    return np.take_along_axis(projected, rows, axis=1)
