"""The wheel and the sdist: the extension once, where JupyterLab looks for it, and no development files."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import diffnb

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LAB = ROOT / "lab"
RELEASE = runpy.run_path(str(ROOT / ".ci" / "release.py"))
BUNDLE = runpy.run_path(str(LAB / "bundle.py"))
INSTALLED = f"diffnb-{diffnb.__version__}.data/data/share/jupyter/labextensions/diffnb/"
MAX_BUNDLE_BYTES = 400_000


@pytest.fixture(scope="module")
def wheel_path(tmp_path_factory):
    """The wheel of this tree."""
    if not BUNDLE["is_fresh"]():
        reason = "the extension is not built from these sources: run `make bundle`"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    place = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return next(place.glob("*.whl"))


@pytest.fixture(scope="module")
def wheel(wheel_path):
    """The files in the wheel, by name."""
    with zipfile.ZipFile(wheel_path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_can_be_released(wheel_path):
    assert list(RELEASE["wheel_problems"](wheel_path, diffnb.__version__)) == []
    command = [sys.executable, "-m", "twine", "check", "--strict", str(wheel_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_bundle_is_in_the_wheel_once(wheel):
    bundled = [name for name in wheel if "labextension" in name]
    assert bundled
    assert all(name.startswith(INSTALLED) for name in bundled)
    assert len([name for name in bundled if "remoteEntry" in name]) == 1


def test_the_bundle_is_complete_and_small(wheel):
    package = json.loads(wheel[f"{INSTALLED}package.json"])
    assert package["version"] == diffnb.__version__
    assert INSTALLED + package["jupyterlab"]["_build"]["load"] in wheel
    assert json.loads(wheel[f"{INSTALLED}install.json"])["packageName"] == "diffnb"
    assert sum(len(data) for name, data in wheel.items() if name.startswith(INSTALLED)) < MAX_BUNDLE_BYTES


def test_the_bundle_contains_no_path_of_this_machine(wheel):
    folders = [str(path).encode() for path in (ROOT, Path.home()) if path != Path("/")]
    assert [name for name, data in wheel.items() if any(folder + b"/" in data for folder in folders)] == []


def test_every_tutorial_is_in_the_bundle_without_its_outputs(wheel):
    scripts = b"".join(data for name, data in wheel.items() if name.startswith(INSTALLED) and name.endswith(".js"))
    for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        assert path.name.encode() in scripts
    assert b"image/png" not in scripts


def test_scripts_styles_and_markers_are_in_the_wheel(wheel):
    kinds = (".js", ".css", ".typed")
    parts = [p for p in (ROOT / "diffnb").rglob("*") if p.suffix in kinds and "labextension" not in p.parts]
    assert [p.name for p in parts if p.relative_to(ROOT).as_posix() not in wheel] == []


def test_no_development_files_are_in_the_wheel(wheel):
    tops = {name.split("/")[0] for name in wheel}
    assert tops == {"diffnb", f"diffnb-{diffnb.__version__}.data", f"diffnb-{diffnb.__version__}.dist-info"}


def test_an_sdist_includes_the_bundle_and_its_hash_so_that_npm_is_not_needed(wheel, tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    assert list(RELEASE["sdist_problems"](next(tmp_path.glob("*.tar.gz")), diffnb.__version__)) == []
    unpacked = tmp_path / f"diffnb-{diffnb.__version__}"
    assert not (unpacked / "lab" / "node_modules").exists()
    assert subprocess.run([sys.executable, str(unpacked / "lab" / "bundle.py")]).returncode == 0


def test_jupyterlab_finds_the_extension_enabled():
    command = [sys.executable, "-m", "jupyter", "labextension", "list"]
    done = subprocess.run(command, capture_output=True, text=True)
    plain = re.sub(r"\x1b\[\d+m", "", done.stdout + done.stderr)
    assert re.search(rf"^\s*diffnb v{re.escape(diffnb.__version__)} enabled +OK", plain, re.MULTILINE), plain


def test_the_lock_file_has_versions_and_no_hosts():
    lock = (LAB / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    assert json.loads(lock)["packages"][""]["version"] == diffnb.__version__


def test_the_fingerprint_depends_on_sources_and_not_on_outputs(tmp_path, monkeypatch):
    fingerprint = BUNDLE["fingerprint"]
    before = fingerprint()
    notebook = {"cells": [{"cell_type": "code", "source": ["1"], "outputs": ["a"]}]}
    monkeypatch.setitem(fingerprint.__globals__, "NOTEBOOKS", tmp_path)
    path = tmp_path / "01_x.ipynb"
    seen = []
    for cell in ({"outputs": []}, {"outputs": ["b"]}, {"source": ["2"]}):
        notebook["cells"][0] |= cell
        path.write_text(json.dumps(notebook), encoding="utf-8")
        seen.append(fingerprint())
    assert seen[0] == seen[1]
    assert len({before, *seen}) == 3
