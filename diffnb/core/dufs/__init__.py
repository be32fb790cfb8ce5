"""DUFS: unsupervised selection of features by a gated graph Laplacian, and the Laplacian score."""

from .batches import resolved_batch_size
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
    "DufsFit",
    "DufsOptions",
    "DufsSettings",
    "GraphOptions",
    "LaplacianScoreFit",
    "LaplacianScoreOptions",
    "WarmStart",
    "fit_dufs",
    "fit_laplacian_score",
    "resolved_batch_size",
]
