"""What Binder would do with this repository, as far as one can tell without Docker."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ENVIRONMENT = yaml.safe_load((ROOT / "binder" / "environment.yml").read_text(encoding="utf-8"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
README = (ROOT / "README.md").read_text(encoding="utf-8")


POST_BUILD = ROOT / "binder" / "postBuild"
#: the Python of Binder
PYTHON = (3, 12)


def conda_packages():
    return [entry for entry in ENVIRONMENT["dependencies"] if isinstance(entry, str)]


def pinned():
    """Packages that pip installs on Binder, by name."""
    (listed,) = [entry["pip"] for entry in ENVIRONMENT["dependencies"] if isinstance(entry, dict)]
    requirements = [Requirement(line) for line in listed]
    return {requirement.name: requirement for requirement in requirements}


def needed():
    """Packages that diffnb needs where it is used in JupyterLab, extras of its own followed."""
    extras = PROJECT["optional-dependencies"]
    todo, seen = [*PROJECT["dependencies"], *extras["lab"]], []
    while todo:
        requirement = Requirement(todo.pop())
        if requirement.name == PROJECT["name"]:
            todo += [line for extra in requirement.extras for line in extras[extra]]
        else:
            seen.append(requirement)
    # sorted: extras are a set, and workers that run tests in parallel must collect them in one order
    return sorted(seen, key=str)


def test_binder_brings_a_python_that_diffnb_takes():
    (python,) = [entry for entry in conda_packages() if entry.startswith("python=")]
    assert SpecifierSet(PROJECT["requires-python"]).contains(python.removeprefix("python="))
    assert python == f"python={PYTHON[0]}.{PYTHON[1]}"
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))
    assert f"{PYTHON[0]}.{PYTHON[1]}" in workflow["jobs"]["newest"]["strategy"]["matrix"]["python"]


@pytest.mark.parametrize("requirement", needed(), ids=str)
def test_everything_that_diffnb_needs_is_pinned_to_a_version_it_takes(requirement):
    pin = str(pinned()[requirement.name].specifier)
    assert re.fullmatch(r"==[\w.]+", pin), "not pinned"
    assert requirement.specifier.contains(pin.removeprefix("=="))


def test_the_package_itself_is_installed_after_the_environment():
    assert os.access(POST_BUILD, os.X_OK)
    assert re.search(r"^ +pip install .*'\.\[lab\]'$", POST_BUILD.read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.fixture
def post_build(tmp_path):
    """Run the script in a repository of its own, with a `pip` that writes down what it is asked for."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in (("pip", 'echo "$@" >> "$ASKED"; [ "${@: -1}" != "$MISSING" ]'), ("jupyter", "true")):
        (tools / name).write_text(f"#!/usr/bin/env bash\n{text}\n", encoding="utf-8")
        (tools / name).chmod(0o755)
    repository = tmp_path / "repository"
    (repository / "diffnb").mkdir(parents=True)
    (repository / "diffnb" / "__init__.py").write_text('__version__ = "2.0.1"\n', encoding="utf-8")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *command], cwd=repository, check=True)

    def run(tag=None, missing=""):
        if tag is not None:
            subprocess.run([*git, "tag", tag], cwd=repository, check=True)
        asked = tmp_path / "asked"
        environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "ASKED": str(asked), "MISSING": missing}
        subprocess.run(["bash", str(POST_BUILD)], cwd=repository, env=environment, check=True, capture_output=True)
        return [line.split()[-1] for line in asked.read_text(encoding="utf-8").splitlines()]

    return run


def test_at_the_tag_of_a_release_nothing_is_compiled(post_build):
    assert post_build("v2.0.1") == ["diffnb[lab]==2.0.1"]


def test_a_session_starts_with_little_memory_held_back_and_with_what_it_was_asked_for():
    start = ROOT / "binder" / "start"
    assert os.access(start, os.X_OK)
    shown = subprocess.run([str(start), "env"], capture_output=True, text=True, check=True).stdout
    assert "MALLOC_TRIM_THRESHOLD_=65536\n" in shown


def test_without_a_tag_or_with_another_the_sources_are_built(post_build):
    assert post_build() == [".[lab]"]
    assert post_build("v1.0.0")[1:] == [".[lab]"]


def test_a_release_that_cannot_be_had_is_built(post_build):
    assert post_build("v2.0.1", missing="diffnb[lab]==2.0.1") == ["diffnb[lab]==2.0.1", ".[lab]"]


@pytest.mark.skipif(sys.version_info[:2] != PYTHON, reason="pip looks for another Python; the CI has a job with this one")
def test_pip_finds_a_set_of_packages_that_fit_together():
    listed = [str(requirement) for requirement in pinned().values()]
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--disable-pip-version-check", *listed]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_repo2docker_understands_the_folder():
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    told = done.stdout + done.stderr
    assert "environment.yml" in told
    assert "postBuild" in told


def test_every_badge_opens_a_notebook_of_this_repository():
    owner_and_name = PROJECT["urls"]["Repository"].removeprefix("https://github.com/")
    opened = re.findall(r"https://mybinder\.org/v2/gh/([^)\s]+?)/HEAD\?urlpath=lab/tree/([^)\s]+)", README)
    assert {name for name, _ in opened} == {owner_and_name}
    assert [path for _, path in opened if not (ROOT / path).exists()] == []
    assert {path for _, path in opened} == {f"notebooks/{notebook.name}" for notebook in NOTEBOOKS}


def test_every_notebook_opens_in_colab_too():
    opened = re.findall(r"https://colab\.research\.google\.com/github/([\w-]+/[\w-]+)/blob/main/([^)\s]+)", README)
    assert {name for name, _ in opened} == {PROJECT["urls"]["Repository"].removeprefix("https://github.com/")}
    assert {path for _, path in opened} == {f"notebooks/{notebook.name}" for notebook in NOTEBOOKS}
    assert f"%pip install 'diffnb[scale,tutorials] @ git+{PROJECT['urls']['Repository']}'" in README


def test_addresses_of_the_project_agree():
    repository = PROJECT["urls"]["Repository"]
    assert all(url.startswith(repository) for url in PROJECT["urls"].values())
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["repository-code"] == repository
    for page in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        named = re.findall(r"https://github\.com/[\w-]+/diffnb\b", (ROOT / page).read_text(encoding="utf-8"))
        assert set(named) <= {repository}


def test_the_citation_has_the_version_of_the_package():
    import diffnb

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert str(citation["version"]) == diffnb.__version__
    assert len(citation["references"]) == 4


def test_forms_for_issues_can_be_read():
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert len(forms) == 3
    for form in forms:
        asked = yaml.safe_load(form.read_text(encoding="utf-8"))
        assert {"name", "description", "body"} <= set(asked)
