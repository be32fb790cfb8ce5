"""What `make release` checks, each shown to be noticed."""

import importlib.util
import json
import re
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

import diffnb

ROOT = Path(__file__).resolve().parent.parent
VERSION = "1.2.3"
LOADED = "static/remoteEntry.js"
EXTENSION = f"diffnb-{VERSION}.data/data/share/jupyter/labextensions/diffnb/"
METADATA = """Metadata-Version: 2.4
Name: diffnb
Version: 1.2.3
Summary: a kit
License-Expression: BSD-3-Clause
License-File: LICENSE
Requires-Python: >=3.11
Project-URL: Repository, https://example.org
Description-Content-Type: text/markdown

# diffnb
"""


@pytest.fixture(scope="module")
def release():
    spec = importlib.util.spec_from_file_location("release", ROOT / ".ci" / "release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wheel(folder, *, without="", metadata=METADATA, extra=""):
    """Write a wheel with what one has to have, less one file and with another."""
    files = {
        "diffnb/__init__.py": "",
        f"diffnb-{VERSION}.dist-info/METADATA": metadata,
        f"{EXTENSION}package.json": json.dumps({"jupyterlab": {"_build": {"load": LOADED}}}),
        EXTENSION + LOADED: "",
    }
    path = folder / "diffnb.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            if without not in name or not without:
                archive.writestr(name, text)
        if extra:
            archive.writestr(extra, "")
    return path


def test_a_complete_wheel_has_no_problem(release, tmp_path):
    assert list(release.wheel_problems(wheel(tmp_path), VERSION)) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"without": "labextensions"}, "no JupyterLab extension"),
        ({"without": LOADED}, "script that JupyterLab loads"),
        ({"extra": "tests/conftest.py"}, "holds tests"),
        ({"extra": "diffnb/__pycache__/x.pyc"}, "holds diffnb/__pycache__"),
        ({"metadata": METADATA.replace("1.2.3", "1.2.4")}, "say version 1.2.4"),
        ({"metadata": METADATA.replace("License-Expression", "X")}, "no licence expression"),
        ({"metadata": METADATA.replace("# diffnb", "")}, "no description"),
        ({"metadata": METADATA.replace("Requires-Python", "X")}, "no Requires-Python"),
    ],
    ids=str,
)
def test_what_a_wheel_lacks_is_named(release, tmp_path, changes, problem):
    assert problem in " ".join(release.wheel_problems(wheel(tmp_path, **changes), VERSION))


def test_what_an_sdist_lacks_is_named(release, tmp_path):
    path = tmp_path / "diffnb.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("README.md", "lab/node_modules/x.js"):
            (tmp_path / "file").write_text("", encoding="utf-8")
            archive.add(tmp_path / "file", f"diffnb-{VERSION}/{name}")
    problems = " ".join(release.sdist_problems(path, VERSION))
    assert "no pyproject.toml" in problems
    assert "installing it would need npm" in problems
    assert "holds lab/node_modules/x.js" in problems
    assert "no README.md" not in problems


@pytest.mark.parametrize(
    ("text", "draft", "problem"),
    [
        (f"## [{VERSION}] - 2026-11-19\n\n- new\n", False, ""),
        (f"## [{VERSION}] - unreleased\n\n- new\n", True, ""),
        (f"## [{VERSION}] - unreleased\n\n- new\n", False, "has no date"),
        ("## [1.2.2] - 2026-11-19\n\n- new\n", False, "0 sections"),
        (f"## [{VERSION}] - 2026-11-19\n\n## [1.2.2] - 2026-01-01\n\n- old\n", False, "says nothing"),
    ],
)
def test_the_changelog_has_a_dated_section(release, text, draft, problem):
    found = list(release.changelog_problems(text, VERSION, draft=draft))
    assert problem in " ".join(found)
    assert bool(found) == bool(problem)


def test_a_tag_names_the_version_of_the_package(release):
    version = release.version_of_package()
    assert version == diffnb.__version__
    assert list(release.version_problems(version, [])) == list(release.version_problems(version, [f"v{version}"])) == []
    (problem,) = release.version_problems(version, ["v99.0.0"])
    assert "tagged v99.0.0" in problem


def test_the_workflow_publishes_what_was_checked_and_stores_no_password():
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert [step["run"] for step in jobs["build"]["steps"] if "run" in step] == ["make PYTHON=python release"]
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in text
    assert re.search(r"^release: .*\n\t.*\.ci/release\.py", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
