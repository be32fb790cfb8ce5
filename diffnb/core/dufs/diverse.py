"""Diverse features: smooth on the graph of observations, and not redundant with one another.

Features are ranked greedily. With S the features ranked so far, the next one has the largest value of

    s_j · [(1 − max_i r²_ij) · (1 − mean_i r²_ij)^4]^redundancy,   i in S,

so that it is neither a copy of one feature before it nor in line with what they share. The smoothness s_j is the rank
of the Laplacian score, averaged over several numbers of neighbours, from 0 (roughest) to 1 (smoothest).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from ..arrays.affine import inverse_sd
from ..arrays.ops import cross, mean_and_variance
from ..runtime import budget
from ..runtime.threads import thread_limits
from ..typing import Bools, Floats, Ints, Matrix
from .laplacian_score import laplacian_scores_of_each, nested_neighbor_graphs, with_unit_variance

#: numbers of neighbours over which the smoothness is averaged
NEIGHBORHOODS = (2, 3, 5)
#: features ranked greedily even if fewer are selected, so that a list can be extended without another call
MIN_RANKED_FEATURES = 300
#: features whose correlations with all others are computed in one pass over the data
MAX_CANDIDATE_FEATURES = 512
#: exponent of the mean share of variance that is not shared with the features ranked before
MEAN_EXPONENT = 4
#: decimals to which scores and values are compared: a difference in rounding must not change the order
COMPARED_DECIMALS = 9


@dataclass(frozen=True, slots=True)
class DiverseOptions:
    """What a user asks for."""

    n_features: int
    neighborhoods: tuple[int, ...] = NEIGHBORHOODS
    #: exponent of both discounts; 0 ranks by smoothness alone
    redundancy: float = 1.0


@dataclass(frozen=True, slots=True)
class DiverseFit:
    """One value per feature."""

    #: from 0 (roughest) to 1 (smoothest), evenly spaced
    smoothness: Floats
    #: share of variance that no single feature ranked before explains
    unexplained: Floats
    #: from 1
    rank: Ints
    selected: Bools


def fit_diverse_features(
    x: Matrix, options: DiverseOptions, /, *, points: Matrix | None = None, n_jobs: int | None = None
) -> DiverseFit:
    """Rank the features of `x` by smoothness on the graph of `points`, by default `x` itself, and by diversity."""
    with thread_limits(max(x.shape), n_jobs):
        scores = _scores(x, x if points is None else points, options.neighborhoods)
        smoothness = _relative(scores)
        ranking = _Ranking(_Correlations.of(x), smoothness, scores.mean(axis=0), options.redundancy)
        ranking.pick(min(max(options.n_features, MIN_RANKED_FEATURES), x.shape[1]))
    rank = ranking.ranks()
    return DiverseFit(smoothness, ranking.unexplained, rank, rank <= options.n_features)


def relative_smoothness(x: Matrix, points: Matrix, neighborhoods: tuple[int, ...], /) -> Floats:
    """Smoothness of every feature relative to the others, averaged over numbers of neighbours."""
    return _relative(_scores(x, points, neighborhoods))


def _scores(x: Matrix, points: Matrix, neighborhoods: tuple[int, ...]) -> Floats:
    """Laplacian scores, numbers of neighbours × features."""
    graphs = nested_neighbor_graphs(with_unit_variance(points), neighborhoods)
    return np.asarray(laplacian_scores_of_each(x, graphs).round(COMPARED_DECIMALS))


def _relative(scores: Floats) -> Floats:
    mean_rank = rankdata(scores, axis=1).mean(axis=0).round(COMPARED_DECIMALS)
    return np.asarray(1 - (rankdata(mean_rank) - 1) / max(1, scores.shape[1] - 1))


@dataclass(frozen=True, slots=True)
class _Correlations:
    """Squared correlations of some features with all features; sparse data stay sparse, chunked data chunked."""

    x: Matrix
    mean: Floats
    scale: Floats

    @classmethod
    def of(cls, x: Matrix) -> _Correlations:
        mean, variance = mean_and_variance(x)
        return cls(x, mean, inverse_sd(mean, variance))

    def squared(self, columns: Ints) -> Floats:
        products = cross(self.x[:, columns], self.x) / self.x.shape[0]
        products -= np.outer(self.mean[columns], self.mean)
        products *= self.scale[columns, None]
        products *= self.scale
        return np.asarray(np.clip(np.square(products, out=products), 0.0, 1.0, out=products))


class _Ranking:
    """Greedy ranking. Correlations are computed for the leading candidates together, in one pass over the data.

    The candidates computed together remain the leading ones for a while; when the next feature is not among them, those
    that lead by then are computed. Of features with equal values the next is the one that is least explained, then the
    one with the lowest Laplacian score, so that the order of the features decides between copies only.
    """

    def __init__(self, correlations: _Correlations, smoothness: Floats, scores: Floats, redundancy: float) -> None:
        self.correlations, self.smoothness, self.redundancy = correlations, smoothness, redundancy
        self._scores = scores
        self.order: list[int] = []
        self.unexplained = np.ones(len(smoothness))
        self._explained = np.zeros(len(smoothness))
        self._left = np.ones(len(smoothness), dtype=bool)
        self._computed: dict[int, Floats] = {}

    def pick(self, n_features: int) -> None:
        """Rank the next features."""
        for _ in range(n_features):
            values = self._values()
            best = int(self._descending(values, np.flatnonzero(values == values.max()))[0])
            if best not in self._computed:
                self._compute_leading()
            self.order.append(best)
            self._left[best] = False
            others = self._left
            explained = self._computed[best]
            self.unexplained[others] = np.minimum(self.unexplained[others], 1 - explained[others])
            self._explained += explained

    def ranks(self) -> Ints:
        """Rank of every feature: in the order in which they were picked, then by what each would add now."""
        order = np.concatenate([self.order, self._descending(self._values())[: self._left.sum()]])
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order.astype(np.int64)] = np.arange(1, len(order) + 1)
        return ranks

    def _values(self) -> Floats:
        not_shared = 1 - self._explained / max(1, len(self.order))
        discount = self.unexplained * not_shared**MEAN_EXPONENT
        values = (self.smoothness * discount**self.redundancy).round(COMPARED_DECIMALS)
        return np.where(self._left, values, -np.inf)

    def _descending(self, values: Floats, among: Ints | None = None) -> Ints:
        found = np.arange(len(values)) if among is None else among
        unexplained = self.unexplained[found].round(COMPARED_DECIMALS)
        return np.asarray(found[np.lexsort((self._scores[found], -unexplained, -values[found]))])

    def _compute_leading(self) -> None:
        count = min(MAX_CANDIDATE_FEATURES, budget.count(8 * len(self.smoothness), "kept"), int(self._left.sum()))
        leading = np.sort(self._descending(self._values())[:count])
        self._computed = dict(zip(leading.tolist(), self.correlations.squared(leading), strict=True))
