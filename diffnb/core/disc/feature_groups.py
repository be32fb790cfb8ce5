"""Groups of features from differential vectors: how many vectors lead, how many groups, which is background."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..runtime.seeds import generator
from ..runtime.threads import one_blas_thread
from ..typing import Bools, Floats, Ints
from .algorithm import scores

BACKGROUND = 0
#: rows looked at for the silhouette; more change its value by less than the gaps between candidates
SILHOUETTE_ROWS = 2000
#: relative differences in σ below this are rounding
TIE_TOLERANCE = 1e-9
#: most rounds that centres take to settle
SETTLING_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class FeatureGroups:
    """Group of every feature; 0 is the background, the others are numbered by falling score."""

    labels: Ints
    scores: Floats
    n_leading: int
    n_clusters: int


def leading_count(sigma: Floats, /, *, null: float = 0.0) -> int:
    """Count the vectors that lead: before the last clear drop in σ, among those above `null`.

    A drop is clear when its logarithm is at least 0.4 of the largest one and, where any is, four times the
    usual one below `null`: the largest alone would stop at the first vector whenever one group is much
    stronger. `null` is the σ that chance gives: structure shared by all conditions leaves that much behind.
    Where no σ is above it, no vector leads.
    """
    # a permutation may be the labels as they are: what is equal but for rounding is not above
    above = int((sigma > null * (1 + TIE_TOLERANCE)).sum())
    if len(sigma) < 3 or above <= 1:
        return min(1, above)
    floor = np.finfo(float).tiny
    drops = np.log(np.maximum(sigma[:-1], floor) / np.maximum(sigma[1:], floor))
    candidates = drops[:above]
    below = drops[above:] if above < len(drops) else drops
    clear = max(0.4 * candidates.max(), min(candidates.max(), 4.0 * float(np.median(below))))
    return int(np.flatnonzero(candidates >= clear)[-1]) + 1


def feature_groups(
    vectors: Floats,
    sigma: Floats,
    /,
    *,
    n_clusters: int | None = None,
    n_leading: int | None = None,
    seed: int = 0,
) -> FeatureGroups:
    """k-means on the rows of the leading vectors, weighted by σ (step 7 of Algorithm 1).

    Features are first parted by the length of their rows into those near the origin and those far out; only
    the latter are clustered, and then every feature goes to the nearest centre, the background's among them.
    Plain k-means on all rows would rather cut thousands of background features in two than keep a group of
    ten. Without `n_clusters`, the number up to 2r + 1 (r leading vectors, each with one or two ends) with the
    best silhouette is taken.
    """
    r = leading_count(sigma) if n_leading is None else n_leading
    if n_clusters is not None:
        r = max(1, r)
    length = scores(vectors[:, : max(1, r)], sigma[: max(1, r)])
    if r == 0:
        return FeatureGroups(np.zeros(len(length), dtype=int), length, 0, 1)
    rows = vectors[:, :r] * sigma[:r]
    far = length > _two_means_cut(length)
    candidates = range(1, 2 * r + 1) if n_clusters is None else (n_clusters - 1,)
    tried = [_cluster(rows, far, k, seed) for k in candidates]
    fits = [_silhouette(rows, labels, seed) for labels in tried] if len(tried) > 1 else [0.0]
    ordered = _by_score(_settled(rows, tried[int(np.argmax(fits))]), length)
    return FeatureGroups(ordered, length, r, int(ordered.max()) + 1)


def _two_means_cut(values: Floats) -> float:
    """Return where the best split of the values into two groups lies: 2-means on a line, exactly."""
    ordered = np.sort(values)
    n = len(ordered)
    if n < 2:
        return -np.inf
    left = np.arange(1, n)
    sums = np.cumsum(ordered)
    # least spread within is most spread between
    between = (sums[:-1] - left / n * sums[-1]) ** 2 / (left * (n - left))
    return float(ordered[int(between.argmax())])


def _cluster(rows: Floats, far: Bools, n_groups: int, seed: int) -> Ints:
    """Cluster the far rows and give every row to the nearest centre; 0 is the background's."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    chosen = rows[far]
    n_groups = min(n_groups, len(np.unique(chosen, axis=0)))
    if n_groups == 0:
        return np.zeros(len(rows), dtype=int)
    # a handful of columns: threads would only wait for each other
    with one_blas_thread(), threadpool_limits(limits=1, user_api="openmp"):
        found = KMeans(n_groups, n_init=10, random_state=seed).fit(chosen).cluster_centers_
    return _nearest_centre(rows, np.vstack([rows[~far].mean(axis=0), found]))


def _settled(rows: Floats, labels: Ints) -> Ints:
    """Let centres settle in a few rounds of k-means: one between both sides of the origin moves to one of them."""
    n_groups = int(labels.max()) + 1
    for _ in range(SETTLING_ROUNDS):
        if len(np.unique(labels)) < n_groups:
            break
        centres = np.stack([rows[labels == g].mean(axis=0) for g in range(n_groups)])
        before, labels = labels, _nearest_centre(rows, centres)
        if (labels == before).all():
            break
    return labels


def _nearest_centre(rows: Floats, centres: Floats) -> Ints:
    return np.asarray(np.argmin([((rows - centre) ** 2).sum(axis=1) for centre in centres], axis=0))


def _silhouette(rows: Floats, labels: Ints, seed: int) -> float:
    from sklearn.metrics import silhouette_score

    n_labels = len(np.unique(labels))
    if not 2 <= n_labels < len(rows):
        return -1.0
    chosen: Ints = np.arange(len(rows))
    if len(rows) > SILHOUETTE_ROWS:
        chosen = _some_of_each(labels, SILHOUETTE_ROWS, seed)
    return float(silhouette_score(rows[chosen], labels[chosen]))


def _some_of_each(labels: Ints, size: int, seed: int) -> Ints:
    """Draw rows so that every group keeps at least some: a plain draw could lose a small one."""
    rng = generator(seed, "subsample")
    groups = [np.flatnonzero(labels == g) for g in np.unique(labels)]
    share = size // len(groups)
    return np.sort(np.concatenate([g if g.size <= share else rng.choice(g, share, replace=False) for g in groups]))


def _by_score(labels: Ints, length: Floats) -> Ints:
    """Give numbers to the groups: the background stays 0, the others go from the highest mean score down."""
    groups = np.unique(labels[labels != BACKGROUND])
    means = np.array([length[labels == g].mean() for g in groups])
    renamed = np.zeros(int(labels.max()) + 1, dtype=int)
    renamed[groups[np.argsort(-means, kind="stable")]] = np.arange(1, len(groups) + 1)
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
        vectors,
        sigma,
        n_clusters=reference.n_clusters,
        n_leading=min(reference.n_leading, len(sigma)),
        seed=seed,
    )
    return np.asarray(matched(again.labels, reference.labels) == reference.labels, dtype=float)
