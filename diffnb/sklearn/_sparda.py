"""SPARDA as a transformer: observations along the sparse directions by which classes differ most."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .. import _validate as validate
from .._keys import SpardaKeys
from .._options import check_solver, check_sparda, sparda_options
from ..core.arrays.ops import matmul
from ..core.sparda import Projection, SpardaOptions, divergence_test, fit_sparda, projection_map
from ..core.typing import Bools, Floats, Matrix
from ._base import Estimator, columns_of, on_all_features, split_by_class, varying_columns
from ._docs import documented_estimator

REST = "rest"


@documented_estimator
class SPARDA(TransformerMixin, Estimator):
    """Find the few features, and their direction, by which classes differ most: :func:`diffnb.tl.sparda`.

    The second of two classes is compared with the first, and each of several with the rest. `transform` projects
    observations on the directions, `get_support` says which features have a weight in any of them. Observations are
    the units of all tests; where they belong to samples, use :func:`diffnb.tl.sparda`.

    Parameters
    ----------
    n_features
        Number of features to select; `"auto"`: by cross-validation; `"all"`: every one (PDA).
    n_projections
        Directions to find per comparison, each after projecting the earlier ones out of the data.
    standardize
        ... Standardisation within classes needs the class of every observation, also of new ones: only
        :func:`diffnb.tl.sparda` does it.
    divergence
        `"wasserstein2"` (squared), `"wasserstein1"` or `"kolmogorov"`.
    solver
        `"tighten"`, or `"relax"` for at most 500 features.
    penalty
        λ of the relaxation; 0 for none.
    tighten
        `False` with `solver="relax"`: no ascent, weights from the relaxed matrix.
    n_permutations
        Permutations for p-values; 0 for none.
    certificate
        Also bound the objective of all directions from above.
    random_state
    n_jobs

    Attributes
    ----------
    classes_ : array of shape `(n_classes,)`
        The classes.
    components_ : array of shape `(n_directions, n_features_in_)`
        Directions of unit length, with zeros for features that are not selected.
    objectives_ : array of shape `(n_directions,)`
        Divergence along each direction.
    n_selected_ : array of shape `(n_directions,)`
        Number of features of each direction.
    pvalues_ : array of shape `(n_directions,)`
        NaN without permutations.
    certificates_ : array of shape `(n_directions,)`
        Upper bound of the objective over the objective; NaN unless asked for.
    weights_ : array of shape `(n_directions, n_features_in_)`
        What observations, as they are, are multiplied with; `offsets_` is subtracted from the products.
    offsets_ : array of shape `(n_directions,)`
        See `weights_`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nuisance_factor(n_obs=200, n_features=60)
    >>> sparda = dn.sklearn.SPARDA(n_features=10).fit(adata.X, adata.obs["condition"])
    >>> int(sparda.get_support().sum()), sparda.transform(adata.X).shape
    (10, (400, 1))
    """

    def __init__(
        self,
        *,
        n_features: int | Literal["auto", "all"] = "auto",
        n_projections: int = 1,
        standardize: Literal["global"] | None = "global",
        divergence: Literal["wasserstein2", "wasserstein1", "kolmogorov"] = "wasserstein2",
        solver: Literal["tighten", "relax"] = "tighten",
        penalty: float = 0.0,
        tighten: bool = True,
        n_permutations: int = 0,
        certificate: bool = False,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features = n_features
        self.n_projections = n_projections
        self.standardize = standardize
        self.divergence = divergence
        self.solver = solver
        self.penalty = penalty
        self.tighten = tighten
        self.n_permutations = n_permutations
        self.certificate = certificate
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Find the directions along which the classes `y` of observations × features differ most."""
        given = self._given()
        _check(given)
        x, y = self._training_data(X, y)
        classes, matrices = split_by_class(x, y)
        kept = varying_columns(x)
        n_features = int(kept.sum())
        check_solver(given.solver, n_features)
        options = sparda_options(given, given.n_features, n_features)
        n_permutations = validate.repeats("n_permutations", given.n_permutations)
        n_jobs = validate.jobs(given.n_jobs)
        found, maps = [], []
        for group, rest in _comparisons(columns_of(matrices, kept)):
            projections = _projections(group, rest, options, n_permutations, n_jobs)
            found += projections
            maps.append(projection_map(group, rest, np.stack([p.direction for p in projections]), given.standardize))
        self.classes_ = classes
        self._keep(found, maps, kept)
        return self

    def _keep(self, found: list[Projection], maps: list[tuple[Floats, Floats]], kept: Bools) -> None:
        self.components_ = _on_all(np.stack([p.weights for p in found]), kept)
        self.weights_ = _on_all(np.concatenate([weights for weights, _ in maps]), kept)
        self.offsets_ = np.concatenate([offset for _, offset in maps])
        self.objectives_ = np.array([p.objective for p in found])
        self.n_selected_ = np.array([p.n_features for p in found])
        self.pvalues_ = np.array([p.pval for p in found])
        self.certificates_ = np.array([p.certificate for p in found])

    def transform(self, X: Any) -> Floats:
        """Project observations on all directions."""
        check_is_fitted(self)
        x = self._new_data(X)
        return np.asarray(matmul(x, self.weights_.T) - self.offsets_)

    def get_support(self, indices: bool = False) -> Any:
        """Return which features have a weight in any direction, as a mask or as indices."""
        check_is_fitted(self)
        support = (self.components_ != 0).any(axis=0)
        return np.flatnonzero(support) if indices else support

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return `B_vs_A_1`, `B_vs_A_2` … for the directions of every comparison."""
        check_is_fitted(self)
        names = [str(c) for c in self.classes_]
        pairs = [(names[1], names[0])] if len(names) == 2 else [(name, REST) for name in names]
        return np.array(SpardaKeys().columns(pairs, len(self.objectives_) // len(pairs)), dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Describe what the estimator takes."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _check(given: Any) -> None:
    if given.standardize == "within":
        raise ValueError(
            "standardize='within' needs the class of every observation, which transform does not know; use"
            " standardize='global', or dn.tl.sparda."
        )
    check_sparda(given)


def _comparisons(matrices: list[Matrix]) -> list[tuple[Matrix, Matrix]]:
    """Return both sides of every comparison: the second class and the first, or each of several and the rest."""
    if len(matrices) == 2:
        return [(matrices[1], matrices[0])]
    return [(x, _stacked(matrices[:m] + matrices[m + 1 :])) for m, x in enumerate(matrices)]


def _stacked(matrices: list[Matrix]) -> Matrix:
    return sp.vstack(matrices, format="csr") if sp.issparse(matrices[0]) else np.concatenate(matrices)


def _projections(
    x: Matrix, y: Matrix, options: SpardaOptions, n_permutations: int, n_jobs: int | None
) -> list[Projection]:
    fit = fit_sparda(x, y, options, n_jobs=n_jobs)
    if n_permutations:
        fit = divergence_test(fit, n_permutations=n_permutations, n_jobs=n_jobs)
    return fit.projections


def _on_all(rows: Floats, kept: Bools) -> Floats:
    return on_all_features(rows.T, kept).T
