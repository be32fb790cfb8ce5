from __future__ import annotations

import io
import json

import pytest

import diffnb as dn


@pytest.fixture(scope="module")
def toy():
    adata = dn.datasets.newly_connected(n_obs=120)
    dn.tl.disc(adata, "condition", n_clusters=3)
    return adata


@pytest.fixture(scope="module")
def edges(toy):
    return dn.get.edges(toy, max_edges=80)


def test_a_graph_has_the_edges_of_the_table(toy, edges):
    graph = dn.get.network(toy, edges=edges)
    assert {frozenset(pair) for pair in graph.edges} == {
        frozenset(pair) for pair in edges[["feature_1", "feature_2"]].to_numpy().tolist()
    }
    row = edges.iloc[0]
    attributes = graph.edges[row["feature_1"], row["feature_2"]]
    assert attributes["difference"] == row["difference"]
    assert attributes["weight"] == abs(row["difference"])
    assert attributes["class"] == row["class"]
    own = {toy.var["disc_A"][row["feature_1"]], toy.var["disc_B"][row["feature_1"]]}
    assert graph.nodes[row["feature_1"]]["feature_group"] in own
    assert graph.graph == {"condition": "B", "reference": "A"}


def test_igraph_has_the_same(toy, edges):
    graph = dn.get.network(toy, edges=edges, package="igraph")
    assert graph.ecount() == len(edges)
    assert sorted(graph.es["pval"]) == sorted(edges["pval"])


def test_graphml_is_read_back_by_networkx(toy, edges):
    import networkx as nx

    back = nx.read_graphml(io.BytesIO(dn.get.graphml(toy, edges=edges).encode()))
    graph = dn.get.network(toy, edges=edges)
    assert dict(back.nodes(data=True)) == dict(graph.nodes(data=True))
    assert {frozenset(e[:2]): e[2] for e in back.edges(data=True)} == {
        frozenset(e[:2]): e[2] for e in graph.edges(data=True)
    }


def test_cytoscape_reads_nodes_and_edges(toy, edges):
    elements = json.loads(dn.get.cytoscape(toy, edges=edges))["elements"]
    assert len(elements["edges"]) == len(edges)
    names = {node["data"]["id"] for node in elements["nodes"]}
    assert {edge["data"]["source"] for edge in elements["edges"]} <= names


def test_a_graph_without_edges_is_empty(toy, edges):
    graph = dn.get.network(toy, edges=edges.iloc[:0])
    assert graph.number_of_nodes() == 0
    assert "<graph" in dn.get.graphml(toy, edges=edges.iloc[:0])


def test_one_pair_of_conditions_has_to_be_chosen():
    adata = dn.datasets.three_conditions(n_obs=60)
    dn.tl.disc(adata, "condition", n_clusters=2)
    with pytest.raises(ValueError, match="choose with condition="):
        dn.get.network(adata)
    assert dn.get.network(adata, condition="C", reference="A").graph["reference"] == "A"


def test_other_tables_and_packages_are_refused(toy, edges):
    with pytest.raises(ValueError, match=r"rows of dn\.get\.edges"):
        dn.get.network(toy, edges=edges[["feature_1", "feature_2"]])
    with pytest.raises(ValueError, match="package='cytoscape'"):
        dn.get.network(toy, edges=edges, package="cytoscape")


def test_a_package_that_is_not_there_is_named(toy, edges, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "igraph", None)
    with pytest.raises(ImportError, match="pip install igraph"):
        dn.get.network(toy, edges=edges, package="igraph")


def test_after_the_scorecard_features_belong_to_no_group(toy):
    dn.tl.scorecard(toy, "condition")
    graph = dn.get.network(toy, key="scorecard", max_edges=20)
    assert {group for _, group in graph.nodes(data="feature_group")} == {"background"}
