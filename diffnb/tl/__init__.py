"""Tools: compute, store in the AnnData, return None (or the copy)."""

from ._disc import disc
from ._feature_change import feature_change
from ._feature_diffmap import feature_diffmap
from ._meta_features import meta_features
from ._scorecard import scorecard
from ._sparda import pda, sparda

__all__ = ["disc", "feature_change", "feature_diffmap", "meta_features", "pda", "scorecard", "sparda"]
