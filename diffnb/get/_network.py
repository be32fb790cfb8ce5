"""The pairs of features that differ between conditions as a graph, for networkx, igraph and Cytoscape."""

from __future__ import annotations

import json
from typing import Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .._keys import BACKGROUND_GROUP, DiscKeys
from ._common import holds
from ._conditions import disc_conditions
from ._docs import documented_reader
from ._edges import edges as edge_table

PACKAGES = ("networkx", "igraph")
#: columns of the edge table that edges carry as attributes
ATTRIBUTES = ("r", "r_reference", "difference", "pval", "pval_adj", "class")


@documented_reader
def network(
    adata: AnnData,
    *,
    edges: pd.DataFrame | None = None,
    group: str | None = None,
    condition: str | None = None,
    reference: str | None = None,
    max_edges: int = 10_000,
    package: Literal["networkx", "igraph"] = "networkx",
    key: str = "disc",
) -> Any:
    """Make a graph of the pairs of features whose correlation differs between two conditions.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc` or :func:`diffnb.tl.scorecard`.
    edges
    group
        A feature group, such as `"A1"`; all features by default.
    condition
        ... Needed, with `reference`, where there are more than two.
    reference
    max_edges
    package
        `"networkx"` or `"igraph"`, which has to be installed.
    key

    Returns
    -------
    An undirected graph. Nodes are the features of the table, with their `feature_group`; edges have the attributes
    `r` (in the condition), `r_reference`, `difference`, `pval`, `pval_adj`, `class` and `weight`, the absolute
    difference. The graph has the attributes `condition` and `reference`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition")
    >>> graph = dn.get.network(adata, group="A1", max_edges=50)
    >>> graph.number_of_edges(), graph.graph["condition"]
    (50, 'B')
    """
    validate.choice("package", package, PACKAGES)
    table = chosen_edges(adata, edges, group, condition, reference, max_edges, key)
    graph = feature_network(table, feature_groups(adata, key))
    return graph if package == "networkx" else _igraph().Graph.from_networkx(graph)


@documented_reader
def graphml(
    adata: AnnData,
    *,
    edges: pd.DataFrame | None = None,
    group: str | None = None,
    condition: str | None = None,
    reference: str | None = None,
    max_edges: int = 10_000,
    key: str = "disc",
) -> str:
    """Write out the graph of pairs that differ in the GraphML format, which Cytoscape, Gephi and igraph read.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc` or :func:`diffnb.tl.scorecard`.
    edges
    group
        A feature group, such as `"A1"`; all features by default.
    condition
        ... Needed, with `reference`, where there are more than two.
    reference
    max_edges
    key

    Returns
    -------
    The text of a file, with the attributes of :func:`diffnb.get.network`. Nothing is written to disk:
    `Path("edges.graphml").write_text(dn.get.graphml(adata))` does it.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition")
    >>> dn.get.graphml(adata, group="A1", max_edges=50).count("<edge ")
    50
    """
    import networkx as nx

    table = chosen_edges(adata, edges, group, condition, reference, max_edges, key)
    return "\n".join(nx.generate_graphml(feature_network(table, feature_groups(adata, key))))


@documented_reader
def cytoscape(
    adata: AnnData,
    *,
    edges: pd.DataFrame | None = None,
    group: str | None = None,
    condition: str | None = None,
    reference: str | None = None,
    max_edges: int = 10_000,
    key: str = "disc",
) -> str:
    """Write out the graph of pairs that differ as Cytoscape's JSON (`.cyjs`), for Cytoscape and Cytoscape.js.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc` or :func:`diffnb.tl.scorecard`.
    edges
    group
        A feature group, such as `"A1"`; all features by default.
    condition
        ... Needed, with `reference`, where there are more than two.
    reference
    max_edges
    key

    Returns
    -------
    The text of a file, with the attributes of :func:`diffnb.get.network`. Nothing is written to disk.

    Examples
    --------
    >>> import diffnb as dn
    >>> import json
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition")
    >>> len(json.loads(dn.get.cytoscape(adata, group="A1", max_edges=50))["elements"]["edges"])
    50
    """
    import networkx as nx

    table = chosen_edges(adata, edges, group, condition, reference, max_edges, key)
    described = nx.cytoscape_data(feature_network(table, feature_groups(adata, key)))
    # Cytoscape takes a list of pairs where networkx has one, and a mapping where others expect it
    return json.dumps({**described, "data": dict(described["data"])}, indent=1)


def chosen_edges(
    adata: AnnData,
    edges: pd.DataFrame | None,
    group: str | None,
    condition: str | None,
    reference: str | None,
    max_edges: int,
    key: str,
) -> pd.DataFrame:
    """Return the edges of one pair of conditions: those given, or computed ones."""
    if edges is None:
        edges = edge_table(adata, group=group, condition=condition, reference=reference, max_edges=max_edges, key=key)
    if not isinstance(edges, pd.DataFrame):
        raise TypeError(f"edges must be a table, rows of dn.get.edges, got {type(edges).__name__}.")
    missing = {"condition", "reference", "feature_1", "feature_2", *ATTRIBUTES} - set(edges.columns)
    if missing:
        raise ValueError(f"edges has no columns {validate.quoted(sorted(missing))}; give rows of dn.get.edges.")
    chosen = edges
    for column, value in (("condition", condition), ("reference", reference)):
        if value is not None:
            chosen = chosen[chosen[column] == str(value)]
    compared = chosen[["condition", "reference"]].drop_duplicates().to_numpy().tolist()
    if len(compared) > 1:
        shown = [f"{a} vs {b}" for a, b in compared]
        raise ValueError(
            f"a graph holds the edges of one pair of conditions, got {validate.quoted(shown)}; choose with condition="
            " and reference=."
        )
    return chosen.head(validate.count("max_edges", max_edges))


def feature_groups(adata: AnnData, key: str) -> dict[str, str]:
    """Return the group of every feature that belongs to one, that of the first condition that names it."""
    if not holds(adata.uns.get(key), DiscKeys(key)):
        return {}
    found: dict[str, str] = {}
    for condition in disc_conditions(adata, None, key):
        labels = condition.table["feature_group"].astype(str)
        for feature, name in labels[labels != BACKGROUND_GROUP].items():
            found.setdefault(str(feature), str(name))
    return found


def feature_network(table: pd.DataFrame, groups: dict[str, str]) -> Any:
    """Make a networkx graph of a table of edges, with the groups of the features."""
    import networkx as nx

    graph = nx.Graph()
    if len(table):
        graph.graph.update({name: str(table[name].iloc[0]) for name in ("condition", "reference")})
    features = pd.unique(np.concatenate([table["feature_1"], table["feature_2"]])) if len(table) else []
    for feature in features:
        graph.add_node(str(feature), feature_group=groups.get(str(feature), BACKGROUND_GROUP))
    for row in table.to_dict("records"):
        attributes = {name: _plain(row[name]) for name in ATTRIBUTES}
        weight = abs(float(row["difference"]))
        graph.add_edge(str(row["feature_1"]), str(row["feature_2"]), weight=weight, **attributes)
    return graph


def _plain(value: object) -> float | str:
    """Return numbers and texts that every format takes."""
    return value if isinstance(value, str) else float(str(value))


def _igraph() -> Any:
    try:
        import igraph
    except ImportError:
        raise ImportError("package='igraph' needs igraph; install it with pip install igraph.") from None
    return igraph
