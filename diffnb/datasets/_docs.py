"""Parameters that several simulations share."""

from __future__ import annotations

from .._docs import documented

SIMULATION_PARAMETERS = {
    "n_obs": "Observations in each condition.",
    "n_features": "Number of all features.",
    "random_state": "Seed; the same seed gives the same numbers.",
}

#: inserts these descriptions into the docstring of a simulation
documented_simulation = documented(SIMULATION_PARAMETERS)
