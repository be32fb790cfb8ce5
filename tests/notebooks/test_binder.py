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


@pytest.mark.parametrize("requirement", needed(), ids=str)
def test_everything_that_diffnb_needs_is_pinned_to_a_version_it_takes(requirement):
    pin = str(pinned()[requirement.name].specifier)
    assert re.fullmatch(r"==[\w.]+", pin), "not pinned"
    assert requirement.specifier.contains(pin.removeprefix("=="))


def test_the_package_itself_is_installed_after_the_environment():
    script = ROOT / "binder" / "postBuild"
    assert os.access(script, os.X_OK)
    assert re.search(r"^pip install .*'\.\[lab\]'$", script.read_text(encoding="utf-8"), flags=re.MULTILINE)


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
