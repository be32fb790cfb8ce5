"""Everything by which a feature may differ between two conditions, on one card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..stats.pvalues import adjusted
from ..typing import Floats, Ints, Matrix
from .by_sample import Design, connectivity_by_sample, design, two_sample_by_sample
from .connectivity import connectivity
from .marginal import Tested, by_columns, two_sample

KINDS = ("mean", "spread", "distribution", "connectivity")
NONE = "none"
#: adjusted p-value below which a kind of difference counts
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Scorecard:
    """One row per feature, one column per kind of difference, in the order of `KINDS`."""

    stat: Floats
    pval: Floats
    pval_adj: Floats
    #: name of the kind that dominates, `NONE` where nothing is significant
    kind: NDArray[np.str_]


def scorecard(
    group: Matrix,
    reference: Matrix,
    /,
    *,
    samples: tuple[Ints, Ints] | Design | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Scorecard:
    """Compare all features of two conditions; with the samples of their rows, samples are the units."""
    if samples is None:
        group, reference = by_columns(group), by_columns(reference)  # once for all that follows
        simple = two_sample(group, reference, n_jobs=n_jobs)
        related = connectivity(group, reference, seed=seed, n_jobs=n_jobs)
    else:
        units = samples if isinstance(samples, Design) else design(*samples)
        simple = two_sample_by_sample(group, reference, units, n_jobs=n_jobs)
        related = connectivity_by_sample(group, reference, units, n_jobs=n_jobs)
    return _card([simple.mean, simple.spread, simple.distribution, related])


def dominant_kind(stat: Floats, pval_adj: Floats, /) -> NDArray[np.str_]:
    """Name the kind of difference that dominates in every row.

    It is the kind with the smallest adjusted p-value among those below `ALPHA`, and of equal ones that with
    the larger statistic. A shift in mean or spread moves the whole distribution too: `"distribution"` is
    named only where neither of them is significant.
    """
    significant = np.nan_to_num(pval_adj, nan=1.0) < ALPHA
    mean, spread, distribution, _ = range(len(KINDS))
    significant[:, distribution] &= ~(significant[:, mean] | significant[:, spread])
    # the distance of distributions is on another scale than the three ratios, and so never breaks a tie
    size = np.abs(np.nan_to_num(stat))
    size[:, distribution] = 0.0
    ranked = np.lexsort((-size, np.where(significant, pval_adj, np.inf)), axis=1)[:, 0]
    return np.where(significant.any(axis=1), np.asarray(KINDS)[ranked], NONE)


def _card(tested: Sequence[Tested]) -> Scorecard:
    stat = np.stack([t.stat for t in tested], axis=1)
    pval = np.stack([t.pval for t in tested], axis=1)
    pval_adj = np.stack([adjusted(t.pval) for t in tested], axis=1)
    return Scorecard(stat, pval, pval_adj, dominant_kind(stat, pval_adj))
