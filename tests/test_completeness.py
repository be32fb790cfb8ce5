"""Every public method can be reached from everywhere: a panel, a reader, a page of the docs and the sidebar."""

import ast
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

import diffnb as dn

ROOT = Path(__file__).resolve().parent.parent
#: folders of docs/ that are written when the site is built, or hold no prose
NO_PAGES = {"_build", "api", "generated", "jupyter_execute", "project"}

BASELINE = "a method that DiSC is compared with, not one to start from"
TWO_DATA_SETS = "needs a second data set, which a panel of one AnnData does not have"
#: what a method does without, and why
EXEMPT = {
    ("diverse_features", "sidebar"): "the panel of DUFS offers it",
    ("enrich", "sidebar"): "needs gene sets, which only the user has",
    ("feature_change", "panel"): BASELINE,
    ("feature_change", "sidebar"): BASELINE,
    ("feature_diffmap", "panel"): BASELINE,
    ("feature_diffmap", "sidebar"): BASELINE,
    ("laplacian_score", "sidebar"): "the reference of DUFS, shown in its panel",
    ("meta_features", "sidebar"): "a step after DiSC, taken by its panel",
    ("power", "panel"): "planned before there are data to look at",
    ("power", "sidebar"): "planned before there are data to look at",
    ("preservation", "panel"): TWO_DATA_SETS,
    ("preservation", "sidebar"): TWO_DATA_SETS,
    ("project", "panel"): TWO_DATA_SETS,
    ("project", "sidebar"): TWO_DATA_SETS,
    ("pda", "panel"): "SPARDA without a limit on features, which its panel offers",
    ("pda", "sidebar"): "SPARDA without a limit on features",
    ("survival", "panel"): "needs times and events, which only some data have",
    ("survival", "sidebar"): "needs times and events, which only some data have",
}


@cache
def texts_of_panels():
    """All strings in the sources of the panels; the calls that they make are among them."""
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "diffnb" / "panels").glob("*.py"))
    nodes = (node for source in sources for node in ast.walk(ast.parse(source)))
    return frozenset(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


@cache
def pages():
    paths = [path for path in (ROOT / "docs").rglob("*.md") if not NO_PAGES & set(path.relative_to(ROOT).parts)]
    return {path: path.read_text(encoding="utf-8") for path in paths}


def panels_that_call(method):
    return texts_of_panels() & {f"dn.tl.{method}"}


def readers_of(method):
    """Functions of `get` whose first argument is documented as coming from the method."""
    docs = {name: inspect.getdoc(getattr(dn.get, name)) or "" for name in dn.get.__all__}
    return [name for name, doc in docs.items() if f"diffnb.tl.{method}`" in doc.partition("Returns\n")[0]]


def pages_on(method):
    named = re.compile(rf"\btl\.{method}\b|`{method}`")
    return [path for path, text in pages().items() if named.search(text)]


def sidebar_entries_of(method):
    calls = (ROOT / "lab" / "src" / "calls.ts").read_text(encoding="utf-8")
    return re.findall(rf"""id: ['"]tl\.{method}['"]""", calls)


PLACES = {"panel": panels_that_call, "reader": readers_of, "page": pages_on, "sidebar": sidebar_entries_of}
REMEDIES = {
    "panel": "call it in diffnb/panels/, where its results are shown",
    "reader": "add a function to diffnb/get/ whose docstring says 'after :func:`diffnb.tl.…`'",
    "page": "write in docs/ what it answers",
    "sidebar": "add it to tools() in lab/src/calls.ts",
}


@pytest.mark.parametrize("place", list(PLACES))
@pytest.mark.parametrize("method", dn.tl.__all__)
def test_every_method_has_its_places(method, place):
    found = PLACES[place](method)
    if (method, place) in EXEMPT:
        assert not found, f"tl.{method} has a {place} now: remove it from EXEMPT"
    else:
        assert found, f"tl.{method} has no {place}: {REMEDIES[place]}, or name the reason in EXEMPT"


@pytest.mark.parametrize("place", list(PLACES))
def test_a_method_that_does_not_exist_has_no_place(place):
    assert not PLACES[place]("no_such_method")


def test_only_public_methods_are_exempt():
    assert {method for method, _ in EXEMPT} <= set(dn.tl.__all__)
