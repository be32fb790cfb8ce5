"""Methods that DiSC is compared with: diffusion maps of the features, and how far features move between them.

Coifman & Lafon, "Diffusion maps", Appl. Comput. Harmon. Anal. 21, 2006.
Coifman & Hirn, "Diffusion maps for changing data", Appl. Comput. Harmon. Anal. 36, 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ..runtime.threads import thread_limits
from ..spectral.eigen import leading_eigenpairs, walk_eigenvectors
from ..spectral.walk import Walk
from ..typing import Floats, Matrix
from .defaults import resolve_graph
from .feature_graph import as_points, feature_walk
from .settings import FeatureGraphOptions, FeatureGraphSettings


@dataclass(frozen=True, slots=True)
class DiffusionMaps:
    """Diffusion maps of the features, per condition, without the constant eigenvector."""

    settings: FeatureGraphSettings
    #: conditions × components
    eigenvalues: Floats
    #: conditions × features × components
    vectors: Floats


def diffusion_maps(matrices: Sequence[Matrix], options: FeatureGraphOptions, /, *, n_components: int) -> DiffusionMaps:
    """Diffusion map of the features of each condition: non-trivial eigenvalues and right eigenvectors of P."""
    with thread_limits(matrices[0].shape[1]):
        points = as_points(matrices, options.standardize)
        settings = resolve_graph(points, options)
        found = [walk_eigenvectors(feature_walk(c, settings), n_components + 1, seed=settings.seed) for c in points]
    return DiffusionMaps(
        settings,
        eigenvalues=np.stack([values[1:] for values, _ in found]),
        vectors=np.stack([vectors[:, 1:] for _, vectors in found]),
    )


def diffusion_change(
    first: Walk, second: Walk, /, *, n_eigenvectors: int = 50, n_steps: int = 1, seed: int = 0
) -> Floats:
    """Diffusion distance of every feature from itself, between two graphs on the same features.

    With A and B the symmetric conjugates of both walks, the distance of feature i is the norm of row i of Aᵗ − Bᵗ: how
    differently t steps from i spread. With eigenvectors U of A and V of B, and V = UC + R, row i is written in U and in
    an orthonormal basis of R, so that a small distance is not the difference of large numbers.
    """
    (values_a, vectors_a), (values_b, vectors_b) = (
        leading_eigenpairs(walk.symmetric, min(n_eigenvectors, walk.n_features), seed=seed) for walk in (first, second)
    )
    a, b = vectors_a * values_a**n_steps, vectors_b * values_b**n_steps
    common = vectors_a.T @ vectors_b
    rest = scipy.linalg.qr(vectors_b - vectors_a @ common, mode="r")[0][: common.shape[1]]
    return np.asarray(np.hypot(np.linalg.norm(a - b @ common.T, axis=1), np.linalg.norm(b @ rest.T, axis=1)))
