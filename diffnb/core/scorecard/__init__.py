"""The scorecard: shift in mean, spread, distribution and connectivity of every feature."""

from .by_sample import MIN_OBS_PER_SAMPLE, Design, design
from .card import ALPHA, KINDS, NONE, ScorecardFit, ScorecardSettings, fit_scorecard
from .connectivity import MIN_OBS_FOR_CONNECTIVITY
from .edges import CLASSES, EdgeOptions, Edges, fit_edges
from .effects import Effects, fit_effects
from .small_groups import smallest_pvalue

__all__ = [
    "ALPHA",
    "CLASSES",
    "KINDS",
    "MIN_OBS_FOR_CONNECTIVITY",
    "MIN_OBS_PER_SAMPLE",
    "NONE",
    "Design",
    "EdgeOptions",
    "Edges",
    "Effects",
    "ScorecardFit",
    "ScorecardSettings",
    "design",
    "fit_edges",
    "fit_effects",
    "fit_scorecard",
    "smallest_pvalue",
]
