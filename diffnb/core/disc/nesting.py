"""Groups within a group: a tree of its features, cut where the parts are much more cohesive than the whole."""

from __future__ import annotations

import numpy as np

from ..arrays.gram_stats import correlations
from ..arrays.ops import take_columns
from ..typing import Bools, Floats, Ints, Matrix

#: features that a subgroup has at least
MIN_SUBGROUP_FEATURES = 5
#: a group is split where features of different parts correlate by less than this share of those within the parts
MAX_BETWEEN_SHARE = 0.5
#: larger groups are left as they are: their tree takes memory that grows with the square of their size
MAX_FEATURES = 3000
#: levels below the group itself
MAX_LEVELS = 3


def subgroups(x: Matrix, labels: Ints, /) -> list[tuple[int, ...]]:
    """Return for every feature its path of subgroups within its group; empty for the background."""
    found: list[tuple[int, ...]] = [()] * len(labels)
    for group in range(1, int(labels.max()) + 1):
        members = labels == group
        if 2 * MIN_SUBGROUP_FEATURES <= members.sum() <= MAX_FEATURES:
            (correlation,) = correlations([take_columns(x, members)])
            for place, path in zip(np.flatnonzero(members), nested(correlation), strict=True):
                found[place] = path
    return found


def nested(correlation: Floats, /) -> list[tuple[int, ...]]:
    """Return for every feature its path of subgroups, numbered from 1 by size; empty where the group is not split.

    The two branches at the top of an average-linkage tree of 1 − r are the candidates, again within each of them.
    """
    return _paths(correlation, np.arange(len(correlation)), MAX_LEVELS)


def _paths(correlation: Floats, features: Ints, levels: int) -> list[tuple[int, ...]]:
    second = _second_branch(correlation[np.ix_(features, features)]) if levels else None
    if second is None:
        return [()] * len(features)
    branches = sorted((np.flatnonzero(~second), np.flatnonzero(second)), key=len, reverse=True)
    found: list[tuple[int, ...]] = [()] * len(features)
    for number, branch in enumerate(branches, start=1):
        for place, path in zip(branch, _paths(correlation, features[branch], levels - 1), strict=True):
            found[place] = (number, *path)
    return found


def _second_branch(correlation: Floats) -> Bools | None:
    """Return which features are in the second branch of the tree, or None where it should not be cut."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    if len(correlation) < 2 * MIN_SUBGROUP_FEATURES:
        return None
    distance = 1 - (correlation + correlation.T) / 2
    np.fill_diagonal(distance, 0.0)
    # equal features correlate by 1 up to rounding
    distance = np.maximum(distance, 0.0)
    second = fcluster(linkage(squareform(distance, checks=False), "average"), 2, "maxclust") == 2
    if min(second.sum(), (~second).sum()) < MIN_SUBGROUP_FEATURES:
        return None
    within = min(_mean_off_diagonal(correlation[np.ix_(part, part)]) for part in (second, ~second))
    between = float(correlation[np.ix_(second, ~second)].mean())
    return second if between < MAX_BETWEEN_SHARE * within else None


def _mean_off_diagonal(correlation: Floats) -> float:
    size = len(correlation)
    return float((correlation.sum() - np.trace(correlation)) / (size * (size - 1)))
