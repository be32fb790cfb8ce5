"""Tools: compute, store in the AnnData, return None (or the copy)."""

from ._disc import disc
from ._feature_diffmap import feature_diffmap
from ._meta_features import meta_features
from ._scorecard import scorecard

__all__ = ["disc", "feature_diffmap", "meta_features", "scorecard"]
