"""DiSC: groups of features whose connectivity differs between conditions."""

from .algorithm import Settings, as_points, diffusion_maps, feature_walk
from .analysis import Analysis, Plan, analyse, complete_samples
from .change_maps import diffusion_change
from .defaults import Request, neighbors_for, with_search

__all__ = [
    "Analysis",
    "Plan",
    "Request",
    "Settings",
    "analyse",
    "as_points",
    "complete_samples",
    "diffusion_change",
    "diffusion_maps",
    "feature_walk",
    "neighbors_for",
    "with_search",
]
