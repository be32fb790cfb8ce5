"""The lowest versions that pyproject.toml allows: `python .ci/lowest.py [extra …]` prints them as pip constraints.

Of a requirement `name>=1.2` the line `name==1.2.*` takes the newest repair of that version; a bound with three numbers
is taken as it is. Requirements without a lower bound, and those of this package itself, are left out.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
REQUIREMENT = re.compile(r"^(?P<name>[\w.-]+)(?:\[[\w,-]+\])?(?P<bounds>[^;]*)")
LOWER = re.compile(r">=\s*(?P<version>\d+(?:\.\d+)*)")


def constraint(requirement: str) -> str | None:
    """Return the constraint for a requirement, if it has a lower bound."""
    found = REQUIREMENT.match(requirement)
    lower = LOWER.search(found["bounds"]) if found else None
    if found is None or lower is None:
        return None
    version = lower["version"]
    return f"{found['name']}=={version}" + ("" if version.count(".") >= 2 else ".*")


def constraints(project: dict, extras: list[str]) -> Iterator[str]:
    """Yield the constraints for the dependencies and for those of some extras."""
    optional = project.get("optional-dependencies", {})
    for requirement in [*project["dependencies"], *(r for extra in extras for r in optional[extra])]:
        line = constraint(requirement)
        if line is not None:
            yield line


def main(extras: list[str]) -> None:
    """Print one constraint per line."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    print("\n".join(constraints(project, extras)))


if __name__ == "__main__":
    main(sys.argv[1:])
