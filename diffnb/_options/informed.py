"""Options of the informed distance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from .. import _validate as validate
from ..core.mahalanobis import CLUSTERINGS, DIRECTION_SOLVERS, EIGENVALUES, InformedOptions

#: observations × observations arrays at a time: distances, their squares and weights
N_PAIRWISE_ARRAYS = 3


def check_informed(given: Any) -> None:
    """Refuse words that are not options, before any data is read."""
    validate.flags(informed=given.informed, local=given.local)
    validate.choice("solver", given.solver, DIRECTION_SOLVERS)
    validate.choice("eigenvalues", given.eigenvalues, EIGENVALUES)
    validate.choice("clustering", given.clustering, CLUSTERINGS)
    if given.clustering == "each" and not given.local:
        raise ValueError("clustering='each' is one clustering for each neighbourhood; it needs local=True.")
    weight = given.cluster_weight = _cluster_weight(given.cluster_weight)
    if weight != 1.0 and (given.local or given.solver != "exact"):
        raise ValueError(
            f"cluster_weight={weight!r} is for the global metric with solver='exact'; leave it at 1, or use local=False"
            " and solver='exact'."
        )


def informed_options(
    given: Any, n_obs: int, n_features: int, *, n_clusters: int | None = None, min_clusters: int = 2
) -> InformedOptions:
    """Return the options for so many observations and features; `n_clusters` where clusters are known."""
    options = InformedOptions(
        informed=given.informed,
        local=given.local,
        clustering=given.clustering,
        n_clusters=_number_of_clusters(given, n_features, min_clusters) if n_clusters is None else n_clusters,
        n_neighbors=validate.count(
            "n_neighbors",
            given.n_neighbors,
            at_least=3 if given.local else 2,
            at_most=n_obs,
            why=f"there are {n_obs} observations, and an observation counts among its neighbours",
        ),
        solver=given.solver,
        eigenvalues=given.eigenvalues,
        cluster_weight=given.cluster_weight,
        full=_full(given.full),
        seed=validate.seed(given.random_state),
    )
    _check_memory(options.full, n_obs)
    return _with_components(options, given.n_components, n_obs, n_features)


def _cluster_weight(value: object) -> float | Literal["auto"]:
    if isinstance(value, str):
        validate.choice("cluster_weight", value, (validate.AUTO,))
        return "auto"
    weight = validate.positive("cluster_weight", value, zero=True)
    if weight > 1:
        raise ValueError(f"cluster_weight={value!r} must be between 0 (PCA) and 1 (clusters alone), or 'auto'.")
    return weight


def _number_of_clusters(given: Any, n_features: int, at_least: int) -> int | Literal["auto"]:
    if isinstance(given.n_clusters, str) or not given.informed:
        return "auto"
    why = f"there are {n_features} features"
    return validate.count("n_clusters", given.n_clusters, at_least=at_least, at_most=n_features, why=why)


def _full(value: object) -> bool | Literal["auto"]:
    if isinstance(value, str):
        validate.choice("full", value, ("auto",))
        return "auto"
    validate.flags(full=value)
    return bool(value)


def _check_memory(full: object, n_obs: int) -> None:
    if full is True:
        validate.memory(
            8 * N_PAIRWISE_ARRAYS * n_obs**2,
            f"full=True for {n_obs:,} observations",
            "Use full=False, which keeps the nearest neighbours of every observation.",
        )


def _with_components(options: InformedOptions, n_components: object, n_obs: int, n_features: int) -> InformedOptions:
    size = options.n_neighbors if options.local else n_obs
    most, why = size - 1, f"{size} observations span no more"
    span = options.n_clusters if options.informed else n_features
    if span != "auto" and span < most:
        most, why = span, f"{span} clusters" if options.informed else f"{span} features"
    count = validate.auto_count("n_components", n_components, at_most=most, why=why)
    return replace(options, n_components="auto" if count is None else count)
