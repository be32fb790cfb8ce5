"""Shift in connectivity by correlations that are corrected for counting noise and depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays.count_moments import Counts, count_moments, fit_damping
from ..typing import Bools, Floats, Ints
from .by_sample import Design, compare_vectors, inner_products
from .connectivity import ConnectivityTest, compare_over_folds, n_folds_for
from .count_blocks import CountGroups, sum_over_count_blocks
from .folds import content_order
from .marginal import FeatureTest


@dataclass(frozen=True, slots=True)
class _Condition:
    """Counts of a condition, with weights and variances that all its folds share."""

    counts: Counts
    damping: Floats
    variance: Floats

    @property
    def shape(self) -> tuple[int, int]:
        return self.counts.shape

    def in_folds(self, rows: Sequence[Ints]) -> CountGroups:
        return CountGroups.of(self.counts, rows, self.damping, self.variance)


def connectivity_test_of_counts(group: Counts, reference: Counts, /, *, n_jobs: int | None = None) -> ConnectivityTest:
    """Test for every feature whether its corrected correlations with all others differ between two conditions.

    The test is that of `connectivity_test`, with corrected correlations over their standard error in place of Fisher z.
    NaN for features whose counts vary no more than their noise in a condition.
    """
    both = (group, reference)
    damping = fit_damping(both)
    variances = [moments.variance for moments in count_moments(both, damping)]
    varies = np.all([variance > 0 for variance in variances], axis=0)
    kept = np.flatnonzero(varies)
    n_folds = n_folds_for(min(x.shape[0] for x in both), kept.size)
    if not n_folds:
        return ConnectivityTest(*_nowhere(varies), n_folds)
    conditions = [
        _Condition(x.columns(kept), damping[kept], variance[kept]) for x, variance in zip(both, variances, strict=True)
    ]
    orders = [content_order(condition.counts.matrix, condition.counts.size) for condition in conditions]
    tested = FeatureTest(*compare_over_folds(conditions, orders, _Condition.in_folds, n_folds, n_jobs))
    return ConnectivityTest(*_expanded(tested, varies), n_folds)


def connectivity_test_of_counts_by_sample(
    group: Counts, reference: Counts, samples: Design, /, *, n_jobs: int | None = None
) -> FeatureTest:
    """Compare the corrected correlations of every feature with all others between the samples of two conditions."""
    damping = fit_damping((group, reference))
    conditions = [
        CountGroups.of(group, samples.group, damping),
        CountGroups.of(reference, samples.reference, damping),
    ]
    varies = np.all([condition.variance > 0 for condition in conditions], axis=0)
    if varies.sum() < 2:
        return FeatureTest(*_nowhere(varies))
    kept = [condition.take(np.flatnonzero(varies)) for condition in conditions]
    products = sum_over_count_blocks(kept, inner_products, n_jobs=n_jobs)
    return FeatureTest(*_expanded(compare_vectors(products.transpose(2, 0, 1), samples), varies))


def _nowhere(varies: Bools) -> tuple[Floats, Floats]:
    return np.full(varies.size, np.nan), np.full(varies.size, np.nan)


def _expanded(tested: FeatureTest, varies: Bools) -> tuple[Floats, Floats]:
    stat, pval = _nowhere(varies)
    stat[varies], pval[varies] = tested.stat, tested.pval
    return stat, pval
