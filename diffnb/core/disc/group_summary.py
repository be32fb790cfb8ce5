"""What groups of features are like: how strongly they co-vary in every condition, and their value per observation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays.affine import Affine, AffineMap, inverse_sd
from ..arrays.ops import mean_and_variance
from ..typing import Floats, Ints, Matrix
from .membership import Correlations


def cohesion(labels: Ints, conditions: Sequence[Correlations], /) -> Floats:
    """Mean correlation between the features of every group, groups × conditions."""
    return np.array([[c.cohesion(labels == g) for c in conditions] for g in range(1, int(labels.max()) + 1)])


def group_values(x: Matrix, labels: Ints, /) -> Floats:
    """Mean of the standardised features of every group, groups × observations."""
    mean, variance = mean_and_variance(x)
    indicator = np.stack([labels == g for g in range(1, int(labels.max()) + 1)]).astype(float)
    weights = indicator / indicator.sum(axis=1, keepdims=True)
    return Affine(x, AffineMap(mean, inverse_sd(mean, variance))).matmul(weights)
