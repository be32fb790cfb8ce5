"""The modules of the views: all of them are sent, in order, and written so that they can be."""

import json
import re

import pytest

from diffnb.panels import _modules
from diffnb.panels._feature_map import FeatureMap
from diffnb.panels._feature_table import FeatureTable
from diffnb.panels._modules import STATIC, esm
from diffnb.panels._pair_map import PairMap
from diffnb.panels._views import CodeView, Picture, Status

WIDGETS = [CodeView, FeatureMap, FeatureTable, PairMap, Picture, Status]
SCRIPTS = sorted(STATIC.rglob("*.js"))


def modules_of(text):
    """What the loader gets, from the line that calls it."""
    return json.loads(re.search(r"^export default await load\((.*)\);$", text, re.MULTILINE)[1])


def names_of(text):
    return [module["name"] for module in modules_of(text)]


@pytest.fixture
def static(tmp_path, monkeypatch):
    """A folder of modules with nothing in it but a loader."""
    monkeypatch.setattr(_modules, "STATIC", tmp_path)
    (tmp_path / "loader.js").write_text("export const load = async modules => modules;\n")
    return tmp_path


@pytest.mark.parametrize("widget", WIDGETS, ids=lambda widget: widget.__name__)
def test_every_module_comes_after_those_that_it_imports(widget):
    sent = set()
    for module in modules_of(widget._esm):
        assert set(module["imports"].values()) <= sent, module["name"]
        sent.add(module["name"])
    assert "export default { render };" in modules_of(widget._esm)[-1]["text"]


def test_every_file_is_sent_by_some_widget():
    sent = {name for widget in WIDGETS for name in names_of(widget._esm)}
    assert {path.relative_to(STATIC).as_posix() for path in SCRIPTS} == sent | {"loader.js"}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.relative_to(STATIC).as_posix())
def test_every_import_is_of_the_form_that_is_resolved(path):
    text = path.read_text(encoding="utf-8")
    keywords = re.findall(r"^import\b", text, re.MULTILINE)
    assert len(_modules._IMPORT.findall(text)) == len(keywords)
    assert path.name == "loader.js" or not re.search(r"^(?!.*(@|\*)).*\bimport\(", text, re.MULTILINE)
    assert not re.search(r"^export .* from ", text, re.MULTILINE)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.relative_to(STATIC).as_posix())
def test_every_file_is_checked_by_the_compiler(path):
    assert path.read_text(encoding="utf-8").startswith("// @ts-check\n")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.relative_to(STATIC).as_posix())
def test_names_are_set_as_text_and_nothing_is_fetched(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|https?:|\bfetch\(", text)


def test_a_module_that_two_others_import_is_sent_once(static):
    (static / "shared").mkdir()
    (static / "shared" / "c.js").write_text("export const c = 1;\n")
    (static / "b.js").write_text("import { c } from './shared/c.js';\nexport const b = c;\n")
    (static / "a.js").write_text(
        "import {\n  c\n} from './shared/c.js';\nimport { b } from './b.js';\nexport default b;\n"
    )
    assert names_of(esm("a.js")) == ["shared/c.js", "b.js", "a.js"]
    assert modules_of(esm("a.js"))[-1]["imports"] == {"./shared/c.js": "shared/c.js", "./b.js": "b.js"}


def test_comments_stay_at_home_and_code_does_not(static):
    (static / "a.js").write_text(
        "// @ts-check\n/**\n * About.\n *\n * @import { T } from './types.js'\n */\n\n"
        "const url = 'https://example.org'; // kept\n  /** @type {T} */\n  // gone\nexport default url;\n"
    )
    (module,) = modules_of(esm("a.js"))
    assert module["text"] == "const url = 'https://example.org'; // kept\nexport default url;\n"


def test_modules_that_import_each_other_are_refused(static):
    (static / "a.js").write_text("import { b } from './b.js';\n")
    (static / "b.js").write_text("import { a } from './a.js';\n")
    with pytest.raises(ImportError, match=r"a\.js → b\.js → a\.js"):
        esm("a.js")


def test_a_module_that_is_missing_is_named(static):
    (static / "a.js").write_text("import { b } from './gone.js';\n")
    with pytest.raises(FileNotFoundError, match=r"gone\.js"):
        esm("a.js")
