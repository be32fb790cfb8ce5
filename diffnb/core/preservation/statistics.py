"""Statistics of the preservation of a group, from correlations in the reference and in the query.

Langfelder et al., PLoS Comput. Biol. 2011, and Ritchie et al., Cell Systems 2016, whose network is |r| here: density
(are the features as correlated as they were?), connectivity (in the same pattern?) and separability (more with each
other than with the rest?). The sign of a correlation in the reference is the one that is expected in the query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from ..typing import Floats, Ints

DENSITY = ("avg_weight", "coherence", "avg_cor", "avg_contribution")
CONNECTIVITY = ("cor_cor", "cor_degree", "cor_contribution")
SEPARABILITY = ("separability",)
STATISTICS = (*DENSITY, *CONNECTIVITY, *SEPARABILITY)
#: mean z scores of several statistics
COMPOSITES: Mapping[str, tuple[str, ...]] = {
    "density": DENSITY,
    "connectivity": CONNECTIVITY,
    "separability": SEPARABILITY,
}
#: variation of what is correlated below which it is rounding, and the correlation 0
MIN_SPREAD = 1e-9


@dataclass(frozen=True, slots=True)
class Module:
    """A group in the reference: what its statistics in any query are compared with."""

    #: correlations above the diagonal
    correlations: Floats
    degrees: Floats
    contributions: Floats

    @classmethod
    def of(cls, correlations: Floats, /) -> Module:
        """Describe a group by the correlations of its features."""
        above = np.triu_indices(len(correlations), 1)
        _, contributions = _summary(correlations)
        return cls(correlations[above], _degrees(correlations), contributions)


@dataclass(frozen=True, slots=True)
class Network:
    """Correlations between all features of the query, and the sum of |r| of each with all others."""

    correlations: Floats
    totals: Floats

    @classmethod
    def of(cls, correlations: Floats, /) -> Network:
        """Sum the strengths of every feature once."""
        return cls(correlations, _degrees(correlations))


def preservation_statistics(module: Module, query: Network, places: Ints, /) -> Floats:
    """Compute the statistics, in the order of `STATISTICS`, of the features of a group at some places of the query."""
    own = query.correlations[np.ix_(places, places)]
    above = np.triu_indices(len(places), 1)
    pairs, degrees = own[above], _degrees(own)
    share, contributions = _summary(own)
    # the summary of the query has no sign of its own: that of the reference
    if contributions @ module.contributions < 0:
        contributions = -contributions
    weight = float(np.abs(pairs).mean())
    n_outside = len(query.totals) - len(places)
    outside = (query.totals[places].sum() - degrees.sum()) / (len(places) * n_outside) if n_outside else 0.0
    return np.array(
        [
            weight,
            share,
            float(np.mean(np.sign(module.correlations) * pairs)),
            float(np.mean(np.sign(module.contributions) * contributions)),
            _correlation(module.correlations, pairs),
            _correlation(module.degrees, degrees),
            _correlation(module.contributions, contributions),
            weight - outside,
        ]
    )


def _degrees(correlations: Floats) -> Floats:
    """Sum |r| of every feature with the others."""
    return np.asarray(np.abs(correlations).sum(axis=0) - np.abs(np.diag(correlations)))


def _summary(correlations: Floats) -> tuple[float, Floats]:
    """Share of the variance that the first principal component explains, and its correlation with every feature."""
    last = len(correlations) - 1
    values, vectors = eigh(correlations, subset_by_index=(last, last))
    contributions = np.sqrt(max(float(values[0]), 0.0)) * vectors[:, 0]
    # the summary points where most of its features do
    sign = -1.0 if contributions.sum() < 0 else 1.0
    return float(values[0]) / len(correlations), sign * contributions


def _correlation(x: Floats, y: Floats) -> float:
    x, y = x - x.mean(), y - y.mean()
    length = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / length if length > MIN_SPREAD * len(x) else 0.0
