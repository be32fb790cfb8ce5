"""The scorecard: shift in mean, spread, distribution and connectivity of every feature."""

from .by_sample import MIN_OBS_PER_SAMPLE, Design, design
from .card import ALPHA, KINDS, NONE, ScorecardFit, ScorecardSettings, fit_scorecard
from .connectivity import MIN_OBS_FOR_CONNECTIVITY

__all__ = [
    "ALPHA",
    "KINDS",
    "MIN_OBS_FOR_CONNECTIVITY",
    "MIN_OBS_PER_SAMPLE",
    "NONE",
    "Design",
    "ScorecardFit",
    "ScorecardSettings",
    "design",
    "fit_scorecard",
]
