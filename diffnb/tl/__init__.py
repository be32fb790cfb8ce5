"""Tools: compute, store in the AnnData, return None (or the copy)."""

from ._disc import disc
from ._diverse_features import diverse_features
from ._dufs import dufs
from ._enrich import enrich
from ._feature_change import feature_change
from ._feature_diffmap import feature_diffmap
from ._informed_distance import informed_distance
from ._laplacian_score import laplacian_score
from ._meta_features import meta_features
from ._power import power
from ._preservation import preservation
from ._project import project
from ._scorecard import scorecard
from ._sparda import pda, sparda
from ._survival import survival

__all__ = [
    "disc",
    "diverse_features",
    "dufs",
    "enrich",
    "feature_change",
    "feature_diffmap",
    "informed_distance",
    "laplacian_score",
    "meta_features",
    "pda",
    "power",
    "preservation",
    "project",
    "scorecard",
    "sparda",
    "survival",
]
