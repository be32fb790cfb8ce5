"""Shift in connectivity with blocks of a series as units: the null distribution comes from permuted labels of blocks.

Correlations within a block follow what the whole recording does there, such as movement or arousal: a few blocks differ
from all others, in most correlations at once. An F ratio between blocks has far heavier tails then than its formula
says, and weighs all partners of a feature alike. Here the difference of a pair of features is taken over its standard
deviation under permuted labels, and only what exceeds chance is summed, as in `connectivity`.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from ..arrays.ops import take_columns
from ..stats.block_layout import BlockLayout
from ..typing import Floats, Ints, Matrix
from .by_sample import Design
from .columnwise import with_fast_columns
from .connectivity import BROAD_LEVEL_SHARE, combined_levels, excess_of_features, varying
from .correlation_blocks import RowGroups, sum_over_correlation_blocks
from .marginal import FeatureTest

#: variance of a pair of features, in units of Fisher z, that is rounding
MIN_VARIANCE = 1e-20


def connectivity_test_by_block(
    group: Matrix,
    reference: Matrix,
    samples: Design,
    layout: BlockLayout,
    /,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
) -> FeatureTest:
    """Test for every feature whether its correlations with all others differ between the blocks of two conditions.

    With d_jk the difference of the mean Fisher z of features j and k, and v_jk its variance under permuted labels, the
    excess of j over a level c is Σ_k max(d²_jk / v_jk − c, 0). Levels and their combination are those of
    `connectivity.connectivity_test`. P-values are ranks among the statistics of all features and permutations, so that
    they hold on average over features; statistics are in standard deviations of these.
    """
    varies = varying(group, reference)
    stat, pval = np.full(varies.size, np.nan), np.full(varies.size, np.nan)
    if varies.sum() > 1:
        conditions = [
            RowGroups(take_columns(with_fast_columns(x), varies), rows)
            for x, rows in ((group, samples.group), (reference, samples.reference))
        ]
        excess = _excess(conditions, layout, seed, n_jobs)
        mean, deviation = (f(excess[:, 1:], axis=(1, 2))[:, None, None] for f in (np.mean, np.std))
        values = combined_levels(*((excess - mean) / np.where(deviation > 0, deviation, 1.0)))
        observed, null = values[0], np.sort(values[1:], axis=None)
        stat[varies] = (observed - null.mean()) / (null.std() or 1.0)
        reached = null.size - np.searchsorted(null, observed, side="left")
        pval[varies] = (1 + reached) / (1 + null.size)
    return FeatureTest(stat, pval)


def _excess(conditions: list[RowGroups], layout: BlockLayout, seed: int, n_jobs: int | None) -> Floats:
    """Sum the excess of every feature: levels × (observed, then permutations) × features."""
    n_features = conditions[0].matrix.shape[1]
    contrasts = _contrasts(layout.assignments(seed))
    scales = np.square(contrasts).sum(axis=1)
    strata = layout.strata
    within = np.equal.outer(strata, strata) / np.bincount(strata)[strata]
    df = len(strata) - len(np.unique(strata))
    # a squared difference over its variance under permutation is df times a beta variable
    shares = np.array([1 / n_features, max(BROAD_LEVEL_SHARE, 1 / n_features)])
    levels = df * special.betaincinv(0.5, (df - 1) / 2, 1 - shares)

    def add_excess(z: Floats, diagonal: bool) -> tuple[Floats, Floats]:
        flat = z.reshape(len(z), -1)
        flat = flat - within @ flat
        squares = np.square(flat).sum(axis=0).reshape(z.shape[1:]) / df
        threshold = np.where(squares > MIN_VARIANCE, levels[-1] * squares, np.inf)
        if diagonal:
            threshold[np.tril_indices(len(threshold))] = np.inf
        differences = (contrasts @ flat).reshape(-1, *z.shape[1:])
        found = [excess_of_features(d, c * threshold, levels) for d, c in zip(differences, scales, strict=True)]
        to_rows, to_columns = (np.stack(side, axis=1) for side in zip(*found, strict=True))
        return to_rows, to_columns

    return sum_over_correlation_blocks(conditions, add_excess, n_jobs=n_jobs)


def _contrasts(labels: Ints) -> Floats:
    """Weights of the blocks in the difference of both means, a row for every assignment of labels."""
    count = labels.sum(axis=1, keepdims=True)
    return np.asarray(labels / count - (1 - labels) / (labels.shape[1] - count))
