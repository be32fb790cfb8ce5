"""The Mahalanobis distance between observations, informed by clusters of features."""

from .analysis import InformedFit, InformedOptions, InformedSettings, fit_informed
from .clusters import in_order
from .local import CLUSTERINGS
from .metric import DIRECTION_SOLVERS, EIGENVALUES

__all__ = [
    "CLUSTERINGS",
    "DIRECTION_SOLVERS",
    "EIGENVALUES",
    "InformedFit",
    "InformedOptions",
    "InformedSettings",
    "fit_informed",
    "in_order",
]
