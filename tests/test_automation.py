"""What runs at every commit and push: the check of files, the hooks, the workflow."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def check_files():
    spec = importlib.util.spec_from_file_location("check_files", ROOT / ".ci" / "check_files.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.py", b"x = 1", "exactly one newline"),
        ("a.py", b"x = 1\n\n", "exactly one newline"),
        ("a.md", b"<<<<<<< ours\n", "conflict marker"),
        ("a.json", b"{,}\n", "cannot be parsed"),
        ("a.toml", b"x =\n", "cannot be parsed"),
        ("a.yml", b"x: [\n", "cannot be parsed"),
        ("a.bin", b"\x00\xff" * 1_000_001, "bytes, more than"),
    ],
)
def test_a_problem_is_named(check_files, tmp_path, capsys, name, content, problem):
    (tmp_path / name).write_bytes(content)
    assert check_files.main([str(tmp_path / name)]) == 1
    assert problem in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.py", b"x = 1\n"), ("empty.py", b""), ("a.png", b"\x89PNG\xff\x00"), ("tsconfig.json", b"{ // why\n}\n")],
)
def test_a_file_without_problems_passes(check_files, tmp_path, capsys, name, content):
    (tmp_path / name).write_bytes(content)
    assert check_files.main([str(tmp_path / name)]) == 0
    assert capsys.readouterr().out == ""


def test_hooks_use_only_what_is_installed_with_the_project():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert [repo["repo"] for repo in config["repos"]] == ["local"]
    (repo,) = config["repos"]
    assert {hook["language"] for hook in repo["hooks"]} == {"system"}
    scripts = [path for hook in repo["hooks"] for path in re.findall(r"\S+\.py\b", hook["entry"])]
    assert scripts
    assert [path for path in scripts if not (ROOT / path).exists()] == []


@pytest.fixture(scope="module")
def workflow():
    return yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))


def test_one_job_runs_everything_and_the_others_what_is_quick(workflow):
    runs = {job: [step["run"] for step in found["steps"] if "run" in step] for job, found in workflow["jobs"].items()}
    assert "bash .ci/run" in runs["test"]
    assert "exec make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert runs["quick"] == ["make PYTHON=python quick"]


def test_the_matrix_begins_with_the_oldest_python_that_the_package_takes(workflow):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    allowed = SpecifierSet(project["requires-python"])
    pythons = workflow["jobs"]["quick"]["strategy"]["matrix"]["python"]
    assert all(allowed.contains(version) for version in pythons)
    major, minor = pythons[0].split(".")
    assert not allowed.contains(f"{major}.{int(minor) - 1}")
    assert workflow["jobs"]["test"]["container"].startswith(f"python:{pythons[0]}-")


@pytest.mark.parametrize("target", ["quick", "unit"])
def test_tests_run_in_parallel(target):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:.*\n\t\$\(PYTEST\) ", makefile, flags=re.MULTILINE)
    assert re.search(r"^PYTEST := .* -n \$\(JOBS\)", makefile, flags=re.MULTILINE)


def test_every_file_that_contributors_are_sent_to_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    files = set(re.findall(r"`(?:python )?([\w./-]+/[\w.-]+\.\w+)(?: [^`]*)?`", text))
    assert len(files) > 20
    assert sorted(name for name in files if not (ROOT / name).exists()) == []


def test_every_name_that_contributors_are_sent_to_exists():
    """A name that the text places in a file is in that file."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    places = re.findall(r"`(\w+)(?:\([^`]*\))?` in `([\w./-]+\.\w+)`", text)
    assert {name for name, _ in places} >= {"KERNELS", "tools", "METHODS", "ROWS"}
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for _, path in places}
    assert [name for name, path in places if not re.search(rf"\b{name}\b", texts[path])] == []


@pytest.fixture(scope="module")
def lowest():
    spec = importlib.util.spec_from_file_location("lowest", ROOT / ".ci" / "lowest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("requirement", "constraint"),
    [
        ("anndata>=0.12", "anndata==0.12.*"),
        ("pandas>=2.2.2", "pandas==2.2.2"),
        ("dask[array]>=2024.8,<2030; python_version < '3.13'", "dask==2024.8.*"),
        ("tqdm", None),
        ("tqdm<5", None),
        ("diffnb[survival]", None),
    ],
)
def test_a_lower_bound_becomes_the_version_that_is_tested(lowest, requirement, constraint):
    assert lowest.constraint(requirement) == constraint


def test_every_dependency_has_a_lower_bound(lowest):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [r for r in project["dependencies"] if lowest.constraint(r) is None] == []
    assert set(lowest.constraints(project, ["scale"])) > set(lowest.constraints(project, []))


def test_the_workflow_runs_the_newest_and_the_lowest():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))
    jobs = workflow["jobs"]
    assert jobs["newest"]["strategy"]["matrix"]["python"] == ["3.12", "3.13"]
    assert "test-lowest" in jobs["lowest"]["steps"][-1]["run"]
    assert "test-lowest:" in (ROOT / "Makefile").read_text(encoding="utf-8")
