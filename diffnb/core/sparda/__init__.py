"""PDA and SPARDA: the (sparse) projection along which two populations differ most."""

from .cross_validation import FOLDS, n_folds
from .divergence import DIVERGENCES
from .fit import MOST_RELAXED, Projection, Settings, along, sparda

__all__ = ["DIVERGENCES", "FOLDS", "MOST_RELAXED", "Projection", "Settings", "along", "n_folds", "sparda"]
