"""DiSC: groups of features whose connectivity differs between conditions."""

from .algorithm import DiscFit, fit_disc
from .analysis import Analysis, AnalysisOptions, analyse, complete_samples
from .change_detectors import CHANGE_DETECTORS, bulk_pvalues
from .change_maps import diffusion_change, diffusion_maps
from .feature_graph import feature_walks
from .feature_groups import FeatureGroups
from .group_summary import cohesion, group_values
from .membership import Correlations
from .naming import MIN_PERMUTATIONS, Naming
from .nesting import subgroups
from .permutable import Null
from .replication import MIN_SAMPLES_TO_SPLIT, Agreement, Replication
from .settings import DiscOptions, DiscSettings, FeatureGraphOptions, FeatureGraphSettings
from .significance import permutation_test

__all__ = [
    "CHANGE_DETECTORS",
    "MIN_PERMUTATIONS",
    "MIN_SAMPLES_TO_SPLIT",
    "Agreement",
    "Analysis",
    "AnalysisOptions",
    "Correlations",
    "DiscFit",
    "DiscOptions",
    "DiscSettings",
    "FeatureGraphOptions",
    "FeatureGraphSettings",
    "FeatureGroups",
    "Naming",
    "Null",
    "Replication",
    "analyse",
    "bulk_pvalues",
    "cohesion",
    "complete_samples",
    "diffusion_change",
    "diffusion_maps",
    "feature_walks",
    "fit_disc",
    "group_values",
    "permutation_test",
    "subgroups",
]
