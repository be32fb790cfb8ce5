"""Results as tidy tables."""

from ._candidates import candidate_conditions, candidate_covariates, candidate_samples
from ._compare import compare, compare_overlap
from ._contents import contents
from ._disc import disc, disc_significance
from ._disc_evidence import disc_evidence
from ._disc_features import disc_features
from ._disc_groups import disc_groups
from ._disc_replication import disc_replication
from ._disc_trend import disc_trend
from ._dufs import diverse_features, dufs, dufs_summary, dufs_training, laplacian_score
from ._edges import edges
from ._effects import effects
from ._enrich import enrich
from ._feature_graph import feature_change, feature_diffmap
from ._gene_sets import gene_sets, gmt
from ._graph import disc_graph
from ._group_views import group_correlations, group_features, group_scores
from ._informed import (
    informed_clusters,
    informed_covariance,
    informed_distances,
    informed_eigenvalues,
    informed_embedding,
    informed_gap,
    informed_summary,
)
from ._meta_features import meta_features
from ._network import cytoscape, graphml, network
from ._power import power
from ._preservation import preservation, projection
from ._results import params, results
from ._scorecard import scorecard
from ._sparda import sparda, sparda_path, sparda_projection, sparda_summary
from ._survival import survival, survival_groups, survival_tests
from ._trend import trend

__all__ = [
    "candidate_conditions",
    "candidate_covariates",
    "candidate_samples",
    "compare",
    "compare_overlap",
    "contents",
    "cytoscape",
    "disc",
    "disc_evidence",
    "disc_features",
    "disc_graph",
    "disc_groups",
    "disc_replication",
    "disc_significance",
    "disc_trend",
    "diverse_features",
    "dufs",
    "dufs_summary",
    "dufs_training",
    "edges",
    "effects",
    "enrich",
    "feature_change",
    "feature_diffmap",
    "gene_sets",
    "gmt",
    "graphml",
    "group_correlations",
    "group_features",
    "group_scores",
    "informed_clusters",
    "informed_covariance",
    "informed_distances",
    "informed_eigenvalues",
    "informed_embedding",
    "informed_gap",
    "informed_summary",
    "laplacian_score",
    "meta_features",
    "network",
    "params",
    "power",
    "preservation",
    "projection",
    "results",
    "scorecard",
    "sparda",
    "sparda_path",
    "sparda_projection",
    "sparda_summary",
    "survival",
    "survival_groups",
    "survival_tests",
    "trend",
]
