"""What the signatures and docstrings of all figures have in common, and what `pl` may import and read."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import diffnb as dn
from diffnb.panels._controls import parameters_of
from diffnb.pl._docs import FIGURE_PARAMETERS

FIGURES = {name: getattr(dn.pl, name) for name in dn.pl.__all__}
#: figures of several panels, which no single axes can hold
WITHOUT_AX = {
    "compare_ranks",
    "disc_graph",
    "disc_groups",
    "disc_observations",
    "disc_vectors",
    "feature_brain",
    "feature_diffmap",
    "forest",
    "informed_covariance",
    "network",
}
PACKAGE = Path(dn.__file__).parent
FILES = sorted([*PACKAGE.glob("pl/*.py"), *PACKAGE.glob("panels/*.py")])
SLOTS = {"uns", "varm", "obsm", "varp", "obsp"}
#: parts of the package that figures may import from besides `pl` itself
ALLOWED = ("get", "_validate", "_keys", "_docs", "core.typing")


def doc_of(name):
    return " ".join((inspect.getdoc(FIGURES[name]) or "").split())


@pytest.mark.parametrize("name", list(FIGURES))
def test_every_figure_takes_an_ax_or_states_why_not(name):
    parameters = inspect.signature(FIGURES[name]).parameters
    assert ("ax" in parameters) == (name not in WITHOUT_AX)
    assert ("There is no `ax`: " in doc_of(name)) == (name in WITHOUT_AX)


@pytest.mark.parametrize("name", list(FIGURES))
def test_every_figure_returns_a_figure_or_axes(name):
    hints = get_type_hints(FIGURES[name])
    returned = set(get_args(hints["return"]) or [hints["return"]])
    assert returned <= {Figure, Axes}
    if name in WITHOUT_AX:
        assert returned == {Figure}
    else:
        assert Axes in returned
        assert hints["ax"] == Axes | None


@pytest.mark.parametrize("name", list(FIGURES))
def test_no_argument_is_of_any_type(name):
    hints = get_type_hints(FIGURES[name])
    assert not [argument for argument, hint in hints.items() if hint is Any]


@pytest.mark.parametrize("name", list(FIGURES))
def test_the_data_come_first_and_the_axes_last(name):
    parameters = list(inspect.signature(FIGURES[name]).parameters)
    assert "ax" not in parameters or parameters[-1] == "ax"
    assert parameters[0] == "adata"


#: figures in which a shared argument has another meaning
OWN_MEANING = {
    ("disc_graph", "group"),
    ("disc_observations", "group"),
    ("disc_observations", "key"),
    ("feature_brain", "group"),
    ("feature_brain", "key"),
    ("feature_diffmap", "key"),
    ("feature_image", "group"),
    ("feature_image", "key"),
    ("forest", "group"),
    ("network", "group"),
    ("volcano", "group"),
    ("scorecard", "group"),
}


@pytest.mark.parametrize("name", list(FIGURES))
def test_shared_arguments_have_the_shared_description(name):
    shared = {argument: text.replace("`", "") for argument, text in FIGURE_PARAMETERS.items()}
    for argument, text in parameters_of(FIGURES[name]).items():
        if argument in shared:
            assert text.startswith(shared[argument]) == ((name, argument) not in OWN_MEANING), argument


def imported(path):
    """Modules of the package that a file imports, with the imported names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 2:
            names = [alias.name for alias in node.names]
            if node.module is None:
                yield from ((name, []) for name in names)
            else:
                yield node.module, names


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("pl/*.py")), ids=lambda path: path.stem)
def test_figures_import_readers_types_and_constants_only(path):
    for module, names in imported(path):
        if not module.startswith(ALLOWED):
            assert module.startswith("core."), module
            assert all(name.isupper() for name in names), f"{names} of {module} are not constants"


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_figures_and_panels_read_results_through_get(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    read = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in SLOTS]
    assert [f"line {node.lineno}: {ast.unparse(node)}" for node in read] == []
