"""Results as tidy tables."""

from ._disc import disc, disc_significance
from ._dufs import dufs, dufs_training, laplacian_score
from ._feature_diffmap import feature_diffmap
from ._scorecard import scorecard
from ._sparda import sparda, sparda_path, sparda_projection, sparda_summary

__all__ = [
    "disc",
    "disc_significance",
    "dufs",
    "dufs_training",
    "feature_diffmap",
    "laplacian_score",
    "scorecard",
    "sparda",
    "sparda_path",
    "sparda_projection",
    "sparda_summary",
]
