"""The methods as scikit-learn estimators, for pipelines, grid searches and arrays without an AnnData."""

from ._disc import DiSC
from ._dufs import DUFS
from ._informed import InformedDistance
from ._sparda import SPARDA

__all__ = ["DUFS", "SPARDA", "DiSC", "InformedDistance"]
