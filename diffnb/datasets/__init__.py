"""Simulated and real data with known truth, and importers of images and time series."""

from __future__ import annotations

from ._fmri import nback_fmri
from ._hyperspectral import hyperspectral_tarp
from ._import import from_image_pair, from_parcels
from ._metric import curved_square, hidden_square, two_types
from ._mnist import mnist
from ._modalities import from_mudata
from ._moons import two_moons
from ._pbmc import pbmc
from ._planted import planted_groups
from ._projections import differing_block, nuisance_factor
from ._scrna import scrna
from ._semi_synthetic import semi_synthetic_pair
from ._survival import breast_cancer
from ._toys import (
    newly_connected,
    partial_correlation,
    split_both_ways,
    subsets_of_connected,
    three_conditions,
)

__all__ = [
    "breast_cancer",
    "curved_square",
    "differing_block",
    "from_image_pair",
    "from_mudata",
    "from_parcels",
    "hidden_square",
    "hyperspectral_tarp",
    "mnist",
    "nback_fmri",
    "newly_connected",
    "nuisance_factor",
    "partial_correlation",
    "pbmc",
    "planted_groups",
    "scrna",
    "semi_synthetic_pair",
    "split_both_ways",
    "subsets_of_connected",
    "three_conditions",
    "two_moons",
    "two_types",
]
