"""The picture of the import graph is that of the sources."""

import importlib.util
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from import_graph import Edge, read_import_graph

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "make_import_graph.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_import_graph", SCRIPT)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def graph():
    return read_import_graph()


def arrows_of(svg):
    titles = ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}title")
    return {title.text for title in titles}


def test_the_picture_is_up_to_date(script, graph):
    shown = script.PICTURE.read_text(encoding="utf-8")
    assert shown == script.picture(graph), "run: python docs/make_import_graph.py"


def test_a_new_import_between_parts_is_a_new_arrow(script, graph):
    more = replace(graph, edges=graph.edges | {Edge("diffnb.core.sparda.fit", "diffnb.core.disc")})
    new = arrows_of(script.picture(more)) - arrows_of(script.picture(graph))
    assert new == {"core.sparda → core.disc"}
    assert "1 forbidden imports" in script.picture(more)


def test_a_part_without_a_place_on_the_picture_is_reported(script, graph):
    more = replace(graph, files={**graph.files, "diffnb.core.hubs.fit": SCRIPT})
    with pytest.raises(SystemExit, match=r"no place on the picture for core\.hubs"):
        script.picture(more)
