"""The informed Mahalanobis distance as a transformer: coordinates whose Euclidean distance is the metric."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted

from .. import _validate as validate
from .._options import check_informed, informed_options
from ..core.arrays.ops import matmul, take_columns
from ..core.mahalanobis import fit_informed
from ..core.typing import Floats
from ._base import Estimator, on_all_features, varying_columns
from ._docs import documented_estimator

#: label of a feature that was excluded
EXCLUDED = -1


@documented_estimator
class InformedDistance(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Measure distances through clusters of features: the global metric of :func:`diffnb.tl.informed_distance`.

    `transform` returns coordinates xᵀW whose Euclidean distance is the metric, so that any estimator that works with
    Euclidean distances works with it. Local metrics have no such coordinates: only
    :func:`diffnb.tl.informed_distance` computes them.

    Parameters
    ----------
    informed
        `False`: the conventional Mahalanobis distance, without clusters.
    n_clusters
        Clusters of features; `"auto"`: by the gap statistic, of up to 30.
    n_components
        Principal directions of the metric; `"auto"`: those with more variance than noise has.
    n_neighbors
        Size of a neighbourhood in `kneighbors_graph`, the observation itself counted; where fewer observations are
        fitted, all of them.
    solver
        `"exact"`, or `"gradient"` as in the paper.
    eigenvalues
        Variances to divide by: `"pca"`, `"own"` or `"floor"`.
    cluster_weight
        From 0, directions of PCA, to 1, those of clusters; `"auto"`: by left-out observations.
    random_state

    Attributes
    ----------
    components_ : array of shape `(n_components_, n_features_in_)`
        Rows of Wᵀ, 0 for constant features.
    eigenvalues_ : array of shape `(n_components_,)`
        Variances that were divided by.
    labels_ : array of shape `(n_features_in_,)`
        Cluster of every feature, −1 for constant ones; all 0 with `informed=False`.
    n_components_, n_clusters_ : int
        What was chosen; no clusters with `informed=False`.
    embedding_ : array of shape `(n_samples, n_components_)`
        Coordinates of the fitted observations.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=60)
    >>> metric = dn.sklearn.InformedDistance().fit(adata.X)
    >>> metric.n_clusters_, metric.pairwise_distances().shape
    (18, (60, 60))
    """

    def __init__(
        self,
        *,
        informed: bool = True,
        n_clusters: int | Literal["auto"] = "auto",
        n_components: int | Literal["auto"] = "auto",
        n_neighbors: int = 20,
        solver: Literal["exact", "gradient"] = "exact",
        eigenvalues: Literal["pca", "own", "floor"] = "pca",
        cluster_weight: float | Literal["auto"] = 1.0,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.informed = informed
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.solver = solver
        self.eigenvalues = eigenvalues
        self.cluster_weight = cluster_weight
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the metric of observations × features; `y` is ignored."""
        given = self._given()
        given.local, given.clustering, given.full = False, "shared", False
        check_informed(given)
        if isinstance(given.n_clusters, str):
            validate.choice("n_clusters", given.n_clusters, (validate.AUTO,))
        x = self._training_data(X)
        kept = varying_columns(x)
        used = take_columns(x, kept)
        given.n_neighbors = min(validate.count("n_neighbors", given.n_neighbors, at_least=2), used.shape[0])
        found = fit_informed(used, informed_options(given, *used.shape, min_clusters=1))
        self.components_ = on_all_features(found.metric.factor, kept).T
        self.eigenvalues_ = found.metric.eigenvalues
        self.labels_ = np.full(kept.size, EXCLUDED)
        self.labels_[kept] = 0 if found.labels is None else found.labels
        self.n_components_, self.n_clusters_ = found.settings.n_components, found.settings.n_clusters
        self.embedding_: Floats = matmul(used, found.metric.factor)
        return self

    def transform(self, X: Any) -> Floats:
        """Return coordinates whose Euclidean distance is the metric."""
        check_is_fitted(self)
        return matmul(self._new_data(X), self.components_.T)

    def pairwise_distances(self, X: Any = None, Y: Any = None) -> Floats:
        """Return the distances between `X` and `Y`, by default the fitted observations."""
        check_is_fitted(self)
        left = self._points(X)
        return np.asarray(cdist(left, left if Y is None else self._points(Y)))

    def kneighbors_graph(self, X: Any = None, *, mode: Literal["distance", "connectivity"] = "distance") -> Any:
        """Return the graph of the `n_neighbors` − 1 nearest fitted observations, as a sparse matrix.

        Without `X` of the fitted observations themselves, none its own neighbour.
        """
        check_is_fitted(self)
        count = min(self.n_neighbors, len(self.embedding_)) - 1
        # a tree compares coordinates directly; the faster formula for many coordinates loses digits
        search = NearestNeighbors(n_neighbors=count, algorithm="kd_tree").fit(self.embedding_)
        return search.kneighbors_graph(None if X is None else self._points(X), mode=mode)

    def _points(self, X: Any) -> Floats:
        return np.asarray(self.embedding_ if X is None else self.transform(X))

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
