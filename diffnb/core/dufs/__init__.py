"""DUFS: unsupervised selection of features by a gated graph Laplacian."""

from .gates import settled
from .laplacian_score import EDGE_WEIGHTS, laplacian_scores, neighbor_graph, scaled
from .objective import GATES
from .smoothness import BANDWIDTHS, MOST_STEPS, Graph
from .train import OPTIMIZERS, Dufs, Settings, dufs

__all__ = [
    "BANDWIDTHS",
    "EDGE_WEIGHTS",
    "GATES",
    "MOST_STEPS",
    "OPTIMIZERS",
    "Dufs",
    "Graph",
    "Settings",
    "dufs",
    "laplacian_scores",
    "neighbor_graph",
    "scaled",
    "settled",
]
