"""The Mahalanobis distance between observations, informed by clusters of features."""

from .analysis import Distances, Request, distances
from .clusters import in_order
from .metric import EIGENVALUES, SOLVERS

__all__ = ["EIGENVALUES", "SOLVERS", "Distances", "Request", "distances", "in_order"]
