"""The boundary to AnnData: `pull` and `pull_all` read matrices, `store` writes results.

Nothing else knows where things are.
"""

from .counts import measurable, pull_counts
from .covariates import read_covariates
from .depth import MATCHED, counts_of, totals_of, warn_of_depth
from .fingerprint import changes, fingerprint, has_other_features
from .guard import check_anndata, guarded
from .lazy import in_memory
from .light import adopt, light_copy
from .locks import locks_of
from .numbers import check_values
from .ownership import refuse_foreign
from .params import StandIn, ToolCall, bound, replayed
from .read import MIN_OBS_PER_CONDITION, Pulled, PulledAll, all_rows, expand, feature_mask, pull, pull_all
from .series import TIME_BLOCKS, row_autocorrelation, series_of_blocks, warn_of_series, warn_of_stretches
from .slots import Change, change_slots
from .units import warn_of_units
from .write import Results, add, set_obs_column, set_var_column, store

__all__ = [
    "MATCHED",
    "MIN_OBS_PER_CONDITION",
    "TIME_BLOCKS",
    "Change",
    "Pulled",
    "PulledAll",
    "Results",
    "StandIn",
    "ToolCall",
    "add",
    "adopt",
    "all_rows",
    "bound",
    "change_slots",
    "changes",
    "check_anndata",
    "check_values",
    "counts_of",
    "expand",
    "feature_mask",
    "fingerprint",
    "guarded",
    "has_other_features",
    "in_memory",
    "light_copy",
    "locks_of",
    "measurable",
    "pull",
    "pull_all",
    "pull_counts",
    "read_covariates",
    "refuse_foreign",
    "replayed",
    "row_autocorrelation",
    "series_of_blocks",
    "set_obs_column",
    "set_var_column",
    "store",
    "totals_of",
    "warn_of_depth",
    "warn_of_series",
    "warn_of_stretches",
    "warn_of_units",
]
