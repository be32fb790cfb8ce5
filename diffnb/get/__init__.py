"""Results as tidy tables."""

from ._disc import disc, disc_significance
from ._feature_diffmap import feature_diffmap
from ._scorecard import scorecard

__all__ = ["disc", "disc_significance", "feature_diffmap", "scorecard"]
