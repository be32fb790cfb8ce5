"""Resampling and p-values, the same for every method."""
