"""The random walk on a graph of features.

The walk P = diag(K1)⁻¹K is kept as its symmetric conjugate, P = diag(1/h) S diag(h) with h = √(K1), because
S has the same eigenvalues and orthogonal eigenvectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsymv

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
        return np.asarray(multiply_symmetric(self.symmetric, root * v) / root)

    def step_back(self, v: Floats) -> Floats:
        """Pᵀ v."""
        root = self.root if v.ndim == 1 else self.root[:, None]
        return np.asarray(root * multiply_symmetric(self.symmetric, v / root))


def multiply_symmetric(symmetric: Any, v: Floats, /) -> Floats:
    """Multiply a symmetric matrix by a vector, reading one side of the diagonal only, or by several vectors."""
    if v.ndim == 1 and isinstance(symmetric, np.ndarray) and symmetric.flags.c_contiguous:
        return np.asarray(dsymv(1.0, symmetric.T, v))  # the transpose is in the order of Fortran: nothing is copied
    return np.asarray(symmetric @ v)


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
