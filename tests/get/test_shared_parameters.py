"""The same idea has the same name, the same default and the same text in every reader."""

import inspect
from collections import defaultdict

import pytest

import diffnb as dn
from diffnb._docs import parameters
from diffnb.get._docs import SHARED

READERS = {name: getattr(dn.get, name) for name in dn.get.__all__}
TAKEN_BY = defaultdict(list)
for reader, function in READERS.items():
    for parameter in inspect.signature(function).parameters:
        TAKEN_BY[parameter].append(reader)
SEVERAL = sorted(parameter for parameter, readers in TAKEN_BY.items() if len(readers) > 1)

#: readers that differ in a parameter, and why
DIFFERS = {
    ("disc_features", "group"): "a table of one condition, by default the first",
    ("disc_features", "key"): "two keys, of two calls",
    ("disc_graph", "group"): "chooses features, not rows",
    ("edges", "group"): "a feature group: pairs of features belong to no condition",
    ("network", "group"): "a feature group",
    ("graphml", "group"): "a feature group",
    ("cytoscape", "group"): "a feature group",
    ("group_scores", "group"): "a feature group",
    ("group_correlations", "group"): "a feature group",
    ("group_features", "group"): "a feature group",
    ("meta_features", "key"): "the key of another tool, whose results it belongs to",
}


def text(reader, parameter):
    section = inspect.getdoc(READERS[reader]).split("Parameters\n----------\n")[1].split("\n\nReturns\n")[0]
    return " ".join(parameters(section)[parameter].split())


@pytest.mark.parametrize("parameter", SEVERAL)
def test_a_parameter_has_one_text_that_readers_may_add_to(parameter):
    lead = SHARED[parameter].rstrip(".")  # "Annotated data" goes on with the call that comes before
    differ = {(reader, parameter) for reader in TAKEN_BY[parameter] if not text(reader, parameter).startswith(lead)}
    assert differ == {pair for pair in DIFFERS if pair[1] == parameter}


@pytest.mark.parametrize("parameter", [name for name in SEVERAL if name not in ("adata", "key")])
def test_a_parameter_has_one_default(parameter):
    defaults = {repr(inspect.signature(READERS[r]).parameters[parameter].default) for r in TAKEN_BY[parameter]}
    assert len(defaults) == 1


@pytest.mark.parametrize("reader", [name for name in TAKEN_BY["key"] if name != "params"])
def test_the_key_is_that_of_the_tool_by_default(reader):
    signatures = [inspect.signature(getattr(dn.tl, name)) for name in dn.tl.__all__]
    keys = {s.parameters["key_added"].default for s in signatures if "key_added" in s.parameters}
    assert inspect.signature(READERS[reader]).parameters["key"].default in keys


@pytest.mark.parametrize("reader", list(READERS))
def test_only_the_data_is_positional(reader):
    kinds = [p.kind for p in inspect.signature(READERS[reader]).parameters.values()]
    assert kinds[0] is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert set(kinds[1:]) <= {inspect.Parameter.KEYWORD_ONLY}
