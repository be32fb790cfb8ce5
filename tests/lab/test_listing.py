"""What the sidebar asks a kernel: every AnnData, no side effects, names as data."""

from __future__ import annotations

import base64
import json
import runpy
import sys
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pytest

SOURCE = Path(__file__).parents[2] / "lab" / "kernel" / "listing.py"
KERNEL = runpy.run_path(str(SOURCE))
HOSTILE = ["<img src=x onerror=alert(1)>", 'it\'s "quoted"', "two\nlines", "back\\slash", "σ 🧬", "\ud800", "]]>"]


def ask(namespace):
    """The answer, decoded as the browser does."""
    text = KERNEL["listing"](namespace)
    assert repr(text)[1:-1] == text, "the repr is the text in quotes"
    return json.loads(base64.b64decode(text))


def columns(adata):
    return {column["name"]: column["levels"] for column in ask({"adata": adata})["objects"][0]["columns"]}


def test_objects_are_listed_with_shape_and_conditions_in_the_order_of_their_birth(adata):
    answer = ask({"zeta": adata, "number": 3, "alpha": adata[:30]})
    assert [o["name"] for o in answer["objects"]] == ["zeta", "alpha"]
    first, second = answer["objects"]
    assert (first["nObs"], first["nVars"], first["view"], first["backed"]) == (120, 40, False, False)
    assert (second["nObs"], second["view"]) == (30, True)
    assert [c["name"] for c in first["columns"]] == ["condition", "subject", "donor"]
    assert answer["more"] == 0


def test_columns_are_those_that_the_tools_would_take(adata):
    adata.obs["all_different"] = [f"c{i}" for i in range(120)]
    adata.obs["one"] = "same"
    adata.obs["passed"] = np.arange(120) % 2 == 0
    assert columns(adata) == {"condition": 2, "passed": 2, "subject": 3, "donor": 6}
    from diffnb._validate import _could_be_conditions

    assert len(_could_be_conditions(adata.obs)) == 4


def test_what_cannot_be_counted_is_no_condition(adata):
    adata.obs["lists"] = [[i % 2] for i in range(120)]
    assert "lists" not in columns(adata)


def test_strings_of_very_many_rows_are_counted_in_some_and_said_so():
    obs = pd.DataFrame({"arm": np.tile(["a", "b", "c"], 100_000)}, index=np.arange(300_000).astype(str))
    found = KERNEL["condition_columns"](obs)
    assert [(c["name"], c["exact"]) for c in found] == [("arm", False)]
    assert 2 <= found[0]["levels"] <= 3
    assert KERNEL["condition_columns"](obs.astype("category")) == [{"name": "arm", "levels": 3, "exact": True}]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_data(adata, name):
    if name != "\ud800":
        adata.obs[name] = adata.obs["condition"]
    (found,) = ask({name: adata})["objects"]
    assert (found["name"], found["identifier"]) == (name, False)
    assert name == "\ud800" or name in [c["name"] for c in found["columns"]]


def test_keywords_are_no_identifiers(adata):
    found = ask({"class": adata, "größe": adata})["objects"]
    assert [o["identifier"] for o in found] == [False, True]


def test_outputs_that_ipython_keeps_are_left_out(adata):
    assert ask({"_": adata, "_3": adata, "__": adata})["objects"] == []


def test_an_object_that_breaks_is_named_and_the_others_shown(adata):
    class Broken(anndata.AnnData):
        @property
        def shape(self):
            raise OSError("file is closed")

    broken = Broken(np.zeros((2, 2)))
    assert ask({"broken": broken, "adata": adata})["objects"][0] == {"name": "broken", "error": "OSError"}


def test_a_proxy_is_not_asked_what_it_is(adata):
    class Proxy:
        @property
        def __class__(self):
            raise AssertionError("code of the user was run")

    assert len(ask({"proxy": Proxy(), "adata": adata})["objects"]) == 1


def test_very_many_objects_are_cut_and_counted(adata):
    small = adata[:4, :2].copy()
    answer = ask({f"a{i}": small for i in range(105)})
    assert (len(answer["objects"]), answer["more"]) == (100, 5)


def test_diffnb_is_found_by_the_name_it_has():
    import diffnb

    assert ask({"other": 1, "what": diffnb})["alias"] == "what"
    assert ask({})["alias"] is None
    assert ask({})["installed"]


def test_without_anndata_there_is_nothing_and_it_stays_unimported(monkeypatch):
    monkeypatch.delitem(sys.modules, "anndata")
    monkeypatch.delitem(sys.modules, "diffnb")
    answer = ask({"adata": 1})
    assert answer["objects"] == []
    assert "anndata" not in sys.modules
    assert "diffnb" not in sys.modules
    assert answer["installed"], "installed, though not imported"


def test_the_namespace_is_left_as_it_was(adata):
    namespace = {"adata": adata}
    ask(namespace)
    assert list(namespace) == ["adata"]
