"""Clusters of features, and how many of them: Ward's tree, k-means started from it, the gap statistic.

Features are points with one coordinate per observation. Only their inner products are needed, so that a long matrix
is read once and a sparse one is never made dense.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import cut_tree, fcluster, linkage
from scipy.spatial.distance import pdist, squareform

from ..arrays.ops import cross, gram, matmul, take_columns
from ..runtime.seeds import draws, generator
from ..spectral.eigen import leading_eigenpairs
from ..spectral.ties import kth_position, without_rounding
from ..stats.choices import Choice
from ..stats.choices import chosen as choice_of
from ..typing import Floats, Ints, Matrix
from .covariance import MAX_GRAM_POINTS, SampleCovariance

#: features and principal axes that the gap statistic uses
MAX_GAP_FEATURES, MAX_GAP_AXES = 2000, 50
#: numbers of clusters that the gap statistic tries, and references that it draws
MIN_GAP_CLUSTERS, MAX_GAP_CLUSTERS, N_GAP_REFERENCES = 2, 30, 10
#: squares (of distances, axes, sums within clusters) below this share of the largest are rounding
MIN_RELATIVE_SQUARE = 1e-13
MAX_KMEANS_ITERATIONS = 100


@dataclass(frozen=True, slots=True)
class Gap:
    """The gap statistic for every number of clusters from 1 on, and the number it chooses."""

    k: Ints
    gap: Floats
    #: standard error of the references, √(1 + 1/B) sd
    error: Floats
    chosen: int
    min_clusters: int = MIN_GAP_CLUSTERS

    @property
    def choice(self) -> Choice:
        """How decided the number is, among those that could have been chosen."""
        allowed = self.k >= min(self.min_clusters, self.chosen)
        k, gap, error = self.k[allowed], self.gap[allowed], self.error[allowed]
        return choice_of(k, gap, int(np.searchsorted(k, self.chosen)), error=error)


def cluster_features(data: SampleCovariance, n_clusters: int, /, *, seed: int = 0) -> Ints:
    """Cluster the columns: k-means (Eq. 12) started from the clusters of Ward's tree.

    Random starts end in a worse local optimum more often than not; the tree costs less than a few of them.
    Clusters are numbered in the order of their first feature, and none is empty. Of very many features, a random
    subset forms the tree, and k-means assigns all of them.
    """
    if data.products is not None:
        return cluster_by_products(data.products, n_clusters)
    subset = _random_columns(data.x, MAX_GRAM_POINTS, generator(seed, "subsample"))
    centers = matmul(subset, _averages(cluster_by_products(gram(subset), n_clusters)))
    return in_order(_kmeans_of_columns(data.x, centers))


def cluster_by_products(products: Floats, n_clusters: int, /) -> Ints:
    """Do the same from the inner products of all points."""
    return in_order(_kmeans_by_products(products, _cut(ward_tree(_distances(products)), n_clusters)))


def ward_tree(condensed: Floats, /) -> Floats:
    """Grow Ward's tree from pairwise distances."""
    return np.asarray(linkage(condensed, "ward"))


def within_sums(tree: Floats, /) -> Floats:
    """Sum of squares within the clusters of a tree, for 1, 2, … clusters.

    The height of a merger in Ward's tree is √(2Δ), where Δ is what it adds to that sum.
    """
    added = np.square(tree[:, 2]) / 2
    return np.append(np.cumsum(added)[::-1], 0.0)


def gap_statistic(
    data: SampleCovariance,
    /,
    *,
    min_clusters: int = MIN_GAP_CLUSTERS,
    max_clusters: int = MAX_GAP_CLUSTERS,
    n_references: int = N_GAP_REFERENCES,
    seed: int = 0,
) -> Gap:
    """Choose the number of clusters of the columns by the gap statistic.

    Gap(K) is the mean log W_K of uniform points in the box of the principal axes, minus that of the features;
    W_K is the sum of squares within K clusters of Ward's tree. Chosen is the smallest K, not below `min_clusters`,
    with Gap(K) ≥ Gap(K + 1) − s(K + 1).
    """
    products = data.products
    if products is None or len(products) > MAX_GAP_FEATURES:
        products = gram(_random_columns(data.x, MAX_GAP_FEATURES, generator(seed, "subsample")))
    points = _on_principal_axes(products, seed)
    max_clusters = min(max_clusters, len(points) - 1)
    k = np.arange(1, max_clusters + 1)
    references = np.array(
        [
            _log_within(_uniform_in_box(points, np.random.default_rng(child)), max_clusters)
            for child in draws(seed, "references", n_references)
        ]
    )
    gap = references.mean(axis=0) - _log_within(points, max_clusters, rounded=True)
    error = references.std(axis=0) * np.sqrt(1 + 1 / n_references)
    return Gap(k, gap, error, _first_peak(k, gap, error, min(min_clusters, max_clusters)), min_clusters)


def indicators(labels: Ints, /) -> Floats:
    """Normalised indicators H of clusters, features × clusters, with orthonormal columns (Eq. 13)."""
    sizes = np.bincount(labels)
    h = np.zeros((labels.size, sizes.size))
    h[np.arange(labels.size), labels] = 1 / np.sqrt(sizes[labels])
    return h


def in_order(labels: Ints, /) -> Ints:
    """Relabel clusters consecutively from 0, in the order of their first feature."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[codes.ravel()])


def _random_columns(x: Matrix, count: int, rng: np.random.Generator) -> Matrix:
    drawn = np.zeros(x.shape[1], dtype=bool)
    drawn[rng.choice(x.shape[1], count, replace=False)] = True
    return take_columns(x, drawn)


def _uniform_in_box(points: Floats, rng: np.random.Generator) -> Floats:
    return rng.uniform(points.min(axis=0), points.max(axis=0), points.shape)


def _cut(tree: Floats, n_clusters: int) -> Ints:
    labels = np.asarray(fcluster(tree, n_clusters, "maxclust"))
    if len(np.unique(labels)) == n_clusters:
        return labels - 1
    # mergers of equal height, as of duplicates, are separated by the slower function only
    return np.asarray(cut_tree(tree, n_clusters)).ravel()


def _averages(labels: Ints) -> Floats:
    """Weights that average the features of each cluster, features × clusters."""
    sizes = np.bincount(labels)
    m = np.zeros((labels.size, sizes.size))
    m[np.arange(labels.size), labels] = 1 / sizes[labels]
    return m


def _distances(products: Floats) -> Floats:
    norms = np.diag(products)
    squared = norms[:, None] + norms - 2 * products
    squared[squared < MIN_RELATIVE_SQUARE * np.maximum(norms[:, None], norms)] = 0.0
    np.fill_diagonal(squared, 0.0)
    # equal distances have to be equal in all digits: else the tree of counts depends on how they are stored
    return np.asarray(np.sqrt(without_rounding(squareform(squared, checks=False))))


def _kmeans_by_products(products: Floats, labels: Ints) -> Ints:
    """Lloyd's iterations with centres that are never formed; a cluster that loses all members disappears."""
    for _ in range(MAX_KMEANS_ITERATIONS):
        labels = in_order(labels)
        averages = _averages(labels)
        inner = products @ averages
        lengths = np.einsum("jk,jk->k", averages, inner)
        before, labels = labels, _first_nearest(lengths - 2 * inner)
        if (labels == before).all():
            break
    return labels


def _first_nearest(costs: Floats) -> Ints:
    """Return the nearest centre of every feature, the first of equally near ones."""
    return kth_position(costs, 0, MIN_RELATIVE_SQUARE * np.abs(costs).max(axis=1))


def _kmeans_of_columns(x: Matrix, centers: Floats) -> Ints:
    labels = np.full(x.shape[1], -1)
    for _ in range(MAX_KMEANS_ITERATIONS):
        before = labels
        labels = _first_nearest(np.einsum("ik,ik->k", centers, centers) - 2 * cross(x, centers))
        if (labels == before).all():
            break
        centers = matmul(x, _averages(in_order(labels)))
        labels = in_order(labels)
    return labels


def _on_principal_axes(products: Floats, seed: int) -> Floats:
    """Coordinates of the points on their leading principal axes, from inner products."""
    mean = products.mean(axis=0)
    centered = products - mean - mean[:, None] + mean.mean()
    values, vectors = leading_eigenpairs(centered, min(MAX_GAP_AXES, len(products) - 1), seed=seed)
    kept = values > MIN_RELATIVE_SQUARE * max(values[0], np.finfo(float).tiny)
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def _log_within(points: Floats, max_clusters: int, *, rounded: bool = False) -> Floats:
    squared = pdist(points, "sqeuclidean")
    sums = within_sums(ward_tree(np.sqrt(without_rounding(squared) if rounded else squared)))[:max_clusters]
    # as many clusters as distinct points leave no squares within: the logarithm is far below all others, yet finite
    return np.asarray(np.log(np.maximum(sums, MIN_RELATIVE_SQUARE * sums[0] + np.finfo(float).tiny)))


def _first_peak(k: Ints, gap: Floats, error: Floats, min_clusters: int) -> int:
    peaks = np.flatnonzero((gap[:-1] >= gap[1:] - error[1:]) & (k[:-1] >= min_clusters))
    return int(k[peaks[0]]) if peaks.size else int(max(k[int(np.argmax(gap))], min_clusters))
