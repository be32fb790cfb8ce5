"""Two populations under each other, and who of them is dealt to which side: once, per fold, or per permutation.

Everything that SPARDA asks of the data goes through two products, of the observations with directions and of
weights of observations with the data, for many directions and many deals at once. So sparse data stays sparse:
standardising and deflating are done on the thin side of the products.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from ._typing import Floats, Ints, Matrix
from .arrays import BLOCK, dense64, mean_and_variance
from .wasserstein import Coupling

Standardize: TypeAlias = Literal["global", "within"]
#: a variance below this share of the mean square is rounding: the feature is constant
ROUNDING = 1e-14
#: sparse data of at most so many numbers is made dense: one block, as everywhere
SMALL = BLOCK


@dataclass(frozen=True, slots=True)
class Part:
    """Some observations, (z − shift) · scale; the affine part is never applied to sparse ones."""

    z: Matrix
    shift: Floats | None = None
    scale: Floats | None = None

    @property
    def n_obs(self) -> int:
        """Number of observations."""
        return int(self.z.shape[0])

    def times(self, beta: Floats, /) -> Floats:
        """Rows of directions times the observations, directions × observations."""
        if self.scale is None or self.shift is None:
            return _times(self.z, beta)
        scaled = beta * self.scale
        return _times(self.z, scaled) - (scaled @ self.shift)[:, None]

    def back(self, c: Floats, /) -> Floats:
        """Rows of weights of observations times the data, rows × features."""
        if self.scale is None or self.shift is None:
            return _back(self.z, c)
        return (_back(self.z, c) - np.outer(c.sum(axis=1), self.shift)) * self.scale

    def back_squared(self, c: Floats, /) -> Floats:
        """Rows of weights of observations times the squared data."""
        squared = self.z.multiply(self.z).tocsr() if sp.issparse(self.z) else np.square(self.z, dtype=np.float64)
        total = _back(squared, c)
        if self.scale is not None and self.shift is not None:
            total -= 2 * _back(self.z, c) * self.shift - np.outer(c.sum(axis=1), self.shift**2)
            total *= self.scale**2
        return total

    def columns(self, features: Ints, /) -> Floats:
        """Return some features as a dense array."""
        dense = dense64(self.z[:, features])
        if self.scale is None or self.shift is None:
            return dense
        return (dense - self.shift[features]) * self.scale[features]


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean and inverse standard deviation of each side in every deal: sides × deals × features."""

    mean: Floats
    scale: Floats


@dataclass(frozen=True, slots=True)
class Deals:
    """Observations × features of both populations, and the rows of each side in every deal."""

    #: observations under each other
    parts: tuple[Part, ...]
    #: deals × observations on that side
    left: Ints
    right: Ints
    #: where every side is standardised by itself, in every deal anew
    moments: Moments | None = None
    #: orthonormal rows: directions that were found before and are projected out
    taken: Floats | None = None

    @property
    def n_deals(self) -> int:
        """Number of deals."""
        return len(self.left)

    @property
    def n_obs(self) -> int:
        """Number of observations of both populations."""
        return sum(part.n_obs for part in self.parts)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.parts[0].z.shape[1])

    @property
    def coupling(self) -> Coupling:
        """The coupling that all deals share."""
        return Coupling.of(self.left.shape[1], self.right.shape[1])

    def project(self, beta: Floats, deal: Ints, /) -> tuple[Floats, Floats]:
        """Return both sides of row r's deal, projected on the direction in row r."""
        beta = self._off(beta)
        if self.moments is None:
            both = self._times(beta)
            return _dealt(both, self.left[deal]), _dealt(both, self.right[deal])
        sides = []
        for side, rows in enumerate((self.left, self.right)):
            scaled = beta * self.moments.scale[side, deal]
            centre = np.einsum("rp,rp->r", scaled, self.moments.mean[side, deal])
            sides.append(_dealt(self._times(scaled), rows[deal]) - centre[:, None])
        return sides[0], sides[1]

    def gradient(self, a: Floats, b: Floats, deal: Ints, /) -> Floats:
        """Return X̃ᵀa + Ỹᵀb of every row's deal."""
        if self.moments is None:
            c = np.zeros((len(a), self.n_obs))
            np.put_along_axis(c, self.left[deal], a, axis=1)
            np.put_along_axis(c, self.right[deal], b, axis=1)
            return self._off(self._back(c))
        total = np.zeros((len(a), self.n_features))
        for side, (rows, slopes) in enumerate(((self.left, a), (self.right, b))):
            c = np.zeros((len(a), self.n_obs))
            np.put_along_axis(c, rows[deal], slopes, axis=1)
            centre = self.moments.mean[side, deal] * slopes.sum(axis=1)[:, None]
            total += (self._back(c) - centre) * self.moments.scale[side, deal]
        return self._off(total)

    def _times(self, beta: Floats) -> Floats:
        products = [part.times(beta) for part in self.parts]
        return products[0] if len(products) == 1 else np.concatenate(products, axis=1)

    def _back(self, c: Floats, *, squared: bool = False) -> Floats:
        total, start = np.zeros((len(c), self.n_features)), 0
        for part in self.parts:
            mine = c[:, start : start + part.n_obs]
            total += part.back_squared(mine) if squared else part.back(mine)
            start += part.n_obs
        return total

    def _off(self, beta: Floats) -> Floats:
        if self.taken is None:
            return beta
        return np.asarray(beta - (beta @ self.taken.T) @ self.taken)

    def without(self, found: Floats, /) -> Deals:
        """Project a direction out of the data (deflation)."""
        rest = self._off(found[None])
        length = np.linalg.norm(rest)
        if length < 1e-8:
            return self
        rest = rest / length
        return replace(self, taken=rest if self.taken is None else np.vstack([self.taken, rest]))

    def redealt(self, left: Ints, right: Ints, /, *, standardize: Standardize | None) -> Deals:
        """Deal the observations anew; what was standardised within its side is so again, within the new one."""
        anew = replace(self, left=left, right=right)
        return replace(anew, moments=_moments(anew)) if standardize == "within" else anew

    def one(self, deal: int, /) -> Deals:
        """Return a single deal."""
        which = slice(deal, deal + 1)
        moments = self.moments
        if moments is not None:
            moments = Moments(moments.mean[:, which], moments.scale[:, which])
        return replace(self, left=self.left[which], right=self.right[which], moments=moments)

    def effective(self, beta: Floats, /) -> Floats:
        """Return the directions in the data as it came, before deflation."""
        return self._off(beta)

    def sides(self, deal: int, /) -> tuple[Floats, Floats]:
        """Return both populations of a deal as dense arrays, standardised and deflated."""
        z = np.concatenate([part.columns(np.arange(self.n_features)) for part in self.parts])
        dealt = [z[self.left[deal]], z[self.right[deal]]]
        if self.moments is not None:
            m = self.moments
            dealt = [(x - m.mean[side, deal]) * m.scale[side, deal] for side, x in enumerate(dealt)]
        return self._off(dealt[0]), self._off(dealt[1])

    def restricted(self, features: Ints, /) -> Deals:
        """Keep some features only, as a dense array; those of deflated directions must be among them."""
        z = np.concatenate([part.columns(features) for part in self.parts])
        moments, taken = self.moments, self.taken
        if moments is not None:
            moments = Moments(moments.mean[..., features], moments.scale[..., features])
        return replace(self, parts=(Part(z),), moments=moments, taken=None if taken is None else taken[:, features])


def deals_of(x: Matrix, y: Matrix, /, *, standardize: Standardize | None = "global") -> Deals:
    """Put two populations under each other, standardised; sparse ones stay sparse."""
    rows = np.arange(x.shape[0] + y.shape[0])
    left, right = rows[None, : x.shape[0]], rows[None, x.shape[0] :]
    if sp.issparse(x) or sp.issparse(y):
        if rows.size * x.shape[1] <= SMALL:
            return deals_of(dense64(x), dense64(y), standardize=standardize)
        x, y = (sp.csr_array(m).astype(np.float64) for m in (x, y))
        return Deals(_sparse_parts(x, y, standardize), left, right)
    return Deals((Part(_standardized(x, y, standardize)),), left, right)


def _sparse_parts(x: Matrix, y: Matrix, standardize: Standardize | None) -> tuple[Part, ...]:
    if standardize == "within":
        moments = within_moments(x, y)
        return tuple(Part(m, *moment) for m, moment in zip((x, y), moments, strict=True))
    both = sp.vstack([x, y], format="csr")
    return (Part(both) if standardize is None else Part(both, *pooled_moments(x, y)),)


def _standardized(x: Matrix, y: Matrix, standardize: Standardize | None) -> Floats:
    n = len(x)
    single = x.dtype == y.dtype == np.float32 and (n + len(y)) * x.shape[1] > BLOCK
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
    (mean_x, var_x), (mean_y, var_y) = mean_and_variance(x), mean_and_variance(y)
    share = x.shape[0] / (x.shape[0] + y.shape[0])
    mean = share * mean_x + (1 - share) * mean_y
    variance = share * var_x + (1 - share) * var_y + share * (1 - share) * (mean_x - mean_y) ** 2
    return mean, _inverse_root(variance, mean)


def within_moments(x: Matrix, y: Matrix, /) -> list[tuple[Floats, Floats]]:
    """Mean and inverse standard deviation of every feature in each population; 0 where it is silent in one."""
    moments = [mean_and_variance(m) for m in (x, y)]
    scales = [_inverse_root(variance, mean) for mean, variance in moments]
    # silent on one side: there is no relation to compare
    silent = (scales[0] == 0) | (scales[1] == 0)
    return [(mean, np.where(silent, 0.0, scale)) for (mean, _), scale in zip(moments, scales, strict=True)]


def _inverse_root(variance: Floats, mean: Floats) -> Floats:
    varies = variance > ROUNDING * (variance + mean**2)
    return np.divide(1.0, np.sqrt(variance), out=np.zeros_like(variance), where=varies)


def _moments(deals: Deals) -> Moments:
    means, scales = [], []
    for rows in (deals.left, deals.right):
        share = np.zeros((len(rows), deals.n_obs))
        np.put_along_axis(share, rows, 1 / rows.shape[1], axis=1)
        mean, square = deals._back(share), deals._back(share, squared=True)
        means.append(mean)
        scales.append(_inverse_root(np.maximum(square - mean**2, 0.0), mean))
    silent = (scales[0] == 0) | (scales[1] == 0)
    return Moments(np.stack(means), np.where(silent, 0.0, np.stack(scales)))


def _times(z: Matrix, beta: Floats) -> Floats:
    if sp.issparse(z):
        return np.ascontiguousarray((z @ beta.T).T)
    return np.asarray(beta.astype(z.dtype, copy=False) @ z.T, dtype=np.float64)


def _back(z: Matrix, c: Floats) -> Floats:
    if sp.issparse(z):
        return np.ascontiguousarray((z.T @ c.T).T)
    return np.asarray(c.astype(z.dtype, copy=False) @ z, dtype=np.float64)


def _dealt(projected: Floats, rows: Ints) -> Floats:
    return np.take_along_axis(projected, rows, axis=1)
