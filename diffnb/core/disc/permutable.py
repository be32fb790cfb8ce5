"""σ of permuted observations, from data in memory or from sums over chunked data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..arrays.affine import Affine, AffineMap, inverse, standardized
from ..arrays.count_correlations import (
    CountCorrelations,
    count_correlations,
    shrinkage_noise,
    standardized_correlations,
)
from ..arrays.count_moments import CountMoments, Counts, count_moments, fit_damping
from ..arrays.gram_stats import (
    GramStats,
    added,
    gram_fits,
    gram_stats,
    gram_stats_of_rows,
    remainder,
    sums_of_rows,
)
from ..arrays.ops import moments_of_each
from ..arrays.row_chunks import Chunked, stacked
from ..arrays.sparse_gram import is_large
from ..runtime import budget
from ..runtime.seeds import generator
from ..spectral.points import Columns
from ..stats.resampling import random_blocks
from ..typing import Floats, Ints, Matrix
from .algorithm import DiscFit, fit_walks, refit
from .feature_graph import feature_walk, points_from_stats
from .settings import DiscSettings

Null: TypeAlias = Literal["labels", "connectivity"]


class Permutable(Protocol):
    """Observations of all conditions that can be assigned to conditions in any way."""

    def fit(self, rows: Sequence[Ints], settings: DiscSettings) -> DiscFit:
        """Fit as if these rows, numbered across conditions, made up each condition; rows may be left out."""
        ...

    def sigma(self, rows: Sequence[Ints], settings: DiscSettings) -> Floats:
        """σ of such a fit."""
        ...


class SampleSums:
    """Sums of every sample, from which those of any assignment of samples follow; taken when first needed.

    Where single observations are permuted, many of them in memory are put into random blocks, which take the place of
    samples; few are not. Chunked data have the same blocks, but are read again for every permutation: sums of blocks
    whose rows are in every chunk would take longer.
    """

    def __init__(self, matrices: Sequence[Matrix], samples: Sequence[Ints]) -> None:
        self._matrices, self.samples = matrices, samples
        self._found: list[dict[int, GramStats]] | None = None
        self._are_blocks = False

    @classmethod
    def of_units(
        cls, matrices: Sequence[Matrix], samples: Sequence[Ints], strata: Sequence[Ints], seed: int, /
    ) -> SampleSums:
        """Return the sums by sample, or by random block where there are no samples, and no strata to permute within."""
        sums = cls(matrices, samples)
        sizes = [int(x.shape[0]) for x in matrices]
        counted = isinstance(matrices[0], Counts)
        if not len(samples) and not len(strata) and not counted and is_large(sum(sizes), matrices[0].shape[1]):
            sums.samples, sums._are_blocks = random_blocks(sizes, generator(seed, "blocks")), True
        return sums

    @property
    def fit(self) -> bool:
        """Whether there are samples, so few and of so few features that their sums fit in memory."""
        if isinstance(self._matrices[0], Counts) or not len(self.samples):
            return False
        if self._are_blocks and isinstance(self._matrices[0], Chunked):
            return False
        n_samples = sum(len(np.unique(codes)) for codes in self.samples)
        return budget.fits(8 * n_samples * self._matrices[0].shape[1] ** 2)

    def __call__(self) -> list[dict[int, GramStats]]:
        """Return the sums of every sample in each condition."""
        if self._found is None:
            if isinstance(self._matrices[0], Chunked):
                sums = partial(_stats_by_sample, self._matrices, self.samples)
                self._found = self._matrices[0].cached("by_sample", sums)
            else:
                codes = [np.unique(own) for own in self.samples]
                rows = [[np.flatnonzero(s == c) for c in own] for s, own in zip(self.samples, codes, strict=True)]
                found = gram_stats_of_rows(self._matrices, rows)
                self._found = [dict(zip(c.tolist(), own, strict=True)) for c, own in zip(codes, found, strict=True)]
        return self._found

    def by_condition(self) -> list[GramStats] | None:
        """Return the sums of each condition as observed, where those of its samples fit in memory."""
        return [added(list(own.values())) for own in self()] if self.fit else None


def as_permutable(
    matrices: Sequence[Matrix], null: Null, /, *, samples: Sequence[Ints] = (), sums: SampleSums | None = None
) -> Permutable:
    """Prepare observations to be permuted; with `samples`, only whole samples can be.

    Under the null of connectivity, observations are standardised within their original condition first. `sums` of
    these samples that several tests share are taken once.
    """
    if isinstance(matrices[0], Counts):
        return _Counted.of(matrices, null)
    sums = SampleSums(matrices, samples) if sums is None else sums
    if gram_fits(matrices[0]) or (not isinstance(matrices[0], Chunked) and (sums.fit or _sums_pay(matrices))):
        return _Summed.of(matrices, null, sums)
    return _Stacked.of(matrices, null)


def _sums_pay(matrices: Sequence[Matrix]) -> bool:
    """Return whether products of data in memory take long, and fit: the largest part of each follows from the rest."""
    n_features = matrices[0].shape[1]
    large = is_large(sum(x.shape[0] for x in matrices), n_features)
    return large and budget.fits(8 * n_features**2, "kept")


def _fit_points(points: Sequence[Columns], settings: DiscSettings) -> DiscFit:
    return fit_walks([feature_walk(c, settings.graph) for c in points], settings)


@dataclass(frozen=True, slots=True)
class _Stacked:
    """Observations as matrices."""

    #: those of all conditions stacked, or one part per condition where standardising would make sparse data dense
    parts: tuple[Affine, ...]

    @classmethod
    def of(cls, matrices: Sequence[Matrix], null: Null) -> _Stacked:
        if null == "labels":
            return cls((Affine(_stacked(matrices)),))
        parts = [
            standardized(x, mean, inverse(np.sqrt(variance)))
            for x, (mean, variance) in zip(matrices, moments_of_each(matrices), strict=True)
        ]
        if not all(isinstance(part.x, np.ndarray) for part in parts):
            return cls(tuple(parts))
        return cls((Affine(np.concatenate([part.x for part in parts])),))

    def fit(self, rows: Sequence[Ints], settings: DiscSettings) -> DiscFit:
        """Fit as if these rows, numbered across conditions, made up each condition."""
        if len(self.parts) == 1 and self.parts[0].map.is_identity:
            x: Any = self.parts[0].x
            return refit([x[r] for r in rows], settings)
        return _fit_points([self._columns(r) for r in rows], settings)

    def sigma(self, rows: Sequence[Ints], settings: DiscSettings) -> Floats:
        """σ of such a fit."""
        return self.fit(rows, settings).sigma

    def _columns(self, rows: Ints) -> Columns:
        by_condition = _by_condition(rows, [part.n_obs for part in self.parts])
        parts = [Affine(part.x[r], part.map) for r, part in zip(by_condition, self.parts, strict=True) if r.size]
        return Columns(tuple(parts), within=True)


@dataclass(frozen=True, slots=True)
class _Counted:
    """Raw counts, from which correlations are estimated again for every permutation."""

    conditions: Sequence[Counts]
    #: of all observations, and of the original conditions, so that they do not change with the permutation
    damping: Floats
    noise: Floats
    #: of each original condition under the null of connectivity; otherwise empty
    moments: Sequence[CountMoments]

    @classmethod
    def of(cls, conditions: Sequence[Counts], null: Null) -> _Counted:
        damping = fit_damping(conditions)
        moments = count_moments(conditions, damping) if null == "connectivity" else ()
        return cls(conditions, damping, shrinkage_noise(conditions, damping), moments)

    def fit(self, rows: Sequence[Ints], settings: DiscSettings) -> DiscFit:
        """Fit these rows, numbered across conditions, as conditions."""
        return _fit_points([Columns((self._correlations(r),), within=True) for r in rows], settings)

    def sigma(self, rows: Sequence[Ints], settings: DiscSettings) -> Floats:
        """σ if these rows, numbered across conditions, make up each condition."""
        return self.fit(rows, settings).sigma

    def _correlations(self, rows: Ints) -> CountCorrelations:
        by_condition = _by_condition(rows, [counts.shape[0] for counts in self.conditions])
        parts = [counts[r] for counts, r in zip(self.conditions, by_condition, strict=True) if r.size]
        if not self.moments:
            return count_correlations(parts, self.damping, noise=self.noise)
        moments = [m for m, r in zip(self.moments, by_condition, strict=True) if r.size]
        return standardized_correlations(parts, moments, self.damping, noise=self.noise)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Rows of one original condition, the whole, that a permutation assigns to a condition."""

    assigned: int
    whole: int
    rows: Ints


@dataclass(frozen=True, slots=True)
class _Summed:
    """Sums over data: those of a permutation take one pass over chunked data, or follow from sums by sample."""

    matrices: Sequence[Any]
    #: of each original condition under the null of connectivity; otherwise empty
    maps: list[AffineMap]
    #: per condition, the sample of each row, and the sums of each sample; empty where single rows are permuted
    samples: Sequence[Ints]
    by_sample: list[dict[int, GramStats]]
    #: sums of each original condition, where these are in memory and single rows are permuted
    wholes: Sequence[GramStats] = ()

    @classmethod
    def of(cls, matrices: Sequence[Matrix], null: Null, sums: SampleSums) -> _Summed:
        by_sample = sums() if sums.fit else []
        wholes: list[GramStats] = []
        if not by_sample and not isinstance(matrices[0], Chunked):
            wholes = [own[0] for own in gram_stats_of_rows(matrices, [[np.arange(x.shape[0])] for x in matrices])]
        maps: list[AffineMap] = []
        if null == "connectivity":
            if by_sample:
                moments = [added(list(own.values())).mean_and_variance() for own in by_sample]
            elif wholes:
                moments = [whole.mean_and_variance() for whole in wholes]
            else:
                gram_stats(matrices)
                moments = moments_of_each(matrices)
            maps = [AffineMap(mean, inverse(np.sqrt(variance))) for mean, variance in moments]
        return cls(matrices, maps, sums.samples if by_sample else (), by_sample, wholes)

    def fit(self, rows: Sequence[Ints], settings: DiscSettings) -> DiscFit:
        """Fit as if these rows, numbered across conditions, made up each condition."""
        conditions = [self._from_samples(r) for r in rows] if self.by_sample else self._from_rows(rows)
        if self.maps:
            points = [Columns(parts, within=True) for parts in conditions]
        else:
            points = points_from_stats(conditions, settings.graph.standardize)
        return _fit_points(points, settings)

    def sigma(self, rows: Sequence[Ints], settings: DiscSettings) -> Floats:
        """σ of such a fit."""
        return self.fit(rows, settings).sigma

    def _from_samples(self, rows: Ints) -> tuple[GramStats, ...]:
        """Add the sums of samples, apart by original condition where these are mapped differently."""
        by_condition = _by_condition(rows, [x.shape[0] for x in self.matrices])
        found = [
            [stats[int(code)] for code in np.unique(codes[r])]
            for r, codes, stats in zip(by_condition, self.samples, self.by_sample, strict=True)
        ]
        if not self.maps:
            return (added([stats for own in found for stats in own]),)
        return tuple(self._mapped(added(own), condition) for condition, own in enumerate(found) if own)

    def _from_rows(self, rows: Sequence[Ints]) -> list[tuple[GramStats, ...]]:
        sizes = [x.shape[0] for x in self.matrices]
        pieces = [
            _Piece(assigned, condition, own)
            for assigned, r in enumerate(rows)
            for condition, own in enumerate(_by_condition(r, sizes))
            if own.size
        ]
        found = self._stats(pieces, rows)
        of_assigned = [
            [(stats, piece.whole) for piece, stats in zip(pieces, found, strict=True) if piece.assigned == assigned]
            for assigned in range(len(rows))
        ]
        if not self.maps:
            return [(added([stats for stats, _ in own]),) for own in of_assigned]
        return [tuple(self._mapped(stats, whole) for stats, whole in own) for own in of_assigned]

    def _stats(self, pieces: list[_Piece], rows: Sequence[Ints]) -> list[GramStats]:
        """Sum all pieces but the largest of each condition, whose sums are those of the condition minus the others."""
        if not _is_permutation(rows, sum(x.shape[0] for x in self.matrices)):
            return self._sums_of(pieces)
        numbers = range(len(pieces))
        by_whole = [[i for i in numbers if pieces[i].whole == whole] for whole in range(len(self.matrices))]
        largest = [max(own, key=lambda i: pieces[i].rows.size) for own in by_whole]
        others = [i for i in numbers if i not in largest]
        found = dict(zip(others, self._sums_of([pieces[i] for i in others]), strict=True))
        for whole, own, last in zip(self._wholes(), by_whole, largest, strict=True):
            found[last] = remainder([whole], [found[i] for i in own if i != last])
        return [found[i] for i in numbers]

    def _wholes(self) -> Sequence[GramStats]:
        return self.wholes or gram_stats(self.matrices)

    def _sums_of(self, pieces: Sequence[_Piece]) -> list[GramStats]:
        if not self.wholes:
            return gram_stats([self.matrices[piece.whole][piece.rows] for piece in pieces])
        n_rows = sum(x.shape[0] for x in self.matrices)
        origin = self.wholes[0].origin
        return [sums_of_rows(self.matrices[piece.whole], piece.rows, origin, n_rows) for piece in pieces]

    def _mapped(self, stats: GramStats, condition: int) -> GramStats:
        return replace(stats, map=self.maps[condition]) if self.maps else stats


def _stats_by_sample(matrices: Sequence[Chunked], samples: Sequence[Ints]) -> list[dict[int, GramStats]]:
    wanted = [(condition, int(code)) for condition, codes in enumerate(samples) for code in np.unique(codes)]
    found = gram_stats([matrices[c][np.flatnonzero(samples[c] == code)] for c, code in wanted])
    by_sample: list[dict[int, GramStats]] = [{} for _ in matrices]
    for (condition, code), stats in zip(wanted, found, strict=True):
        by_sample[condition][code] = stats
    return by_sample


def _is_permutation(rows: Sequence[Ints], n_obs: int) -> bool:
    """Return whether every observation is assigned exactly once."""
    return bool((np.bincount(np.concatenate(list(rows)), minlength=n_obs) == 1).all())


def _by_condition(rows: Ints, sizes: Sequence[int]) -> list[Ints]:
    """Split rows that are numbered across conditions by condition, and number them within it."""
    edges = np.cumsum([0, *sizes])
    return [rows[(rows >= a) & (rows < b)] - a for a, b in pairwise(edges)]


def _stacked(matrices: Sequence[Matrix]) -> Matrix:
    if isinstance(matrices[0], Chunked):
        return stacked(matrices)
    if sp.issparse(matrices[0]):
        return sp.vstack([sp.csr_array(x) for x in matrices], format="csr")
    return np.concatenate(list(matrices))
