"""Clusters of features, and how many of them: Ward's tree, k-means from it, the gap statistic.

Features are points with one coordinate an observation. All that is needed of them are their inner products, so
that a long matrix is read once and a sparse one never made dense.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import cut_tree, fcluster, linkage
from scipy.spatial.distance import pdist, squareform

from ..arrays.ops import cross, gram, matmul, take_columns
from ..runtime.seeds import draws, generator
from ..spectral.eigen import leading_eigenpairs
from ..typing import Floats, Ints, Matrix
from .covariance import PRODUCTS_MOST, Observed

#: features and principal axes that the gap statistic looks at
GAP_FEATURES = 2000
GAP_AXES = 50
#: clusters that are tried, and references drawn, for the gap statistic
GAP_MOST = 30
GAP_REFERENCES = 10
#: squared distances below this share of the squared lengths are rounding
ROUNDING = 1e-13
MOST_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class Gap:
    """The gap statistic for every number of clusters from 1 on, and the number it chooses."""

    k: Ints
    gap: Floats
    #: standard error of the references, √(1 + 1/B) sd
    error: Floats
    chosen: int


def cluster_features(data: Observed, n_clusters: int, /, *, seed: int = 0) -> Ints:
    """Cluster the columns: k-means (Eq. 12) started from the clusters of Ward's tree.

    Random starts end in a worse local optimum more often than not; the tree costs less than a few of them.
    Clusters are numbered in the order of their first feature, and none is empty. Of very many features, some
    are drawn for the tree, and k-means takes all.
    """
    if data.products is not None:
        return cluster_by_products(data.products, n_clusters)
    some = _some_columns(data.x, PRODUCTS_MOST, generator(seed, "subsample"))
    centres = matmul(some, _averages(cluster_by_products(gram(some), n_clusters)))
    return in_order(_rounds_on_columns(data.x, centres))


def cluster_by_products(products: Floats, n_clusters: int, /) -> Ints:
    """Do the same from the inner products of all points."""
    return in_order(_rounds(products, _cut(ward_tree(_distances(products)), n_clusters)))


def ward_tree(condensed: Floats, /) -> Floats:
    """Grow Ward's tree from pairwise distances."""
    return np.asarray(linkage(condensed, "ward"))


def within_sums(tree: Floats, /) -> Floats:
    """Sum of squares within the clusters of a tree, for 1, 2, … clusters.

    The height of a merger in Ward's tree is √(2Δ), Δ being what it adds to that sum.
    """
    added = np.square(tree[:, 2]) / 2
    return np.append(np.cumsum(added)[::-1], 0.0)


def gap_statistic(
    data: Observed, /, *, most: int = GAP_MOST, n_references: int = GAP_REFERENCES, seed: int = 0, least: int = 2
) -> Gap:
    """Choose the number of clusters of the columns by the gap statistic.

    Gap(K) is the mean log W_K of uniform points in the box of the principal axes, less that of the features;
    W_K is the sum of squares within K clusters of Ward's tree. Chosen is the smallest K, not below `least`,
    with Gap(K) ≥ Gap(K + 1) − s(K + 1).
    """
    products = data.products
    if products is None or len(products) > GAP_FEATURES:
        products = gram(_some_columns(data.x, GAP_FEATURES, generator(seed, "subsample")))
    points = _on_principal_axes(products, seed)
    most = min(most, len(points) - 1)
    k = np.arange(1, most + 1)
    found = _log_within(points, most)
    low, high = points.min(axis=0), points.max(axis=0)
    drawn_points = (
        np.random.default_rng(s).uniform(low, high, points.shape) for s in draws(seed, "references", n_references)
    )
    references = np.array([_log_within(p, most) for p in drawn_points])
    gap = references.mean(axis=0) - found
    error = references.std(axis=0) * np.sqrt(1 + 1 / n_references)
    return Gap(k, gap, error, _first_peak(k, gap, error, min(least, most)))


def indicators(labels: Ints, /) -> Floats:
    """Normalised indicators H of clusters, features × clusters, with orthonormal columns (Eq. 13)."""
    sizes = np.bincount(labels)
    h = np.zeros((labels.size, sizes.size))
    h[np.arange(labels.size), labels] = 1 / np.sqrt(sizes[labels])
    return h


def in_order(labels: Ints, /) -> Ints:
    """Give clusters numbers from 0 by the place of their first feature, without gaps."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[codes.ravel()])


def _some_columns(x: Matrix, count: int, rng: np.random.Generator) -> Matrix:
    drawn = np.zeros(x.shape[1], dtype=bool)
    drawn[rng.choice(x.shape[1], count, replace=False)] = True
    return take_columns(x, drawn)


def _cut(tree: Floats, n_clusters: int) -> Ints:
    labels = np.asarray(fcluster(tree, n_clusters, "maxclust"))
    if len(np.unique(labels)) == n_clusters:
        return labels - 1
    # mergers of equal height, as of duplicates, are undone one by one by the slower way only
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
    squared[squared < ROUNDING * np.maximum(norms[:, None], norms)] = 0.0
    np.fill_diagonal(squared, 0.0)
    return np.asarray(squareform(np.sqrt(squared), checks=False))


def _rounds(products: Floats, labels: Ints) -> Ints:
    """Lloyd's rounds with centres that are never formed; a cluster that is left empty is gone."""
    for _ in range(MOST_ROUNDS):
        labels = in_order(labels)
        averages = _averages(labels)
        inner = products @ averages
        lengths = np.einsum("jk,jk->k", averages, inner)
        before, labels = labels, np.argmin(lengths - 2 * inner, axis=1)
        if (labels == before).all():
            break
    return labels


def _rounds_on_columns(x: Matrix, centres: Floats) -> Ints:
    labels = np.full(x.shape[1], -1)
    for _ in range(MOST_ROUNDS):
        before = labels
        labels = np.argmin(np.einsum("ik,ik->k", centres, centres) - 2 * cross(x, centres), axis=1)
        if (labels == before).all():
            break
        centres = matmul(x, _averages(in_order(labels)))
        labels = in_order(labels)
    return labels


def _on_principal_axes(products: Floats, seed: int) -> Floats:
    """Coordinates of the points on their leading principal axes, from inner products."""
    mean = products.mean(axis=0)
    centred = products - mean - mean[:, None] + mean.mean()
    values, vectors = leading_eigenpairs(centred, min(GAP_AXES, len(products) - 1), seed=seed)
    kept = values > ROUNDING * max(values[0], np.finfo(float).tiny)
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def _log_within(points: Floats, most: int) -> Floats:
    sums = within_sums(ward_tree(pdist(points)))[:most]
    # as many clusters as there are different points leave nothing within: far below all else, yet finite
    return np.asarray(np.log(np.maximum(sums, ROUNDING * sums[0] + np.finfo(float).tiny)))


def _first_peak(k: Ints, gap: Floats, error: Floats, least: int) -> int:
    peaks = np.flatnonzero((gap[:-1] >= gap[1:] - error[1:]) & (k[:-1] >= least))
    return int(k[peaks[0]]) if peaks.size else int(max(k[int(np.argmax(gap))], least))
