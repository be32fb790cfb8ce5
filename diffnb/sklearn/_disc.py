"""DiSC as a transformer: meta-features of observations from differential vectors of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .. import _validate as validate
from .._keys import DiscKeys
from .._options import check_disc, disc_options, frequent_enough
from ..core.arrays.ops import column_summaries, matmul
from ..core.disc import Analysis, analyse
from ..core.spectral.kernels import KernelFunction
from ..core.typing import Bools, Floats, Matrix
from ._base import Estimator, columns_of, on_all_features, refuse_too_few, split_by_class, varying_columns
from ._docs import documented_estimator

#: label of a feature that was excluded
EXCLUDED = -1


@documented_estimator
class DiSC(TransformerMixin, Estimator):
    """Find groups of features whose connectivity differs between classes: :func:`diffnb.tl.disc`.

    `transform` projects observations on the differential vectors, class by class (X V): the meta-features of
    :func:`diffnb.tl.meta_features`. Features that are constant, or seen in too few observations of a class, have no
    weight. Observations are the units of all tests; where they belong to samples, use :func:`diffnb.tl.disc`.

    Parameters
    ----------
    question
        `"relations"`: features that are connected in one class only, whatever their levels and spreads do;
        `"any difference"`: the setting of the paper.
    min_obs
        Features that are seen in fewer observations of a class are excluded; `"auto"`: a tenth, 20 at most.
    metric
        Distance between features: `"euclidean"`, `"correlation"` or `"cosine"`.
    standardize
        `None`, `"global"`, `"within"` each class, or `"auto"`, as `question` asks.
    kernel
        `"self_tuning"`, `"self_tuning_product"`, `"rbf"`, or a function of distance and both scales.
    density_normalize
        Divide out the density of features before the walk is made.
    graph
        `"dense"`, `"knn"` or `"auto"`.
    neighbors
        How nearest neighbours are found: `"exact"`, `"approximate"` or `"auto"`.
    n_neighbors
        The local scale of a feature is the distance to this neighbour; `"auto"`: 25, or a fifth of the features.
    n_eigenvectors
        Eigenvectors of the other classes to project off: one number, one per class, or `"auto"`.
    n_components
        Differential vectors per class.
    n_clusters
        Groups of features per class, the background counted; `"auto"`: groups are named only on evidence; 1:
        none, without a test, where only `transform` is wanted.
    n_permutations
        Permutations for p-values; 0 for none.
    null
        `"labels"`, `"connectivity"` or `"auto"`.
    n_bootstraps
        Bootstrap draws for the stability of each feature's group; 0 for none.
    project_trivial
        Project the constant eigenvector off with the others.
    random_state
    n_jobs

    Attributes
    ----------
    classes_ : array of shape `(n_classes,)`
        The conditions, in the order of all results.
    vectors_ : array of shape `(n_classes, n_features_in_, n_components)`
        Differential vectors, 0 for excluded features.
    sigma_ : array of shape `(n_classes, n_components)`
        Their singular values.
    labels_ : array of shape `(n_classes, n_features_in_)`
        Group of every feature: 0 is the background, −1 an excluded feature.
    scores_ : array of shape `(n_classes, n_features_in_)`
        How far out a feature lies in the leading vectors.
    pvalues_ : array of shape `(n_classes, n_components)`
        p-values of `sigma_`, NaN without permutations.
    stability_ : array of shape `(n_classes, n_features_in_)`
        Share of bootstrap draws in which a feature stays in its group; NaN without draws.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> disc = dn.sklearn.DiSC(n_components=2).fit(adata.X, adata.obs["condition"])
    >>> disc.transform(adata.X).shape
    (400, 4)
    >>> disc.get_feature_names_out().tolist()
    ['A_1', 'A_2', 'B_1', 'B_2']
    """

    def __init__(
        self,
        *,
        question: Literal["relations", "any difference"] = "relations",
        min_obs: int | Literal["auto"] = "auto",
        metric: Literal["euclidean", "correlation", "cosine"] = "euclidean",
        standardize: Literal["auto", "global", "within"] | None = "auto",
        kernel: Literal["self_tuning", "self_tuning_product", "rbf"] | KernelFunction = "self_tuning",
        density_normalize: bool = True,
        graph: Literal["auto", "dense", "knn"] = "auto",
        neighbors: Literal["auto", "exact", "approximate"] = "auto",
        n_neighbors: int | Literal["auto"] = "auto",
        n_eigenvectors: int | Sequence[int] | Mapping[str, int] | Literal["auto"] = "auto",
        n_components: int = 10,
        n_clusters: int | Literal["auto"] = "auto",
        n_permutations: int = 0,
        null: Literal["auto", "labels", "connectivity"] = "auto",
        n_bootstraps: int = 0,
        project_trivial: bool = True,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.question = question
        self.min_obs = min_obs
        self.metric = metric
        self.standardize = standardize
        self.kernel = kernel
        self.density_normalize = density_normalize
        self.graph = graph
        self.neighbors = neighbors
        self.n_neighbors = n_neighbors
        self.n_eigenvectors = n_eigenvectors
        self.n_components = n_components
        self.n_clusters = n_clusters
        self.n_permutations = n_permutations
        self.null = null
        self.n_bootstraps = n_bootstraps
        self.project_trivial = project_trivial
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Find the differential vectors of observations × features whose classes are `y`."""
        given = self._given()
        check_disc(given)
        x, y = self._training_data(X, y)
        classes, matrices = split_by_class(x, y)
        kept = varying_columns(x)
        kept &= _seen(matrices, frequent_enough(given.min_obs))
        refuse_too_few(kept, f"vary and are seen in enough observations of every class (min_obs={given.min_obs!r})")
        options = disc_options(given, [str(c) for c in classes], int(kept.sum()), min_clusters=1)
        self.classes_ = classes
        self._keep(analyse(columns_of(matrices, kept), options, n_jobs=validate.jobs(given.n_jobs)), kept)
        return self

    def _keep(self, found: Analysis, kept: Bools) -> None:
        self.sigma_ = found.sigma
        self.vectors_ = np.stack([on_all_features(vectors, kept) for vectors in found.vectors])
        self.labels_ = np.full((len(found.groups), kept.size), EXCLUDED)
        self.labels_[:, kept] = [groups.labels for groups in found.groups]
        self.scores_ = _on_all([groups.scores for groups in found.groups], kept)
        self.stability_ = np.full(self.scores_.shape, np.nan)
        if found.stability is not None:
            self.stability_ = _on_all(found.stability, kept)
        self.pvalues_ = np.full(found.sigma.shape, np.nan)
        if found.significance is not None:
            tested = found.significance.pvals
            self.pvalues_[:, : tested.shape[1]] = tested

    def transform(self, X: Any) -> Floats:
        """Project observations on the differential vectors of every class."""
        check_is_fitted(self)
        x = self._new_data(X)
        return matmul(x, np.hstack(list(self.vectors_)))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return `A_1`, `A_2` … for the vectors of every class."""
        check_is_fitted(self)
        names = DiscKeys().meta_features([str(c) for c in self.classes_], self.sigma_.shape[1])
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Describe what the estimator takes."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _seen(matrices: list[Matrix], min_seen: Any) -> Bools:
    """Return which features are seen in enough observations of every class."""
    summaries = zip(matrices, column_summaries(matrices), strict=True)
    seen = [summary.n_seen(x.shape[0]) >= min_seen(x.shape[0]) for x, summary in summaries]
    return np.asarray(np.all(seen, axis=0))


def _on_all(values: Any, kept: Bools) -> Floats:
    return np.stack([on_all_features(np.asarray(own), kept) for own in values])
