"""Observations of all conditions, ready to be dealt anew: in memory, or summed up as they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..arrays.affine import Affine, AffineMap, inverse, standardized
from ..arrays.gram_stats import GramStats, gram_fits, gram_stats, remainder
from ..arrays.ops import moments_of_each
from ..arrays.row_chunks import Chunked, stacked
from ..runtime import budget
from ..spectral.points import Columns
from ..typing import Floats, Ints, Matrix
from .algorithm import Settings, disc, feature_walk, from_walks, points_from_sums

Null: TypeAlias = Literal["labels", "connectivity"]


class Pooled(Protocol):
    """Gives σ of conditions that are made of any rows, numbered across conditions."""

    def sigma(self, rows: Sequence[Ints], settings: Settings) -> Floats:
        """σ of the conditions that these rows make."""
        ...


def pooled(matrices: Sequence[Matrix], null: Null, /, *, samples: Sequence[Ints] = ()) -> Pooled:
    """Prepare observations to be dealt; with `samples`, only whole samples will be."""
    if gram_fits(matrices[0]):
        return _Summed.of(matrices, null, samples)
    return _Stacked.of(matrices, null)


@dataclass(frozen=True, slots=True)
class _Stacked:
    """Those of a condition keep its mean and scale under the null of connectivity."""

    #: observations of all conditions under each other, or one part per condition where that would make it dense
    parts: tuple[Affine, ...]

    @classmethod
    def of(cls, matrices: Sequence[Matrix], null: Null) -> _Stacked:
        if null == "labels":
            return cls((Affine(_under_each_other(matrices)),))
        parts = [
            standardized(x, mean, inverse(np.sqrt(variance)))
            for x, (mean, variance) in zip(matrices, moments_of_each(matrices), strict=True)
        ]
        if not all(isinstance(part.x, np.ndarray) for part in parts):
            return cls(tuple(parts))
        return cls((Affine(np.concatenate([part.x for part in parts])),))

    def sigma(self, rows: Sequence[Ints], settings: Settings) -> Floats:
        """σ of the conditions that these rows make."""
        if len(self.parts) == 1 and self.parts[0].map.is_identity:
            x: Any = self.parts[0].x
            return disc([x[r] for r in rows], settings).sigma
        points = [self._columns(r) for r in rows]
        return from_walks([feature_walk(c, settings) for c in points], settings).sigma

    def _columns(self, rows: Ints) -> Columns:
        chosen = []
        for mine, part in zip(_by_condition(rows, [part.n_obs for part in self.parts]), self.parts, strict=True):
            if mine.size:
                chosen.append(Affine(part.x[mine], part.map))
        return Columns(tuple(chosen), within=True)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Rows that are dealt to a condition, of all rows or of those of one condition."""

    dealt: int
    of: int
    x: Chunked


@dataclass(frozen=True, slots=True)
class _Summed:
    """Data that is read in runs: what the dealt rows sum up to comes from one pass, or from sums by sample."""

    matrices: Sequence[Chunked]
    #: of each condition under the null of connectivity
    maps: list[AffineMap]
    #: per condition, the sample of each row, and what samples sum up to; empty where rows are dealt
    samples: Sequence[Ints]
    by_sample: list[dict[int, GramStats]]

    @classmethod
    def of(cls, matrices: Sequence[Chunked], null: Null, samples: Sequence[Ints]) -> _Summed:
        maps: list[AffineMap] = []
        if null == "connectivity":
            gram_stats(matrices)
            for mean, variance in moments_of_each(matrices):
                maps.append(AffineMap(mean, inverse(np.sqrt(variance))))
        n_sums = sum(len(np.unique(codes)) for codes in samples)
        if not n_sums or not budget.fits(8 * n_sums * matrices[0].shape[1] ** 2):
            return cls(matrices, maps, (), [])
        # once for all tests of one analysis, which has one set of samples
        return cls(
            matrices, maps, samples, matrices[0].cached("by_sample", partial(_sums_by_sample, matrices, samples))
        )

    def sigma(self, rows: Sequence[Ints], settings: Settings) -> Floats:
        """σ of the conditions that these rows make."""
        conditions = [self._from_samples(r) for r in rows] if self.by_sample else self._from_rows(rows)
        if self.maps:
            points = [Columns(parts, within=True) for parts in conditions]
        else:
            points = points_from_sums(conditions, settings.standardize)
        return from_walks([feature_walk(c, settings) for c in points], settings).sigma

    def _from_samples(self, rows: Ints) -> tuple[GramStats, ...]:
        mine = _by_condition(rows, [x.shape[0] for x in self.matrices])
        return tuple(
            self._moved(sums[int(code)], condition)
            for condition, (r, codes, sums) in enumerate(zip(mine, self.samples, self.by_sample, strict=True))
            for code in np.unique(codes[r])
        )

    def _from_rows(self, rows: Sequence[Ints]) -> list[tuple[GramStats, ...]]:
        if not self.maps:
            whole = stacked(self.matrices)
            pieces = [_Piece(dealt, 0, whole[r]) for dealt, r in enumerate(rows)]
            return [(sums,) for sums in self._sums(pieces, [gram_stats(self.matrices)], rows)]
        sizes = [x.shape[0] for x in self.matrices]
        pieces = [
            _Piece(dealt, condition, x[mine])
            for dealt, r in enumerate(rows)
            for condition, (x, mine) in enumerate(zip(self.matrices, _by_condition(r, sizes), strict=True))
            if mine.size
        ]
        found = self._sums(pieces, [[sums] for sums in gram_stats(self.matrices)], rows)
        return [
            tuple(self._moved(s, piece.of) for piece, s in zip(pieces, found, strict=True) if piece.dealt == dealt)
            for dealt in range(len(rows))
        ]

    def _sums(self, pieces: list[_Piece], wholes: list[list[GramStats]], rows: Sequence[Ints]) -> list[GramStats]:
        """Sum up all pieces but the largest of each whole, which is what the others leave of it."""
        if not _is_deal(rows, sum(x.shape[0] for x in self.matrices)):
            return gram_stats([piece.x for piece in pieces])
        numbers = range(len(pieces))
        of_whole = [[i for i in numbers if pieces[i].of == whole] for whole in range(len(wholes))]
        largest = [max(mine, key=lambda i: pieces[i].x.shape[0]) for mine in of_whole]
        others = [i for i in numbers if i not in largest]
        found = dict(zip(others, gram_stats([pieces[i].x for i in others]), strict=True))
        for whole, mine, left in zip(wholes, of_whole, largest, strict=True):
            found[left] = remainder(whole, [found[i] for i in mine if i != left])
        return [found[i] for i in numbers]

    def _moved(self, sums: GramStats, condition: int) -> GramStats:
        if not self.maps:
            return sums
        return replace(sums, map=self.maps[condition])


def _sums_by_sample(matrices: Sequence[Chunked], samples: Sequence[Ints]) -> list[dict[int, GramStats]]:
    wanted = [(c, int(code)) for c, codes in enumerate(samples) for code in np.unique(codes)]
    found = gram_stats([matrices[c][np.flatnonzero(samples[c] == code)] for c, code in wanted])
    by_sample: list[dict[int, GramStats]] = [{} for _ in matrices]
    for (condition, code), sums in zip(wanted, found, strict=True):
        by_sample[condition][code] = sums
    return by_sample


def _is_deal(rows: Sequence[Ints], n_obs: int) -> bool:
    """Say whether every observation is dealt once, and none left out."""
    return bool((np.bincount(np.concatenate(list(rows)), minlength=n_obs) == 1).all())


def _by_condition(rows: Ints, sizes: Sequence[int]) -> list[Ints]:
    """Part rows that are numbered across conditions by condition, each numbered in its own."""
    edges = np.cumsum([0, *sizes])
    return [rows[(rows >= a) & (rows < b)] - a for a, b in pairwise(edges)]


def _under_each_other(matrices: Sequence[Matrix]) -> Matrix:
    if isinstance(matrices[0], Chunked):
        return stacked(matrices)
    if sp.issparse(matrices[0]):
        return sp.vstack([sp.csr_array(x) for x in matrices], format="csr")
    return np.concatenate(list(matrices))
