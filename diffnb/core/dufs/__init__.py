"""Unsupervised selection of features: DUFS by a gated graph Laplacian, the Laplacian score, and diverse features."""

from .batches import resolved_batch_size
from .diverse import DiverseFit, DiverseOptions, fit_diverse_features
from .laplacian_score import EDGE_WEIGHTS, LaplacianScoreFit, LaplacianScoreOptions, fit_laplacian_score
from .objective import GATES
from .optimizer import OPTIMIZERS
from .smoothness import BANDWIDTHS, MAX_POWER, GraphOptions
from .train import DufsFit, DufsOptions, DufsSettings, WarmStart, fit_dufs

__all__ = [
    "BANDWIDTHS",
    "EDGE_WEIGHTS",
    "GATES",
    "MAX_POWER",
    "OPTIMIZERS",
    "DiverseFit",
    "DiverseOptions",
    "DufsFit",
    "DufsOptions",
    "DufsSettings",
    "GraphOptions",
    "LaplacianScoreFit",
    "LaplacianScoreOptions",
    "WarmStart",
    "fit_diverse_features",
    "fit_dufs",
    "fit_laplacian_score",
    "resolved_batch_size",
]
