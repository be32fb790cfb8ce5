"""Resampling, p-values and choices, the same for every method."""
