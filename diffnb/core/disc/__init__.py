"""DiSC: groups of features whose connectivity differs between conditions."""

from .algorithm import DiscFit, fit_disc
from .analysis import Analysis, AnalysisOptions, analyse, complete_samples
from .change_detectors import CHANGE_DETECTORS
from .change_maps import diffusion_change, diffusion_maps
from .feature_graph import feature_walks
from .replication import MIN_SAMPLES_TO_SPLIT, Agreement, Replication
from .settings import DiscOptions, DiscSettings, FeatureGraphOptions, FeatureGraphSettings
from .significance import permutation_test

__all__ = [
    "CHANGE_DETECTORS",
    "MIN_SAMPLES_TO_SPLIT",
    "Agreement",
    "Analysis",
    "AnalysisOptions",
    "DiscFit",
    "DiscOptions",
    "DiscSettings",
    "FeatureGraphOptions",
    "FeatureGraphSettings",
    "Replication",
    "analyse",
    "complete_samples",
    "diffusion_change",
    "diffusion_maps",
    "feature_walks",
    "fit_disc",
    "permutation_test",
]
