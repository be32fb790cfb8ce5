"""Optional packages are optional, and threads are, too: what works in a browser."""

import json
import subprocess
import sys
from pathlib import Path

import bare
import numpy as np
import pytest


@pytest.fixture(scope="module")
def without():
    """What a Python found that has no optional package and starts no thread."""
    command = [sys.executable, "-W", "ignore", str(Path(bare.__file__))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_tools_and_files_give_the_same_answer_without_optional_packages_and_threads(without):
    usual = bare.tools()
    assert set(without["tools"]) == set(usual)
    for name, values in usual.items():
        assert len(values) > 0
        np.testing.assert_allclose(without["tools"][name], values, rtol=1e-8, atol=1e-10, err_msg=name)


def test_figures_are_drawn_without_optional_packages(without):
    assert without["figures"] == ["scorecard", "disc_graph", "disc_features"]


@pytest.mark.parametrize("name", ["scorecard", "disc", "sparda", "dufs"])
def test_a_run_ends_with_the_click_where_no_thread_can_be_started(without, name):
    assert without["panels"][name].startswith("done: Done in")


def test_a_panel_opens_without_scanpy_and_says_what_a_button_needs(without):
    assert without["panels"]["explore"].startswith("failed: sc.pp.pca is of scanpy")
    assert without["panels"]["explore"].endswith("install it with pip install scanpy.")


@pytest.mark.parametrize(
    ("package", "remedy"),
    [
        ("pynndescent", "pip install pynndescent"),
        ("scanpy", "pip install scanpy"),
        ("mlxtend", "pip install 'diffnb[tutorials]'"),
        ("nilearn", "pip install diffnb[brain]"),
    ],
)
def test_what_needs_a_package_says_so_and_how_to_get_it(without, package, remedy):
    message = without["needed"][package]
    assert message.startswith("ImportError: ")
    assert package in message
    assert remedy in message


def test_an_approximate_search_names_the_exact_one_as_a_way_out(without):
    assert "neighbors='exact'" in without["needed"]["pynndescent"]
