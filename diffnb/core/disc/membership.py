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
from ..arrays.gram_stats import GramStats, correlations, correlations_of_sums, gram_fits
from ..arrays.ops import moments_of_each
from ..runtime.seeds import generator
from ..typing import Bools, Floats, Ints, Matrix
from .feature_graph import as_points

#: features of a cluster, those farthest out, with which its meta-feature begins
MAX_SEEDS = 50
MIN_MEMBERS = 3
#: local false discovery rate up to which a feature is a member
MAX_LOCAL_FDR = 0.05
MAX_ROUNDS = 20
#: a group without members that stand out: how much more its sum varies in its condition than elsewhere
MIN_VARIANCE_RATIO = 2.0
#: two groups that share this part of their members (intersection over union) are one
MAX_OVERLAP = 0.5
#: leading factors of the other conditions that are taken out, at most
MAX_SHARED_FACTORS = 5
#: and features outside a group for each of them
MIN_FEATURES_PER_FACTOR = 20
#: products with all correlations in the search for factors, and factors that are searched beyond those taken
FACTOR_ITERATIONS, EXTRA_FACTORS = 5, 5
#: members found with factors taken out are another group if they share less than this with the smaller of both
MIN_KEPT_SHARE = 0.5
#: a smaller share of the variance of a feature is not left by factors, but by rounding
MIN_LEFT_VARIANCE = 1e-6
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
    #: features × factors, what factors explain, and per feature 1 / sd of what they leave; for partial correlations
    explained: Floats | None = None
    scale: Floats | None = None

    @property
    def n_free(self) -> int:
        """Observations that are left to estimate a correlation."""
        return self.n_obs - (0 if self.explained is None else self.explained.shape[1])

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
        """Correlation matrix times a vector, or vectors in rows."""
        if self.explained is None or self.scale is None:
            return np.asarray(sum(self._part_times(part, weights) for part in self.parts))
        scaled = weights * self.scale
        left = sum(self._part_times(part, scaled) for part in self.parts) - scaled @ self.explained @ self.explained.T
        return np.asarray(left * self.scale)

    def _part_times(self, part: Floats | Affine, weights: Floats) -> Floats:
        if isinstance(part, Affine):
            rows = part.rmatmul(part.matmul(np.atleast_2d(weights))) / self.n_obs
            return np.asarray(rows[0] if weights.ndim == 1 else rows)
        return np.asarray(weights @ part)

    def without(self, loadings: Floats, /) -> Correlations:
        """Partial correlations, given weighted sums of the features (features × factors)."""
        products = self.times(loadings.T).T
        values, vectors = np.linalg.eigh(loadings.T @ products)
        kept = values > MIN_LEFT_VARIANCE * max(values.max(initial=0.0), np.finfo(float).tiny)
        explained = products @ (vectors[:, kept] / np.sqrt(values[kept]))
        left = self.diagonal - (explained**2).sum(axis=1)
        scale = np.where(left > MIN_LEFT_VARIANCE, 1 / np.sqrt(np.maximum(left, MIN_LEFT_VARIANCE)), 0.0)
        return Correlations(self.parts, self.n_obs, np.sign(scale), explained, scale)

    def fisher_z(self, weights: Floats, /) -> Floats:
        """Fisher z, in standard errors, of every feature with the weighted sum of all others."""
        products = self.times(weights)
        own = weights * self.diagonal
        rest = weights @ products - 2 * weights * products + weights * own
        r = np.divide(products - own, np.sqrt(np.maximum(rest, 0.0)), out=np.zeros_like(products), where=rest > 0)
        bounded = np.clip(r, -MAX_CORRELATION, MAX_CORRELATION)
        return np.asarray(np.arctanh(bounded) * np.sqrt(max(self.n_free - 3, 1)))

    def cohesion(self, members: Bools, /) -> float:
        """Mean correlation between members."""
        size = int(members.sum())
        weights = members.astype(float)
        return float((weights @ self.times(weights) - self.diagonal[members].sum()) / max(size * (size - 1), 1))


def related(
    matrices: Sequence[Matrix], samples: Sequence[Ints] = (), /, *, stats: Sequence[GramStats] | None = None
) -> list[Correlations]:
    """Return the correlations of every condition, within samples where they are given; corrected ones of counts.

    `stats` are sums over each condition, where they are known already.
    """
    if stats is not None:
        return [Correlations.known(correlations_of_sums(own), own.n_obs) for own in stats]
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
    """Return the members of the group around some features; None where too few features stand out.

    Members are found first by correlations, then by those that factors of the other conditions leave.
    """
    first = _converged(seeds, own, others)
    start = seeds if first is None else first.member
    loadings = shared_factors(others, ~start)
    if loadings is None:
        return first
    second = _converged(start, own.without(loadings), [other.without(loadings) for other in others])
    return second if second is not None and _is_same_group(start, second.member) else first


def _is_same_group(first: Bools, second: Bools) -> bool:
    return bool((first & second).sum() >= MIN_KEPT_SHARE * min(first.sum(), second.sum()))


def shared_factors(others: Sequence[Correlations], outside: Bools, /) -> Floats | None:
    """Leading factors of the other conditions among some features, as weights; None for too few features.

    The features of the group do not enter, so that what connects them in another condition, too, is not taken out.
    """
    n_factors = min(MAX_SHARED_FACTORS, int(outside.sum()) // MIN_FEATURES_PER_FACTOR)
    if n_factors == 0:
        return None
    rows = generator(0, "projection").normal(size=(n_factors + EXTRA_FACTORS, len(outside)))
    for _ in range(FACTOR_ITERATIONS):
        basis = np.linalg.qr((rows * outside).T)[0].T
        rows = np.sum([other.times(basis) * other.n_obs for other in others], axis=0)
    inner = rows @ basis.T
    vectors = np.linalg.eigh((inner + inner.T) / 2)[1]
    return np.asarray(basis.T @ vectors[:, ::-1][:, :n_factors])


def _converged(seeds: Bools, own: Correlations, others: Sequence[Correlations]) -> Members | None:
    if seeds.all():  # nothing is left that members could stand out from
        return None
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


def stands_out(member: Bools, own: Correlations, others: Sequence[Correlations], /) -> bool:
    """Return whether the sum of these features varies much more in their condition than in every other."""
    pairs = float(member.sum()) - 1
    elsewhere = max(1 + pairs * other.cohesion(member) for other in others)
    return bool(1 + pairs * own.cohesion(member) >= MIN_VARIANCE_RATIO * elsewhere)


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
        better = group.member & ((group.probability > best) | (labels == 0))
        labels[better] = number
        best = np.maximum(best, group.probability)
    return labels, best
