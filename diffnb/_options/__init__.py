"""What a user gives a method, checked and made into its options: once for the tool and for the estimator.

`given` is a namespace with the arguments of the call; what a method reads of an AnnData is none of it.
"""

from .disc import DEFAULT_COMPONENTS, check_disc, disc_options, frequent_enough, standardize_of
from .dufs import auto_min_features, check_dufs, dufs_options
from .informed import check_informed, informed_options
from .sparda import ALL, check_solver, check_sparda, sparda_options

__all__ = [
    "ALL",
    "DEFAULT_COMPONENTS",
    "auto_min_features",
    "check_disc",
    "check_dufs",
    "check_informed",
    "check_solver",
    "check_sparda",
    "disc_options",
    "dufs_options",
    "frequent_enough",
    "informed_options",
    "sparda_options",
    "standardize_of",
]
