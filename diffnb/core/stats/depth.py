"""Whether conditions were sequenced, or scanned, to different depths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ..typing import Floats, Ints

#: depths that differ on average by less than this factor change little in any column
MIN_DEPTH_RATIO = 1.05
#: level of the test that depths differ at all
ALPHA_DEPTH = 0.01


@dataclass(frozen=True, slots=True)
class DepthDifference:
    """Mean depth of every condition, and whether they differ."""

    means: Floats
    pval: float

    @property
    def ratio(self) -> float:
        """Deepest over shallowest condition; infinite where one has no counts at all."""
        return float(self.means.max() / self.means.min()) if self.means.min() > 0 else np.inf

    @property
    def matters(self) -> bool:
        """Whether the difference is more than chance, and large enough to look like a finding.

        A condition without any counts has no depth that others could be matched with.
        """
        return MIN_DEPTH_RATIO <= self.ratio < np.inf and self.pval < ALPHA_DEPTH


def compare_depths(totals: Sequence[Floats], /, *, samples: Sequence[Ints] = ()) -> DepthDifference:
    """Compare the total counts of conditions; with samples, by the median total of every sample."""
    means = np.array([np.mean(t) for t in totals])
    units = list(totals)
    if samples:
        units = [_median_by_sample(t, codes) for t, codes in zip(totals, samples, strict=True)]
    # ranks: totals have long tails, and one deep sample must not decide
    if min(len(u) for u in units) < 1 or np.ptp(np.concatenate(units)) == 0:
        return DepthDifference(means, 1.0)
    return DepthDifference(means, float(stats.kruskal(*units).pvalue))


def _median_by_sample(totals: Floats, codes: Ints) -> Floats:
    return np.array([np.median(totals[codes == code]) for code in np.unique(codes)])
