"""Which features belong to a group: those that co-vary with the group in its condition more than in the others.

Clusters of differential vectors say where a group is, not where it ends: one strong gradient splits all features in
two. A cluster is therefore only the seed. Its meta-feature is the weighted sum of its features; every feature is
correlated with the meta-feature, itself left out, in the condition of the group and in the others. What the others
explain is subtracted, and the local false discovery rate of the remainder says who is a member. Members make the next
meta-feature, until they no longer change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..arrays.affine import Affine, AffineMap, inverse_sd
from ..arrays.count_moments import Counts
from ..arrays.gram_stats import correlations, gram_fits
from ..arrays.ops import moments_of_each
from ..typing import Bools, Floats, Ints, Matrix
from .feature_graph import as_points

#: features of a cluster, those farthest out, with which its meta-feature begins
MAX_SEEDS = 50
MIN_MEMBERS = 3
#: local false discovery rate up to which a feature is a member
MAX_LOCAL_FDR = 0.2
MAX_ROUNDS = 20
#: two groups that share this part of their members (intersection over union) are one
MAX_OVERLAP = 0.5
#: correlations beyond this have no finite Fisher z
MAX_CORRELATION = 1 - 1e-9
#: the standard normal distribution is the sharpest that z values of unrelated features can have
MIN_NULL_SD = 1.0
#: median absolute deviation of a normal distribution, in standard deviations
NORMAL_MAD = 0.6745


@dataclass(frozen=True, slots=True)
class Correlations:
    """Products with the correlations of one condition, which are not formed unless the data are in sums already."""

    #: features × features, or standardised observations, in one part or one per subject
    parts: tuple[Floats | Affine, ...]
    n_obs: int
    #: 1, or 0 for a feature that is constant
    diagonal: Floats

    @classmethod
    def of(cls, x: Matrix, samples: Ints | None = None, /) -> Correlations:
        """Standardise the observations, within each sample where samples are given."""
        if gram_fits(x) and samples is None:
            (matrix,) = correlations([x])
            return cls.known(matrix, x.shape[0])
        rows = [x] if samples is None else [x[np.flatnonzero(samples == code)] for code in np.unique(samples)]
        parts, diagonal = [], np.zeros(x.shape[1])
        for part, (mean, variance) in zip(rows, moments_of_each(rows), strict=True):
            scale = inverse_sd(mean, variance)
            parts.append(Affine(part, AffineMap(mean, scale)))
            diagonal += (scale > 0) * part.shape[0] / x.shape[0]
        return cls(tuple(parts), x.shape[0], diagonal)

    @classmethod
    def known(cls, matrix: Floats, n_obs: int, /) -> Correlations:
        """Take correlations that were estimated otherwise, features × features."""
        return cls((matrix,), n_obs, np.diag(matrix).copy())

    def times(self, weights: Floats, /) -> Floats:
        """Correlation matrix times a vector."""
        return np.asarray(sum(self._part_times(part, weights) for part in self.parts))

    def _part_times(self, part: Floats | Affine, weights: Floats) -> Floats:
        if isinstance(part, Affine):
            return np.asarray(part.rmatmul(part.matmul(weights[None]))[0] / self.n_obs)
        return np.asarray(part @ weights)

    def fisher_z(self, weights: Floats, /) -> Floats:
        """Fisher z, in standard errors, of every feature with the weighted sum of all others."""
        products = self.times(weights)
        own = weights * self.diagonal
        rest = weights @ products - 2 * weights * products + weights * own
        r = np.divide(products - own, np.sqrt(np.maximum(rest, 0.0)), out=np.zeros_like(products), where=rest > 0)
        bounded = np.clip(r, -MAX_CORRELATION, MAX_CORRELATION)
        return np.asarray(np.arctanh(bounded) * np.sqrt(max(self.n_obs - 3, 1)))

    def cohesion(self, members: Bools, /) -> float:
        """Mean correlation between members."""
        size = int(members.sum())
        weights = members.astype(float)
        return float((weights @ self.times(weights) - self.diagonal[members].sum()) / max(size * (size - 1), 1))


def related(matrices: Sequence[Matrix], samples: Sequence[Ints] = (), /) -> list[Correlations]:
    """Return the correlations of every condition, within samples where they are given; corrected ones of counts."""
    if isinstance(matrices[0], Counts):
        return [Correlations.known(c.inner() / c.n_obs, c.n_obs) for c in as_points(matrices, "within")]
    within: Sequence[Ints | None] = samples or [None] * len(matrices)
    return [Correlations.of(x, codes) for x, codes in zip(matrices, within, strict=True)]


@dataclass(frozen=True, slots=True)
class Members:
    """One group of features."""

    member: Bools
    #: per feature, 1 − its local false discovery rate
    probability: Floats


def refine(seeds: Bools, own: Correlations, others: Sequence[Correlations], /) -> Members | None:
    """Return the members of the group around some features; None where too few features stand out."""
    member, weights = seeds, seeds.astype(float)
    earlier: list[Bools] = []
    for _ in range(MAX_ROUNDS):
        z = _beyond_others(member, own.fisher_z(weights), [other.fisher_z(weights) for other in others])
        probability = 1 - local_fdr(z, member)
        found = probability >= 1 - MAX_LOCAL_FDR
        if found.sum() < MIN_MEMBERS or found.all():
            return None
        if any((found == before).all() for before in (member, *earlier)):
            break
        earlier.append(member)
        member, weights = found, np.where(found, np.maximum(z, 0.0), 0.0)
    return Members(found, probability)


def _beyond_others(member: Bools, own: Floats, others: Sequence[Floats]) -> Floats:
    """Subtract from z what the condition with the largest z explains, by a line through the features outside."""
    largest = np.max(list(others), axis=0)
    x, y = (values[~member] - np.median(values[~member]) for values in (largest, own))
    slope = np.clip(x @ y / max(x @ x, np.finfo(float).tiny), 0.0, 1.0)
    return np.asarray(own - slope * largest)


def local_fdr(z: Floats, member: Bools, /) -> Floats:
    """Probability of every feature not to be a member: two normal distributions, of features outside and inside.

    Both are estimated by median and absolute deviation, so that few wrong members matter little; that of the outside
    is the null distribution as it is in these data, not the theoretical one. It falls with z.
    """
    center, spread = _robust(z[~member])
    spread = max(spread, MIN_NULL_SD)
    center_in, spread_in = _robust(z[member])
    spread_in = max(spread_in, spread)
    share = float(member.mean())
    log_odds = (
        np.log(share / (1 - share))
        + np.log(spread / spread_in)
        + ((z - center) / spread) ** 2 / 2
        - ((z - center_in) / spread_in) ** 2 / 2
    )
    rate = np.where(z > center, expit(-log_odds), 1.0)
    order = np.argsort(z, kind="stable")
    rate[order] = np.minimum.accumulate(rate[order])
    return rate


def _robust(values: Floats) -> tuple[float, float]:
    center = float(np.median(values))
    return center, float(np.median(np.abs(values - center))) / NORMAL_MAD


def seeds_of(rows: Floats, cluster: Bools, /) -> Bools:
    """Return the features of a cluster that are farthest out in its direction."""
    along = rows @ rows[cluster].mean(axis=0)
    inside = np.flatnonzero(cluster)
    seeds = np.zeros(len(cluster), dtype=bool)
    seeds[inside[np.argsort(-along[inside], kind="stable")[:MAX_SEEDS]]] = True
    return seeds


def distinct(groups: Sequence[Members], /) -> list[Members]:
    """Leave out groups that are nearly an earlier one."""
    kept: list[Members] = []
    for group in groups:
        if all(_overlap(group.member, other.member) < MAX_OVERLAP for other in kept):
            kept.append(group)
    return kept


def _overlap(first: Bools, second: Bools) -> float:
    return float((first & second).sum() / (first | second).sum())


def labels_of(groups: Sequence[Members], n_features: int, /) -> tuple[Ints, Floats]:
    """Assign every feature to the group with the largest probability, 0 for none; and return that probability."""
    labels, best = np.zeros(n_features, dtype=int), np.zeros(n_features)
    for number, group in enumerate(groups, start=1):
        better = group.member & (group.probability > best)
        labels[better] = number
        best = np.maximum(best, group.probability)
    return labels, best
