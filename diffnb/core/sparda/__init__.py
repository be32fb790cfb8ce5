"""PDA and SPARDA: the (sparse) projection along which two populations differ most."""

from .cross_validation import DEFAULT_FOLDS, n_folds
from .divergence import DIVERGENCES
from .fit import MAX_RELAXED_FEATURES, Projection, SpardaFit, SpardaOptions, fit_sparda, project_others, projection_map
from .significance import divergence_test

__all__ = [
    "DEFAULT_FOLDS",
    "DIVERGENCES",
    "MAX_RELAXED_FEATURES",
    "Projection",
    "SpardaFit",
    "SpardaOptions",
    "divergence_test",
    "fit_sparda",
    "n_folds",
    "project_others",
    "projection_map",
]
