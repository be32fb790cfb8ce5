"""Checks of the arguments that describe a graph of features, for the tools that build one."""

from __future__ import annotations

from .. import _validate as validate
from ..core.disc import neighbors_for
from ..core.spectral.distances import METRICS
from ..core.spectral.feature_knn import SEARCHES

GRAPHS = ("dense", "knn")


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


def neighbors_of(n_neighbors: object, p: int, /) -> int:
    """Read `n_neighbors`, a number or `"auto"`."""
    given = validate.auto_count("n_neighbors", n_neighbors, at_most=p - 1, why=f"there are {p} features")
    return neighbors_for(p) if given is None else given
