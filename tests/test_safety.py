"""The package runs no code that comes with data: no pickle, no eval, no shell, no download. Read from the sources."""

import ast
from pathlib import Path

import pytest

import diffnb as dn

PACKAGE = Path(dn.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))

#: modules that unpickle, that reach the network, or that load code
FORBIDDEN_MODULES = {
    **dict.fromkeys(["pickle", "cPickle", "_pickle", "dill", "cloudpickle", "marshal", "shelve"], "unpickles"),
    **dict.fromkeys(["urllib.request", "requests", "httpx", "pooch", "ftplib", "http.client", "wget"], "downloads"),
    **dict.fromkeys(["code", "codeop", "runpy"], "runs code"),
}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
#: functions of other packages that unpickle, or hand a text to a shell
FORBIDDEN_METHODS = {("joblib", "load"), ("torch", "load"), ("os", "system"), ("os", "popen"), ("pd", "read_pickle")}
FORBIDDEN_ARGUMENTS = {("allow_pickle", True), ("shell", True)}


def violations(source):
    """Yield what a source must not do, with its line."""
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        yield from (f"{node.lineno}: {name} {FORBIDDEN_MODULES[name]}" for name in names if name in FORBIDDEN_MODULES)
        if isinstance(node, ast.Call):
            yield from (f"{node.lineno}: {found}" for found in _forbidden_call(node))


def _forbidden_call(node):
    function = node.func
    if isinstance(function, ast.Name) and function.id in FORBIDDEN_CALLS:
        yield f"{function.id}()"
    if isinstance(function, ast.Attribute) and (ast.unparse(function.value), function.attr) in FORBIDDEN_METHODS:
        yield f"{ast.unparse(function)}()"
    for keyword in node.keywords:
        value = keyword.value
        is_safe = isinstance(value, ast.Constant) and not value.value
        if keyword.arg in dict(FORBIDDEN_ARGUMENTS) and not is_safe:
            yield f"{keyword.arg}={ast.unparse(value)}"


def test_sources_are_found():
    assert len(SOURCES) > 200


@pytest.mark.parametrize("folder", sorted({path.parent for path in SOURCES}), ids=lambda p: p.name)
def test_no_module_runs_what_comes_with_data(folder):
    found = {path.name: list(violations(path.read_text(encoding="utf-8"))) for path in SOURCES if path.parent == folder}
    assert {name: what for name, what in found.items() if what} == {}, (
        "a download needs a sha256 that is checked before the file is read; name it here with the reason"
    )


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "import urllib.request",
        "from urllib import request",
        "def f():\n    import requests",
        "eval('1')",
        "exec(text)",
        "__import__(name)",
        "np.load(path, allow_pickle=True)",
        "np.load(path, allow_pickle=asked)",
        "joblib.load(path)",
        "subprocess.run(line, shell=True)",
        "os.system(line)",
    ],
)
def test_what_is_forbidden_is_found(source):
    assert list(violations(source))


@pytest.mark.parametrize(
    "source",
    ["import urllib.parse", "np.load(path, allow_pickle=False)", "model.eval()", "re.compile('a')", "x.load()"],
)
def test_what_is_harmless_is_not(source):
    assert not list(violations(source))
