"""DUFS as a selector of features."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from .._options import check_dufs, dufs_options
from ..core.arrays.ops import take_columns
from ..core.dufs import fit_dufs
from ..core.typing import Bools
from ._base import Estimator, on_all_features, varying_columns
from ._docs import documented_estimator


@documented_estimator
class DUFS(SelectorMixin, Estimator):
    """Select the features that carry the structure of the data, without labels: :func:`diffnb.tl.dufs`.

    Constant features are never selected; their gates are 0.

    Parameters
    ----------
    n_features
        Number of features to select; `"auto"`: those whose gate is above ½, at least `min_features`.
    min_features
        Number of features that `n_features="auto"` selects at least; `"auto"`: 1 %, at least 2.
    penalty
        `None`: the parameter-free loss; a number: λ; `"warm"`: the λ whose leading features are smoothest.
    gates
        `"deterministic"`, `"per_sample"` or `"per_feature"` draws.
    standardize
        `"global"` or `None`: features as they are.
    n_neighbors
        The neighbour whose distance sets the width of the kernel, the observation itself counted.
    scale
        Width of the kernel in units of that squared distance.
    adapt_scale
        Train again with a narrower kernel where all gates close, or all open.
    bandwidth
        `"median"`, `"max"` or `"local"` distance.
    leave_one_out
        Observations are no neighbours of themselves.
    power
        Steps of the random walk, 1 to 3.
    n_steps
        Training steps at most; `"auto"`: 200, or more with drawn gates or `"sgd"`.
    learning_rate
        How far a gate moves in a step; `"auto"`: .05, .01 with drawn gates, 1 with `"sgd"`.
    optimizer
        `"normalized"`, `"adam"` or `"sgd"`.
    early_stopping
        Stop when the loss hardly falls any more.
    batch_size
        Observations in a step; `"auto"`: all of them up to 1,000, and 500 beyond.
    n_restarts
        Starts, of which the one with the lowest loss is kept.
    random_state

    Attributes
    ----------
    gates_ : array of shape `(n_features_in_,)`
        Gate of every feature, between 0 and 1.
    mu_ : array of shape `(n_features_in_,)`
        What the gates follow, which orders those that are wide open; −∞ for constant features.
    support_ : array of shape `(n_features_in_,)`
        Which features are selected.
    loss_ : array of shape `(n_iter_,)`
        Loss in every step.
    scale_ : float
        Scale of the kernel that was used.
    n_iter_ : int
        Steps of training.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_moons(10)
    >>> selector = dn.sklearn.DUFS().fit(adata.X)
    >>> selector.get_feature_names_out(adata.var_names).tolist()
    ['moon_x', 'moon_y']
    """

    def __init__(
        self,
        *,
        n_features: int | Literal["auto"] = "auto",
        min_features: int | Literal["auto"] = "auto",
        penalty: float | Literal["warm"] | None = None,
        gates: Literal["deterministic", "per_sample", "per_feature"] = "deterministic",
        standardize: Literal["global"] | None = "global",
        n_neighbors: int = 2,
        scale: float = 5.0,
        adapt_scale: bool = True,
        bandwidth: Literal["median", "max", "local"] = "median",
        leave_one_out: bool = True,
        power: int = 2,
        n_steps: int | Literal["auto"] = "auto",
        learning_rate: float | Literal["auto"] = "auto",
        optimizer: Literal["normalized", "adam", "sgd"] = "normalized",
        early_stopping: bool = True,
        batch_size: int | Literal["auto"] = "auto",
        n_restarts: int = 1,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_features = n_features
        self.min_features = min_features
        self.penalty = penalty
        self.gates = gates
        self.standardize = standardize
        self.n_neighbors = n_neighbors
        self.scale = scale
        self.adapt_scale = adapt_scale
        self.bandwidth = bandwidth
        self.leave_one_out = leave_one_out
        self.power = power
        self.n_steps = n_steps
        self.learning_rate = learning_rate
        self.optimizer = optimizer
        self.early_stopping = early_stopping
        self.batch_size = batch_size
        self.n_restarts = n_restarts
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train the gates on observations × features; `y` is ignored."""
        given = self._given()
        check_dufs(given)
        x = self._training_data(X)
        kept = varying_columns(x)
        used = take_columns(x, kept)
        found = fit_dufs(used, dufs_options(given, *used.shape))
        self.gates_ = on_all_features(found.gates, kept)
        self.mu_ = np.full(kept.size, -np.inf)
        self.mu_[kept] = found.mu
        self.support_ = kept.copy()
        self.support_[kept] = found.selected
        self.loss_, self.scale_, self.n_iter_ = found.loss, found.settings.scale, len(found.loss)
        return self

    def _get_support_mask(self) -> Bools:
        check_is_fitted(self)
        return np.asarray(self.support_)
