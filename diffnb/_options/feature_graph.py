"""Checks of the arguments that describe a graph of features."""

from __future__ import annotations

from typing import Literal

from .. import _validate as validate
from ..core.disc import FeatureGraphOptions
from ..core.spectral.distances import METRICS, Metric
from ..core.spectral.feature_knn import SEARCHES

GRAPHS = ("dense", "knn")
#: features × features arrays beside that of each condition: distances, weights and their product
N_TEMPORARY = 2


def check_graph(metric: object, graph: object, neighbors: object, /) -> None:
    """Refuse words that name no distance, no graph or no search."""
    validate.choice("metric", metric, METRICS)
    validate.choice("graph", graph, GRAPHS)
    check_neighbors(neighbors, graph)


def check_neighbors(neighbors: object, graph: object, /) -> None:
    """Refuse a word that is no search, and an approximate search for a graph that needs every distance."""
    validate.choice("neighbors", neighbors, SEARCHES)
    if neighbors == "approximate" and graph == "dense":
        raise ValueError(
            "neighbors='approximate' does not apply to graph='dense', which needs every distance; use graph='knn'."
        )


def check_memory(graph: object, n_features: int, n_conditions: int, /) -> None:
    """Refuse a dense graph that does not fit into the memory of this machine."""
    if graph == "dense":
        validate.memory(
            8 * n_features**2 * (n_conditions + N_TEMPORARY),
            f"graph='dense' of {n_features:,} features",
            "Use graph='knn', which keeps the nearest neighbours of every feature, or fewer features with mask_var.",
        )


def graph_options(
    metric: Metric,
    graph: Literal["dense", "knn"],
    neighbors: Literal["auto", "exact", "approximate"],
    n_neighbors: object,
    random_state: object,
    p: int,
    /,
) -> FeatureGraphOptions:
    """Return the options of a graph of `p` features."""
    k = validate.auto_count("n_neighbors", n_neighbors, at_most=p - 1, why=f"there are {p} features")
    seed = validate.seed(random_state)
    return FeatureGraphOptions(kind=graph, n_neighbors=k or "auto", search=neighbors, metric=metric, seed=seed)
