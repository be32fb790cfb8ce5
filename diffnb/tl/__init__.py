"""Tools: compute, store in the AnnData, return None (or the copy)."""

from ._disc import disc
from ._feature_diffmap import feature_diffmap
from ._informed_distance import informed_distance
from ._meta_features import meta_features
from ._scorecard import scorecard
from ._sparda import pda, sparda
from ._survival import survival

__all__ = ["disc", "feature_diffmap", "informed_distance", "meta_features", "pda", "scorecard", "sparda", "survival"]
