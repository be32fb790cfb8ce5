"""Figures of what `get` reads."""

from ._brain import feature_brain
from ._compare import compare_overlap, compare_ranks
from ._dufs import dufs
from ._effects import forest, volcano
from ._embedding import disc_embedding
from ._enrich import enrich
from ._graph import disc_graph
from ._image import feature_image
from ._informed import informed_covariance, informed_embedding, informed_gap
from ._network import network
from ._observations import disc_observations
from ._power import power
from ._preservation import preservation
from ._rankings import disc_features, disc_groups
from ._scorecard import scorecard
from ._significance import disc_significance
from ._sparda import sparda, sparda_path, sparda_projection
from ._survival import survival
from ._trend import trend
from ._vectors import disc_vectors, feature_diffmap

__all__ = [
    "compare_overlap",
    "compare_ranks",
    "disc_embedding",
    "disc_features",
    "disc_graph",
    "disc_groups",
    "disc_observations",
    "disc_significance",
    "disc_vectors",
    "dufs",
    "enrich",
    "feature_brain",
    "feature_diffmap",
    "feature_image",
    "forest",
    "informed_covariance",
    "informed_embedding",
    "informed_gap",
    "network",
    "power",
    "preservation",
    "scorecard",
    "sparda",
    "sparda_path",
    "sparda_projection",
    "survival",
    "trend",
    "volcano",
]
