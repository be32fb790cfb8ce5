"""Parameters that several simulations share."""

from __future__ import annotations

from .._docs import documented

DATASET_PARTS = {
    "n_obs": """
        n_obs
            Observations in each condition.
        """,
    "n_features": """
        n_features
            Number of all features.
        """,
    "random_state": """
        random_state
            Seed; the same seed gives the same numbers.
        """,
}

#: fills these descriptions into the docstring of a simulation
documented_dataset = documented(DATASET_PARTS)
