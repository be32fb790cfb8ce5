"""What the parameters that several estimators share mean, once."""

from __future__ import annotations

from .._docs import documented

SHARED = {
    "standardize": '`"global"`: each feature over all observations; `None`: features as they are.',
    "random_state": "Seed. The same seed gives the same answer; `None` draws one from NumPy's global state.",
    "n_jobs": (
        "Threads that work concurrently. `None`: one, or as many as an active `joblib.parallel_config` says;"
        " −1: all cores."
    ),
}

documented_estimator = documented(SHARED)
