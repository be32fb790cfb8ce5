"""Two populations under each other, and who of them is dealt to which side: once, per fold, or per permutation.

Everything that SPARDA asks of the data goes through two products, of the observations with directions and of
weights of observations with the data, for many directions and many deals at once. So sparse data stays sparse,
and data that is read in runs is read once for all of them: standardising and deflating are done on the thin side of
the products.
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
from .streamed_operator import Streamed

#: single precision is kept in data of more numbers than this
MAX_NUMBERS_IN_DOUBLE = 8_000_000
#: both populations of a deal as dense arrays
SidesOf: TypeAlias = Callable[[int], tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean and inverse standard deviation of each side in every deal: sides × deals × features."""

    mean: Floats
    scale: Floats


@dataclass(frozen=True, slots=True)
class Labelings:
    """Observations × features of both populations, and the rows of each side in every deal."""

    #: observations under each other
    parts: tuple[Affine | Streamed, ...]
    #: deals × observations on that side
    left: Ints
    right: Ints
    #: where every side is standardised by itself, in every deal anew
    moments: Moments | None = None
    #: orthonormal rows: directions that were found before and are projected out
    taken: Floats | None = None

    @property
    def n_labelings(self) -> int:
        """Number of deals."""
        return len(self.left)

    @property
    def n_obs(self) -> int:
        """Number of observations of both populations."""
        return sum(part.n_obs for part in self.parts)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.parts[0].n_features

    @property
    def streamed(self) -> Streamed | None:
        """The data, where it is read in runs."""
        return self.parts[0] if isinstance(self.parts[0], Streamed) else None

    @property
    def coupling(self) -> Coupling:
        """The coupling that all deals share."""
        return Coupling.of(self.left.shape[1], self.right.shape[1])

    def project(self, beta: Floats, deal: Ints, /) -> tuple[Floats, Floats]:
        """Return both sides of row r's deal, projected on the direction in row r."""
        beta = self._off(beta)
        if self.moments is None:
            both = self._matmul(beta)
            return _dealt(both, self.left[deal]), _dealt(both, self.right[deal])
        # both sides in one product: data that is read in runs is read once
        scaled = [beta * self.moments.scale[side, deal] for side in (0, 1)]
        centres = [np.einsum("rp,rp->r", b, self.moments.mean[side, deal]) for side, b in enumerate(scaled)]
        seen = np.split(self._matmul(np.concatenate(scaled)), 2)
        u, v = (_dealt(s, rows[deal]) for s, rows in zip(seen, (self.left, self.right), strict=True))
        return u - centres[0][:, None], v - centres[1][:, None]

    def gradient(self, a: Floats, b: Floats, deal: Ints, /) -> Floats:
        """Return X̃ᵀa + Ỹᵀb of every row's deal."""
        if self.moments is None:
            c = np.zeros((len(a), self.n_obs))
            np.put_along_axis(c, self.left[deal], a, axis=1)
            np.put_along_axis(c, self.right[deal], b, axis=1)
            return self._off(self._rmatmul(c))
        c = np.zeros((2, len(a), self.n_obs))
        for side, (rows, slopes) in enumerate(((self.left, a), (self.right, b))):
            np.put_along_axis(c[side], rows[deal], slopes, axis=1)
        total = np.zeros((len(a), self.n_features))
        products = np.split(self._rmatmul(c.reshape(-1, self.n_obs)), 2)
        for side, (product, slopes) in enumerate(zip(products, (a, b), strict=True)):
            centre = self.moments.mean[side, deal] * slopes.sum(axis=1)[:, None]
            total += (product - centre) * self.moments.scale[side, deal]
        return self._off(total)

    def _matmul(self, beta: Floats) -> Floats:
        products = [part.matmul(beta) for part in self.parts]
        return products[0] if len(products) == 1 else np.concatenate(products, axis=1)

    def _rmatmul(self, c: Floats) -> Floats:
        total = np.zeros((len(c), self.n_features))
        for part, mine in self._by_part(c):
            total += part.rmatmul(mine)
        return total

    def _both(self, c: Floats) -> tuple[Floats, Floats]:
        first, second = np.zeros((2, len(c), self.n_features))
        for part, mine in self._by_part(c):
            products = part.rmatmul_with_squares(mine)
            first += products[0]
            second += products[1]
        return first, second

    def _by_part(self, c: Floats) -> Iterator[tuple[Affine | Streamed, Floats]]:
        start = 0
        for part in self.parts:
            yield part, c[:, start : start + part.n_obs]
            start += part.n_obs

    def _off(self, beta: Floats) -> Floats:
        if self.taken is None:
            return beta
        return np.asarray(beta - (beta @ self.taken.T) @ self.taken)

    def without(self, found: Floats, /) -> Labelings:
        """Project a direction out of the data (deflation)."""
        rest = self._off(found[None])
        length = np.linalg.norm(rest)
        if length < 1e-8:
            return self
        rest = rest / length
        return replace(self, taken=rest if self.taken is None else np.vstack([self.taken, rest]))

    def relabeled(self, left: Ints, right: Ints, /, *, standardize: Standardize | None) -> Labelings:
        """Deal the observations anew; what was standardised within its side is so again, within the new one."""
        anew = replace(self, left=left, right=right)
        return replace(anew, moments=_moments(anew)) if standardize == "within" else anew

    def one(self, deal: int, /) -> Labelings:
        """Return a single deal."""
        which = slice(deal, deal + 1)
        moments = self.moments
        if moments is not None:
            moments = Moments(moments.mean[:, which], moments.scale[:, which])
        return replace(self, left=self.left[which], right=self.right[which], moments=moments)

    def effective(self, beta: Floats, /) -> Floats:
        """Return the directions in the data as it came, before deflation."""
        return self._off(beta)

    def sides(
        self, deal: int, /, *, drawn: tuple[Ints | slice, Ints | slice] = (slice(None), slice(None))
    ) -> tuple[Floats, Floats]:
        """Return both populations of a deal as dense arrays, standardised and deflated; all of them or those drawn."""
        left, right = self.left[deal, drawn[0]], self.right[deal, drawn[1]]
        z = self._rows(np.concatenate([left, right]))
        x, y = self._standardized([z[: len(left)], z[len(left) :]], slice(0, self.n_features), deal)
        return self._off(x), self._off(y)

    def _rows(self, rows: Ints) -> Floats:
        if len(self.parts) == 1:
            return self.parts[0].rows(rows)
        everyone = np.arange(self.n_features)
        return np.asarray(np.concatenate([part.columns(everyone) for part in self.parts])[rows])

    def _standardized(self, sides: list[Floats], where: slice, deal: int) -> list[Floats]:
        if self.moments is None:
            return sides
        mean, scale = self.moments.mean[:, deal, where], self.moments.scale[:, deal, where]
        return [(x - mean[side]) * scale[side] for side, x in enumerate(sides)]

    def slabs(self) -> Iterator[tuple[slice, SidesOf]]:
        """Yield runs of features, as many as fit in memory, and what gives both sides of a deal in these."""
        if self.streamed is None:
            yield slice(0, self.n_features), self.sides
            return
        along = None
        if self.taken is not None:
            deal = np.repeat(np.arange(self.n_labelings), len(self.taken))
            along = replace(self, taken=None).project(np.tile(self.taken, (self.n_labelings, 1)), deal)
        for where, z in self.streamed.slabs():
            yield where, partial(self._sides_within, where, z, along)

    def _sides_within(
        self, where: slice, z: Floats, along: tuple[Floats, Floats] | None, deal: int
    ) -> tuple[Floats, Floats]:
        x, y = self._standardized([z[self.left[deal]], z[self.right[deal]]], where, deal)
        if along is None or self.taken is None:
            return x, y
        mine = slice(deal * len(self.taken), (deal + 1) * len(self.taken))
        return x - along[0][mine].T @ self.taken[:, where], y - along[1][mine].T @ self.taken[:, where]

    def restricted(self, features: Ints, /) -> Labelings:
        """Keep some features only, as a dense array; those of deflated directions must be among them.

        Data that is read in runs goes on to be, where that array would be large.
        """
        if self.streamed is not None and not budget.fits(8 * self.n_obs * len(features), "kept"):
            part: Affine | Streamed = self.streamed.restricted(features)
        else:
            part = Affine(np.concatenate([part.columns(features) for part in self.parts]))
        moments, taken = self.moments, self.taken
        if moments is not None:
            moments = Moments(moments.mean[..., features], moments.scale[..., features])
        return replace(self, parts=(part,), moments=moments, taken=None if taken is None else taken[:, features])


def labelings_of(x: Matrix, y: Matrix, /, *, standardize: Standardize | None = "global") -> Labelings:
    """Put two populations under each other, standardised; sparse ones stay sparse, those read in runs are so anew."""
    n = x.shape[0]
    rows = np.arange(n + y.shape[0])
    left, right = rows[None, :n], rows[None, n:]
    if isinstance(x, Chunked):
        if not budget.fits(8 * rows.size * x.shape[1], "kept"):
            return Labelings((_streamed(x, y, standardize),), left, right)
        both = stacked([x, y]).load()
        return labelings_of(both[:n], both[n:], standardize=standardize)
    if sp.issparse(x) or sp.issparse(y):
        if budget.fits(8 * rows.size * x.shape[1], "block"):
            return labelings_of(dense64(x), dense64(y), standardize=standardize)
        x, y = (sp.csr_array(m).astype(np.float64) for m in (x, y))
        return Labelings(_sparse_parts(x, y, standardize), left, right)
    return Labelings((Affine(_standardized(x, y, standardize)),), left, right)


def _streamed(x: Chunked, y: Chunked, standardize: Standardize | None) -> Streamed:
    both = stacked([x, y])
    if standardize is None:
        return Streamed((both,), (AffineMap(),))
    mean, scale = pooled_moments(x, y)
    # sparse ones are read as they are, dense ones around their mean
    centre = np.zeros_like(mean) if x.is_sparse else mean
    if standardize == "global":
        return Streamed((both.centered(centre),), (AffineMap(mean - centre, scale),))
    maps = tuple(AffineMap(mean - centre, scale) for mean, scale in within_moments(x, y))
    return Streamed((x.centered(centre), y.centered(centre)), maps)


def _sparse_parts(x: Matrix, y: Matrix, standardize: Standardize | None) -> tuple[Affine, ...]:
    if standardize == "within":
        moments = within_moments(x, y)
        return tuple(Affine(m, AffineMap(*moment)) for m, moment in zip((x, y), moments, strict=True))
    both = sp.vstack([x, y], format="csr")
    return (Affine(both) if standardize is None else Affine(both, AffineMap(*pooled_moments(x, y))),)


def _standardized(x: Matrix, y: Matrix, standardize: Standardize | None) -> Floats:
    n = len(x)
    single = x.dtype == y.dtype == np.float32 and (n + len(y)) * x.shape[1] > MAX_NUMBERS_IN_DOUBLE
    z = np.empty((n + len(y), x.shape[1]), dtype=np.float32 if single else np.float64)
    z[:n], z[n:] = x, y
    if standardize == "global":
        _standardize(z, *pooled_moments(z[:n], z[n:]))
    elif standardize == "within":
        for part, moments in zip((z[:n], z[n:]), within_moments(z[:n], z[n:]), strict=True):
            _standardize(part, *moments)
    return z


def _standardize(z: Floats, shift: Floats, scale: Floats) -> None:
    z -= shift.astype(z.dtype)
    z *= scale.astype(z.dtype)


def pooled_moments(x: Matrix, y: Matrix, /) -> tuple[Floats, Floats]:
    """Mean and inverse standard deviation of every feature over both populations; 0 where it is constant."""
    (mean_x, var_x), (mean_y, var_y) = moments_of_each([x, y])
    share = x.shape[0] / (x.shape[0] + y.shape[0])
    mean = share * mean_x + (1 - share) * mean_y
    variance = share * var_x + (1 - share) * var_y + share * (1 - share) * (mean_x - mean_y) ** 2
    return mean, inverse_sd(mean, variance)


def within_moments(x: Matrix, y: Matrix, /) -> list[tuple[Floats, Floats]]:
    """Mean and inverse standard deviation of every feature in each population; 0 where it is silent in one."""
    moments = moments_of_each([x, y])
    scales = [inverse_sd(mean, variance) for mean, variance in moments]
    # silent on one side: there is no relation to compare
    silent = (scales[0] == 0) | (scales[1] == 0)
    return [(mean, np.where(silent, 0.0, scale)) for (mean, _), scale in zip(moments, scales, strict=True)]


def _moments(deals: Labelings) -> Moments:
    share = np.zeros((2, deals.n_labelings, deals.n_obs))
    for side, rows in enumerate((deals.left, deals.right)):
        np.put_along_axis(share[side], rows, 1 / rows.shape[1], axis=1)
    mean, square = (m.reshape(2, deals.n_labelings, -1) for m in deals._both(share.reshape(-1, deals.n_obs)))
    scales = inverse_sd(mean, np.maximum(square - mean**2, 0.0))
    silent = (scales[0] == 0) | (scales[1] == 0)
    return Moments(mean, np.where(silent, 0.0, scales))


def _dealt(projected: Floats, rows: Ints) -> Floats:
    return np.take_along_axis(projected, rows, axis=1)
