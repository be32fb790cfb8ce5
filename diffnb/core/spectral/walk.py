"""The random walk on a graph of features.

The walk P = diag(K1)⁻¹K is kept as its symmetric conjugate, P = diag(1/h) S diag(h) with h = √(K1), because
S has the same eigenvalues and orthogonal eigenvectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..typing import Floats


@dataclass(frozen=True, slots=True)
class Walk:
    """A random walk on features: P = diag(1/root) symmetric diag(root)."""

    symmetric: Any
    root: Floats

    @property
    def n_features(self) -> int:
        """Number of nodes."""
        return len(self.root)

    def step(self, v: Floats) -> Floats:
        """P v."""
        root = self.root if v.ndim == 1 else self.root[:, None]
        return np.asarray(self.symmetric @ (root * v) / root)

    def step_back(self, v: Floats) -> Floats:
        """Pᵀ v."""
        root = self.root if v.ndim == 1 else self.root[:, None]
        return np.asarray(root * (self.symmetric @ (v / root)))


def random_walk(weights: Any, /, *, density_normalize: bool = True) -> Walk:
    """Normalise weights to a random walk, optionally after dividing by the density of features.

    With `density_normalize` K = W / (q qᵀ), q = W1; without it K = W. Dense weights are overwritten.
    """
    if density_normalize:
        weights = _scaled(weights, 1.0 / _row_sums(weights))
    root = np.sqrt(_row_sums(weights))
    return Walk(_scaled(weights, 1.0 / root), root)


def _row_sums(weights: Any) -> Floats:
    return np.asarray(weights.sum(axis=1)).ravel()


def _scaled(weights: Any, factor: Floats) -> Any:
    if sp.issparse(weights):
        weights = weights.copy()
        weights.data *= np.repeat(factor, np.diff(weights.indptr)) * factor[weights.indices]
        return weights
    weights *= factor[:, None]
    weights *= factor
    return weights
