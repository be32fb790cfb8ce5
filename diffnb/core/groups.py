"""Groups of features from differential vectors: how many vectors lead, how many groups there are, which is background."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from ._typing import Floats, Ints
from .disc import scores
from .threads import fitting_threads

BACKGROUND = 0
#: rows looked at for the silhouette; more change its value by less than the gaps between candidates
SILHOUETTE_ROWS = 2000


@dataclass(frozen=True, slots=True)
class FeatureGroups:
    """Group of every feature; 0 is the background, the others are numbered by falling score."""

    labels: Ints
    scores: Floats
    n_leading: int
    n_clusters: int


def leading_count(sigma: Floats, /) -> int:
    """Count the vectors before the last clear drop in σ.

    A drop is clear when its logarithm is at least 0.4 of the largest one and, where any is, four times the
    median one: the largest alone would stop at the first vector whenever one group is much stronger.
    """
    if len(sigma) < 3:
        return 1
    floor = np.finfo(float).tiny
    drops = np.log(np.maximum(sigma[:-1], floor) / np.maximum(sigma[1:], floor))
    clear = max(0.4 * drops.max(), min(drops.max(), 4.0 * float(np.median(drops))))
    return int(np.flatnonzero(drops >= clear)[-1]) + 1


def feature_groups(
    vectors: Floats, sigma: Floats, /, *, n_clusters: int | None = None, n_leading: int | None = None, seed: int = 0
) -> FeatureGroups:
    """k-means on the rows of the leading vectors, weighted by σ (step 7 of Algorithm 1).

    Every feature counts by the length of its row, so that a small group far out is not outvoted by the many
    features near the origin. Without `n_clusters`, the number between r + 1 and 2r + 1 (r leading vectors,
    each with one or two ends) with the best silhouette is taken.
    """
    r = leading_count(sigma) if n_leading is None else n_leading
    rows = vectors[:, :r] * sigma[:r]
    length = scores(vectors[:, :r], sigma[:r])
    candidates = range(r + 1, 2 * r + 2) if n_clusters is None else (n_clusters,)
    distinct = len(np.unique(rows, axis=0))
    tried = [_kmeans(rows, length, min(k, distinct), seed) for k in candidates]
    if len(tried) > 1:
        fits = [_silhouette(rows, labels, seed) for labels in tried]
        labels = tried[int(np.argmax(fits))]
    else:
        labels = tried[0]
    ordered = _by_score(labels, length)
    return FeatureGroups(ordered, length, r, int(ordered.max()) + 1)


def _kmeans(rows: Floats, weights: Floats, n_clusters: int, seed: int) -> Ints:
    from sklearn.cluster import KMeans

    if n_clusters < 2:
        return np.zeros(len(rows), dtype=int)
    weights = np.maximum(weights, 1e-12 * max(float(weights.max()), 1e-300))
    # a handful of columns: threads would only wait for each other
    with fitting_threads(0):
        fitted = KMeans(n_clusters, n_init=10, random_state=seed).fit(rows, sample_weight=weights)
    return np.asarray(fitted.labels_, dtype=int)


def _silhouette(rows: Floats, labels: Ints, seed: int) -> float:
    from sklearn.metrics import silhouette_score

    n_labels = len(np.unique(labels))
    if not 2 <= n_labels < len(rows):
        return -1.0
    chosen = np.arange(len(rows))
    if len(rows) > SILHOUETTE_ROWS:
        chosen = _some_of_each(labels, SILHOUETTE_ROWS, seed)
    return float(silhouette_score(rows[chosen], labels[chosen]))


def _some_of_each(labels: Ints, size: int, seed: int) -> Ints:
    """Draw rows so that every group keeps at least some: a plain draw could lose a small one."""
    rng = np.random.default_rng(seed)
    groups = [np.flatnonzero(labels == g) for g in np.unique(labels)]
    share = size // len(groups)
    return np.sort(np.concatenate([g if g.size <= share else rng.choice(g, share, replace=False) for g in groups]))


def _by_score(labels: Ints, length: Floats) -> Ints:
    """Number the groups: the one nearest the origin is 0, then from the highest mean score down."""
    groups = np.unique(labels)
    means = np.array([length[labels == g].mean() for g in groups])
    rising = np.argsort(means, kind="stable")
    order = [rising[0], *rising[:0:-1]]
    renamed = np.empty(int(groups.max()) + 1, dtype=int)
    renamed[groups[order]] = np.arange(len(groups))
    return renamed[labels]


def matched(labels: Ints, reference: Ints, /) -> Ints:
    """Rename groups so that they overlap those of `reference` most; groups without a partner become −1."""
    counts = np.zeros((labels.max() + 1, reference.max() + 1), dtype=int)
    np.add.at(counts, (labels, reference), 1)
    mine, theirs = linear_sum_assignment(-counts)
    renamed = np.full(labels.max() + 1, -1)
    renamed[mine] = theirs
    return renamed[labels]


def same_group(vectors: Floats, sigma: Floats, reference: FeatureGroups, seed: int, /) -> Floats:
    """Group features once more and say, as 0 or 1, which fall into their group of `reference` again."""
    again = feature_groups(
        vectors, sigma, n_clusters=reference.n_clusters, n_leading=min(reference.n_leading, len(sigma)), seed=seed
    )
    return (matched(again.labels, reference.labels) == reference.labels).astype(float)
