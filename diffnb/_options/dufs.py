"""Options of DUFS."""

from __future__ import annotations

from typing import Any, Literal

from .. import _validate as validate
from ..core.dufs import BANDWIDTHS, GATES, MAX_POWER, OPTIMIZERS, DufsOptions, GraphOptions, resolved_batch_size

#: features that are selected at least, as a number and as a share of all
MIN_SELECTED_FEATURES, MIN_SELECTED_SHARE = 2, 0.01
#: steps and learning rate of `"auto"`: with the moments of gates, with drawn gates, and with the authors' optimizer
EXACT_TRAINING, DRAWN_TRAINING, SGD_TRAINING = (200, 0.05), (1000, 0.01), (5000, 1.0)
#: observations × observations arrays of a step: products, distances, the walk, its powers and gradients
N_ARRAYS_PER_BATCH = 8


def check_dufs(given: Any) -> None:
    """Refuse words that are not options, before any data is read."""
    validate.flags(
        leave_one_out=given.leave_one_out, early_stopping=given.early_stopping, adapt_scale=given.adapt_scale
    )
    validate.choice("gates", given.gates, GATES)
    validate.choice("bandwidth", given.bandwidth, BANDWIDTHS)
    validate.choice("optimizer", given.optimizer, OPTIMIZERS)
    if given.standardize is not None:
        validate.choice("standardize", given.standardize, ("global",))


def dufs_options(given: Any, n_obs: int, n_features: int) -> DufsOptions:
    """Return the options for so many observations and features."""
    batch = _batch(given.batch_size, n_obs)
    why = f"there are {n_features} features"
    n_selected = validate.auto_count("n_features", given.n_features, at_most=n_features, why=why)
    at_least = validate.auto_count("min_features", given.min_features, at_most=n_features, why=why)
    return DufsOptions(
        n_features="auto" if n_selected is None else n_selected,
        min_features=auto_min_features(n_features) if at_least is None else at_least,
        penalty=_penalty(given.penalty, n_selected),
        gates=given.gates,
        graph=GraphOptions(
            n_neighbors=validate.count("n_neighbors", given.n_neighbors, at_least=2, at_most=batch, why="in a batch"),
            scale=validate.positive("scale", given.scale),
            bandwidth=given.bandwidth,
            power=validate.count("power", given.power, at_most=MAX_POWER),
            leave_one_out=given.leave_one_out,
        ),
        standardize=given.standardize,
        n_steps=_n_steps(given),
        learning_rate=_learning_rate(given),
        optimizer=given.optimizer,
        batch_size=batch,
        n_restarts=validate.repeats("n_restarts", given.n_restarts, at_least=1),
        early_stopping=given.early_stopping,
        adapt_scale=given.adapt_scale,
        seed=validate.seed(given.random_state),
    )


def _penalty(penalty: object, n_features: int | None) -> float | Literal["warm"] | None:
    if penalty is None:
        return None
    if isinstance(penalty, str):
        validate.choice("penalty", penalty, ("warm",))
        if n_features is None:
            raise ValueError("penalty='warm' finds the penalty for a number of features: give n_features.")
        return "warm"
    return validate.positive("penalty", penalty, zero=True)


def _n_steps(given: Any) -> int:
    if isinstance(given.n_steps, str):
        validate.choice("n_steps", given.n_steps, (validate.AUTO,))
        return _auto_training(given)[0]
    return validate.repeats("n_steps", given.n_steps, at_least=1)


def _learning_rate(given: Any) -> float:
    if isinstance(given.learning_rate, str):
        validate.choice("learning_rate", given.learning_rate, (validate.AUTO,))
        return _auto_training(given)[1]
    return validate.positive("learning_rate", given.learning_rate)


def _auto_training(given: Any) -> tuple[int, float]:
    """Return the number of steps and their size: drawn gates need many short steps, which average the draws."""
    if given.optimizer == "sgd":
        return SGD_TRAINING
    return EXACT_TRAINING if given.gates == "deterministic" else DRAWN_TRAINING


def _batch(batch_size: object, n: int) -> int:
    given = validate.auto_count("batch_size", batch_size, at_least=3)
    resolved = resolved_batch_size("auto" if given is None else given, n)
    validate.memory(
        8 * N_ARRAYS_PER_BATCH * resolved**2,
        f"batch_size={batch_size!r}, steps of {resolved:,} observations,",
        "Use smaller batches, such as batch_size=500.",
    )
    return resolved


def auto_min_features(n_features: int) -> int:
    """Return how many features `n_features="auto"` selects at least."""
    return min(n_features, max(MIN_SELECTED_FEATURES, int(MIN_SELECTED_SHARE * n_features)))
