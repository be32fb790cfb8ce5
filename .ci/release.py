"""Build sdist and wheel, and check that they can be released: `python .ci/release.py [--draft] [--dist folder]`.

Before the build: the version of the package, of the extension and of the citation agree, the tag of this commit (if it
has one) names that version, and the changelog has a dated section for it. After it: contents and metadata, `twine
check`, and a fresh virtual environment in which the wheel is installed beside JupyterLab. Prints one line per problem
and exits with status 1 if there is any. `--draft` allows what a release not yet made lacks: a date and a tag.
"""

from __future__ import annotations

import argparse
import email
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
MAX_WHEEL_BYTES, MAX_SDIST_BYTES = 3_000_000, 8_000_000
EXTENSION = "share/jupyter/labextensions/diffnb/"
IN_SDIST = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "lab/.built", "tests/conftest.py")
NEVER = ("node_modules/", "__pycache__/", ".ipynb_checkpoints/", "lab/lib/", ".venv")


def version_of_package() -> str:
    """Return the version in the sources of the package, from which the wheel takes it."""
    text = (ROOT / "diffnb" / "__init__.py").read_text(encoding="utf-8")
    return re.findall(r'^__version__ = "(.+)"$', text, re.M)[0]


def version_problems(version: str, tags: Iterable[str]) -> Iterator[str]:
    """Yield which place names another version than the package."""
    extension = json.loads((ROOT / "lab" / "package.json").read_text(encoding="utf-8"))["version"]
    citation = str(yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"])
    for place, found in (("lab/package.json", extension), ("CITATION.cff", citation)):
        if found != version:
            yield f"{place} has version {found}, diffnb/__init__.py {version}"
    tags = list(tags)
    if tags and f"v{version}" not in tags:
        yield f"this commit is tagged {', '.join(tags)}, the version in diffnb/__init__.py is {version}"


def changelog_problems(text: str, version: str, *, draft: bool) -> Iterator[str]:
    """Yield what is missing from the section of this version."""
    sections = re.split(r"^## ", text, flags=re.M)[1:]
    mine = [section for section in sections if section.startswith(f"[{version}]")]
    if len(mine) != 1:
        yield f"CHANGELOG.md has {len(mine)} sections for {version}"
        return
    heading, _, body = mine[0].partition("\n")
    if not draft and not re.fullmatch(rf"\[{re.escape(version)}\] - \d{{4}}-\d{{2}}-\d{{2}}", heading):
        yield f"CHANGELOG.md: '## {heading}' has no date; write '## [{version}] - YYYY-MM-DD'"
    if not re.search(r"^- ", body, re.M):
        yield f"CHANGELOG.md says nothing about {version}"


def wheel_problems(path: Path, version: str) -> Iterator[str]:
    """Yield what is missing from a wheel, or does not belong there."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        metadata = archive.read(f"diffnb-{version}.dist-info/METADATA").decode()
        bundled = [name for name in names if EXTENSION in name]
        loaded = json.loads(archive.read(f"diffnb-{version}.data/data/{EXTENSION}package.json")) if bundled else {}
    if not bundled:
        yield "the wheel has no JupyterLab extension; build it with `make bundle`"
    elif not any(name.endswith(loaded["jupyterlab"]["_build"]["load"]) for name in bundled):
        yield "the script that JupyterLab loads is not in the wheel"
    tops = {name.split("/")[0] for name in names}
    for top in sorted(tops - {"diffnb", f"diffnb-{version}.data", f"diffnb-{version}.dist-info"}):
        yield f"the wheel holds {top}"
    yield from _common_problems(path, names, MAX_WHEEL_BYTES)
    yield from metadata_problems(metadata, version)


def metadata_problems(text: str, version: str) -> Iterator[str]:
    """Yield which field of the metadata is missing."""
    found = email.message_from_string(text)
    if found["Version"] != version:
        yield f"the metadata say version {found['Version']}"
    if found["License-Expression"] != "BSD-3-Clause":
        yield "the metadata have no licence expression"
    if not str(found.get_payload()).strip():
        yield "the metadata have no description"
    needed = {"Requires-Python", "Summary", "Description-Content-Type", "Project-URL", "License-File"}
    yield from (f"the metadata have no {name}" for name in sorted(needed - set(found.keys())))


def sdist_problems(path: Path, version: str) -> Iterator[str]:
    """Yield what is missing from an sdist, or does not belong there."""
    with tarfile.open(path) as archive:
        names = [name.removeprefix(f"diffnb-{version}/") for name in archive.getnames()]
    yield from (f"the sdist has no {name}" for name in IN_SDIST if name not in names)
    if not any(name.startswith("diffnb/labextension/static/") for name in names):
        yield "the sdist has no built extension, so that installing it would need npm"
    yield from _common_problems(path, names, MAX_SDIST_BYTES)


def _common_problems(path: Path, names: list[str], max_bytes: int) -> Iterator[str]:
    for name in names:
        if any(part in name for part in NEVER):
            yield f"{path.name} holds {name}"
    if path.stat().st_size > max_bytes:
        yield f"{path.name} has {path.stat().st_size:,} bytes, more than {max_bytes:,}"


def install_problems(wheel: Path, version: str) -> Iterator[str]:
    """Install the wheel with JupyterLab into a fresh environment; yield what does not work there."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        scripts = Path(folder, "Scripts" if sys.platform == "win32" else "bin")
        python = str(scripts / "python")
        installed = _run([python, "-m", "pip", "install", "--quiet", str(wheel), "jupyterlab"])
        if installed.returncode:
            yield f"the wheel cannot be installed: {installed.stderr.strip()[-500:]}"
            return
        # from another folder, or Python would import the sources
        said = _run([python, "-c", "import diffnb; print(diffnb.__version__)"], folder)
        if said.stdout.strip() != version:
            yield f"the installed package does not import as {version}: {(said.stdout + said.stderr).strip()[-500:]}"
        if _run([str(scripts / "diffnb"), "--help"], folder).returncode:
            yield "the command `diffnb --help` fails"
        listed = _run([python, "-m", "jupyter", "labextension", "list"], folder)
        plain = re.sub(r"\x1b\[\d+m", "", listed.stdout + listed.stderr)
        if not re.search(rf"^\s*diffnb v{re.escape(version)} enabled +OK", plain, re.M):
            yield f"JupyterLab does not list the extension as enabled: {plain[-500:]}"


def _run(command: list[str], folder: str | Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def tags_of_commit() -> list[str]:
    """Return the tags that begin with v and point to this commit."""
    return _run(["git", "tag", "--points-at", "HEAD", "--list", "v*"]).stdout.split()


def build(dist: Path) -> tuple[Path, Path]:
    """Build an sdist and a wheel into an empty folder."""
    shutil.rmtree(dist, ignore_errors=True)
    done = _run([sys.executable, "-m", "hatchling", "build", "-d", str(dist)])
    if done.returncode:
        raise SystemExit(f"the build failed:\n{done.stderr}")
    return next(dist.glob("*.tar.gz")), next(dist.glob("*.whl"))


def main(arguments: list[str]) -> int:
    """Print the problems and the sizes of what was built."""
    parser = argparse.ArgumentParser(description="Build and check what is released.")
    parser.add_argument("--draft", action="store_true", help="allow an undated changelog and a missing tag")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="folder for sdist and wheel")
    given = parser.parse_args(arguments)
    version, tags = version_of_package(), tags_of_commit()
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    problems = [*version_problems(version, tags), *changelog_problems(changelog, version, draft=given.draft)]
    if not given.draft and not tags:
        problems.append(f"this commit has no tag; git tag v{version}")
    sdist, wheel = build(given.dist)
    problems += [*sdist_problems(sdist, version), *wheel_problems(wheel, version)]
    checked = _run([sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel)])
    if checked.returncode:
        problems.append(f"twine check: {(checked.stdout + checked.stderr).strip()}")
    problems += install_problems(wheel, version)
    for path in (sdist, wheel):
        print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")
    print("\n".join(problems) or f"diffnb {version} can be released")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
