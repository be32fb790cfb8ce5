"""Warnings name the line of the user, however deep in the package they arise."""

import logging
import sys
import types
import warnings

import numpy as np
import pytest

import diffnb as dn
from diffnb import _logging as log


def test_a_warning_names_the_line_that_called_the_package(adata):
    adata.X[:, 3] = 1.0
    with pytest.warns(UserWarning, match="1 constant feature") as caught:
        dn.tl.disc(adata, "condition", n_components=2, n_clusters=2)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="no gate stays open") as caught:
        dn.tl.dufs(adata[:, 5:20].copy(), penalty=1000.0, n_steps=60)
    # anndata may warn of the copy, too
    assert [w.filename for w in caught if "no gate" in str(w.message)] == [__file__]


def test_a_warning_of_another_kind():
    with pytest.warns(DeprecationWarning, match="old") as caught:
        log.warn("old", DeprecationWarning)
    assert caught[0].filename == __file__


def test_a_warning_without_a_caller_outside_is_given_all_the_same(monkeypatch):
    monkeypatch.setattr(log, "_PACKAGE", "")  # every file is of the package
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        log.warn("alone")
    assert [str(w.message) for w in caught] == ["alone"]


@pytest.mark.parametrize(("verbosity", "shown"), [(1, []), (2, ["chosen"]), (3, ["chosen", "detail"])])
def test_messages_follow_the_verbosity_of_scanpy(monkeypatch, capsys, verbosity, shown):
    settings = types.SimpleNamespace(verbosity=types.SimpleNamespace(value=verbosity))
    monkeypatch.setitem(sys.modules, "scanpy", types.SimpleNamespace(settings=settings))
    log.info("chosen")
    log.hint("detail")
    assert capsys.readouterr().err.splitlines() == [f"diffnb: {message}" for message in shown]


def test_a_logger_that_listens_gets_each_message_once(caplog, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "scanpy", types.SimpleNamespace(settings=types.SimpleNamespace(verbosity=3)))
    with caplog.at_level(logging.DEBUG, logger="diffnb"):
        log.info("chosen")
        log.hint("detail")
    assert caplog.messages == ["chosen", "detail"]
    assert capsys.readouterr().err == ""


def test_numbers_of_other_kinds_are_verbosities_too(monkeypatch):
    monkeypatch.setitem(
        sys.modules, "scanpy", types.SimpleNamespace(settings=types.SimpleNamespace(verbosity=np.int64(2)))
    )
    assert log._verbosity() == 2
