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
from .feature_groups import BACKGROUND, FeatureGroups
from .paired import align, average
from .permutable import SampleSums, as_permutable

#: samples below which there are no halves to compare: each needs two to show that they agree
MIN_SAMPLES_TO_SPLIT = 4
MAX_SPLITS = 20
#: permutations of the labels, with one split each: a single split varies more than a median, so the null is strict
N_PERMUTATIONS_OF_LABELS = 39
#: where each sample belongs to one condition, every split needs two fits and every permutation three
MAX_SPLITS_REFITTED = 5
N_PERMUTATIONS_REFITTED = 9
#: |cosine| and adjusted Rand index that "replicates" requires besides being above chance. Where halves agree to a
#: third, the reliability of the vector of all samples is one half (2r/(1 + r), Spearman–Brown)
MIN_AGREEMENT = 1 / 3
#: and the share of members that halves have in common, corrected for that of random sets
MIN_SHARED_MEMBERS = 0.5
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
    #: conditions × groups: share of members that halves have in common, corrected for that of random sets (κ)
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

    def compare(labelled: Sequence[DiscFit], whole: _Reference, split: Split) -> _Compared:
        return whole.compare(*(found([labelled[i] for i in half]) for half in split))

    def draw(rng: np.random.Generator) -> _Compared:
        orders = _other_orders(n, n_conditions, rng)
        labelled = [_relabelled(fit, order) for fit, order in zip(short, orders, strict=True)]
        return compare(labelled, reference.relabelled(found(labelled)), random_split(n, rng))

    reference = _Reference.of(found(short), groups)
    observed = [compare(short, reference, split) for split in half_splits(n, MAX_SPLITS, generator(seed, "halves"))]
    null = map_draws(draw, draws(seed, "halves", N_PERMUTATIONS_OF_LABELS, 1), n_jobs=n_jobs)
    return _summary(observed, null, n)


def replication_over_samples(
    fit: DiscFit,
    matrices: Sequence[Matrix],
    samples: Sequence[Ints],
    groups: Sequence[FeatureGroups],
    /,
    *,
    sums: SampleSums | None = None,
    n_jobs: int | None = None,
) -> Replication | None:
    """Compare fits to halves of the samples of every condition, where each sample belongs to one condition.

    `None` where a condition has fewer than four samples, and where no group was named, as every split needs new fits.
    Under the null, whole samples are permuted between conditions.
    """
    if not samples or not nested(samples) or not any(g.labels.any() for g in groups):
        return None
    codes = [np.unique(c) for c in samples]
    if min(map(len, codes)) < MIN_SAMPLES_TO_SPLIT:
        return None
    observations = as_permutable(matrices, "labels", samples=samples, sums=sums)
    sample_of_row = np.concatenate(list(samples))
    seed = fit.settings.seed

    def found(assigned: Sequence[Ints]) -> Found:
        drawn = observations.fit([np.flatnonzero(np.isin(sample_of_row, own)) for own in assigned], fit.settings)
        return Found(drawn.vectors, drawn.sigma)

    def halves(assigned: Sequence[Ints], rng: np.random.Generator) -> list[Found]:
        split = [random_split(len(own), rng) for own in assigned]
        return [found([own[s[side]] for own, s in zip(assigned, split, strict=True)]) for side in (0, 1)]

    def observe(rng: np.random.Generator) -> _Compared:
        return reference.compare(*halves(codes, rng))

    def draw(rng: np.random.Generator) -> _Compared:
        permuted = np.split(rng.permutation(np.concatenate(codes)), np.cumsum([len(c) for c in codes])[:-1])
        return reference.relabelled(found(permuted)).compare(*halves(permuted, rng))

    reference = _Reference.of(Found(fit.vectors, fit.sigma), groups)
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


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a named group is: a direction in the leading vectors, and the number of features at that end.

    Halves are compared by as many features as the group has. Their own cuts between group and background would differ
    even where they agree on the order of features.
    """

    direction: Floats
    size: int

    def members(self, rows: Floats) -> Bools:
        """Return which features are farthest in this direction."""
        chosen = np.zeros(len(rows), dtype=bool)
        chosen[np.argsort(-self._places(rows), kind="stable")[: self.size]] = True
        return chosen

    def oriented(self, rows: Floats) -> _Target:
        """Return the target at this end of the direction or at the other, whichever stands out more."""
        other = replace(self, direction=-self.direction)
        return max(self, other, key=lambda target: target._places(rows)[target.members(rows)].mean())

    def _places(self, rows: Floats) -> Floats:
        return np.asarray(rows[:, : len(self.direction)] @ self.direction)


@dataclass(frozen=True, slots=True)
class _Reference:
    """What all samples show, which the halves are matched with."""

    whole: Found
    #: per condition
    targets: list[list[_Target]]

    @classmethod
    def of(cls, whole: Found, groups: Sequence[FeatureGroups]) -> _Reference:
        """Locate the named groups in the vectors of all samples."""
        reference = cls(whole, [])
        rows = [reference._rows(vectors, m) for m, vectors in enumerate(whole.vectors)]
        return replace(reference, targets=[_targets(r, g) for r, g in zip(rows, groups, strict=True)])

    def relabelled(self, whole: Found) -> _Reference:
        """Return the reference for vectors of permuted labels: groups of the same sizes at their ends."""
        other = replace(self, whole=whole)
        oriented = [
            [target.oriented(other._rows(vectors, m)) for target in self.targets[m]]
            for m, vectors in enumerate(whole.vectors)
        ]
        return replace(other, targets=oriented)

    def compare(self, left: Found, right: Found) -> _Compared:
        """Compare the vectors and groups of two halves."""
        compared = [self._compare(m, left.vectors[m], right.vectors[m]) for m in range(len(self.targets))]
        return _Compared(*(np.stack(values) for values in zip(*compared, strict=True)))

    def _compare(self, m: int, left: Floats, right: Floats) -> tuple[Floats, float, Floats]:
        first, second = (align(_unit(half), _unit(self.whole.vectors[m])) for half in (left, right))
        cosines = np.abs((first * second).sum(axis=0))
        shared = np.full(max(1, *map(len, self.targets)), np.nan)
        if not self.targets[m]:
            return cosines, np.nan, shared
        members = [[target.members(self._rows(half, m)) for target in self.targets[m]] for half in (first, second)]
        shared[: len(self.targets[m])] = [shared_members(*pair) for pair in zip(*members, strict=True)]
        return cosines, _rand_index(*(_labels(sets) for sets in members)), shared

    def _rows(self, vectors: Floats, m: int) -> Floats:
        """Weight vectors as for the groups: by the σ of all samples."""
        return np.asarray(_unit(vectors) * self.whole.sigma[m])


def _targets(rows: Floats, groups: FeatureGroups) -> list[_Target]:
    labels, leading = groups.labels, rows[:, : max(1, groups.n_leading)]
    background = leading[labels == BACKGROUND].mean(axis=0) if (labels == BACKGROUND).any() else 0.0
    named = [g for g in np.unique(labels) if g != BACKGROUND]
    return [_Target(leading[labels == g].mean(axis=0) - background, int((labels == g).sum())) for g in named]


def _labels(sets: Sequence[Bools]) -> Ints:
    """Return the number of each feature's group, the first (with the largest score) where several hold it."""
    labels = np.zeros(len(sets[0]), dtype=int)
    for number, members in reversed(list(enumerate(sets, 1))):
        labels[members] = number
    return labels


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=0)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))


def _rand_index(first: Ints, second: Ints) -> float:
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(first, second))


def shared_members(first: Bools, second: Bools, /) -> float:
    """Share of members that two sets of equal size have in common, corrected for that of random sets (Cohen's κ).

    A set that holds all features, or none, shares no more than by chance: 0.
    """
    size, share = int(first.sum()), float(first.mean())
    if share in (0.0, 1.0):
        return 0.0
    return float((int((first & second).sum()) / size - share) / (1 - share))


def _nan_quantile(values: Sequence[Floats], level: float) -> Floats:
    """Quantile over a list of arrays, NaN where all are NaN."""
    stacked = np.stack(list(values))
    known = np.isfinite(stacked).any(axis=0)
    result = np.full(known.shape, np.nan)
    result[known] = np.nanquantile(stacked[:, known], level, axis=0)
    return result


def _summary(observed: Sequence[_Compared], null: Sequence[_Compared], n_samples: int) -> Replication:
    cosines, rand_indices, shared = zip(zip(*observed, strict=True), zip(*null, strict=True), strict=True)
    return Replication(
        vectors=Agreement.of(*cosines, MIN_AGREEMENT),
        partitions=Agreement.of(*rand_indices, MIN_AGREEMENT),
        groups=Agreement.of(*shared, MIN_SHARED_MEMBERS),
        n_splits=len(observed),
        n_samples=n_samples,
    )
