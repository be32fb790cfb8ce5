"""Mutation testing: change one thing in a module of `diffnb.core`, and see whether its tests notice.

    python benchmarks/mutants.py --n 300
    python benchmarks/mutants.py --n 100 diffnb/core/stats/pvalues.py diffnb/core/scorecard

Mutants are drawn at random from all that there are in the modules, each module in proportion. A mutant is made in a
temporary copy of the checkout; first the test file that mirrors the module is run, then, if no test fails, all tests
of its package. One that uses ten times the processor time of the tests as they are counts as noticed. Survivors are
printed with their lines: they are either changes of no consequence, or tests that are missing.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from _mutations import Mutant, mutants
from _tools import save

ROOT = Path(__file__).resolve().parents[1]
CORE = Path("diffnb/core")
#: imported once, before tests run in forks of this process
SHARED = (
    "anndata",
    "dask.array",
    "hypothesis",
    "joblib",
    "numpy",
    "pandas",
    "pytest",
    "scipy.stats",
    "sklearn.cluster",
)
MAX_BYTES = 6 * 2**30
MIN_SECONDS, FACTOR, MAX_WALL_SECONDS = 20, 10, 900
OTHER_COPY = 99


@dataclass(frozen=True)
class Place:
    """A module, with the tests that mirror it and those of its package."""

    module: Path

    @property
    def mirror(self) -> Path:
        """Return the test file of the module's name."""
        return Path("tests", *self.module.parts[1:-1], f"test_{self.module.name}")

    @property
    def package(self) -> Path:
        """Return the folder of tests of the module's package."""
        return self.mirror.parent


def run_tests(where: Path, tests: Path, seconds: int | None) -> tuple[bool, float]:
    """Run tests in a fork, up to the first that fails; return whether all passed, and the processor time."""
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        _in_fork(where, tests, seconds)
    while True:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() - start > MAX_WALL_SECONDS:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.02)
    code = os.waitstatus_to_exitcode(status)
    if code == OTHER_COPY:
        raise RuntimeError("the tests have imported another copy of diffnb than the changed one")
    if code in (4, 5):
        raise RuntimeError(f"pytest has found no tests in {tests}")
    return code == 0, usage.ru_utime + usage.ru_stime


def _in_fork(where: Path, tests: Path, seconds: int | None) -> None:
    code = 3
    try:
        os.setpgid(0, 0)
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        if seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
        sys.dont_write_bytecode = True
        os.chdir(where)
        sys.path.insert(0, str(where))
        import pytest

        import diffnb

        ours = Path(diffnb.__file__ or "").is_relative_to(where)
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:cov", "--assert=plain", "--rootdir", str(where)]
        code = int(pytest.main([*options, str(tests)])) if ours else OTHER_COPY
    finally:
        os._exit(code)


def modules(paths: list[Path]) -> list[Place]:
    """Return the modules of the given files and folders that have tests of their name."""
    files = [file for path in paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    return [place for place in map(Place, files) if (ROOT / place.mirror).is_file()]


class Copy:
    """A copy of the checkout in which modules are changed."""

    def __init__(self, where: Path) -> None:
        self.where = where
        self._limits: dict[Path, int] = {}
        for name in ("diffnb", "tests"):
            shutil.copytree(ROOT / name, where / name, ignore=shutil.ignore_patterns("__pycache__", "labextension"))
        for name in ("pyproject.toml", "conftest.py"):
            shutil.copy2(ROOT / name, where / name)

    def noticed(self, place: Place, mutant: Mutant) -> str:
        """Return which tests notice a mutant: those that mirror its module, those of its package, or none."""
        for kind, tests in (("mirror", place.mirror), ("package", place.package)):
            limit = self._limit(tests)
            file = self.where / place.module
            text = file.read_text("utf-8")
            file.write_text(mutant.apply(text), "utf-8")
            try:
                passed, _ = run_tests(self.where, tests, limit)
            finally:
                file.write_text(text, "utf-8")
            if not passed:
                return kind
        return "none"

    def _limit(self, tests: Path) -> int:
        """Return the processor time in seconds that tests may take; they have to pass with nothing changed."""
        if tests not in self._limits:
            passed, seconds = run_tests(self.where, tests, None)
            if not passed:
                raise SystemExit(f"{tests} fails as it is: every mutant would seem to be noticed.")
            self._limits[tests] = int(max(MIN_SECONDS, FACTOR * seconds))
        return self._limits[tests]


def main() -> None:
    """Make mutants, try them, and print the survivors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, default=[CORE], help="modules and folders, from the root")
    parser.add_argument("--n", type=int, default=300, help="mutants in all")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    os.chdir(ROOT)
    every = [(place, mutant) for place in modules(asked.paths) for mutant in mutants(place.module.read_text("utf-8"))]
    chosen = random.Random(asked.seed).sample(every, min(asked.n, len(every)))
    chosen.sort(key=lambda each: (each[0].module, each[1].line))
    print(f"{len(every):,} mutants of {len({place for place, _ in every})} modules, {len(chosen)} tried", flush=True)
    for name in SHARED:
        __import__(name)
    counts: dict[str, Counter[str]] = {}
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder).resolve())
        for place, mutant in chosen:
            result = copy.noticed(place, mutant)
            counts.setdefault(place.module.parts[2], Counter())[result] += 1
            print(f"{result}: {place.module}:{mutant.line}: {mutant.change}", flush=True)
            if result == "none":
                survivors.append({"module": str(place.module), "line": mutant.line, "change": mutant.change})
    rows = [(name, count.total(), count["mirror"], count["package"], count["none"]) for name, count in counts.items()]
    rows.append(("all", *(sum(column) for column in list(zip(*rows, strict=True))[1:])))
    print("\n| package | mutants | noticed by its own tests | by tests of the package | survived |")
    print("| --- | --- | --- | --- | --- |")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |")
    save("mutants", {"tried": len(chosen), "of": len(every), "rows": rows, "survivors": survivors})


if __name__ == "__main__":
    main()
