"""Pairs of features whose correlation differs between two conditions, block by block; only the pairs found are kept.

With observations as units, Fisher z of both conditions is compared with its sampling variance. That of normal data
is the smaller one, so that it tells which pairs can be significant; of these, the variance that holds for any
distribution is computed (`pair_moments`). With samples as units, z is computed in every sample and the means of the
conditions are compared by a t test with moderated variances; samples with both conditions are compared with themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from ..arrays.ops import take_columns
from ..runtime.threads import thread_limits
from ..typing import Floats, Ints, Matrix
from .by_sample import Design
from .columnwise import with_fast_columns
from .connectivity import MIN_OBS_FOR_CONNECTIVITY, varying
from .correlation_blocks import RowGroups
from .pair_moments import variances_of_fisher_z
from .pair_tests import ObservationTest, Pairs, PairTest, SampleTest, adjusted_among, leading, scan

#: level of the intervals
CONFIDENCE = 0.95
CLASSES = ("gained", "lost", "reversed", "unchanged")


@dataclass(frozen=True, slots=True)
class EdgeOptions:
    """Which pairs are kept."""

    max_pval_adj: float = 0.05
    #: smallest absolute difference of correlations
    min_difference: float = 0.0
    max_edges: int = 10_000


@dataclass(frozen=True, slots=True)
class Edges:
    """Pairs of features, the most significant first; numbers of conditions are conditions × pairs, the group first."""

    first: Ints
    second: Ints
    correlation: Floats
    low: Floats
    high: Floats
    difference_low: Floats
    difference_high: Floats
    pval: Floats
    pval_adj: Floats
    #: pairs that were tested
    n_tested: int
    #: pairs that fulfil the conditions, kept or not
    n_found: int

    @property
    def difference(self) -> Floats:
        """Correlation in the group minus that in the reference."""
        return np.asarray(self.correlation[0] - self.correlation[1])

    def classes(self, alpha: float, /) -> list[str]:
        """Say of every edge what happened to it on the way from the reference to the group.

        An edge is reversed where both intervals exclude 0 on different sides, gained where it is stronger in the
        group, and lost where it is weaker; unchanged where the adjusted p-value is not below `alpha`.
        """
        present = (self.low > 0) | (self.high < 0)
        is_reversed = present.all(axis=0) & (np.sign(self.correlation).sum(axis=0) == 0)
        is_gained = np.abs(self.correlation[0]) > np.abs(self.correlation[1])
        codes = np.where(is_reversed, 2, np.where(is_gained, 0, 1))
        return [CLASSES[code] for code in np.where(self.pval_adj < alpha, codes, 3)]


def fit_edges(
    group: Matrix,
    reference: Matrix,
    options: EdgeOptions,
    /,
    *,
    samples: Design | None = None,
    n_covariates: int = 0,
    n_jobs: int | None = None,
) -> Edges:
    """Test all pairs of features, and keep those that differ.

    `n_covariates` columns have been taken out of each condition. Features that are constant in a condition have no
    correlation there and are left out.
    """
    varies = varying(group, reference)
    matrices = [take_columns(with_fast_columns(x), varies) for x in (group, reference)]
    test = _test(matrices, samples, n_covariates)
    n_features = int(varies.sum())
    n_tested = n_features * (n_features - 1) // 2
    with thread_limits(n_features, n_jobs):
        found = scan(test, options.max_pval_adj, n_jobs)
        if isinstance(test, ObservationTest):
            found = _with_own_variances(found, test, matrices, options.max_pval_adj, n_tested, n_covariates)
    return _edges(found, np.flatnonzero(varies), options, n_tested)


def _test(matrices: Sequence[Matrix], samples: Design | None, n_covariates: int) -> PairTest:
    if samples is not None:
        rows = (samples.group, samples.reference)
        return SampleTest.of([RowGroups(x, own) for x, own in zip(matrices, rows, strict=True)], samples)
    few = min(x.shape[0] for x in matrices) - n_covariates
    if few < MIN_OBS_FOR_CONNECTIVITY:
        raise ValueError(
            f"a condition has {few} observations beyond its covariates; correlations need {MIN_OBS_FOR_CONNECTIVITY}."
        )
    return ObservationTest([RowGroups(x, [np.arange(x.shape[0])], lost=n_covariates) for x in matrices])


def _with_own_variances(
    found: Pairs, test: ObservationTest, matrices: Sequence[Matrix], level: float, n_tested: int, lost: int
) -> Pairs:
    """Test pairs that are significant with the variance of normal data again, with their own."""
    candidates = found.take(adjusted_among(found.pval, found.pval, n_tested) <= level)
    candidates = candidates.take(np.argsort(candidates.first, kind="stable"))
    error = np.sqrt(variances_of_fisher_z(matrices, candidates.first, candidates.second, lost=lost))
    return replace(candidates, error=error, pval=test.pvalues(candidates.z, error))


def _edges(found: Pairs, features: Ints, options: EdgeOptions, n_tested: int) -> Edges:
    pval_adj = adjusted_among(found.pval, found.pval, n_tested)
    r = np.tanh(found.z)
    wanted = np.flatnonzero((pval_adj <= options.max_pval_adj) & (np.abs(r[0] - r[1]) >= options.min_difference))
    kept = wanted[leading(found.take(wanted), options.max_edges)]
    pairs, r = found.take(kept), r[:, kept]
    width = special.stdtrit(np.array(pairs.df)[:, None], (1 + CONFIDENCE) / 2) * pairs.error
    low, high = np.tanh(pairs.z - width), np.tanh(pairs.z + width)
    difference = r[0] - r[1]
    return Edges(
        first=features[pairs.first],
        second=features[pairs.second],
        correlation=r,
        low=low,
        high=high,
        # the interval of a difference of independent correlations (Zou, Psychol. Methods 2007)
        difference_low=difference - np.hypot(r[0] - low[0], high[1] - r[1]),
        difference_high=difference + np.hypot(high[0] - r[0], r[1] - low[1]),
        pval=pairs.pval,
        pval_adj=pval_adj[kept],
        n_tested=n_tested,
        n_found=wanted.size,
    )
