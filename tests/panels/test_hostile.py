"""Names that are markup or code are shown as text by every panel."""

import ast
import html

import pytest

import diffnb as dn

from .conftest import EVIL

pytestmark = pytest.mark.slow

SMALL = {"disc": {"n_components": 2}, "sparda": {"n_features": 5}, "compare": {"methods": ["DiSC", "scorecard"]}}


def widgets_of(widget):
    """All descendants of a widget."""
    for child in getattr(widget, "children", ()):
        yield child
        yield from widgets_of(child)


@pytest.mark.parametrize("name", ["disc", "sparda", "compare", "explore"])
def test_no_widget_that_renders_markup_holds_a_raw_name(hostile, name, run):
    panel = getattr(dn.panels, name)(hostile)
    if panel.runs:
        small = {
            "disc": {"n_components": 2},
            "sparda": {"n_features": 5},
            "compare": {"methods": ["DiSC", "scorecard"]},
        }
        run(panel, **small[name])
        assert panel.status.state == "done", panel.status.details
    rendered = [w.value for w in widgets_of(panel) if type(w).__name__ in ("HTML", "HTMLMath")]
    assert rendered
    assert not any("<img" in value or "<script" in value for value in rendered)


def test_names_are_escaped(hostile):
    panel = dn.panels.explore(hostile)
    assert html.escape(EVIL) in panel.columns.value


def test_names_do_not_change_the_structure_of_the_code(hostile, run):
    panel = run(dn.panels.disc(hostile), n_components=2)
    panel.features.select(hostile.var_names[:20])
    panel.features.column.value = EVIL
    panel.features.save()
    tree = ast.parse(panel.code)
    calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert all(name.startswith("dn.") or name == "adata.var_names.isin" for name in calls)
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import) and node.names[0].name != "diffnb"]
    scope = {"adata": hostile}
    exec(panel.code.replace("dn.pl.", "str or dn.pl."), scope)
    assert scope["adata"].var[EVIL].sum() == 20


def test_errors_with_hostile_names_are_plain_text(hostile, run):
    panel = run(dn.panels.disc(hostile), n_neighbors=EVIL)
    assert panel.status.message == f"n_neighbors={EVIL!r} is not an option; use one of 'auto'."


def test_the_snapshot_holds_them_too(hostile, run):
    panel = run(dn.panels.disc(hostile), n_components=2)
    assert panel.snapshot().data.startswith(b"\x89PNG")
    assert EVIL not in repr(panel)
