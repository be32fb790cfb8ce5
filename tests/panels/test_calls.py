import ast
from types import SimpleNamespace

import numpy as np
import pytest

from diffnb import _calls
from diffnb._calls import Call, literal, name_of, wrapped

NAMES = [
    "plain",
    'two "quotes"',
    "it's",
    "both ' and \"",
    '"); import os; ("',
    "'''",
    "line\nbreak",
    "tab\t",
    "\\",
    "\u202egnp",
    "\x00",
    "µ σ 中",
    "{x}",
    "#",
    "",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_read_back_as_it_was(name):
    assert ast.literal_eval(literal(name)) == name
    assert "\n" not in literal(name)


@pytest.mark.parametrize("value", [None, True, 3, 2.5, (1, 2), ("a",), ["a", "b"], [], -1])
def test_values_are_read_back_as_they_were(value):
    assert ast.literal_eval(literal(value)) == value


def test_what_has_no_literal_is_refused():
    with pytest.raises(TypeError, match="no literal for ndarray"):
        literal(np.ones(2))


def test_only_what_differs_from_the_defaults_is_written():
    call = Call("dn.tl.disc", ("condition",), {"metric": "euclidean", "n_permutations": 99, "groups": None})
    assert call.line() == 'dn.tl.disc(adata, "condition", n_permutations=99)'


def test_true_is_distinguished_from_one():
    call = Call("dn.tl.disc", ("condition",), {"n_components": True, "project_trivial": 1})
    assert call.non_default_kwargs == {"n_components": True, "project_trivial": 1}


@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_stay_arguments(name):
    line = Call("dn.tl.disc", (name,), {"sample_key": name, "groups": [name, "b"]}).line("data")
    (statement,) = ast.parse(line).body
    arguments = statement.value.args
    assert [a.id for a in arguments[:1]] == ["data"]
    assert ast.literal_eval(arguments[1]) == name
    assert ast.literal_eval(statement.value.keywords[-1].value) in (name, [name, "b"])


def test_long_calls_are_broken_into_lines():
    line = Call("dn.tl.disc", ("c" * 60,), {"sample_key": "s" * 60}).line()
    assert len(line.splitlines()) == 5
    ast.parse(line)


def test_a_result_has_a_name_and_may_be_queried(toy):
    call = Call("dn.get.disc_significance", (), {}, result="table", query="component == 1")
    assert call.line() == 'table = dn.get.disc_significance(adata).query("component == 1")'
    assert call.run(toy)["component"].unique().tolist() == [1]


def test_results_are_identified_by_their_key():
    assert Call("dn.tl.disc", (), {"key_added": "mine"}).key == "mine"
    assert Call("dn.tl.disc").key == "disc"
    assert Call("dn.tl.meta_features").key == "meta_features"


@pytest.mark.parametrize("count", [0, 1, 200])
def test_lists_of_names_are_wrapped_and_read_back(count):
    names = [f"{NAMES[i % len(NAMES)]}{i}" for i in range(count)]
    written = wrapped(names)
    assert ast.literal_eval(written) == names
    if count > 1:
        assert max(map(len, written.splitlines())) <= 110


def test_the_name_of_the_data_is_found_in_the_notebook(toy, monkeypatch):
    names = {"_": toy, "_3": toy, "cells": toy, "other": 1}
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: SimpleNamespace(user_ns=names))
    assert name_of(toy) == "cells"
    names["adata"] = toy
    assert name_of(toy) == "adata"
    assert name_of(object()) == "adata"


def test_outside_of_a_notebook_it_is_adata(toy):
    assert name_of(toy) == "adata"
    assert _calls.PACKAGES["dn"] == "diffnb"


def test_a_call_of_a_package_that_is_not_installed_is_shown_and_says_so_when_made(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(_calls.importlib, "import_module", missing)
    call = Call("sc.pp.pca", (), {"n_comps": 3})
    assert call.line() == "sc.pp.pca(adata, n_comps=3)"
    assert call.key == "pca"
    assert call.defaults == {}
    with pytest.raises(ImportError, match=r"sc\.pp\.pca is of scanpy .*pip install scanpy"):
        call.run(None)
