"""The scorecard: shift in mean, spread, distribution and connectivity of every feature."""

from .by_sample import MIN_OBS_PER_SAMPLE, Design, design
from .card import ALPHA, KINDS, NONE, ScorecardFit, ScorecardSettings, fit_scorecard
from .connectivity import MIN_OBS_FOR_CONNECTIVITY, connectivity_test
from .edges import CLASSES, EdgeOptions, Edges, fit_edges
from .effects import CONFIDENCE, Effects, fit_effects
from .group_trend import GroupTrend, fit_group_trend
from .power import PowerFit, PowerOptions, planted_order, simulate_power, units_needed
from .small_groups import smallest_pvalue
from .trend import TrendFit, TrendSettings, dose_levels, fit_trend

__all__ = [
    "ALPHA",
    "CLASSES",
    "CONFIDENCE",
    "KINDS",
    "MIN_OBS_FOR_CONNECTIVITY",
    "MIN_OBS_PER_SAMPLE",
    "NONE",
    "Design",
    "EdgeOptions",
    "Edges",
    "Effects",
    "GroupTrend",
    "PowerFit",
    "PowerOptions",
    "ScorecardFit",
    "ScorecardSettings",
    "TrendFit",
    "TrendSettings",
    "connectivity_test",
    "design",
    "dose_levels",
    "fit_edges",
    "fit_effects",
    "fit_group_trend",
    "fit_scorecard",
    "fit_trend",
    "planted_order",
    "simulate_power",
    "smallest_pvalue",
    "units_needed",
]
