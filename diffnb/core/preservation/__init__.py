"""Preservation: whether a group of features found in one data set is connected in another."""

from .analysis import PreservationFit, PreservationOptions, fit_preservation
from .statistics import COMPOSITES, STATISTICS

__all__ = [
    "COMPOSITES",
    "STATISTICS",
    "PreservationFit",
    "PreservationOptions",
    "fit_preservation",
]
