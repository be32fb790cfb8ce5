"""What the sidebar asks a kernel: every AnnData, no side effects, names as data."""

from __future__ import annotations

import ast
import base64
import json
import re
import sys
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pytest

import diffnb as dn
from diffnb import _candidates

ROOT = Path(__file__).parents[2]


def embedded():
    """The text that travels to the kernel, put together as lab/scripts/embed.mjs does."""
    listing = (ROOT / "lab" / "kernel" / "listing.py").read_text(encoding="utf-8")
    rules = Path(_candidates.__file__).read_text(encoding="utf-8")
    text, n_replaced = re.subn(r"^from diffnb\._candidates import .*$", lambda _: rules, listing, flags=re.M)
    assert n_replaced == 1
    return text


KERNEL = {"__name__": "listing"}
exec(compile(embedded(), "listing", "exec"), KERNEL)
HOSTILE = ["<img src=x onerror=alert(1)>", 'it\'s "quoted"', "two\nlines", "back\\slash", "σ 🧬", "\ud800", "]]>"]


def ask(namespace):
    """The answer, decoded as the browser does."""
    text = KERNEL["listing"](namespace)
    assert repr(text)[1:-1] == text, "the repr is the text in quotes"
    return json.loads(base64.b64decode(text))


def columns(adata):
    return {column["name"]: column["levels"] for column in ask({"adata": adata})["objects"][0]["columns"]}


def test_objects_are_listed_with_shape_and_conditions_in_the_order_of_their_creation(adata):
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


#: columns of 120 observations, and whether they could hold conditions
TABLE = {
    "texts": (np.repeat(["a", "b"], 60), True),
    "categories": (pd.Categorical(np.repeat(["a", "b", "c"], 40)), True),
    "booleans": (np.arange(120) % 2 == 0, True),
    "integers": (np.arange(120) % 4, True),
    "integers as floats": (np.arange(120) % 4 * 1.0, True),
    "integers as floats with gaps": (np.where(np.arange(120) < 9, np.nan, np.arange(120) % 4), True),
    "nullable integers": (pd.array([*[0, 1] * 59, None, None], dtype="Int64"), True),
    "codes written with a fraction": (np.repeat([0.5, 1.5], 60), False),
    "categories of fractions": (pd.Categorical(np.repeat([0.5, 1.5], 60)), True),
    "texts with gaps": (np.repeat(["a", "b", None], 40), True),
    "forty texts": (np.repeat([f"{i:02}" for i in range(40)], 3), True),
    "sixty texts": (np.repeat([f"{i:02}" for i in range(60)], 2), False),
    "twenty-one integers": (np.arange(120) % 21, False),
    "twenty integers": (np.arange(120) % 20, True),
    "a text each": ([f"cell {i}" for i in range(120)], False),
    "one text": (["same"] * 120, False),
    "measurements": (np.linspace(0, 1, 120), False),
    "counts": (np.arange(120), False),
    "nothing": ([None] * 120, False),
    "lists": ([[i % 2] for i in range(120)], False),
}


@pytest.mark.parametrize("kind", list(TABLE))
def test_the_sidebar_the_errors_and_the_table_of_candidates_agree(adata, kind):
    values, could_be = TABLE[kind]
    adata.obs = pd.DataFrame({"it": values}, index=adata.obs_names)
    assert ("it" in columns(adata)) == could_be
    candidates = dn.get.candidate_conditions(adata)
    assert (candidates.get("levels", pd.Series(dtype=int)).get("it", 0) >= 2) == could_be
    with pytest.raises(ValueError, match="not a column") as error:
        dn.tl.scorecard(adata, "another")
    assert ("could be conditions: 'it'" in str(error.value)) == could_be


@pytest.mark.parametrize("kind", [kind for kind, (_, could_be) in TABLE.items() if could_be])
def test_a_column_that_is_offered_is_taken(adata, kind):
    adata.obs = pd.DataFrame({"it": TABLE[kind][0]}, index=adata.obs_names)
    dn.tl.scorecard(adata, "it", groups=list(adata.obs["it"].dropna().unique())[:2])
    assert "scorecard" in adata.uns


def test_the_text_runs_on_old_pythons_and_needs_no_package():
    tree = ast.parse(embedded(), feature_version=(3, 8))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {getattr(node, "module", None) or alias.name for node in imports for alias in node.names}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


def test_levels_of_very_many_rows_are_counted_in_some_and_marked():
    obs = pd.DataFrame({"arm": np.tile(["a", "b", "c"], 100_000)}, index=np.arange(300_000).astype(str))
    (found,) = KERNEL["columns"](obs)
    assert (found["name"], found["exact"]) == ("arm", False)
    assert 2 <= found["levels"] <= 3
    assert KERNEL["columns"](obs.astype("category")) == [{"name": "arm", "levels": 3, "exact": True, "samples": []}]


def test_samples_and_covariates_are_listed_for_the_conditions(adata):
    (found,) = ask({"adata": adata})["objects"]
    samples = {column["name"]: column["samples"] for column in found["columns"]}
    assert samples["condition"] == ["subject", "donor"]
    assert found["sampleColumns"] == ["condition", "donor", "subject"]
    assert found["covariates"] == ["condition", "donor", "subject", "age"]


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
        pass

    broken = Broken(np.zeros((2, 2)))

    def closed(_):
        raise OSError("file is closed")

    Broken.shape = property(closed)
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
