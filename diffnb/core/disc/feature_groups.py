"""Groups of features from differential vectors: how many vectors lead, how many groups, which is background."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..runtime.seeds import generator
from ..runtime.threads import one_blas_thread, openmp_threads
from ..typing import Auto, Bools, Floats, Ints
from .algorithm import SIGMA_TIE_TOLERANCE
from .membership import Correlations, Members, distinct, labels_of, refine, seeds_of, stands_out

BACKGROUND = 0
#: rows of which the silhouette is computed; more change it by less than candidates differ
MAX_SILHOUETTE_ROWS = 2000
#: iterations of k-means after the background has joined the other groups
MAX_ITERATIONS = 20
#: a drop in log σ is clear from this share of the largest drop on
MIN_DROP_SHARE = 0.4
#: and from this many times the median drop among chance σ on
MIN_DROP_RATIO = 4.0


@dataclass(frozen=True, slots=True)
class FeatureGroups:
    """Group of every feature; 0 is the background, the others are numbered by decreasing score."""

    labels: Ints
    scores: Floats
    n_leading: int
    n_clusters: int
    #: per feature, 1 − the local false discovery rate of its membership; None for clusters that were not refined
    membership: Floats | None = None
    #: clusters of the vectors, the background counted, from which members were refined
    n_seeded: int = 1


def leading_count(sigma: Floats, /, *, null: float = 0.0) -> int:
    """Count the leading vectors: those before the last clear drop in σ, among those above `null`.

    A drop is clear if its logarithm is at least 0.4 of the largest one and, where any is, four times the median one
    below `null`: with the largest drop alone, one group that is much stronger than the others would be the only one.
    `null` is σ by chance, which structure shared by all conditions gives. If no σ is above it, no vector is leading.
    """
    # a permutation may equal the original labels: σ that differs by rounding is not above
    above = int((sigma > null * (1 + SIGMA_TIE_TOLERANCE)).sum())
    if len(sigma) < 3 or above <= 1:
        return min(1, above)
    floor = np.finfo(float).tiny
    drops = np.log(np.maximum(sigma[:-1], floor) / np.maximum(sigma[1:], floor))
    candidates = drops[:above]
    below = drops[above:] if above < len(drops) else drops
    largest = candidates.max()
    clear = max(MIN_DROP_SHARE * largest, min(largest, MIN_DROP_RATIO * float(np.median(below))))
    return int(np.flatnonzero(candidates >= clear)[-1]) + 1


def feature_groups(
    vectors: Floats,
    sigma: Floats,
    /,
    *,
    n_clusters: int | Auto = "auto",
    n_leading: int | Auto = "auto",
    seed: int = 0,
) -> FeatureGroups:
    """k-means on the rows of the leading vectors, weighted by σ (step 7 of Algorithm 1).

    Features are first split by the norm of their rows into those near the origin and those far from it. Only the
    latter are clustered, and then every feature is assigned to the nearest centre, that of the background included.
    Plain k-means on all rows would rather split thousands of background features than keep a group of ten. By default
    the number of groups is the one with the best silhouette up to 2r + 1 (r leading vectors, each with one or two
    groups at its ends).
    """
    r = leading_count(sigma) if n_leading == "auto" else n_leading
    if n_clusters != "auto":
        r = max(1, r)
    length = scores(vectors[:, : max(1, r)], sigma[: max(1, r)])
    if r == 0:
        return FeatureGroups(np.zeros(len(length), dtype=int), length, 0, 1)
    rows = vectors[:, :r] * sigma[:r]
    far = length > _two_means_cut(length)
    candidates = range(1, 2 * r + 1) if n_clusters == "auto" else (n_clusters - 1,)
    import sklearn.cluster  # noqa: F401, its threads can be limited once it is loaded

    # a few columns: more threads would only wait for each other
    with one_blas_thread(), openmp_threads(1):
        tried = [_cluster(rows, far, k, seed) for k in candidates]
        fits = _silhouettes(rows, tried, seed) if len(tried) > 1 else [0.0]
    ordered = _by_score(_converged(rows, tried[int(np.argmax(fits))]), length)
    n_found = int(ordered.max()) + 1
    return FeatureGroups(ordered, length, r, n_found, n_seeded=n_found)


def refined(
    groups: FeatureGroups, vectors: Floats, sigma: Floats, /, *, own: Correlations, others: Sequence[Correlations]
) -> FeatureGroups:
    """Replace each cluster by the features that co-vary with it in this condition and not in the others.

    Clusters around which no feature stands out are background, and those that lead to the same members are one. Where
    that leaves nothing, the same is tried with the background: a factor that connects most features makes the others
    the exception. If that leaves nothing, too, clusters stay, without membership, that stand out as a whole.
    """
    n_features, r = len(groups.labels), groups.n_leading
    if r == 0:
        return replace(groups, membership=np.zeros(n_features))
    rows = vectors[:, :r] * sigma[:r]
    clusters = [groups.labels == g for g in range(groups.n_clusters)]
    found = _members(rows, clusters[1:], own, others) or _members(rows, clusters[:1], own, others)
    if not found:
        found = [Members(c, np.zeros(n_features)) for c in clusters if c.any() and stands_out(c, own, others)]
    labels, membership = labels_of(found, n_features)
    ordered = _by_score(labels, groups.scores)
    return replace(groups, labels=ordered, n_clusters=int(ordered.max()) + 1, membership=membership)


def _members(
    rows: Floats, clusters: Sequence[Bools], own: Correlations, others: Sequence[Correlations]
) -> list[Members]:
    found = [refine(seeds_of(rows, cluster), own, others) for cluster in clusters if cluster.any()]
    return distinct([group for group in found if group is not None])


def scores(vectors: Floats, sigma: Floats, /) -> Floats:
    """Norm of each feature's row in the vectors weighted by σ, divided by the root mean square over features."""
    lengths = np.sqrt(((vectors * sigma) ** 2).sum(axis=1))
    typical = np.sqrt((lengths**2).mean())
    return np.asarray(lengths / typical if typical > 0 else lengths)


def _two_means_cut(values: Floats) -> float:
    """Return the value up to which the lower of the two best groups reaches: exact 2-means in one dimension."""
    ordered = np.sort(values)
    n = len(ordered)
    if n < 2:
        return -np.inf
    left = np.arange(1, n)
    sums = np.cumsum(ordered)
    # the smallest variance within is the largest variance between
    between = (sums[:-1] - left / n * sums[-1]) ** 2 / (left * (n - left))
    return float(ordered[int(between.argmax())])


def _cluster(rows: Floats, far: Bools, n_groups: int, seed: int) -> Ints:
    """Cluster the far rows and assign every row to the nearest centre; 0 is that of the background."""
    from sklearn.cluster import KMeans

    chosen = rows[far]
    n_groups = min(n_groups, len(np.unique(chosen, axis=0)))
    if n_groups == 0:
        return np.zeros(len(rows), dtype=int)
    found = KMeans(n_groups, n_init=10, random_state=seed).fit(chosen).cluster_centers_
    return _nearest_centre(rows, np.vstack([rows[~far].mean(axis=0), found]))


def _converged(rows: Floats, labels: Ints) -> Ints:
    """Continue k-means on all rows: a centre between both sides of the origin moves to one of them."""
    n_groups = int(labels.max()) + 1
    for _ in range(MAX_ITERATIONS):
        if len(np.unique(labels)) < n_groups:
            break
        centres = np.stack([rows[labels == g].mean(axis=0) for g in range(n_groups)])
        before, labels = labels, _nearest_centre(rows, centres)
        if (labels == before).all():
            break
    return labels


def _nearest_centre(rows: Floats, centres: Floats) -> Ints:
    return np.asarray(np.argmin([((rows - centre) ** 2).sum(axis=1) for centre in centres], axis=0))


def _silhouettes(rows: Floats, tried: Sequence[Ints], seed: int) -> list[float]:
    """Mean silhouette of each way to label the rows; where these are few, their distances are computed once."""
    from sklearn.metrics.pairwise import euclidean_distances

    if len(rows) <= MAX_SILHOUETTE_ROWS:
        distances = euclidean_distances(rows)
        return [_silhouette(distances, labels) for labels in tried]
    some = [_stratified(labels, MAX_SILHOUETTE_ROWS, seed) for labels in tried]
    return [_silhouette(euclidean_distances(rows[own]), labels[own]) for labels, own in zip(tried, some, strict=True)]


def _silhouette(distances: Floats, labels: Ints) -> float:
    """Mean over rows of (b − a) / max(a, b): mean distances to the own group, a, and to the nearest other one, b."""
    groups, own, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    n_rows = len(labels)
    if not 2 <= groups.size < n_rows:
        return -1.0
    means = distances @ (own[:, None] == np.arange(groups.size))
    each = np.arange(n_rows)
    within = means[each, own] / np.maximum(sizes[own] - 1, 1)
    means /= sizes
    means[each, own] = np.inf
    nearest = means.min(axis=1)
    largest = np.maximum(within, nearest)
    # a row that is alone in its group, or among duplicates, counts as zero
    counts = (sizes[own] > 1) & (largest > 0)
    return float(np.mean(np.where(counts, (nearest - within) / np.where(counts, largest, 1.0), 0.0)))


def _stratified(labels: Ints, size: int, seed: int) -> Ints:
    """Draw rows of every group: a simple random sample could miss a small one."""
    rng = generator(seed, "subsample")
    groups = [np.flatnonzero(labels == g) for g in np.unique(labels)]
    share = size // len(groups)
    return np.sort(np.concatenate([g if g.size <= share else rng.choice(g, share, replace=False) for g in groups]))


def _by_score(labels: Ints, length: Floats) -> Ints:
    """Renumber the groups by decreasing mean score; the background stays 0."""
    groups = np.unique(labels[labels != BACKGROUND])
    means = np.array([length[labels == g].mean() for g in groups])
    renamed = np.zeros(int(labels.max()) + 1, dtype=int)
    renamed[groups[np.argsort(-means, kind="stable")]] = np.arange(1, len(groups) + 1)
    return renamed[labels]


def matched(labels: Ints, reference: Ints, /) -> Ints:
    """Renumber groups to overlap most with those of `reference`; groups without a match become −1."""
    counts = np.zeros((labels.max() + 1, reference.max() + 1), dtype=int)
    np.add.at(counts, (labels, reference), 1)
    own, other = linear_sum_assignment(-counts)
    renamed = np.full(labels.max() + 1, -1)
    renamed[own] = other
    return renamed[labels]


def same_group(
    vectors: Floats,
    sigma: Floats,
    reference: FeatureGroups,
    seed: int,
    /,
    *,
    own: Correlations | None = None,
    others: Sequence[Correlations] = (),
) -> Floats:
    """Group features again and return, as 0 or 1, which are in their group of `reference`.

    Members are refined by the correlations, as those of the reference were, where they are given.
    """
    regrouped = feature_groups(
        vectors,
        sigma,
        n_clusters=reference.n_seeded,
        n_leading=min(reference.n_leading, len(sigma)),
        seed=seed,
    )
    if own is not None:
        regrouped = refined(regrouped, vectors, sigma, own=own, others=others)
    return np.asarray(matched(regrouped.labels, reference.labels) == reference.labels, dtype=float)
