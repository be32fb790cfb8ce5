"""The scorecard: shift in mean, spread, distribution and connectivity of every feature."""

from .by_sample import MIN_OBS_PER_SAMPLE, Design, design
from .card import ALPHA, KINDS, NONE, ScorecardFit, ScorecardSettings, fit_scorecard
from .connectivity import MIN_OBS_FOR_CONNECTIVITY, connectivity_test
from .edges import CLASSES, EdgeOptions, Edges, fit_edges
from .effects import Effects, fit_effects
from .power import PowerFit, PowerOptions, planted_order, simulate_power, units_needed
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
    "PowerFit",
    "PowerOptions",
    "ScorecardFit",
    "ScorecardSettings",
    "connectivity_test",
    "design",
    "fit_edges",
    "fit_effects",
    "fit_scorecard",
    "planted_order",
    "simulate_power",
    "smallest_pvalue",
    "units_needed",
]
