"""Tools: compute, store in the AnnData, return None (or the copy)."""

from ._disc import disc
from ._dufs import dufs
from ._feature_diffmap import feature_diffmap
from ._laplacian_score import laplacian_score
from ._meta_features import meta_features
from ._scorecard import scorecard
from ._sparda import pda, sparda

__all__ = [
    "disc",
    "dufs",
    "feature_diffmap",
    "laplacian_score",
    "meta_features",
    "pda",
    "scorecard",
    "sparda",
]
