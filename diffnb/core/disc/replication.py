"""Replication in halves of the samples: whether one half shows what the other half shows.

Samples (subjects, donors) are split into halves again and again, and vectors and groups of both halves are compared.
Some agreement arises by chance, as both halves share whatever all conditions share. So every value comes with its
null: the same for labels of conditions that are permuted between samples, or within them where samples hold every
condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import NamedTuple, TypeAlias

import numpy as np

from ..runtime.seeds import draws, generator
from ..stats.resampling import map_draws
from ..stats.samples import nested
from ..typing import Bools, Floats, Ints, Matrix
from .algorithm import DiscFit
from .feature_groups import BACKGROUND, FeatureGroups, feature_groups
from .paired import align, average
from .permutable import as_permutable

#: samples below which there are no halves to compare: each needs two to show that they agree
MIN_SAMPLES_TO_SPLIT = 4
MAX_SPLITS = 20
#: permutations of the labels, with one split each: a single split varies more than a median, so the null is strict
N_PERMUTATIONS_OF_LABELS = 39
#: where each sample belongs to one condition, every split needs two fits and every permutation three
MAX_SPLITS_REFITTED = 5
N_PERMUTATIONS_REFITTED = 9
#: |cosine| and adjusted Rand index that "replicates" requires besides being above chance; where halves agree to a
#: third, the reliability of the whole is one half (2r/(1 + r), Spearman–Brown)
MIN_AGREEMENT = 1 / 3
#: Jaccard index that it requires of groups: halves share at least half of the features that either of them names
MIN_OVERLAP = 0.5
#: quantile of the null that the observed agreement has to reach
NULL_QUANTILE = 0.95

#: numbers of the samples in each half
Split: TypeAlias = tuple[Ints, Ints]


class Found(NamedTuple):
    """Vectors (conditions × features × components) and σ (conditions × components) of some samples."""

    vectors: Floats
    sigma: Floats


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well halves agree: median over splits, and median and upper quantile of the same by chance."""

    observed: Floats
    chance: Floats
    chance_95: Floats
    #: NaN where there is nothing to compare, and then false
    replicates: Bools

    @classmethod
    def of(cls, observed: Sequence[Floats], null: Sequence[Floats], minimum: float) -> Agreement:
        """Summarise the agreement in every split and in every permutation."""
        median, chance = _nan_quantile(observed, 0.5), _nan_quantile(null, 0.5)
        high = _nan_quantile(null, NULL_QUANTILE)
        # perfect agreement is reached by permutations that leave most labels in place, but not by half of them
        above = ((median >= high) & (median > chance)) | np.isnan(high)
        return cls(median, chance, high, above & (median >= minimum))


@dataclass(frozen=True, slots=True)
class Replication:
    """Agreement between halves of the samples."""

    #: conditions × components: |cosine| of the vectors
    vectors: Agreement
    #: conditions: adjusted Rand index of the groups, the background counted
    partitions: Agreement
    #: conditions × groups: Jaccard index of the two groups that correspond to a named group
    groups: Agreement
    n_splits: int
    n_samples: int


class _Compared(NamedTuple):
    """Agreement of two halves, as in `Replication`."""

    vectors: Floats
    partitions: Floats
    groups: Floats


def replication_over_subjects(
    fits: Sequence[DiscFit], groups: Sequence[FeatureGroups], /, *, seed: int, n_jobs: int | None = None
) -> Replication | None:
    """Compare averages over halves of the subjects; `None` where there are fewer than four subjects.

    No fit is repeated, only their combination. Under the null, labels of conditions are permuted within subjects.
    """
    n = len(fits)
    if n < MIN_SAMPLES_TO_SPLIT:
        return None
    basis, short = _in_their_span(fits)
    n_conditions = len(fits[0].sigma)

    def found(chosen: Sequence[DiscFit]) -> Found:
        joint = average(chosen)
        return Found(basis @ joint.mean, joint.sigma)

    def compare(labelled: Sequence[DiscFit], reference: _Reference, split: Split) -> _Compared:
        return reference.compare(*(found([labelled[i] for i in half]) for half in split))

    def draw(rng: np.random.Generator) -> _Compared:
        orders = _other_orders(n, n_conditions, rng)
        labelled = [_relabelled(fit, order) for fit, order in zip(short, orders, strict=True)]
        reference = _Reference(found(labelled), groups, seed).regrouped()
        return compare(labelled, reference, random_split(n, rng))

    whole = _Reference(found(short), groups, seed)
    observed = [compare(short, whole, split) for split in half_splits(n, MAX_SPLITS, generator(seed, "halves"))]
    null = map_draws(draw, draws(seed, "halves", N_PERMUTATIONS_OF_LABELS, 1), n_jobs=n_jobs)
    return _summary(observed, null, n)


def replication_over_samples(
    fit: DiscFit,
    matrices: Sequence[Matrix],
    samples: Sequence[Ints],
    groups: Sequence[FeatureGroups],
    /,
    *,
    n_jobs: int | None = None,
) -> Replication | None:
    """Compare fits to halves of the samples of every condition, where each sample belongs to one condition.

    `None` where a condition has fewer than four samples, and where no group was named, as every split needs new fits.
    Under the null, whole samples are permuted between conditions.
    """
    if not samples or not nested(samples) or not any(_named(g) for g in groups):
        return None
    codes = [np.unique(c) for c in samples]
    if min(map(len, codes)) < MIN_SAMPLES_TO_SPLIT:
        return None
    observations = as_permutable(matrices, "labels", samples=samples)
    sample_of_row = np.concatenate(list(samples))
    seed = fit.settings.seed

    def found(assigned: Sequence[Ints]) -> Found:
        drawn = observations.fit([np.flatnonzero(np.isin(sample_of_row, own)) for own in assigned], fit.settings)
        return Found(drawn.vectors, drawn.sigma)

    def halves(assigned: Sequence[Ints], rng: np.random.Generator) -> list[Found]:
        split = [random_split(len(own), rng) for own in assigned]
        return [found([own[s[side]] for own, s in zip(assigned, split, strict=True)]) for side in (0, 1)]

    def observe(rng: np.random.Generator) -> _Compared:
        return _Reference(Found(fit.vectors, fit.sigma), groups, seed).compare(*halves(codes, rng))

    def draw(rng: np.random.Generator) -> _Compared:
        permuted = np.split(rng.permutation(np.concatenate(codes)), np.cumsum([len(c) for c in codes])[:-1])
        return _Reference(found(permuted), groups, seed).regrouped().compare(*halves(permuted, rng))

    observed = map_draws(observe, draws(seed, "halves", MAX_SPLITS_REFITTED, 2), n_jobs=n_jobs, progress="halves")
    null = map_draws(
        draw, draws(seed, "halves", N_PERMUTATIONS_REFITTED, 3), n_jobs=n_jobs, progress="halves by chance"
    )
    return _summary(observed, null, sum(map(len, codes)))


def half_splits(n: int, limit: int, rng: np.random.Generator, /) -> list[Split]:
    """Split `n` samples into halves in all ways, or in `limit` random ones where there are more."""
    half = n // 2
    # with equal halves every split appears twice; the one kept has the first sample in its first half
    if comb(n, half) // (2 - n % 2) > limit:
        return [random_split(n, rng) for _ in range(limit)]
    return [_split(n, np.array(c)) for c in combinations(range(n), half) if n % 2 or c[0] == 0]


def random_split(n: int, rng: np.random.Generator, /) -> Split:
    """Split `n` samples into random halves; the second is larger by one where `n` is odd."""
    return _split(n, np.sort(rng.permutation(n)[: n // 2]))


def _split(n: int, half: Ints) -> Split:
    return half, np.setdiff1d(np.arange(n), half)


def _in_their_span(fits: Sequence[DiscFit]) -> tuple[Floats, list[DiscFit]]:
    """Return a basis of all vectors, and the fits in its coordinates: inner products are the same, and cheaper."""
    n_components = fits[0].vectors.shape[2]
    stacked = np.hstack([vectors for fit in fits for vectors in fit.vectors])
    basis, coordinates = np.linalg.qr(stacked)
    parts = iter(np.hsplit(coordinates, coordinates.shape[1] // n_components))
    return basis, [replace(fit, vectors=np.stack([next(parts) for _ in fit.vectors])) for fit in fits]


def _other_orders(n: int, n_conditions: int, rng: np.random.Generator) -> list[Ints]:
    """Permute the conditions of each of `n` subjects, in any way but the one that was observed."""
    while True:
        orders: list[Ints] = [rng.permutation(n_conditions) for _ in range(n)]
        if any((order != np.arange(n_conditions)).any() for order in orders):
            return orders


def _relabelled(fit: DiscFit, order: Ints) -> DiscFit:
    return replace(fit, vectors=fit.vectors[order], sigma=fit.sigma[order])


def _named(groups: FeatureGroups) -> list[int]:
    return [int(g) for g in np.unique(groups.labels) if g != BACKGROUND]


@dataclass(frozen=True, slots=True)
class _Reference:
    """What all samples show, which the halves are matched with."""

    whole: Found
    groups: Sequence[FeatureGroups]
    seed: int

    def regrouped(self) -> _Reference:
        """Return the reference with the groups of its own vectors, as many as before."""
        return replace(self, groups=[self._grouped(self.whole, m) for m in range(len(self.groups))])

    def compare(self, left: Found, right: Found) -> _Compared:
        """Compare the vectors and groups of two halves."""
        conditions = range(len(self.groups))
        halves = [(left.vectors[m], right.vectors[m]) for m in conditions]
        cosines = np.stack([_cosines(self.whole.vectors[m], *halves[m]) for m in conditions])
        grouped = (
            [self._grouped(left, m).labels for m in conditions],
            [self._grouped(right, m).labels for m in conditions],
        )
        partitions = np.array([_rand_index(*pair) for pair in zip(*grouped, strict=True)])
        overlaps = [self._overlaps(m, *pair) for m, pair in enumerate(zip(*grouped, strict=True))]
        return _Compared(cosines, partitions, np.stack(overlaps))

    def _grouped(self, found: Found, m: int) -> FeatureGroups:
        """Group features into as many groups as there are, by as many vectors; no groups stay none."""
        groups = self.groups[m]
        if not _named(groups):
            return groups
        n_leading = min(groups.n_leading, found.sigma.shape[1])
        return feature_groups(
            found.vectors[m], found.sigma[m], n_clusters=groups.n_clusters, n_leading=n_leading, seed=self.seed
        )

    def _overlaps(self, m: int, first: Ints, second: Ints) -> Floats:
        """Jaccard index of the groups of two halves that are closest to each named group; NaN for no group."""
        overlaps = np.full(max(1, *(g.n_clusters - 1 for g in self.groups)), np.nan)
        for group in _named(self.groups[m]):
            members = self.groups[m].labels == group
            overlaps[group - 1] = jaccard(_closest(first, members), _closest(second, members))
        return overlaps


def _cosines(whole: Floats, left: Floats, right: Floats) -> Floats:
    """|cosine| of the vectors of two halves, each matched with those of all samples."""
    directions = _unit(whole)
    return np.asarray(np.abs((align(_unit(left), directions) * align(_unit(right), directions)).sum(axis=0)))


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=0)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))


def _rand_index(first: Ints, second: Ints) -> float:
    """Return the adjusted Rand index, NaN where nothing is grouped."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(first, second)) if first.any() or second.any() else np.nan


def _closest(labels: Ints, members: Bools) -> Bools:
    """Return the features of the group that overlaps most with these members."""
    groups = [g for g in np.unique(labels) if g != BACKGROUND]
    if not groups:
        return np.zeros(len(labels), dtype=bool)
    return np.asarray(labels == max(groups, key=lambda g: jaccard(labels == g, members)))


def jaccard(first: Bools, second: Bools, /) -> float:
    """Shared features over all features of two groups; 0 where both are empty."""
    either = int((first | second).sum())
    return int((first & second).sum()) / either if either else 0.0


def _nan_quantile(values: Sequence[Floats], level: float) -> Floats:
    """Quantile over a list of arrays, NaN where all are NaN."""
    stacked = np.stack(list(values))
    known = np.isfinite(stacked).any(axis=0)
    result = np.full(known.shape, np.nan)
    result[known] = np.nanquantile(stacked[:, known], level, axis=0)
    return result


def _summary(observed: Sequence[_Compared], null: Sequence[_Compared], n_samples: int) -> Replication:
    cosines, rand_indices, overlaps = zip(zip(*observed, strict=True), zip(*null, strict=True), strict=True)
    return Replication(
        vectors=Agreement.of(*cosines, MIN_AGREEMENT),
        partitions=Agreement.of(*rand_indices, MIN_AGREEMENT),
        groups=Agreement.of(*overlaps, MIN_OVERLAP),
        n_splits=len(observed),
        n_samples=n_samples,
    )
