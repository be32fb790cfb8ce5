"""What DiSC is compared with: diffusion maps for changing data.

Coifman & Hirn, "Diffusion maps for changing data", Appl. Comput. Harmon. Anal. 36, 2014.
"""

from __future__ import annotations

import numpy as np

from ..spectral.eigen import leading_eigenpairs
from ..spectral.walk import Walk
from ..typing import Floats


def diffusion_change(
    first: Walk, second: Walk, /, *, n_eigenvectors: int = 50, n_steps: int = 1, seed: int = 0
) -> Floats:
    """Distance of every feature between its places in two graphs on the same features.

    With A and B the symmetric forms of both walks, the distance of feature i is the length of row i of
    Aᵗ − Bᵗ: how differently t steps from i spread. Eigenvectors bring both into one space, since the inner
    product of rows of Aᵗ and Bᵗ needs only those between eigenvectors.
    """
    (values_a, vectors_a), (values_b, vectors_b) = (
        leading_eigenpairs(walk.symmetric, min(n_eigenvectors, walk.n_features), seed=seed) for walk in (first, second)
    )
    a, b = vectors_a * values_a**n_steps, vectors_b * values_b**n_steps
    across = np.einsum("ij,ij->i", a @ (vectors_a.T @ vectors_b), b)
    squared = (a**2).sum(axis=1) + (b**2).sum(axis=1) - 2 * across
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))
